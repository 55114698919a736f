package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

var errPooler = errors.New("the address is that of a connection pooler whose clients share sessions, such as PgBouncer in transaction mode; want PostgreSQL's own address, or a pool in session mode")

// checkSession refuses an address where two clients share a session: settings of a
// session, prepared statements and notifications get lost there. A pooler gives a
// client another process number than that of the server's process; two clients of it
// that are served by one process share sessions.
func checkSession(ctx context.Context, config *pgx.ConnConfig) error {
	plain := config.Copy()
	plain.RuntimeParams = map[string]string{"standard_conforming_strings": "on"} // poolers refuse what they do not know
	plain.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	var conns [2]*pgx.Conn
	process := func(i int) (pid uint32, err error) {
		if conns[i] == nil {
			if conns[i], err = pgx.ConnectConfig(ctx, plain); err != nil {
				return 0, err
			}
		}
		err = conns[i].QueryRow(ctx, "select pg_backend_pid()").Scan(&pid)
		return pid, err
	}
	defer func() {
		for _, c := range conns {
			if c != nil {
				c.Close(context.WithoutCancel(ctx))
			}
		}
	}()
	first, err := process(0)
	if err != nil || first == conns[0].PgConn().PID() {
		return err
	}
	for range 50 { // other clients may take a session between two of our looks
		for i := range conns {
			pid, err := process(i)
			if err != nil {
				return err
			}
			if i == 1 && pid == first {
				return errPooler
			}
			first = pid
		}
	}
	return nil
}

// checkRole refuses a superuser: the tables that it reads have owners, whose code it
// would run with its own rights.
func checkRole(ctx context.Context, c *pgx.Conn) error {
	var role string
	var super bool
	if err := c.QueryRow(ctx, "select rolname, rolsuper from pg_roles where rolname = session_user").Scan(&role, &super); err != nil {
		return err
	}
	if super {
		return fmt.Errorf("%s is a superuser, so every owner of a table could have it run code; use a role that is a member of the owners, or --allow-superuser", role)
	}
	return nil
}
