// Report fills a SQLite file with the memos of an office and writes the page of
// alike report about it, and with -pictures the pictures of that page that
// the README shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/alike-sql/alike/examples/internal/chromium"
	"github.com/alike-sql/alike/sketch/report"
	"github.com/alike-sql/alike/sqlext/source"
)

func main() {
	log.SetFlags(0)
	file := flag.String("db", "build/office.db", "where the database goes; a file that is there is replaced")
	page := flag.String("page", "build/office.html", "where the page goes")
	pictures := flag.String("pictures", "", "a `folder` for pictures of the page, which takes Chromium")
	flag.Parse()
	if err := run(context.Background(), *file, *page, *pictures); err != nil {
		log.Fatal("report: ", err)
	}
}

func run(ctx context.Context, file, page, pictures string) error {
	list := collection(1200)
	if err := fill(file, list); err != nil {
		return err
	}
	r, err := write(ctx, file, page)
	if err != nil {
		return err
	}
	s := r.Attachments[0]
	fmt.Printf("%s: %d memos, %d of them in %d clusters, %d pairs wait for a verdict.\n%s: the page.\n", file, s.Rows, s.Clusters.Rows, s.Clusters.Count, s.Waiting.Recorded, page)
	if pictures == "" {
		return nil
	}
	return take(ctx, page, pictures)
}

// write makes the page of a file, at a time of its own so that the pictures of
// the same collection are the same.
func write(ctx context.Context, file, page string) (*report.Report, error) {
	attached, err := source.Report(ctx, file)
	if err != nil {
		return nil, err
	}
	r, err := report.Make(ctx, attached, report.Config{})
	if err != nil {
		return nil, err
	}
	r.Made = time.Date(2000, time.June, 21, 9, 0, 0, 0, time.UTC)
	out, err := os.Create(page)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if err := r.Write(out); err != nil {
		return nil, err
	}
	return r, out.Close()
}

// take takes the pictures of the README.
func take(ctx context.Context, page, folder string) error {
	b, err := chromium.Start(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, p := range []struct {
		name, scroll string
		screen       chromium.Screen
	}{
		{"report-light.png", "", chromium.Screen{Width: 1240, Height: 1100}},
		{"report-dark.png", "", chromium.Screen{Width: 1240, Height: 1100, Dark: true}},
		{"clusters-light.png", "t1-clusters", chromium.Screen{Width: 1240, Height: 1000}},
		{"clusters-dark.png", "t1-clusters", chromium.Screen{Width: 1240, Height: 1000, Dark: true}},
		{"phone.png", "", chromium.Screen{Width: 360, Height: 780, Scale: 1.5}},
	} {
		if err := b.Look(p.screen); err != nil {
			return err
		}
		if err := b.Open(page, true); err != nil {
			return err
		}
		if p.scroll != "" {
			if err := b.Eval(fmt.Sprintf("document.getElementById(%q).scrollIntoView()", p.scroll), nil); err != nil {
				return err
			}
		}
		picture, err := b.Picture()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, p.name), picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}
