package sqlext

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/common"
	"github.com/alike-sql/alike/sketch/simindex"
	"github.com/alike-sql/alike/sketch/verify"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// settings are what the options of attach decide.
type settings struct {
	Profile       string // canonical, with the bits that are stored
	SI            []string
	Policy        string
	Preset        string   // that the profile builds on
	Reason        string   // why attach chose it; empty where it was told
	Looked        int64    // how many texts it looked at; math.MaxInt64 where it looked at none
	Recall        *float64 // what the filter was chosen to find; nil where the profile gives k or s
	AtLeast       *float64
	Short         *verify.Short // the threshold of short documents
	Matches       int           // how many a checkin records
	Verify        string
	By            string // resemblance or containment: what the policy acts on
	Superfeatures bool   // are columns
	Contains      bool   // values of the rows are kept for the questions on containment
	Clusters      int    // the most rows of a cluster that is kept; 0 where none are
	Mode          string
	Where         string
	Extract       string
	Layout        string // how equal features are found

	boilerplate *sketch.Boilerplate // learned for the profile, until the registry has it
}

// options are what attach is told, as JSON. What is not said stays as it is, or
// is the default at the first attach.
type options struct {
	Profile       *string           `json:"profile" want:"a string"`
	SI            *[]string         `json:"si" want:"an array of strings"`
	Policy        *string           `json:"policy" want:"a string"`
	AtLeast       nullable[float64] `json:"at_least" want:"a number above 0 and at most 1, or null"`
	Short         nullable[short]   `json:"short" want:"{\"below\": a whole number from 2 to 1000000, \"at_least\": a number above 0 and at most 1} or null"`
	Recall        nullable[float64] `json:"recall" want:"a number between 0 and 1, or null"`
	Matches       nullable[int]     `json:"matches" want:"a whole number from 1 to 1000 or null"`
	Verify        *string           `json:"verify" want:"a string"`
	By            *string           `json:"by" want:"a string"`
	Superfeatures *bool             `json:"superfeatures" want:"true or false"`
	Contains      *bool             `json:"contains" want:"true or false"`
	Clusters      clusterLimit      `json:"clusters" want:"true, false, or the most rows of a cluster, from 2 to 1000000"`
	Mode          *string           `json:"mode" want:"a string"`
	Name          *string           `json:"name" want:"a string"`
	Where         *string           `json:"where" want:"a string"`
	Extract       *string           `json:"extract" want:"a string"`
	Layout        *string           `json:"layout" want:"a string"`
	Common        share             `json:"common" want:"true, false, a share above 0 and at most 1, or the name of a list"`
}

// nullable is an option that null takes back to its default.
type nullable[T any] struct {
	given bool
	value *T
}

func (n *nullable[T]) UnmarshalJSON(text []byte) error {
	n.given = true
	return json.Unmarshal(text, &n.value)
}

// short is the option short.
type short verify.Short

func (s *short) UnmarshalJSON(text []byte) error {
	var given map[string]float64
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	below, atLeast := given["below"], given["at_least"]
	if len(given) != 2 || below < 2 || below > verify.MaxShort || below != math.Trunc(below) || !(atLeast > 0 && atLeast <= 1) {
		return errors.New("no length and threshold")
	}
	*s = short{Below: int64(below), AtLeast: atLeast}
	return nil
}

// share is the option common: true or the share of the rows above which a shingle is left
// out, a list by its name in profiles, or false or null for none.
type share struct {
	given bool
	of    float64 // the rows; 0 where nothing is to be learned
	list  uint32  // or the list
}

func (s *share) UnmarshalJSON(text []byte) error {
	*s = share{given: true}
	var name string
	switch {
	case string(text) == "null" || string(text) == "false":
		return nil
	case string(text) == "true":
		s.of = common.Share
		return nil
	case json.Unmarshal(text, &s.of) == nil && s.of > 0 && s.of <= 1:
		return nil
	case json.Unmarshal(text, &name) == nil && len(name) == 8:
		if list, err := strconv.ParseUint(name, 16, 32); err == nil && list > 0 {
			s.of, s.list = 0, uint32(list)
			return nil
		}
	}
	return errors.New("no share of the rows or list")
}

// A checkin looks at this many rows at most, so it records no more.
const (
	defaultMatches = 10
	maxMatches     = 1000
)

// readJSON decodes options, and refuses what it does not know.
func readJSON(v *sqlite.Value, into any) error {
	if v == nil {
		return nil
	}
	if v.Kind != sqlite.Text {
		return fmt.Errorf("the options are %s, want JSON", v.Describe())
	}
	var given map[string]json.RawMessage
	err := json.Unmarshal(v.Bytes(), &given)
	if mistyped := (*json.UnmarshalTypeError)(nil); errors.As(err, &mistyped) {
		return fmt.Errorf("the options are %.60s, want a JSON object", v.Text())
	}
	if err != nil {
		return fmt.Errorf("the options are not valid JSON: %w", err)
	}
	if given == nil {
		return errors.New("the options are null, want a JSON object")
	}
	var known []string
	fields := reflect.ValueOf(into).Elem()
	for i := range fields.NumField() {
		tag := fields.Type().Field(i).Tag
		name := tag.Get("json")
		known = append(known, name)
		if given[name] == nil {
			continue
		}
		// json takes null for any value; the options that mean something by it are structs and read it.
		kind := fields.Field(i).Kind()
		if null := string(given[name]) == "null" && kind != reflect.Struct; null || json.Unmarshal(given[name], fields.Field(i).Addr().Interface()) != nil {
			return fmt.Errorf("the option %s is %.60s, want %s", name, given[name], tag.Get("want"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no option %.60q, want %s", name, either(known))
		}
	}
	return nil
}

// apply changes settings as the options say; check tells whether they are valid.
func (o *options) apply(s *settings) error {
	for _, option := range []struct{ given, into *string }{{o.Policy, &s.Policy}, {o.By, &s.By}, {o.Mode, &s.Mode}, {o.Verify, &s.Verify}, {o.Extract, &s.Extract}, {o.Where, &s.Where}, {o.Layout, &s.Layout}} {
		if option.given != nil {
			*option.into = *option.given
		}
	}
	for _, option := range []struct{ given, into *bool }{{o.Superfeatures, &s.Superfeatures}, {o.Contains, &s.Contains}} {
		if option.given != nil {
			*option.into = *option.given
		}
	}
	if o.Clusters.given {
		s.Clusters = o.Clusters.max
	}
	if o.AtLeast.given {
		s.AtLeast = o.AtLeast.value
	}
	if o.Short.given {
		s.Short = (*verify.Short)(o.Short.value)
	}
	if o.Matches.given {
		if s.Matches = defaultMatches; o.Matches.value != nil {
			s.Matches = *o.Matches.value
		}
	}
	if o.SI != nil {
		s.SI = []string{}
		for _, name := range *o.SI {
			v, err := simindex.Parse(name)
			if err != nil {
				return err
			}
			s.SI = append(s.SI, v.String())
		}
	}
	return nil
}

// check refuses settings that attach would not have taken, and reads what they name.
func (s *settings) check() (sketch.Profile, []simindex.Variant, error) {
	p, err := sketch.ParseProfile(s.Profile)
	if err != nil {
		return p, nil, err
	}
	for _, choice := range []struct {
		name, value string
		allowed     []string
	}{
		{"policy", s.Policy, []string{"ignore", "link", "warn", "reject"}},
		{"option by", s.By, []string{byResemblance, byContainment}},
		{"mode", s.Mode, []string{"compute", "queue"}},
		{"verify", s.Verify, []string{"sketch", "text"}},
		{"extract", s.Extract, []string{"plain", "html"}},
		{"layout", s.Layout, []string{layoutColumns, layoutParts}},
	} {
		if !slices.Contains(choice.allowed, choice.value) {
			return p, nil, fmt.Errorf("the %s is %.60q, want %s", choice.name, choice.value, either(choice.allowed))
		}
	}
	if s.Mode == "queue" && s.Policy == "reject" {
		return p, nil, errors.New("the policy reject judges a row as it is written and needs the mode compute")
	}
	if s.Mode == "queue" && s.Clusters > 0 {
		return p, nil, errors.New("clusters are kept as a row is written and need the mode compute")
	}
	if s.Clusters < 0 || s.Clusters == 1 || s.Clusters > maxCluster {
		return p, nil, fmt.Errorf("the most rows of a cluster are %d, want 2 to %d", s.Clusters, maxCluster)
	}
	if p.Stream == sketch.Elements && s.Extract != "plain" {
		return p, nil, fmt.Errorf("the extract is %q, and the stream elements has no text; want plain", s.Extract)
	}
	if p.Stream == sketch.Elements && p.Family == sketch.Weighted && s.Verify == "text" {
		return p, nil, errors.New("the verify is text, which counts shingles; under the family weighted elements have weights: want sketch")
	}
	if s.Superfeatures {
		if err := aspect.CheckSuperfeatures(p); err != nil {
			return p, nil, err
		}
		if s.Layout == layoutParts {
			return p, nil, errors.New("superfeatures are columns with an index each, which the layout parts does without; want the layout columns")
		}
	}
	if s.By == byContainment && !s.Contains {
		return p, nil, errors.New(`a policy by containment needs the values that the option contains keeps; want {"by": "containment", "contains": true}`)
	}
	if s.Contains {
		if _, err := sketch.NewPassages(p); err != nil {
			return p, nil, err
		}
	}
	if err := s.checkThreshold(); err != nil {
		return p, nil, err
	}
	if s.Matches < 1 || s.Matches > maxMatches {
		return p, nil, fmt.Errorf("the option matches is %d, want a whole number from 1 to %d or null", s.Matches, maxMatches)
	}
	if strings.ContainsRune(s.Where, 0) {
		return p, nil, errors.New("where: the condition has a zero byte")
	}
	if len(s.SI) > maxIndexes {
		return p, nil, fmt.Errorf("%d similarity indexes, want at most %d", len(s.SI), maxIndexes)
	}
	variants, err := aspect.Parse(p, s.SI)
	for i, name := range s.SI {
		if slices.Contains(s.SI[:i], name) {
			return p, nil, fmt.Errorf("the similarity index %s is given twice", name)
		}
	}
	return p, variants, err
}

func (s *settings) checkThreshold() error {
	switch {
	case s.AtLeast != nil && !(*s.AtLeast > 0 && *s.AtLeast <= 1):
		return fmt.Errorf("at_least is %g, want above 0 and at most 1", *s.AtLeast)
	case s.Short != nil && !(s.Short.Below >= 2 && s.Short.Below <= verify.MaxShort && s.Short.AtLeast > 0 && s.Short.AtLeast <= 1):
		return errors.New("the threshold of short texts is out of its range")
	case s.Recall != nil && !(*s.Recall > 0 && *s.Recall < 1):
		return fmt.Errorf("recall is %g, want between 0 and 1", *s.Recall)
	}
	return nil
}

// either lists what is allowed: "a, b or c".
func either(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// listed lists what there is: "a, b", or "none".
func listed(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// storedProfile is a profile as an attached table stores it: some bits of each
// slot unless the settings say how many.
func storedProfile(text string) (sketch.Profile, error) {
	p, err := sketch.ParseProfile(text)
	if err == nil && p.Slots() && !regexp.MustCompile(`(?i)(^|\s)bits=`).MatchString(text) {
		p.Bits = p.StoredBits()
	}
	return p, err
}
