package report

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/compare"
	"github.com/alike-sql/alike/sketch/plot"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
)

var page = template.Must(template.Must(template.New("page").Funcs(compare.Funcs).Funcs(template.FuncMap{
	"of":    of,
	"add":   func(a, b int) int { return a + b },
	"minus": func(a int) int { return -a },
	"three": func(x float64) string { return fmt.Sprintf("%.3f", x) },
}).Parse(compare.HTML)).Parse(pageHTML))

// of is one number as a share of another.
func of(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Write writes the page. It needs no network, runs no script, and its policy
// lets none run: whatever a row contains is text.
func (r *Report) Write(w io.Writer) error {
	light, dark := plot.Colors()
	style := strings.NewReplacer("/*light*/", light, "/*dark*/", dark, "/*classes*/", plot.Classes(), "/*compare*/", compare.CSS).Replace(pageCSS)
	sum := sha256.Sum256([]byte(style))
	out := bufio.NewWriterSize(w, 1<<16)
	view := struct {
		*Report
		Style    template.CSS
		Hash     string
		Sections []*view
	}{r, template.CSS(style), base64.StdEncoding.EncodeToString(sum[:]), nil}
	for i, s := range r.Attachments {
		v := newView(s, i+1)
		view.Sections = append(view.Sections, v)
		for _, draw := range []func() error{v.drawCurve, v.drawCandidates, v.drawSizes, v.drawAdvice} {
			if err := draw(); err != nil {
				return err
			}
		}
	}
	if err := page.Execute(out, view); err != nil {
		return err
	}
	return out.Flush()
}

// A view is a section with what its part of the page is made of.
type view struct {
	*Section
	ID          string
	Curve       template.HTML
	CurveRows   []curveRow
	Histogram   template.HTML
	BandRows    []bandRow
	SizeChart   template.HTML
	AdviceChart template.HTML
	Redundant   int // rows that could go if each cluster kept one
	OneFewer    int
	FoundAtAll  float64 // share of the pairs at the limit
}

type curveRow struct{ Resemblance, One, AtLeast float64 }

type bandRow struct {
	Low, High float64
	Pairs     int64
}

func newView(s *Section, n int) *view {
	return &view{Section: s, ID: fmt.Sprintf("t%d", n), Redundant: s.Clusters.Rows - s.Clusters.Count, OneFewer: s.K - 1,
		FoundAtAll: sketch.FilterProbability(s.K, s.S, 1, s.AtLeast)}
}

// ClustersSQL lists all clusters.
func (v *view) ClustersSQL() string { return v.clustersSQL }

// Open says whether a cluster is open from the beginning.
func (v *view) Open(i int) bool { return i == 0 }

// Printed says whether a cluster is printed with its texts when it is closed.
func (v *view) Printed(i int) bool { return i < 20 }

// Others are the keys of the members behind the first.
func (c *Cluster) Others() []*Member { return c.Members[1:] }

// Alone are the members that are listed without their texts.
func (c *Cluster) Alone() (list []*Member) {
	for _, m := range c.Others() {
		if m.Compared == nil {
			list = append(list, m)
		}
	}
	return list
}

// drawn is a chart in two widths, of which the page shows one.
func drawn(id string, height int, write func(io.Writer, plot.Inline) error) (template.HTML, error) {
	var b bytes.Buffer
	for _, in := range []plot.Inline{
		{ID: id + "-wide", Class: "wide", Width: 560, Height: height},
		{ID: id + "-narrow", Class: "narrow", Width: 310, Height: min(height, 270)},
	} {
		if err := write(&b, in); err != nil {
			return "", err
		}
	}
	return template.HTML(b.String()), nil // #nosec: the drawing escapes what it is given
}

func (v *view) drawCurve() (err error) {
	f := plot.Found{Title: "How many pairs the filter finds, by resemblance", K: v.K, S: v.S, AtLeast: v.AtLeast,
		Description: fmt.Sprintf("The share of pairs found climbs from 0 to 1 with their resemblance; it is one half at %.2f and %s at %.2f, from where on two rows count as alike.",
			sketch.HalfPoint(v.K, v.S, 1), compare.Percent(v.FoundAtAll), v.AtLeast)}
	for _, p := range v.Measured.Points {
		f.Points = append(f.Points, plot.MeasuredShare{Resemblance: p.Resemblance, Share: p.Found, Low: p.Low, High: p.High})
	}
	if n := len(f.Points); n > 0 {
		f.Description += fmt.Sprintf(" %s measured.", compare.Plural(n, "point was", "points were"))
	}
	for _, at := range sketch.FilterCurve(v.K, v.S, 1, 11) {
		v.CurveRows = append(v.CurveRows, curveRow{at.Resemblance, at.Probability, sketch.FilterProbability(v.K, v.S, v.R, at.Resemblance)})
	}
	v.Curve, err = drawn(v.ID+"-curve", 330, f.Write)
	return err
}

func (v *view) drawCandidates() (err error) {
	c := v.Candidates
	if c.Pairs == 0 {
		return nil
	}
	for i, n := range c.Bands {
		v.BandRows = append(v.BandRows, bandRow{float64(i) / bands, float64(i+1) / bands, n})
	}
	h := plot.Histogram{Title: "The resemblance of the candidates", X: "estimated resemblance", Y: "pairs", Counts: c.Bands[:], Ratio: true,
		Mark: v.AtLeast, MarkName: "alike from " + fmt.Sprintf("%.2f", v.AtLeast),
		Description: fmt.Sprintf("%s of rows that share a feature, by their estimated resemblance; %s %.2f or more.",
			compare.Plural(c.Pairs, "pair", "pairs"), compare.Plural(c.Alike, "has", "have"), v.AtLeast)}
	v.Histogram, err = drawn(v.ID+"-candidates", 330, h.Write)
	return err
}

func (v *view) drawSizes() (err error) {
	if len(v.Clusters.Sizes) < 2 {
		return nil // one bar says nothing
	}
	h := plot.Histogram{Title: "How large the clusters are", X: "rows in a cluster", Y: "clusters",
		Description: fmt.Sprintf("%s, the largest of %s.", compare.Plural(v.Clusters.Count, "cluster", "clusters"), compare.Plural(v.Clusters.Largest, "row", "rows"))}
	for _, s := range v.Clusters.Sizes {
		h.Labels, h.Counts = append(h.Labels, s.Name()), append(h.Counts, s.Clusters)
	}
	v.SizeChart, err = drawn(v.ID+"-sizes", 230, h.Write)
	return err
}

// Name is a band of sizes as the axis has it.
func (s SizeCount) Name() string {
	if s.Low == s.High {
		return fmt.Sprint(s.Low)
	}
	return fmt.Sprintf("%d–%d", s.Low, s.High)
}
