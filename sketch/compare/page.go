package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"time"
)

// HTML holds the template "beside", which shows a Comparison, and the templates that it
// uses. They need Funcs.
//
//go:embed compare.html
var HTML string

// CSS lays out the template. It uses the page's custom properties --card, --soft, --only-l
// and --only-r.
//
//go:embed compare.css
var CSS string

// Funcs are the functions of the templates of a page.
var Funcs = template.FuncMap{
	"grouped": Grouped,
	"long":    func(n int) int64 { return int64(n) },
	"percent": Percent,
	"plural":  Plural,
	"visible": Visible,
	"dict":    dict,
	"two":     two,
	"when":    func(t time.Time) string { return t.Format("2 January 2006, 15:04 MST") },
	"stamp":   func(t time.Time) string { return t.Format(time.RFC3339) },
}

// dict makes a map of names and values, the arguments of a template.
func dict(pairs ...any) map[string]any {
	d := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		d[pairs[i].(string)] = pairs[i+1]
	}
	return d
}

func two(x float64) string {
	if math.IsNaN(x) {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", x)
}
