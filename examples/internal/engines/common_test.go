//go:build unix

package engines

import (
	"fmt"
	"strings"
	"testing"
)

// Both learn the same list of what very many rows share, name it alike and sketch without it
// alike, of every kind of text, and in pages.
func TestSameBoilerplate(t *testing.T) {
	e := open(t)
	for name, options := range map[string]string{
		"plain":  `{"common": true, "policy": "link"}`,
		"chars":  `{"profile": "short", "common": 0.2}`,
		"pages":  `{"profile": "prose w=3 bag", "extract": "html", "common": 0.05}`,
		"scaled": `{"profile": "words scaled", "common": 0.1, "at_least": 0.4}`,
		"rare":   `{"profile": "prose", "common": 1}`,
		"halved": `{"profile": "prose", "common": 0.1, "where": "id % 2 = 0"}`,
	} {
		e.exec("create table " + name + " (id bigint primary key, body text)")
		for i := range 80 {
			text := fmt.Sprintf("<p>Report %d of pump%d, mill%d: leaks%d.</p>", i, i, i%40, i%7)
			if i%3 != 0 {
				text += "<p>This message is confidential &amp; for the addressee alone; delete it if you are not.</p>"
			}
			e.exec("insert into "+name+" values ($1, $2)", i, text)
		}
		e.exec("insert into " + name + " values (200, null), (201, ''), (202, 'This message is confidential')")
		e.exec("select alike.attach('"+name+"', 'body', $1)", options)
		e.follow()
		e.exec("insert into " + name + " values (300, '<p>Report 4 of pump4, mill4: leaks4!</p><p>This message is confidential &amp; for the addressee alone.</p>')")
		e.follow()
		learned := e.same("select profile from alike.status() where name = '" + name + "'")
		if named := strings.Contains(learned[0], " without="); named != (name != "rare") {
			t.Errorf("%s: the profile is %s", name, learned[0])
		}
		e.same("select shingles, sketch, f1, f2 from " + name + "_alike where sketch is not null order by id")
		e.same("select key, other, shared, resemblance, low, high from alike.pairs('" + name + "') order by 1, 2")
	}
}
