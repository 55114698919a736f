package token

import (
	"bytes"
	"slices"
)

// maxDate is the most bytes that are read for a date with its time.
const maxDate = 96

// dated blanks the dates and times of a document before another tokenizer reads
// it. A blank takes the place of each byte, so that both count the same bytes.
type dated struct {
	Tokenizer
	text   []byte  // the document from the first byte that the tokenizer has not taken, dates blanked
	taken  int     // the bytes at the beginning of text that it has taken since
	inDate int     // the next bytes of the document that belong to a date
	before [2]byte // the two bytes of the document before them
}

func (d *dated) Reset() {
	d.Tokenizer.Reset()
	d.text, d.taken, d.inDate, d.before = d.text[:0], 0, 0, [2]byte{}
}

func (d *dated) Next(t *Tokens, src []byte, final bool) int {
	d.text = d.text[:copy(d.text, d.text[d.taken:])]
	d.taken = 0
	for spans := len(t.Spans); ; {
		more := min(len(src)-len(d.text), pieceSize)
		if !final {
			more = min(more, len(src)-len(d.text)-maxDate)
		}
		if more > 0 {
			d.blank(src[len(d.text):], more)
		}
		d.taken = d.Tokenizer.Next(t, d.text, final && len(d.text) == len(src))
		if d.taken > 0 || len(t.Spans) > spans || more <= 0 {
			return d.taken
		}
	}
}

// blank appends the first n bytes of src to the text; the bytes after them show
// where a date among them ends.
func (d *dated) blank(src []byte, n int) {
	for i := 0; i < n; i++ {
		c := src[i]
		if d.inDate == 0 {
			d.inDate = d.date(src[i:])
		}
		if d.inDate > 0 {
			d.inDate--
			d.text = append(d.text, ' ')
		} else {
			d.text = append(d.text, c)
		}
		d.before = [2]byte{d.before[1], c}
	}
}

// date returns the length of the date or time at the beginning of src, or 0.
func (d *dated) date(src []byte) int {
	digit := isDigit(src[0])
	if digit && !startsNumber(src) || !digit && !startsName(src) || isWordByte(d.before[1]) || joinsNumbers(d.before[1]) && isDigit(d.before[0]) {
		return 0
	}
	if d.before[1] >= 0x80 && !digit {
		return 0 // within a word
	}
	m := moment{src[:min(len(src), maxDate)]}
	n := m.moment()
	if n < 0 || n+1 < len(src) && joinsNumbers(src[n]) && isDigit(src[n+1]) {
		return 0
	}
	return n
}

// startsNumber tells quickly that src, which begins with a digit, is no date for what
// follows its first number.
func startsNumber(src []byte) bool {
	n := 1
	for n < len(src) && n < 9 && isDigit(src[n]) {
		n++
	}
	if n == len(src) || n > 4 {
		return n == 8 && n < len(src) && src[n]|0x20 == 't'
	}
	switch c := src[n] | 0x20; {
	case n > 2: // a year
		return joinsNumbers(src[n]) || c >= 0x80
	case c == ' ' || src[n] == '\t': // the name of a month, "of" or the half of a day
		for n < len(src) && (src[n] == ' ' || src[n] == '\t') {
			n++
		}
		return n < len(src) && src[n] >= 'A'
	default:
		return joinsNumbers(src[n]) || c >= 'a'
	}
}

// startsName tells quickly that src cannot begin with the name of a month or of a
// weekday.
func startsName(src []byte) bool {
	if len(src) < 3 || src[0] < 'A' || src[0] > 'z' {
		return false
	}
	name := [3]byte{src[0] | 0x20, src[1] | 0x20, src[2] | 0x20}
	return bytes.Contains([]byte(" jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun "), name[:])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// joinsNumbers reports whether c makes one number, address or path of two.
func joinsNumbers(c byte) bool { return c == '.' || c == ':' || c == '/' || c == '-' }

// A moment reads dates and times by the grammar of FORMAT.md, section 3. Each method
// reads one of its rules at a place and returns the place behind it, or -1; no rule
// needs another try once a part of it was read.
type moment struct{ src []byte }

func (m moment) moment() int {
	if end := m.compact(); end >= 0 {
		return end
	}
	if end := m.ordered(0, '-'); end >= 0 && m.at(end)|0x20 == 't' {
		if end = m.time(end + 1); end >= 0 {
			return end
		}
	}
	if end := m.time(0); end >= 0 {
		if date := m.date(m.blank(m.optional(end, ','))); date >= 0 {
			return date
		}
		return end
	}
	date := -1
	if day := m.name(0, weekdays); day >= 0 {
		date = m.date(m.blank(m.optional(m.optional(day, '.'), ',')))
	}
	if date < 0 {
		date = m.date(0)
	}
	if date < 0 {
		return -1
	}
	time := m.time(m.optional(date, ':'))
	if m.at(date) != ':' {
		comma := m.optional(date, ',')
		if time = m.time(m.blank(m.word(m.blank(comma), "at"))); time < 0 {
			time = m.time(m.blanks(comma))
		}
	}
	if time < 0 {
		return date
	}
	if year := m.yearAfterZone(time); year >= 0 {
		return year
	}
	return time
}

// yearAfterZone reads the year of "Nov 22 12:53:22 UTC 2026", which follows the time.
func (m moment) yearAfterZone(i int) int {
	i = m.blank(i)
	if year := m.end(m.year(i)); year >= 0 {
		return year
	}
	zone := i
	for zone >= 0 && m.at(zone)|0x20 >= 'a' && m.at(zone)|0x20 <= 'z' {
		zone++
	}
	if zone-i < 3 || zone-i > 4 {
		return -1
	}
	return m.end(m.year(m.blank(zone)))
}

// compact reads 20261122T101530Z.
func (m moment) compact() int {
	if digits, _ := m.number(0, 8); digits != 8 || m.at(8)|0x20 != 't' {
		return -1
	}
	end, _ := m.number(9, 6)
	if s := m.src; end != 13 && end != 15 || s[0] < '1' || s[0] > '2' || s[4] > '1' || s[6] > '3' || s[9] > '2' || s[11] > '5' || end == 15 && s[13] > '5' {
		return -1
	}
	if zone, _ := m.number(end+1, 4); (m.at(end) == '+' || m.at(end) == '-') && zone == end+5 {
		end = zone
	} else if m.at(end)|0x20 == 'z' {
		end++
	}
	return m.end(end)
}

func (m moment) date(i int) int {
	if i < 0 || i >= len(m.src) {
		return -1
	}
	if !isDigit(m.src[i]) {
		return m.monthFirst(i)
	}
	for _, mark := range []byte("-/.") {
		if end := m.end(m.ordered(i, mark)); end >= 0 {
			return end
		}
		if end := m.end(m.dayOrMonthFirst(i, mark)); end >= 0 {
			return end
		}
	}
	if end := m.dayFirst(i); end >= 0 {
		return end
	}
	return m.eastern(i)
}

// ordered reads 2026-11-22.
func (m moment) ordered(i int, mark byte) int {
	i = m.mark(m.year(i), mark)
	return m.between(m.mark(m.between(i, 1, 12), mark), 1, 31)
}

// dayOrMonthFirst reads 22/11/2026, 11/22/2026, 22/11/26 and 22.11.26.
func (m moment) dayOrMonthFirst(i int, mark byte) int {
	second := m.mark(m.between(i, 1, 31), mark)
	third := m.mark(m.between(second, 1, 31), mark)
	year := m.year(third)
	two, _ := m.number(third, 2)
	short := two == third+2 && third >= 0
	switch mark {
	case '/':
		if year < 0 && short {
			year = two
		}
	case '.':
		if year < 0 && short && second == i+3 && third == i+6 && m.at(i) <= '3' && m.at(second) <= '1' {
			year = two
		}
	}
	dayFirst, monthFirst := m.between(second, 1, 12) >= 0, m.between(i, 1, 12) >= 0 && mark != '.'
	if third < 0 || !dayFirst && !monthFirst {
		return -1
	}
	return year
}

// monthFirst reads Nov. 22nd, 2026 and November 2026.
func (m moment) monthFirst(i int) int {
	i = m.name(i, months)
	if i < 0 {
		return -1
	}
	dot := m.optional(i, '.')
	if end := m.ordinal(m.between(m.blank(dot), 1, 31)); end >= 0 {
		if year := m.end(m.year(m.blank(m.optional(end, ',')))); year >= 0 && m.end(end) >= 0 {
			return year
		}
		return m.end(end)
	}
	if year := m.end(m.year(m.blank(m.optional(dot, ',')))); year >= 0 {
		return year
	}
	return m.end(m.year(m.mark(dot, '-')))
}

// dayFirst reads 22nd of November 2026 and 22-Nov-2026.
func (m moment) dayFirst(i int) int {
	i = m.ordinal(m.between(i, 1, 31))
	if i < 0 {
		return -1
	}
	month := -1
	switch c := m.at(i); {
	case c == '-' || c == '/':
		month = m.name(i+1, months)
	default:
		i = m.blank(i)
		if month = m.name(m.blank(m.word(i, "of")), months); month < 0 {
			month = m.name(i, months)
		}
	}
	if month < 0 {
		return -1
	}
	dot := m.optional(month, '.')
	for _, year := range [...]int{m.year(m.blank(m.optional(dot, ','))), m.year(m.mark(dot, '-')), m.year(m.mark(dot, '/'))} {
		if m.end(year) >= 0 {
			return year
		}
	}
	return month
}

// eastern reads 2026年11月22日, 11月22日, 2026年11月 and 2026年, in Korean too.
func (m moment) eastern(i int) int {
	monthAndDay := func(i int) int {
		return m.counted(m.blanks(m.counted(i, 1, 2, "月", "월")), 1, 2, "日", "일")
	}
	if end := monthAndDay(i); end >= 0 {
		return end
	}
	year := m.counted(i, 2, 4, "年", "년")
	if end := monthAndDay(m.blanks(year)); end >= 0 {
		return end
	}
	if year = m.counted(i, 4, 4, "年", "년"); year >= 0 {
		if end := m.counted(m.blanks(year), 1, 2, "月", "월"); end >= 0 {
			return end
		}
	}
	return year
}

func (m moment) time(i int) int {
	if i < 0 || i >= len(m.src) || !isDigit(m.src[i]) {
		return -1
	}
	hour := m.between(i, 0, 24)
	if minute := m.between(m.mark(hour, ':'), 0, 59); minute == hour+3 {
		second := m.between(m.mark(minute, ':'), 0, 69)
		fraction := -1
		if second != minute+3 {
			second = -1
		} else if c := m.at(second); c == '.' || c == ',' {
			if fraction, _ = m.number(second+1, 9); fraction == second+1 {
				fraction = -1
			}
		}
		for _, end := range [...]int{fraction, second, minute} {
			if end = m.halfAndZone(end); end >= 0 {
				return end
			}
		}
	}
	if end := m.half(hour); end >= 0 {
		return end
	}
	if end := m.counted(m.counted(i, 1, 2, "点"), 1, 2, "分"); end >= 0 {
		return max(end, m.counted(end, 1, 2, "秒"))
	}
	end := m.counted(i, 1, 2, "時", "时", "시")
	if minute := m.counted(m.blanks(end), 1, 2, "分", "분"); minute >= 0 {
		end = max(minute, m.counted(m.blanks(minute), 1, 2, "秒", "초"))
	}
	return end
}

// halfAndZone reads what may follow the digits of a time.
func (m moment) halfAndZone(i int) int {
	if i < 0 {
		return -1
	}
	half := m.half(i)
	for _, end := range [...]int{m.zone(half), m.zone(i), half} {
		if end >= 0 {
			return end
		}
	}
	return m.end(i)
}

func (m moment) half(i int) int {
	i = m.blanks(i)
	if c := m.at(i) | 0x20; i < 0 || c != 'a' && c != 'p' {
		return -1
	}
	if end := m.mark(m.letter(m.mark(i+1, '.'), 'm'), '.'); end >= 0 {
		return end
	}
	return m.end(m.letter(i+1, 'm'))
}

func (m moment) zone(i int) int {
	i = m.blanks(i)
	if i < 0 {
		return -1
	}
	for _, name := range [...]string{"z", "utc", "gmt"} {
		if end := m.word(i, name); end >= 0 {
			return end
		}
	}
	if c := m.at(i); c != '+' && c != '-' {
		return -1
	}
	hour, _ := m.number(i+1, 2)
	minute, _ := m.number(m.optional(hour, ':'), 2)
	if hour != i+3 || minute != m.optional(hour, ':')+2 {
		return -1
	}
	return m.end(minute)
}

var (
	months = []string{
		"january", "jan", "february", "feb", "march", "mar", "april", "apr", "may", "june", "jun", "july", "jul", "august", "aug",
		"september", "sept", "sep", "october", "oct", "november", "nov", "december", "dec",
	}
	weekdays = []string{
		"monday", "mon", "tuesday", "tues", "tue", "wednesday", "wed", "thursday", "thurs", "thu", "friday", "fri",
		"saturday", "sat", "sunday", "sun",
	}
	ordinals = []string{"st", "nd", "rd", "th"}
)

// at returns the byte at i, 0 outside.
func (m moment) at(i int) byte {
	if i < 0 || i >= len(m.src) {
		return 0
	}
	return m.src[i]
}

// end returns i if no letter, digit or low line follows.
func (m moment) end(i int) int {
	if i < 0 || isWordByte(m.at(i)) {
		return -1
	}
	return i
}

// number reads up to n digits, and returns their end and value.
func (m moment) number(i, n int) (end, value int) {
	if i < 0 {
		return -1, 0
	}
	for end = i; end < i+n && isDigit(m.at(end)); end++ {
		value = 10*value + int(m.src[end]-'0')
	}
	return end, value
}

// between reads a number of one or two digits, which no third follows.
func (m moment) between(i, low, high int) int {
	end, value := m.number(i, 2)
	if end <= i || value < low || value > high || isDigit(m.at(end)) {
		return -1
	}
	return end
}

// year reads four digits from 1000 to 2999.
func (m moment) year(i int) int {
	end, value := m.number(i, 4)
	if i < 0 || end != i+4 || value < 1000 || value > 2999 {
		return -1
	}
	return end
}

// counted reads a number of as many digits and a unit behind it.
func (m moment) counted(i, minDigits, maxDigits int, units ...string) int {
	end, _ := m.number(i, maxDigits)
	if i < 0 || end < i+minDigits {
		return -1
	}
	for _, unit := range units {
		if bytes.HasPrefix(m.src[end:], []byte(unit)) {
			return end + len(unit)
		}
	}
	return -1
}

// ordinal reads st, nd, rd or th, if one follows.
func (m moment) ordinal(i int) int {
	if i >= 0 && slices.Contains(ordinals, string([]byte{m.at(i) | 0x20, m.at(i+1) | 0x20})) {
		return i + 2
	}
	return i
}

// name reads one of names as a word.
func (m moment) name(i int, names []string) int {
	for _, name := range names {
		if end := m.word(i, name); end >= 0 {
			return end
		}
	}
	return -1
}

// word reads name, which no letter, digit or low line follows.
func (m moment) word(i int, name string) int {
	for j := range len(name) {
		if i = m.letter(i, name[j]); i < 0 {
			return -1
		}
	}
	return m.end(i)
}

func (m moment) letter(i int, c byte) int {
	if i < 0 || m.at(i)|0x20 != c {
		return -1
	}
	return i + 1
}

func (m moment) mark(i int, c byte) int {
	if i < 0 || m.at(i) != c {
		return -1
	}
	return i + 1
}

func (m moment) optional(i int, c byte) int { return max(i, m.mark(i, c)) }

// blank reads one or two blanks or tabs.
func (m moment) blank(i int) int {
	if end := m.blanks(i); end > i {
		return end
	}
	return -1
}

// blanks reads up to two blanks or tabs.
func (m moment) blanks(i int) int {
	for n := 0; i >= 0 && n < 2 && (m.at(i) == ' ' || m.at(i) == '\t'); n++ {
		i++
	}
	return i
}
