// Package option has the flags of the verb attach, which pgworker and alike share, and makes
// the JSON object of options that the attach of both engines takes.
package option

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/verify"
)

// Flags are the flags of one command. Their names are those of the options, with a hyphen for
// an underscore.
type Flags struct {
	set     *pflag.FlagSet
	values  map[string]any // pointers, by flag
	options string
}

// Engine says what differs between the engines.
type Engine struct {
	Modes           []string // the first unless given
	ModeUsage       string
	Extract, Common string
}

// Add adds the flags.
func Add(set *pflag.FlagSet, e Engine) *Flags {
	f := &Flags{set: set, values: map[string]any{}}
	text := func(name, otherwise, usage string) { f.values[name] = set.String(name, otherwise, usage) }
	word := func(name, usage string, words ...string) {
		value := &choice{words[0], words}
		f.values[name] = &value.word
		set.Var(value, name, usage)
	}
	flag := func(name, usage string) { f.values[name] = set.Bool(name, false, usage) }
	share := func(name, usage string) {
		value := new(fraction)
		f.values[name] = value
		set.Var(value, name, usage)
	}
	f.values["profile"] = new(profile)
	set.Var(f.values["profile"].(*profile), "profile", "what decides the numbers: a preset (prose, paragraphs, short, names, unsegmented, sequences, pages, code, logs, records, web, bing), then settings; chosen by a look at the column unless given")
	f.values["si"] = set.StringSlice("si", nil, "a similarity index, such as 43B/40, forest/0 or length; may be repeated")
	word("policy", "what a checkin does with a near-duplicate: ignore, link, warn or reject", "ignore", "link", "warn", "reject")
	word("by", "what the policy acts on: resemblance, or containment, which needs --contains", "resemblance", "containment")
	word("verify", "what decides a pair that its sketches leave open: sketch, or text, the documents, which are read again", "sketch", "text")
	share("at-least", "the resemblance from which rows count as alike; the preset's unless given")
	short := new(Short)
	f.values["short"] = short
	set.Var(short, "short", shortUsage+"; none: no more than others")
	share("recall", "the share of the pairs at that resemblance and a little above that the filter is chosen to find; 0.95 unless given")
	text("name", "", "the attachment's name, when a table has several; the table's unless given")
	text("where", "", "an SQL condition over a row: only these are attached")
	text("extract", "", "how bytes become text: "+e.Extract)
	word("mode", "how checkins are noticed: "+e.ModeUsage, e.Modes...)
	word("layout", "where equal features are found: columns (an index for each) or parts (checkins into a large table stay cheap)", "columns", "parts")
	flag("superfeatures", "a column and an index for each superfeature: g1 and on, beside f1 and on")
	flag("contains", "keep values of the passages of each row, for the questions what is contained in what")
	flag("clusters", "keep the clusters of the linkage single up to date in TABLE_alike_cluster; --options takes the most rows of one")
	flag("common", "leave what more than a tenth of the rows share out of the sketches"+e.Common)
	set.StringVar(&f.options, "options", "", "all options as one JSON object, as the SQL function takes them; a flag has the last word")
	return f
}

// Object returns the options that are given, as a JSON object.
func (f *Flags) Object() (string, error) {
	given := map[string]any{}
	if f.set.Changed("options") {
		if err := json.Unmarshal([]byte(f.options), &given); err != nil || given == nil {
			return "", fmt.Errorf("--options %q, want one JSON object", f.options)
		}
	}
	for name, value := range f.values {
		if !f.set.Changed(name) {
			continue
		}
		if text, ok := value.(*string); ok && name == "extract" && strings.HasPrefix(*text, "{") {
			if value = json.RawMessage(*text); !json.Valid([]byte(*text)) {
				return "", fmt.Errorf(`--extract %q, want a name, or {"column": NAME}`, *text)
			}
		}
		given[strings.ReplaceAll(name, "-", "_")] = value
	}
	encoded, err := json.Marshal(given)
	return string(encoded), err
}

// shortUsage is what the flag short does, in every command that has it.
const shortUsage = "more for short texts: 30:0.85 asks 0.85 of a pair of which either text has less than 30 shingles"

// Short is the value of the flag short: the threshold of short texts, or nil.
type Short struct{ *verify.Short }

// AddShort adds the flag short to a command that attaches nothing.
func AddShort(set *pflag.FlagSet) *Short {
	s := new(Short)
	set.Var(s, "short", shortUsage)
	return s
}

func (s *Short) Set(text string) error {
	if text == "none" {
		s.Short = nil
		return nil
	}
	before, after, _ := strings.Cut(text, ":")
	below, err := strconv.ParseInt(before, 10, 64)
	atLeast, err2 := strconv.ParseFloat(after, 64)
	if err != nil || err2 != nil || below < 2 || below > verify.MaxShort || !(atLeast > 0 && atLeast <= 1) {
		return fmt.Errorf("want two numbers such as 30:0.85, from 2 to %d shingles and above 0 to 1", verify.MaxShort)
	}
	s.Short = &verify.Short{Below: below, AtLeast: atLeast}
	return nil
}

func (s *Short) MarshalJSON() ([]byte, error) { return json.Marshal(s.Short) }

func (s *Short) String() string { return "" } // help shows no default
func (s *Short) Type() string   { return "below:resemblance" }

// A profile is read by attach; Set refuses what attach would refuse.
type profile string

func (v *profile) Set(s string) error {
	*v = profile(s)
	_, err := sketch.ParseProfile(s)
	return err
}

func (v *profile) String() string { return string(*v) }
func (v *profile) Type() string   { return "string" }

// A choice is one of some words.
type choice struct {
	word  string
	words []string
}

func (v *choice) Set(s string) error {
	if last := len(v.words) - 1; !slices.Contains(v.words, s) {
		return fmt.Errorf("want %s or %s", strings.Join(v.words[:last], ", "), v.words[last])
	}
	v.word = s
	return nil
}

func (v *choice) String() string { return v.word }
func (v *choice) Type() string   { return "string" }

// A fraction is from 0 to 1.
type fraction float64

func (v *fraction) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= 1) { // NaN is not
		return fmt.Errorf("want 0 to 1")
	}
	*v = fraction(x)
	return nil
}

func (v *fraction) String() string { return "" } // help shows no default: the usage says it
func (v *fraction) Type() string   { return "float" }
