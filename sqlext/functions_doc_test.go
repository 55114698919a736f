package sqlext

import (
	"go/doc/comment"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// signatures are the functions with their arguments as the package's comment lists them.
func signatures() []string {
	var list []string
	for _, f := range functions {
		if strings.HasPrefix(f.Name, "alike__") {
			continue
		}
		var b strings.Builder
		b.WriteString(f.Name + "(")
		optional := 0
		for i, argument := range f.Arguments {
			argument = strings.TrimSuffix(argument, " text")
			switch {
			case i >= f.Required && i == 0:
				b.WriteString("[" + argument)
				optional++
			case i >= f.Required:
				b.WriteString(" [, " + argument)
				optional++
			case i > 0:
				b.WriteString(", " + argument)
			default:
				b.WriteString(argument)
			}
		}
		b.WriteString(strings.Repeat("]", optional) + ")")
		if f.Columns != nil {
			b.WriteString(": " + strings.Join(f.Columns, ", "))
		}
		list = append(list, b.String())
	}
	return list
}

// go doc lists every function of SQL with its arguments and columns.
func TestPackageCommentListsTheFunctions(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, block := range new(comment.Parser).Parse(file.Doc.Text()).Content {
		if code, ok := block.(*comment.Code); ok {
			for _, line := range strings.Split(code.Text, "\n") {
				if strings.HasPrefix(line, "alike_") {
					listed = append(listed, line)
				}
			}
		}
	}
	if got, want := strings.Join(listed, "\n"), strings.Join(signatures(), "\n"); got != want {
		t.Errorf("the comment lists\n%s\nwant\n%s", got, want)
	}
}
