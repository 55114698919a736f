package worker

import (
	"context"
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// A computer turns the documents of one attachment into the columns of the
// side table. It is used by one goroutine.
type computer struct {
	w   *Worker
	a   *attachment
	row *aspect.Computer
}

// newComputer sketches under p, the profile of a or one with more bits.
func (w *Worker) newComputer(a *attachment, p sketch.Profile) (*computer, error) {
	row, err := aspect.NewWithout(p, a.variants, a.boilerplate)
	if err != nil {
		return nil, err
	}
	if a.superfeatures > 0 {
		row.KeepSuperfeatures()
	}
	if a.contains {
		if err := row.KeepPassages(); err != nil {
			return nil, err
		}
	}
	return &computer{w: w, a: a, row: row}, nil
}

// tooLarge is the error of a document that was not even read.
func (w *Worker) tooLarge(size int64) error {
	return fmt.Errorf("the document has %d bytes, the limit is %d", size, w.config.MaxDocument)
}

// mediaOf is how the text of a document is extracted, given what its row says, and
// whether it is at all.
func (a *attachment) mediaOf(said string) (media string, extract bool) {
	if a.mediaFrom != "" {
		return said, true
	}
	return a.media, a.media != ""
}

// slow reports whether a document is too slow for a transaction that holds claims.
func (c *computer) slow(doc []byte, said string) bool {
	media, extract := c.a.mediaOf(said)
	return len(doc) > inlineBytes || extract && c.w.extractor.RunsCommand(doc, media)
}

// compute returns the row of a document, which the next call overwrites. hash is
// that of its bytes as they are stored, said the media type that its row names.
func (c *computer) compute(ctx context.Context, hash int64, doc []byte, said string) (*aspect.Row, error) {
	if media, extract := c.a.mediaOf(said); extract {
		var err error
		if doc, err = c.w.extractor.Text(ctx, doc, media); err != nil {
			return nil, err
		}
	}
	c.row.Stop = func() error { return context.Cause(ctx) }
	return c.row.Row(hash, doc)
}
