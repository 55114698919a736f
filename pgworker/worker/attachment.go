package worker

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
	"github.com/alike-sql/alike/sketch/verify"
)

// An attachment is one aspect of one table. A key is text everywhere outside of the
// database: its value, or a JSON array.
type attachment struct {
	id             int32
	name           string
	replaces       *int32
	keys           int // columns
	profileID      int16
	profile        sketch.Profile
	boilerplate    *sketch.Boilerplate // the shingles that its sketches leave out
	variants       []simindex.Variant
	policy         string
	atLeast        float64
	short          *verify.Short
	matches        int
	verify         string // sketch or text: what decides a pair that the sketches leave open
	mode           string
	distributed    bool   // among the nodes of Citus
	media          string // how bytes become text; "" for not at all
	mediaFrom      string // the column that says it
	indexed        bool
	superfeatures  int      // that are columns
	clustered      bool     // clusters are kept
	contains       bool     // values of passages are kept
	minContainment *float64 // the containment from which the policy acts; nil where it acts on resemblance
	problem        *string
	tokens         *int32 // the fingerprint of the tokens of its sketches, once there are any
	broken         error  // why nothing can be done for it

	fragments map[string]string // of SQL, as alike._fragments makes them
}

// sql is a statement of the package queries for this attachment.
func (a *attachment) sql(statement string) string { return queries.Fill(statement, a.fragments) }

// sqlWith is sql with more fragments.
func (a *attachment) sqlWith(statement string, more map[string]string) string {
	all := map[string]string{}
	for _, fragments := range []map[string]string{a.fragments, more} {
		for name, text := range fragments {
			all[name] = text
		}
	}
	return queries.Fill(statement, all)
}

// resolve parses what the attachment names.
func (a *attachment) resolve(profile string, variants []string, extract []byte) error {
	var err error
	if a.profile, err = sketch.ParseProfile(profile); err != nil {
		return err
	}
	if a.variants, err = aspect.Parse(a.profile, variants); err != nil {
		return err
	}
	if a.superfeatures > 0 {
		if err := aspect.CheckSuperfeatures(a.profile); err != nil {
			return err
		}
	}
	if n := a.profile.Superfeatures(); a.superfeatures != 0 && a.superfeatures != n {
		return fmt.Errorf("the registry has %d superfeatures, the profile %d", a.superfeatures, n)
	}
	a.fragments["elements"], a.fragments["arrays"], a.fragments["values_of_elements"] = a.elements()
	if extract == nil {
		return nil
	}
	var from struct{ Column string }
	if json.Unmarshal(extract, &a.media) == nil {
		return nil
	}
	if err := json.Unmarshal(extract, &from); err != nil || from.Column == "" {
		return fmt.Errorf("extract is %s, want a media type or {\"column\": NAME}", extract)
	}
	a.mediaFrom = from.Column
	return nil
}

// made is the fingerprint of the tokens that this build makes.
func (a *attachment) made() int32 { return int32(a.profile.TokensFingerprint()) }

// elsewhere reports whether a build that makes other tokens has sketched the rows.
func (a *attachment) elsewhere() bool { return a.tokens != nil && *a.tokens != a.made() }

// elements are names for what the worker computes of a row, in the order of the
// columns of the side table, the arrays that bring them, parameters from $2 on, and what
// is written of each: there is no array of arrays of different lengths.
func (a *attachment) elements() (names, arrays, values string) {
	types := []string{"smallint", "bigint", "bigint", "bytea"}
	for range a.profile.K + a.superfeatures + len(a.variants) {
		types = append(types, "bigint")
	}
	if a.contains {
		types = append(types, "text")
	}
	var name, array, value []string
	for i, t := range types {
		name, array, value = append(name, fmt.Sprintf("c%d", i)), append(array, fmt.Sprintf("$%d::%s[]", i+2, t)), append(value, fmt.Sprintf("c%d", i))
	}
	if a.contains {
		value[len(value)-1] += "::bigint[]"
	}
	return strings.Join(name, ", "), strings.Join(array, ", "), strings.Join(value, ", ")
}
