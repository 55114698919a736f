package queries

import (
	"fmt"
	"regexp"
)

var fragment = regexp.MustCompile(`\{[a-z][a-z_0-9]*\}`)

// Fill puts the fragments of an attachment, which the function alike._fragments
// makes, in the places of a statement that name them, such as {side}. A fragment
// that the statement names and the map lacks is a mistake in the program: Fill
// panics.
func Fill(statement string, fragments map[string]string) string {
	return fragment.ReplaceAllStringFunc(statement, func(name string) string {
		text, ok := fragments[name[1:len(name)-1]]
		if !ok {
			panic(fmt.Sprintf("queries: no fragment %s for the statement %.60q", name, statement))
		}
		return text
	})
}
