package worker

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
)

// An otherBuildError says that the rows of an attachment were sketched by a build that
// makes other tokens, so that this one can neither add to them nor compare with them.
type otherBuildError string

func (e otherBuildError) Error() string {
	return fmt.Sprintf("the rows of %s were sketched by a build of Alike that makes other tokens; its worker, or pgworker refresh, sketches them again", string(e))
}

// begin says that the sketches under the number of the profile are of this build.
func (a *attachment) begin(ctx context.Context, q querier) error {
	rows, err := q.Query(ctx, queries.BeginBuild, a.profile.String(), a.made())
	if err != nil {
		return err
	}
	id, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int16])
	if err == nil && id != a.profileID {
		a.broken = otherBuildError(a.name)
	}
	a.tokens = new(int32)
	*a.tokens = a.made()
	return err
}

// takeOver makes the rows stale that a build with other tokens has sketched, so that they
// are sketched again. It stands back where a later build has been.
func (w *Worker) takeOver(ctx context.Context) error {
	attachments, err := w.catalog.get(ctx, w.pool)
	if err != nil {
		return err
	}
	for _, a := range attachments {
		if _, ok := a.broken.(otherBuildError); !ok {
			continue
		}
		var why *string
		if err := w.pool.QueryRow(ctx, queries.TakeOver, a.id, a.made(), false).Scan(&why); err != nil {
			return err
		}
		if why == nil {
			w.log.Info("the rows are of a build with other tokens; every row is sketched again", "attachment", a.name)
			w.catalog.forget()
			w.ring()
		}
	}
	return nil
}

// TakeOver gives an attached table, named as in SQL or by its attachment, to this build,
// also where a later one has sketched its rows.
func TakeOver(ctx context.Context, db Query, table string) error {
	var a attachment
	var profile string
	var variants []string
	err := db.QueryRow(ctx, queries.AttachmentProfile, table).Scan(&profile, &variants, &a.id)
	if err == nil {
		a.profile, err = sketch.ParseProfile(profile)
	}
	if err != nil {
		return err
	}
	var why *string
	return db.QueryRow(ctx, queries.TakeOver, a.id, a.made(), true).Scan(&why)
}
