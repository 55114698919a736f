package sqlite

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
)

// Atomically does work whole or not at all: in a transaction of its own, or, inside
// one of the caller's, in a savepoint. Its own transaction takes the right to write
// before anything is read, so that it waits for its turn as long as busy_timeout
// says; SQLite refuses a transaction that has already read at once.
//
// The work drops no table or index, which SQLite refuses beside an open statement.
func (c *Conn) Atomically(work func() error) (err error) {
	own := c.autocommit()
	texts := [...]string{"SAVEPOINT alike", "RELEASE alike", "ROLLBACK TO alike", "SELECT count(*) FROM sqlite_master UNION ALL SELECT 0"}
	if own {
		texts[0], texts[1], texts[2] = "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"
	}
	// Compiled before anything is changed: later, memory could be missing for it,
	// an interrupt could stop it, or an authorizer refuse it.
	var statements [len(texts)]*Statement
	for i, sql := range texts {
		if statements[i], err = c.Prepare(sql); err != nil {
			return err
		}
		defer statements[i].Close()
	}
	begin, commit, undo, reading := statements[0], statements[1], statements[2], statements[3]
	outermost := !c.guarded
	done := false
	defer func() {
		if outermost {
			c.guarded = false
			reading.Reset()
		}
		if done {
			return
		}
		if undone := c.undo(undo, commit, own); undone != nil {
			err = fmt.Errorf("%w; %w", err, undone)
		}
	}()
	// An error here can still leave it open.
	if err := begin.Each(nil); err != nil {
		return err
	}
	if outermost {
		// An open reading statement makes SQLite roll back when memory runs out.
		c.guarded = true
		if _, err := reading.Step(); err != nil {
			return err
		}
	}
	if err := work(); err != nil {
		return err
	}
	if outermost {
		reading.Reset()
	}
	if err := commit.Each(nil); err != nil {
		return err
	}
	done = true
	return nil
}

// undo takes back what a transaction or savepoint has done. SQLite may have rolled
// everything back already, as it does when a statement that writes is interrupted.
func (c *Conn) undo(undo, release *Statement, own bool) error {
	var err error
	for range 2 { // memory that was missing can be there the second time
		if c.autocommit() {
			return nil
		}
		undo.Reset()
		if err = undo.Each(nil); err == nil {
			if !own {
				release.Reset()
				release.Each(nil) // without it the statement is undone all the same
			}
			return nil
		}
		var coded *Error
		if errors.As(err, &coded) && coded.Code == CodeError && !own {
			return nil // there is no such savepoint
		}
	}
	if C.alike_roll_back(c.db); c.autocommit() {
		return nil
	}
	return fmt.Errorf("a transaction is left open, since undoing it failed: %w", err)
}

func (c *Conn) autocommit() bool { return C.alike_autocommit(c.db) != 0 }

// LegacyRename does work while ALTER TABLE RENAME leaves views and triggers alone.
func (c *Conn) LegacyRename(work func() error) error {
	was := C.alike_legacy_rename(c.db, 1)
	defer C.alike_legacy_rename(c.db, was)
	return work()
}

// StrictQuotes does work while a name in double quotes is never taken for a text.
func (c *Conn) StrictQuotes(work func() error) error {
	was := C.alike_loose_quotes(c.db, 0)
	defer C.alike_loose_quotes(c.db, was)
	return work()
}
