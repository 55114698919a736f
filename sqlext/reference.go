package sqlext

import (
	"fmt"
	"strings"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// reference is a table or an attachment as a caller names it.
type reference struct{ schema, name string }

// parseReference reads `name`, `schema.name` and their quoted forms. Unquoted, a
// name may hold anything but a dot and a quote.
func parseReference(s string) (reference, error) {
	parts, rest := []string{}, strings.TrimSpace(s)
	for {
		part, after, err := parseIdentifier(rest)
		if err != nil {
			return reference{}, fmt.Errorf("the table %.60q: %w", s, err)
		}
		parts = append(parts, part)
		if after == "" {
			break
		}
		rest = after[1:]
	}
	switch len(parts) {
	case 1:
		return reference{name: parts[0]}, nil
	case 2:
		return reference{schema: parts[0], name: parts[1]}, nil
	}
	return reference{}, fmt.Errorf("the table %.60q has %d parts, want table or schema.table; quote a name that has dots", s, len(parts))
}

// readReference reads the argument that names a table.
func readReference(v *sqlite.Value) (reference, error) {
	if v.Kind != sqlite.Text {
		return reference{}, fmt.Errorf("the table is %s, want a name", v.Describe())
	}
	return parseReference(v.Text())
}

func parseIdentifier(s string) (name, rest string, err error) {
	if s == "" {
		return "", "", fmt.Errorf("a name is missing")
	}
	closing := map[byte]string{'"': `"`, '`': "`", '[': "]"}[s[0]]
	if closing == "" {
		if i := strings.IndexAny(s, ".\"`"); i >= 0 && s[i] != '.' {
			return "", "", fmt.Errorf("a quote inside a name that is not quoted")
		} else if i >= 0 {
			name, rest = strings.TrimSpace(s[:i]), s[i:]
		} else {
			name = strings.TrimSpace(s)
		}
		if name == "" || rest == "." {
			return "", "", fmt.Errorf("a name is missing")
		}
		return name, rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != closing[0] {
			b.WriteByte(s[i])
			continue
		}
		if closing != "]" && i+1 < len(s) && s[i+1] == closing[0] {
			b.WriteByte(s[i])
			i++
			continue
		}
		rest = strings.TrimSpace(s[i+1:])
		if b.Len() == 0 || rest != "" && (rest[0] != '.' || len(rest) == 1) {
			break
		}
		if rest != "" {
			rest = "." + strings.TrimSpace(rest[1:])
		}
		return b.String(), rest, nil
	}
	return "", "", fmt.Errorf("the quotes do not match")
}

// literal writes a text constant as SQL does.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
