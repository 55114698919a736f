package sqlext

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// choose settles the profile: the preset that a look at the documents finds where none
// is told, and the filter, which follows at_least unless the profile gives k or s. The
// filter in use stays where it finds enough.
func (c *conn) choose(a, old *attachment, o *options) error {
	told := a.Profile
	if o.Profile != nil {
		told, a.Reason, a.Looked = *o.Profile, "", math.MaxInt64
	} else if old == nil {
		if err := c.lookAt(a, "look"); err != nil {
			return err
		}
		told = a.Preset
	}
	follows := a.Recall != nil
	parse := storedProfile
	if o.Profile == nil && old != nil {
		parse = sketch.ParseProfile // spelled in full, where 64 bits are not spelled
	}
	p, err := parse(told)
	if err != nil {
		return err
	}
	if o.Profile != nil || old == nil {
		var preset sketch.Preset
		preset, follows = sketch.PresetOf(told)
		a.Preset = preset.Name
	}
	if err := c.leaveOut(a, &p, o); err != nil {
		return err
	}
	if !follows {
		if a.Profile, a.Recall = p.String(), nil; o.Recall.value != nil {
			return fmt.Errorf("recall is for a filter that attach chooses; the profile %.100q has one", told)
		}
		return nil
	}
	recall := sketch.FilterRecall
	switch {
	case o.Recall.value != nil:
		recall = *o.Recall.value
	case a.Recall != nil && !o.Recall.given:
		recall = *a.Recall
	}
	a.Recall = &recall
	if err := a.checkThreshold(); err != nil {
		return err
	}
	if old != nil && old.Recall != nil {
		kept := p
		kept.T, kept.K, kept.S, kept.R = old.profile.T, old.profile.K, old.profile.S, old.profile.R
		if found, err := sketch.ThresholdRecall(kept.K, kept.S, a.threshold()); err == nil && found >= recall && kept == old.profile {
			a.Profile = old.Profile
			return nil
		}
	}
	preset, _ := sketch.PresetOf(a.Preset)
	if err := p.Follow(a.threshold(), recall, preset.Background); err != nil {
		return err
	}
	a.Profile = p.String()
	return p.Validate()
}

var errLooked = errors.New("enough was looked at")

// lookAt chooses the preset for the documents that a statement reads. Documents that are extracted
// are not looked at.
func (c *conn) lookAt(a *attachment, statement string) (err error) {
	if a.Extract != "plain" {
		a.Preset, a.Reason = sketch.Presets()[0].Name, "the text of the documents is extracted"
		return nil
	}
	looked := 0
	a.Preset, a.Reason, looked = sketch.LookThrough(func(yield func([]byte) bool) {
		err = c.Run(a.sql(statement), func(row []sqlite.Value) error {
			if !yield(row[0].Bytes()) {
				return errLooked
			}
			return nil
		}, sketch.LookRows)
	})
	a.Looked = int64(looked)
	if coded := (*sqlite.Error)(nil); errors.As(err, &coded) && coded.Code == sqlite.CodeError {
		err = nil // a row that cannot be read ends the look; the fill notes it
	}
	return err
}

// chosen tells which preset attach chose, and why; nothing where it was told.
func (a *attachment) chosen() string {
	if a.Reason == "" || a.Preset == "" {
		return a.Reason
	}
	return a.Preset + ": " + a.Reason
}

// recall is the share of the pairs at the threshold and a little above that the filter
// finds.
func (a *attachment) recall() float64 {
	recall, err := sketch.ThresholdRecall(a.profile.K, a.profile.S, a.threshold())
	if err != nil {
		return 0
	}
	return recall
}

// outgrown tells that the rows are of another kind than the few texts that attach has
// looked at.
func (c *conn) outgrown(a *attachment, rows int64) (string, error) {
	if a.Looked >= sketch.LookFew || a.Looked >= rows {
		return "", nil
	}
	now := *a
	if err := c.lookAt(&now, "look_again"); err != nil || now.Preset == a.Preset || now.Looked < sketch.LookSome {
		return "", err
	}
	return fmt.Sprintf("the preset %s suits the rows better than %s, since %s: alike_attach(%s, %s, '{\"profile\": \"%s\"}') changes to it",
		now.Preset, a.Preset, now.Reason, literal(a.Name), literal(a.Column), now.Preset), nil
}
