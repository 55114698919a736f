package sqlite

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Conn is one connection: what is kept from call to call. SQLite lets one
// thread at a time into a connection.
type Conn struct {
	State      any // of the functions: what Declare was told to make
	db         unsafe.Pointer
	id         int32
	states     map[int64]any // of aggregates and cursors, by handle
	nextState  int64
	statements map[string]*Statement
	anchored   bool // forget will be called before the connection closes
	closing    bool // forget has been called, and cursors are open
	guarded    bool // a transaction of Atomically is open
	writes     int64
	sent       string // the last error that a function gave SQLite, which names the function
}

var connections struct {
	sync.Mutex
	list atomic.Pointer[[]*Conn] // replaced, never changed, so that a call needs no lock
	byDB map[unsafe.Pointer]*Conn
}

// connect makes the Conn of a database handle, or returns nil when there is one.
func connect(db unsafe.Pointer) *Conn {
	connections.Lock()
	defer connections.Unlock()
	if connections.byDB == nil {
		connections.byDB = map[unsafe.Pointer]*Conn{}
	}
	if connections.byDB[db] != nil {
		return nil
	}
	var list []*Conn
	if old := connections.list.Load(); old != nil {
		list = append(list, *old...)
	}
	c := &Conn{db: db, states: map[int64]any{}, statements: map[string]*Statement{}}
	c.State = newState(c)
	c.id = int32(len(list))
	for i, other := range list {
		if other == nil {
			c.id = int32(i)
			break
		}
	}
	if int(c.id) == len(list) {
		list = append(list, nil)
	}
	list[c.id] = c
	connections.list.Store(&list)
	connections.byDB[db] = c
	return c
}

func disconnect(id int32) {
	connections.Lock()
	defer connections.Unlock()
	list := append([]*Conn(nil), *connections.list.Load()...)
	delete(connections.byDB, list[id].db)
	list[id] = nil
	for len(list) > 0 && list[len(list)-1] == nil {
		list = list[:len(list)-1]
	}
	connections.list.Store(&list)
}

// remove takes the state of an aggregate or a cursor away.
func (c *Conn) remove(handle int64) any {
	state := c.states[handle]
	delete(c.states, handle)
	return state
}

// Wrote tells that a function may have changed what others answer.
func (c *Conn) Wrote() { c.writes++ }

// keep stores the state of an aggregate or a cursor under a handle.
func (c *Conn) keep(state any) int64 {
	c.nextState++
	c.states[c.nextState] = state
	return c.nextState
}
