package doctest

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/examples/internal/chromium"
	"github.com/alike-sql/alike/migrations/pgtest"
)

var siteFolder = flag.String("site", "", "the folder into which TestSite builds the site")

// TestSite builds the pages into a site, in which mkdocs finds every link and anchor,
// and looks at it as readers do: no page asks the network for anything, none is
// wider than a phone, and the search finds a function.
func TestSite(t *testing.T) {
	root := output1(t, "", "git", "rev-parse", "--show-toplevel")
	site := *siteFolder
	if site == "" {
		site = filepath.Join(t.TempDir(), "site")
	}
	build := exec.Command(pgtest.Installed(t, "docs", "docs/bin/mkdocs"), "build", "-q", "-f", filepath.Join(root, ".ci/docs/mkdocs.yml"), "-d", site)
	build.Env = append(os.Environ(), "NO_MKDOCS_2_WARNING=1", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("mkdocs: %v: %s", err, out)
	}
	checkSource(t, root, site)
	checkInBrowser(t, site)
}

// checkSource reads the pages of the site: each is there, asks the network for nothing, and
// each function has an anchor.
func checkSource(t *testing.T, root, site string) {
	t.Helper()
	asks := regexp.MustCompile(`(src|href)="(https?:)?//[^"]*"[^>]*>`)
	functions := read(t, filepath.Join(site, "functions.html"))
	pages := 0
	err := filepath.WalkDir(site, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		pages++
		for _, tag := range regexp.MustCompile(`<(link|script|img|iframe)\b[^>]*>`).FindAllString(read(t, path), -1) {
			if asks.MatchString(tag) {
				t.Errorf("%s asks the network: %s", path, tag)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(markdown(t, root)) + 1; pages < want {
		t.Errorf("%d pages, want at least %d", pages, want)
	}
	for _, name := range regexp.MustCompile(`(?m)^//\talike_\w+`).FindAllString(read(t, filepath.Join(root, "sqlext/doc.go")), -1) {
		if name = strings.TrimPrefix(name, "//\t"); !strings.Contains(functions, `id="`+name+`"`) {
			t.Errorf("the function %s has no anchor", name)
		}
	}
}

// checkInBrowser looks at the longest pages on a phone and on a dark screen.
func checkInBrowser(t *testing.T, site string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	browser, err := chromium.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer browser.Close()
	for _, screen := range []chromium.Screen{{Width: 375, Height: 800}, {Width: 1400, Height: 900, Dark: true}} {
		if err := browser.Look(screen); err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{"index.html", "functions.html", "sqlext/index.html", "pgworker/OPERATIONS.html", "sketch/FORMAT.html", "sketch/TEXTS.html", "examples/internal/sidebyside/results/index.html"} {
			if err := browser.Open(filepath.Join(site, page), true); err != nil {
				t.Fatal(err)
			}
			var wide int
			if err := browser.Eval("document.documentElement.scrollWidth - innerWidth", &wide); err != nil {
				t.Fatal(err)
			}
			if wide > 0 {
				t.Errorf("%s is %d pixels wider than a screen of %d", page, wide, screen.Width)
			}
			for _, address := range browser.Requests {
				if !strings.HasPrefix(address, "file:") && !strings.HasPrefix(address, "data:") && address != "about:blank" {
					t.Errorf("%s asks for %s", page, address)
				}
			}
		}
		search(t, browser)
	}
	for _, message := range browser.Errors {
		t.Error(message)
	}
}

// search types the name of a function into the search of the page and wants its place first.
func search(t *testing.T, browser *chromium.Browser) {
	t.Helper()
	var found string
	err := browser.Eval(`(async () => {
		const input = document.querySelector('input[name=query]');
		document.querySelector('label[for=__search]').click();
		input.focus();
		input.value = 'alike_keep';
		for (let i = 0; i < 300; i++) {
			input.dispatchEvent(new Event('keyup'));
			const a = document.querySelector('.md-search-result__link');
			if (a) return a.href;
			await new Promise(r => setTimeout(r, 100));
		}
		return '';
	})()`, &found)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(found, "alike_keep") && !strings.Contains(found, "functions.html") {
		t.Errorf("the search for alike_keep finds first %q", found)
	}
}
