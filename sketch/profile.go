package sketch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alike-sql/alike/sketch/internal/token"
)

// A Stream says what the tokens of a document are.
type Stream = token.Stream

const (
	Chars    = token.Chars    // the characters of words, and a blank between words
	Words    = token.Words    // runs of letters, marks and digits
	Lines    = token.Lines    // lines, trimmed
	Soundex  = token.Soundex  // the Soundex codes of words
	HTML     = token.HTML     // the words of a page, and the URLs of its links and images
	Code     = token.Code     // identifiers, numbers and operators
	Elements = token.Elements // whatever AddElement is given
	Page     = token.Page     // the words of a page
)

// shingleLengths are the tokens in a shingle unless the profile says otherwise.
var shingleLengths = [...]int{Chars: 3, Words: 2, Lines: 1, Soundex: 2, HTML: 6, Code: 2, Elements: 1, Page: 2}

// A Family says which sample of a document's fingerprints is kept.
type Family uint8

const (
	Classic    Family = iota // Broder 2000: the minima of T independent permutations
	Bottom                   // Broder 1997: MIN_s, the Size smallest values
	Mod                      // Broder 1997: MOD_m, the values divisible by Modulus
	Scaled                   // Broder 1997: L_i, the values divisible by 2^i, at most 100 of them
	Fast                     // Dahlgaard, Knudsen and Thorup 2017: as Classic, one hash a shingle
	Lean                     // Manasse: as Classic, with far fewer random bits
	Bins                     // Ping Li: one permutation, T bins
	Weighted                 // Manasse's important features: consistent weighted sampling
	LeanZeros                // Lean by runs of zeros
	LeanBiased               // Lean by biased bits
)

var families = [...]struct {
	name  string
	slots bool // T slots, rather than a list of values
}{
	Classic: {"classic", true}, Bottom: {"bottom", false}, Mod: {"mod", false}, Scaled: {"scaled", false},
	Fast: {"fast", true}, Lean: {"lean", true}, Bins: {"bins", true}, Weighted: {"weighted", true},
	LeanZeros: {"lean-zeros", true}, LeanBiased: {"lean-biased", true},
}

func (f Family) String() string { return families[f].name }

// A Profile is everything that decides the numbers of a sketch. Two sketches
// compare only when their profiles are equal; the bits kept may differ.
type Profile struct {
	Stream         Stream
	ReverseFolding bool // case is kept where the stream folds it, folded where it keeps it
	StopWords      bool // English stop words are dropped
	Vowels         bool // the vowels a, e, i, o, u are dropped
	Duplicates     bool // a token seen before is dropped
	Numbers        bool // numbers are dropped
	IDs            bool // tokens of letters and digits, such as 3f2a or x86, are dropped
	Dates          bool // dates and times are dropped
	W              int  // tokens in a shingle, 1 to 1024
	Bag            bool // repeated shingles count (option A of Broder 1997)
	Family         Family
	Size           int // Bottom: how many values are kept, 1 to 65535
	Modulus        int // Mod, and Bottom when not 0: the values kept are its multiples
	T              int // slots, K·S to 4096
	K              int // features, 1 to 64
	S              int // slots in a feature, 1 to 255
	R              int // features that two documents share to be alike, 1 to K
	Bits           int // bits of each slot that are stored: 1, 2, 4, 8 or 64

	// Without is the fingerprint of the Boilerplate that sketches leave out, 0 for none.
	// The families bottom and mod take none.
	Without uint32

	// Tokens is 0 for the tokens that this build makes. The profile of a sketch
	// from a build that makes others has its TokensFingerprint; such a sketch
	// compares with its like, but this build makes no more of them.
	Tokens uint16
}

// A Preset is a profile with a name.
type Preset struct {
	Name     string
	Settings string // the canonical spelling of the profile
	For      string
	AtLeast  float64 // the resemblance that answers have, unless asked otherwise: that of the profile
	// Background is how much unrelated rows resemble: Unrelated or Templated. The
	// filter is ThresholdFilter(AtLeast, FilterRecall, Background). 0 in the presets
	// of papers, whose filter is theirs.
	Background float64
}

// presetList is Presets as they are written by hand. The measurements behind them
// are in the README of the side by side.
var presetList = []Preset{
	{"prose", "words", "articles, reports, chapters", 0, Unrelated},
	{"paragraphs", "chars w=5", "descriptions, reviews, mail, scanned text", 0, Unrelated},
	{"short", "chars", "titles, addresses, messages, verses", 0, Unrelated},
	{"names", "chars w=2 k=31 s=4", "names and other texts of a few words", 0, Unrelated},
	{"unsegmented", "chars k=24 s=3", "Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese, short Arabic", 0, Unrelated},
	{"sequences", "chars w=11 k=24 s=3", "DNA, RNA, long numbers", 0, Unrelated},
	{"pages", "page k=27 s=5", "HTML", 0, Templated},
	{"code", "code k=34 s=4", "source code", 0, Unrelated},
	{"logs", "chars k=27 s=5", "log lines", 0, Templated},
	{"records", "chars k=31 s=5", "JSON, XML and other records with the same keys", 0, Templated},
	{"web", "html t=84 k=6 s=14", "pages and their links; the filter of Broder 2000", 0, 0},
	{"bing", "words w=4 t=30 k=6 s=5 r=4", "the smaller filter that Manasse describes", 0, 0},
}

var presets = sync.OnceValue(func() []Preset {
	list := slices.Clone(presetList)
	for i := range list {
		p, err := applySettings(defaultProfile, list[i].Settings)
		if err != nil {
			panic(err) // a preset of ours that does not parse
		}
		list[i].Settings, list[i].AtLeast = p.String(), p.AtLeast()
	}
	return list
})

// Presets returns the presets; the first is the default.
func Presets() []Preset { return slices.Clone(presets()) }

// AtLeast is the resemblance that answers have unless asked otherwise: the
// threshold of the filter.
func (p Profile) AtLeast() float64 { return FilterThreshold(p.K, p.S) }

// StoredBits is how many bits of each slot a table keeps unless the profile says:
// 8, or 4 of more than 128 slots, which are as many bytes and estimate better.
func (p Profile) StoredBits() int {
	if p.T > 128 {
		return 4
	}
	return 8
}

var defaultProfile = Profile{Stream: Words, W: 2, Family: Fast, T: 168, K: 23, S: 4, R: 2, Bits: 64}

// ParseProfile reads settings such as `prose`, `prose w=3 bag` or the canonical
// spelling `words w=2 set fast t=168 k=23 s=4 r=2`. A preset or a stream comes
// first; what is not said is as in the preset `prose`, and a stream has its own
// w. The empty string is `prose`.
func ParseProfile(settings string) (Profile, error) {
	preset, rest := cutPreset(settings)
	p, err := applySettings(defaultProfile, preset.Settings)
	if err == nil {
		p, err = applySettings(p, rest)
	}
	if err == nil {
		err = p.Validate()
	}
	if err == nil && p.Tokens != 0 && p.Tokens == p.ownTokens() {
		p.Tokens = 0
	}
	if err != nil {
		return Profile{}, fmt.Errorf("sketch: profile %.100q: %w", settings, err)
	}
	return p, nil
}

// cutPreset returns the preset that settings begin with, and what follows it; the
// default, and the whole, where they begin with none.
func cutPreset(settings string) (preset Preset, rest string) {
	words := strings.Fields(settings)
	for _, preset := range presets() {
		if len(words) > 0 && strings.EqualFold(preset.Name, words[0]) {
			return preset, strings.Join(words[1:], " ")
		}
	}
	return presets()[0], settings
}

// PresetOf returns the preset that settings build on, and whether they leave its
// filter to be chosen: they do where they give neither k nor s, and the preset is not
// of a paper.
func PresetOf(settings string) (preset Preset, follows bool) {
	preset, rest := cutPreset(settings)
	follows = preset.Background != 0
	for _, word := range strings.Fields(strings.ToLower(rest)) {
		follows = follows && !strings.HasPrefix(word, "k=") && !strings.HasPrefix(word, "s=")
	}
	return preset, follows
}

// Follow gives the profile the filter for a threshold, as ThresholdFilter chooses it,
// and the slots that it needs.
func (p *Profile) Follow(atLeast, recall, background float64) error {
	choice, err := ThresholdFilter(atLeast, recall, background)
	if err == nil {
		p.K, p.S, p.R = choice.K, choice.S, min(p.R, choice.K)
		p.T = max(p.T, p.K*p.S)
	}
	return err
}

// applySettings changes p as the words of settings say.
func applySettings(p Profile, settings string) (Profile, error) {
	givenT := false
	for _, word := range strings.Fields(settings) {
		name, value, valued := strings.Cut(strings.ToLower(word), "=")
		if !valued && p.setWord(name) {
			continue
		}
		if name == "tokens" {
			n, err := strconv.ParseUint(value, 16, 16)
			if err != nil || n == 0 {
				return p, fmt.Errorf("%.40q: want tokens=0001 to tokens=ffff", word)
			}
			p.Tokens = uint16(n)
			continue
		}
		if name == "without" {
			n, err := strconv.ParseUint(value, 16, 32)
			if err != nil || n == 0 || len(value) != 8 {
				return p, fmt.Errorf("%.40q: want without=00000001 to without=ffffffff", word)
			}
			p.Without = uint32(n)
			continue
		}
		field := p.number(name)
		if field == nil {
			return p, fmt.Errorf("%.40q is not a setting or a preset%s", word, didYouMean(name))
		}
		n, err := strconv.Atoi(value)
		if !valued || err != nil {
			return p, fmt.Errorf("%.40q: want %s=NUMBER", word, name)
		}
		*field = n
		switch name {
		case "bottom":
			p.Family, p.Modulus = Bottom, 0
		case "mod":
			if p.Family != Bottom {
				p.Family = Mod
			}
		case "t":
			givenT = true
		}
		p.onlyFamily()
	}
	if !givenT && p.K > 0 && p.S > 0 && p.K <= 64 && p.S <= 255 {
		p.T = max(p.T, p.K*p.S)
	}
	return p, nil
}

// setWord applies a setting without a value and reports whether it is one.
func (p *Profile) setWord(name string) bool {
	for s, w := range shingleLengths {
		if stream := Stream(s); name == stream.String() {
			p.Stream, p.W, p.ReverseFolding = stream, w, false
			return true
		}
	}
	for f, family := range families {
		if name == family.name && Family(f) != Bottom && Family(f) != Mod {
			p.Family = Family(f)
			p.onlyFamily()
			return true
		}
	}
	switch name {
	case "case", "fold":
		p.ReverseFolding = p.Stream.Folds() == (name == "case")
	case "stop":
		p.StopWords = true
	case "vowels":
		p.Vowels = true
	case "duplicates":
		p.Duplicates = true
	case "numbers":
		p.Numbers = true
	case "ids":
		p.IDs = true
	case "dates":
		p.Dates = true
	case "set", "bag":
		p.Bag = name == "bag"
	default:
		return false
	}
	return true
}

// onlyFamily drops the parameters of other families.
func (p *Profile) onlyFamily() {
	if p.Family != Bottom {
		p.Size = 0
	}
	if p.Family != Bottom && p.Family != Mod {
		p.Modulus = 0
	}
}

func (p *Profile) number(name string) *int {
	switch name {
	case "w":
		return &p.W
	case "bottom":
		return &p.Size
	case "mod":
		return &p.Modulus
	case "t":
		return &p.T
	case "k":
		return &p.K
	case "s":
		return &p.S
	case "r":
		return &p.R
	case "bits":
		return &p.Bits
	}
	return nil
}

// String returns the canonical spelling.
func (p Profile) String() string {
	if int(p.Stream) >= len(shingleLengths) || int(p.Family) >= len(families) {
		return fmt.Sprintf("invalid profile (stream %d, family %d)", p.Stream, p.Family)
	}
	words := []string{p.Stream.String()}
	flag := func(set bool, word string) {
		if set {
			words = append(words, word)
		}
	}
	number := func(name string, n int) { words = append(words, name+"="+strconv.Itoa(n)) }
	flag(p.ReverseFolding && p.Stream.Folds(), "case")
	flag(p.ReverseFolding && !p.Stream.Folds(), "fold")
	flag(p.StopWords, "stop")
	flag(p.Vowels, "vowels")
	flag(p.Duplicates, "duplicates")
	flag(p.Numbers, "numbers")
	flag(p.IDs, "ids")
	flag(p.Dates, "dates")
	number("w", p.W)
	flag(p.Bag, "bag")
	flag(!p.Bag, "set")
	switch p.Family {
	case Bottom:
		number("bottom", p.Size)
		if p.Modulus != 0 {
			number("mod", p.Modulus)
		}
	case Mod:
		number("mod", p.Modulus)
	default:
		flag(true, p.Family.String())
	}
	number("t", p.T)
	number("k", p.K)
	number("s", p.S)
	number("r", p.R)
	if p.Bits != 64 {
		number("bits", p.Bits)
	}
	flag(p.Without != 0, fmt.Sprintf("without=%08x", p.Without))
	flag(p.Tokens != 0, fmt.Sprintf("tokens=%04x", p.Tokens))
	return strings.Join(words, " ")
}

// didYouMean suggests the preset or the setting that a word misspells: one letter more, less,
// other or two letters exchanged.
func didYouMean(word string) string {
	var known []string
	for _, preset := range presetList {
		known = append(known, preset.Name)
	}
	for stream := range shingleLengths {
		known = append(known, Stream(stream).String())
	}
	for _, family := range families {
		known = append(known, family.name)
	}
	for _, name := range append(known, "case", "fold", "stop", "vowels", "duplicates", "numbers", "ids", "dates", "set", "bag", "bits") {
		if name != word && nearlyEqual(name, word) {
			return "; did you mean " + name + "?"
		}
	}
	return ""
}

func nearlyEqual(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	a, b = a[i:], b[i:]
	if len(a) < len(b) {
		return a == b[1:]
	}
	return a == "" || a[1:] == b[1:] || len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
}

// Slots reports whether a sketch of the profile has slots, rather than a list
// of values: whether its bits can be cut.
func (p Profile) Slots() bool { return families[p.Family].slots }

// Comparable returns nil when sketches of the two profiles compare: when they
// differ in nothing but the bits that are stored. Else its error is ErrTokens,
// when all that differs is the build that made the tokens, or ErrProfile.
func (p Profile) Comparable(q Profile) error {
	other := q
	if other.Bits = p.Bits; p == other {
		return nil
	}
	return p.differs(q)
}

// differs is the error of two profiles that are not equal.
func (p Profile) differs(q Profile) error {
	one, other := p, q
	one.Tokens, other.Tokens, one.Bits = 0, 0, other.Bits
	if p.Tokens != q.Tokens && one == other {
		return fmt.Errorf("%w: tokens %04x and %04x of %q", ErrTokens, p.TokensFingerprint(), q.TokensFingerprint(), one)
	}
	return fmt.Errorf("%w: %q and %q", ErrProfile, p, q)
}

// folds reports whether case is folded.
func (p *Profile) folds() bool { return p.Stream.Folds() != p.ReverseFolding }

// Settings are those of the profile that decide tokens.
func (p *Profile) tokenSettings() token.Settings {
	return token.Settings{Stream: p.Stream, Fold: p.folds(), StopWords: p.StopWords, Vowels: p.Vowels, Duplicates: p.Duplicates, Numbers: p.Numbers, IDs: p.IDs, Dates: p.Dates}
}

// Validate reports the first setting that is out of its limits.
func (p Profile) Validate() error { return p.validate() }

func (p *Profile) validate() error {
	if int(p.Stream) >= len(shingleLengths) {
		return fmt.Errorf("stream %d, want 0 to %d", p.Stream, len(shingleLengths)-1)
	}
	if int(p.Family) >= len(families) {
		return fmt.Errorf("family %d, want 0 to %d", p.Family, len(families)-1)
	}
	switch outside := func(name string, n, top int) error { return fmt.Errorf("%s=%d, want 1 to %d", name, n, top) }; {
	case p.W < 1 || p.W > 1024:
		return outside("w", p.W, 1024)
	case p.K < 1 || p.K > 64:
		return outside("k", p.K, 64)
	case p.S < 1 || p.S > 255:
		return outside("s", p.S, 255)
	case p.T < 1 || p.T > 4096:
		return outside("t", p.T, 4096)
	case p.R < 1 || p.R > p.K:
		return outside("r", p.R, p.K)
	}
	if p.T < p.K*p.S {
		return fmt.Errorf("t=%d, want at least k·s = %d", p.T, p.K*p.S)
	}
	switch p.Bits {
	case 64:
	case 1, 2, 4, 8:
		if !p.Slots() {
			return fmt.Errorf("bits=%d: the family %s has no slots to cut", p.Bits, p.Family)
		}
	default:
		return fmt.Errorf("bits=%d, want 1, 2, 4, 8 or 64", p.Bits)
	}
	if p.Family == Weighted && p.Bag {
		return errors.New("bag: the family weighted counts occurrences by itself")
	}
	if p.Family == Bottom && (p.Size < 1 || p.Size > 65535) {
		return fmt.Errorf("bottom=%d, want 1 to 65535", p.Size)
	}
	if p.Family == Mod && (p.Modulus < 1 || p.Modulus > 1<<31-1) || p.Family == Bottom && (p.Modulus < 0 || p.Modulus > 1<<31-1) {
		return fmt.Errorf("mod=%d, want 1 to %d", p.Modulus, 1<<31-1)
	}
	if p.Without != 0 && (p.Family == Bottom || p.Family == Mod) {
		return fmt.Errorf("without=%08x: the family %s leaves no shingles out", p.Without, p.Family)
	}
	if p.Stream == Elements && p.Tokens != 0 {
		return fmt.Errorf("tokens=%04x: the stream elements has no tokens", p.Tokens)
	}
	if p.Family != Bottom && p.Size != 0 || p.Family != Bottom && p.Family != Mod && p.Modulus != 0 {
		return fmt.Errorf("the family %s takes no bottom or mod", p.Family)
	}
	return nil
}

// TokensFingerprint tells builds apart that make different tokens of the same
// text: it is a fingerprint, never 0, of the tokens that this build makes of a
// canary text under the settings of p that decide tokens (the stream, the case
// and the filters). It is 0 under the stream elements, which has no tokens of a
// text. Every stored sketch has it, in bytes 20 and 21 of its header, and
// sketches with different ones do not compare (ErrTokens).
//
// A table of sketches keeps it beside the profile. A row whose sketch was made
// under another number is stale: it counts as one in status, and refresh sketches
// it again, and only it. A row without a sketch, a document that had no token,
// counts by the number that was kept beside its profile.
func (p Profile) TokensFingerprint() uint16 {
	if p.Tokens != 0 {
		return p.Tokens
	}
	return p.ownTokens()
}

// ownTokens is the fingerprint of this build.
func (p *Profile) ownTokens() uint16 { return tokensOf(p.Stream, p.flags()) }

// tokensOf is the fingerprint of this build under the stream and the flags of a header.
func tokensOf(stream Stream, flags byte) uint16 {
	if stream == Elements || int(stream) >= len(knownTokens) {
		return 0
	}
	known := &knownTokens[stream][flags]
	f := known.Load()
	if f == 0 {
		p := Profile{Stream: stream}
		p.setFlags(flags)
		f = uint32(token.Fingerprint(p.tokenSettings()))
		known.Store(f)
	}
	return uint16(f)
}

// knownTokens are the fingerprints that were asked for; 0 is not yet known.
var knownTokens [len(shingleLengths)][256]atomic.Uint32
