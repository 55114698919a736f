//go:build unix

package engines

import (
	"regexp"
	"strings"
	"testing"
)

// sentences are bad events that can happen in either engine, and what both say. Where a
// sentence ends in … the engines go on differently: their options are others, and in
// PostgreSQL a row can wait for a worker.
var sentences = []struct{ event, statement, sentence string }{
	{"a table that is missing", `select alike.attach('x', 'body')`, `there is no table x`},
	{"a column that is missing", `select alike.attach('d', 'text')`, `d has no column text`},
	{"a view", `select alike.attach('v', 'body')`, `v is a view, want a table`},
	{"a table of an attachment", `select alike.attach('e_alike', 'sketch')`, `e_alike is a table of an attachment`},
	{"the matches of an attachment", `select alike.attach('e_alike_match', 'policy')`, `e_alike_match is a table of an attachment`},
	{"a key with the name of a column of ours", `select alike.attach('k', 'body')`, `the key column sketch of k has the name of a column of the side table`},
	{"a name that belongs to another attachment", `select alike.attach('d', 'body', '{"name": "e"}')`, `the name e belongs to an attachment of e`},
	{"another column under the same name", `select alike.attach('e', 'title')`, `e is attached to the column body; give the other column a name of its own`},
	{"a name that is empty", `select alike.attach('d', 'body', '{"name": ""}')`, `the name is "", want 1 to …`},

	{"an unknown option", `select alike.attach('d', 'body', '{"profil": "prose"}')`, `there is no option "profil", want profile, …`},
	{"an unknown option of detach", `select alike.detach('e', '{"drip": true}')`, `there is no option "drip", want drop`},
	{"options that are an array", `select alike.attach('d', 'body', '[]')`, `the options are [], want a JSON object`},
	{"options that are null", `select alike.attach('d', 'body', 'null')`, `the options are null, want a JSON object`},
	{"a profile that is null", `select alike.attach('d', 'body', '{"profile": null}')`, `the option profile is null, want a string`},
	{"a policy that is null", `select alike.attach('e', 'body', '{"policy": null}')`, `the option policy is null, want a string`},
	{"indexes that are null", `select alike.attach('d', 'body', '{"si": null}')`, `the option si is null, want an array of strings`},
	{"contains that is null", `select alike.attach('d', 'body', '{"contains": null}')`, `the option contains is null, want true or false`},
	{"clusters that are null", `select alike.attach('d', 'body', '{"clusters": null}')`, `the option clusters is null, want true, false, or the most rows of a cluster, from 2 to 1000000`},
	{"drop that is null", `select alike.detach('e', '{"drop": null}')`, `the option drop is null, want true or false`},
	{"an option of another type", `select alike.attach('d', 'body', '{"profile": 7}')`, `the option profile is 7, want a string`},
	{"an option that wants an array", `select alike.attach('d', 'body', '{"si": "length"}')`, `the option si is "length", want an array of strings`},
	{"an option that wants true or false", `select alike.attach('d', 'body', '{"contains": 1}')`, `the option contains is 1, want true or false`},
	{"superfeatures that are the features", `select alike.attach('d', 'body', '{"profile": "words r=1", "superfeatures": true}')`, `the superfeatures under r=1 are the features; want a profile with r=2 or more`},
	{"more superfeatures than a table has columns", `select alike.attach('d', 'body', '{"profile": "words k=64 s=2 r=32", "superfeatures": true}')`, `the superfeatures under k=64 r=32 are 1099511627776 columns beside 64 features, want at most 80 together, as k=12 r=2 makes`},
	{"superfeatures of a profile that attach chooses", `select alike.attach('d', 'body', '{"superfeatures": true}')`, `the superfeatures under k=23 r=2 are 253 columns beside 23 features, want at most 80 together, as k=12 r=2 makes`},
	{"superfeatures in parts", `select alike.attach('d', 'body', '{"profile": "bing", "superfeatures": true, "layout": "parts"}')`, `superfeatures are columns with an index each, which the layout parts does without; want the layout columns`},
	{"superfeatures that are a number", `select alike.attach('d', 'body', '{"superfeatures": 1}')`, `the option superfeatures is 1, want true or false`},
	{"a key with the name of a superfeature", `select alike.attach('g', 'body')`, `the key column g1 of g has the name of a column of the side table`},
	{"drop that is a number", `select alike.detach('e', '{"drop": 1}')`, `the option drop is 1, want true or false`},
	{"at_least that is text", `select alike.attach('d', 'body', '{"at_least": "0.5"}')`, `the option at_least is "0.5", want a number above 0 and at most 1, or null`},
	{"recall that is text", `select alike.attach('d', 'body', '{"recall": "x"}')`, `the option recall is "x", want a number between 0 and 1, or null`},
	{"an unknown preset", `select alike.attach('d', 'body', '{"profile": "novel"}')`, `profile "novel": "novel" is not a setting or a preset`},
	{"a setting out of its range", `select alike.attach('d', 'body', '{"profile": "words w=0"}')`, `profile "words w=0": …`},
	{"slots that the features do not leave", `select alike.attach('d', 'body', '{"profile": "words t=10"}')`, `profile "words t=10": t=10, want at least k·s = 92`},
	{"an unknown similarity index", `select alike.attach('d', 'body', '{"si": ["99Z"]}')`, `similarity index "99Z": …`},
	{"a similarity index given twice", `select alike.attach('d', 'body', '{"si": ["length", "length"]}')`, `the similarity index length is given twice`},
	{"an unknown policy", `select alike.attach('d', 'body', '{"policy": "refuse"}')`, `the policy is "refuse", want ignore, link, warn or reject`},
	{"an unknown mode", `select alike.attach('d', 'body', '{"mode": "later"}')`, `the mode is "later", want …`},
	{"an unknown way to extract", `select alike.attach('d', 'body', '{"extract": "?"}')`, `the extract is "?", want plain…`},
	{"an unknown way to verify", `select alike.attach('d', 'body', '{"verify": "by hand"}')`, `the verify is "by hand", want sketch or text`},
	{"a policy by something else", `select alike.attach('d', 'body', '{"by": "length"}')`, `the option by is "length", want resemblance or containment`},
	{"by that is a number", `select alike.attach('d', 'body', '{"by": 1}')`, `the option by is 1, want a string`},
	{"a policy by containment without values", `select alike.attach('d', 'body', '{"policy": "link", "by": "containment"}')`, `a policy by containment needs the values that the option contains keeps; want {"by": "containment", "contains": true}`},
	{"a change to containment without values", `select alike.attach('e', 'body', '{"by": "containment"}')`, `a policy by containment needs the values that the option contains keeps; want {"by": "containment", "contains": true}`},
	{"a key with the name of a column of the matches", `select alike.attach('m', 'body')`, `the key column relation of m has the name of a column of the side table`},
	{"at_least above 1", `select alike.attach('d', 'body', '{"at_least": 2}')`, `at_least is 2, want above 0 and at most 1`},
	{"at_least of 0", `select alike.attach('d', 'body', '{"at_least": 0}')`, `at_least is 0, want above 0 and at most 1`},
	{"recall above 1", `select alike.attach('d', 'body', '{"recall": 2}')`, `recall is 2, want between 0 and 1`},
	{"no match to be kept", `select alike.attach('d', 'body', '{"matches": 0}')`, `the option matches is 0, want a whole number from 1 to 1000 or null`},
	{"more matches than a checkin looks at", `select alike.attach('d', 'body', '{"matches": 1001}')`, `the option matches is 1001, want a whole number from 1 to 1000 or null`},
	{"half a match", `select alike.attach('d', 'body', '{"matches": 1.5}')`, `the option matches is 1.5, want a whole number from 1 to 1000 or null`},
	{"a length without a threshold", `select alike.attach('d', 'body', '{"short": {"below": 30}}')`, `the option short is {"below": 30}, want {"below": a whole number from 2 to 1000000, "at_least": a number above 0 and at most 1} or null`},
	{"a number for short texts", `select alike.attach('d', 'body', '{"short": 30}')`, `the option short is 30, want {"below": a whole number from 2 to 1000000, "at_least": a number above 0 and at most 1} or null`},
	{"a length of half a shingle", `select alike.attach('d', 'body', '{"short": {"below": 3.5}}')`, `the option short is {"below": 3.5}, want {"below": a whole number from 2 to 1000000, "at_least": a number above 0 and at most 1} or null`},
	{"text for short texts", `select alike.attach('d', 'body', '{"short": "x"}')`, `the option short is "x", want {"below": a whole number from 2 to 1000000, "at_least": a number above 0 and at most 1} or null`},
	{"no object for short texts", `select alike.attach('d', 'body', '{"short": []}')`, `the option short is [], want {"below": a whole number from 2 to 1000000, "at_least": a number above 0 and at most 1} or null`},
	{"a threshold of short texts above 1", `select alike.attach('d', 'body', '{"short": {"below": 30, "at_least": 1.5}}')`, `the option short is …`},
	{"a setting of short texts that there is not", `select alike.attach('d', 'body', '{"short": {"below": 30, "at_least": 0.9, "more": 1}}')`, `the option short is …`},
	{"short texts of 1 shingle", `select alike.attach('d', 'body', '{"short": {"below": 1, "at_least": 0.9}}')`, `the option short is …`},
	{"a length that is text", `select alike.attach('d', 'body', '{"short": {"below": "30", "at_least": 0.9}}')`, `the option short is …`},
	{"short texts that need less than others", `select alike.attach('d', 'body', '{"at_least": 0.6, "short": {"below": 30, "at_least": 0.5}}')`, `the option short has at_least 0.5, want 0.6, that of longer texts, or more`},
	{"a condition on a missing column", `select alike.attach('d', 'body', '{"where": "missing > 1"}')`, `where: …`},
	{"a condition that is two", `select alike.attach('d', 'body', '{"where": "id > 1) or (id < 1"}')`, `where: …`},
	{"a condition with another answer each time", `select alike.attach('d', 'body', '{"where": "random() > 0.5"}')`, `where: …`},
	{"a condition on what time it is", `select alike.attach('d', 'body', '{"where": "current_timestamp is null"}')`, `where: …`},
	{"a condition with a subquery", `select alike.attach('d', 'body', '{"where": "id in (select id from e)"}')`, `where: …`},

	{"detach of what is not attached", `select alike.detach('d')`, `nothing is attached to d…`},
	{"refresh of what is not attached", `select alike.refresh('d')`, `nothing is attached to d…`},
	{"a question about what is not attached", `select * from alike.rows('d', '1')`, `nothing is attached to d…`},
	{"pairs of what is not attached", `select * from alike.pairs('d')`, `nothing is attached to d…`},
	{"clusters of what is not there", `select * from alike.clusters('x')`, `nothing is attached to x…`},
	{"keep of what is not there", `select * from alike.keep('x')`, `nothing is attached to x…`},
	{"hot features of what is not attached", `select * from alike.hot('d')`, `nothing is attached to d…`},
	{"a verdict on what is not attached", `select alike.mark('d', '1', '2', 'distinct')`, `nothing is attached to d…`},

	{"containment from 0", `select * from alike.containers('e', '1', 0)`, `at_least is 0, want above 0`},
	{"containment above 1", `select * from alike.containments('e', 1.5)`, `at_least is 1.5, want a number from 0 to 1`},
	{"containment without values", `select * from alike.contained('e', '1')`, `e keeps no values for questions on containment…`},
	{"a row that is missing", `select * from alike.rows('e', '9')`, `e has no row 9…`},
	{"a row that is missing, by its index", `select * from alike.si_rows('i', 'length', '9')`, `i has no row 9…`},
	{"a composite key that is a number", `select * from alike.rows('c', 'x')`, `the key is "x", want a JSON array of 2 values`},
	{"a composite key with too many values", `select * from alike.rows('c', '[1,2,3]')`, `the key is "[1,2,3]", want a JSON array of 2 values`},
	{"a composite key with too few values", `select * from alike.rows('c', '[1]')`, `the key is "[1]", want a JSON array of 2 values`},
	{"a composite key that is an object", `select * from alike.rows('c', '{}')`, `the key is "{}", want a JSON array of 2 values`},
	{"an index of a composite key with too many values", `select * from alike.si_rows('c', 'length', '[1,2,3]')`, `the key is "[1,2,3]", want a JSON array of 2 values`},
	{"a forest of a composite key with too few values", `select * from alike.forest_rows('c', '[1]')`, `the key is "[1]", want a JSON array of 2 values`},
	{"a verdict on a composite key with too many values", `select alike.mark('c', '[1,2,3]', '[1,2]', 'distinct')`, `the key is "[1,2,3]", want a JSON array of 2 values`},
	{"containers of a composite key with too many values", `select * from alike.containers('c', '[1,2,3]')`, `the key is "[1,2,3]", want a JSON array of 2 values`},
	{"a row with a composite key that is missing", `select * from alike.rows('c', '[1,"x"]')`, `c has no row [1,"x"]…`},
	{"at_least as an argument", `select * from alike.rows('e', '1', 1.5)`, `at_least is 1.5, want a number from 0 to 1`},
	{"at_least below 0 of pairs", `select * from alike.pairs('e', -1)`, `at_least is -1, want a number from 0 to 1`},
	{"a verdict on a missing row", `select alike.mark('e', '1', '9', 'distinct')`, `e has no row 9…`},
	{"a verdict with a missing row first", `select alike.mark('e', '9', '1', 'distinct')`, `e has no row 9…`},
	{"a verdict on one row", `select alike.mark('e', '1', '1', 'distinct')`, `both keys name the same row`},
	{"an unknown verdict", `select alike.mark('e', '1', '2', 'perhaps')`, `the verdict is "perhaps", want duplicate, distinct or none`},
	{"an index that is not kept", `select * from alike.si_rows('e', 'length', '1')`, `e has no similarity index length; it has none`},
	{"a forest that is not kept", `select * from alike.forest_rows('e', '1')`, `e has no similarity index forest/0; it has none`},
	{"a fraction below 0", `select * from alike.si_rows('i', 'length', '1', -1)`, `the fraction is -1, want a number of at least 0`},
	{"an unknown linkage", `select * from alike.clusters('e', 0.5, 'near')`, `the linkage is "near", want complete, single, greedy or popular`},
	{"a question on containment without values", `select * from alike.containments('e')`, `e keeps no values for questions on containment…`},
	{"a rule on a missing column", `select * from alike.keep('e', 'best')`, `rule: …`},
	{"a filter for no resemblance", `select alike.filter(4, 1, 1, 1.5)`, `the resemblance is 1.5, want a number from 0 to 1`},
	{"a negative fraction", `select alike.si_low(5, -1)`, `the fraction is -1, want a number of at least 0`},
}

// who is what an engine says before the sentence: who speaks, and, for PostgreSQL, the
// schema of a table.
var who = regexp.MustCompile(`^(attach|change|detach|mark|si_rows|filter): |\bpublic\.`)

// The same event has the same sentence in both engines, after the name of the function.
func TestSameSentences(t *testing.T) {
	e := open(t)
	e.exec("create table d (id integer primary key, body text)")
	e.exec("create table e (id integer primary key, body text, title text)")
	e.exec("create table i (id integer primary key, body text)")
	e.exec("create table g (g1 integer primary key, body text)")
	e.exec("create table k (sketch integer primary key, body text)")
	e.exec("create table m (relation integer primary key, body text)")
	e.exec("create table c (a integer, b text, body text, primary key (a, b))")
	e.exec("create view v as select * from d")
	e.exec("insert into e(id, body) values (1, 'one text'), (2, 'another')")
	e.exec("insert into i values (1, 'one text')")
	e.exec(`select alike.attach('e', 'body', '{"policy": "link"}')`)
	e.exec(`select alike.attach('i', 'body', '{"si": ["length"]}')`)
	e.exec(`select alike.attach('c', 'body', '{"si": ["length", "forest/0"], "contains": true}')`)
	e.follow()
	for _, c := range sentences {
		_, _, sqlite, postgres := e.both(c.statement)
		want, open := strings.CutSuffix(c.sentence, "…")
		for engine, err := range map[string]error{"SQLite": sqlite, "PostgreSQL": postgres} {
			if got := who.ReplaceAllString(sentence(err), ""); got != want && !(open && strings.HasPrefix(got, want)) {
				t.Errorf("%s, %s\ngot:  %s\nwant: %s", c.event, engine, got, c.sentence)
			}
		}
	}
}
