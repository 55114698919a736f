package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// The page acts with the rights of the role that it logs in as: it shows what the role
// may read, and keeps verdicts if the role may.
func TestReview(t *testing.T) {
	s, c := reviewed(t)
	if _, _, err := reviewPage(t.Context(), reviewAs(t, s, "postgres"), "token", nil, false); err == nil || !strings.Contains(err.Error(), "is a superuser") {
		t.Errorf("as postgres: error %v, want a refusal", err)
	}
	owner := openReview(t, s, "app")
	showsDocumentsAsText(t, owner)
	decidesAndUndoes(t, c, owner)
	guestDecidesNothing(t, c, openReview(t, s, "guest"))
}

// asks asks the page as a browser does.
type asks func(path string, form url.Values) (status int, body string)

func showsDocumentsAsText(t *testing.T, owner asks) {
	status, body := owner("/review/list", nil)
	if status != 200 || !strings.Contains(body, "Pairs 1 to 3 of 3") || strings.Contains(body, "public.hidden") {
		t.Fatalf("as the owner: status %d, want 200, three pairs and nothing of hidden: %s", status, body)
	}
	if _, body := owner("/review/", nil); strings.Contains(body, "<script>alert") || !strings.Contains(body, "&lt;script&gt;alert(1)&lt;/script&gt; is the text") {
		t.Errorf("the documents are not shown as text: %s", body)
	}
}

func reviewedPair() url.Values {
	return url.Values{"table": {"public.notes"}, "key": {`[1, "x\""]`}, "other": {`[2, "é"]`}, "verdict": {"distinct"}, "note": {"two parcels"}}
}

func reviewVerdicts(t *testing.T, c *pgx.Conn) (list string) {
	t.Helper()
	if err := c.QueryRow(t.Context(), `select coalesce(string_agg(concat_ws(' ', a, other_a, verdict, marked_by, note), ';'), '') from notes_alike_mark`).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func decidesAndUndoes(t *testing.T, c *pgx.Conn, owner asks) {
	if status, body := owner("/review/person", url.Values{"person": {"Ann"}}); status != 200 {
		t.Errorf("the name: status %d, want 200: %s", status, body)
	}
	if status, body := owner("/review/decide", reviewedPair()); status != 200 || reviewVerdicts(t, c) != "1 2 distinct app Ann: two parcels" {
		t.Errorf("decide: status %d and verdicts %q, want 200 and Ann's: %s", status, reviewVerdicts(t, c), body)
	}
	if _, body := owner("/review/list?show=decided", nil); !strings.Contains(body, "by <bdi>app</bdi>") || !strings.Contains(body, "Ann: two parcels") || !strings.Contains(body, "Pairs 1 to 1 of 1") {
		t.Errorf("who decided is not said: %s", body)
	}
	if _, body := owner("/review/threshold", nil); !strings.Contains(body, "1 decision,") {
		t.Errorf("the threshold has not the 1 decision: %s", body)
	}
	if status, body := owner("/review/undo", url.Values{}); status != 200 || reviewVerdicts(t, c) != "" {
		t.Errorf("undo: status %d and verdicts %q, want 200 and none: %s", status, reviewVerdicts(t, c), body)
	}
}

// A guest sees the rows that the policies of the table show.
func guestDecidesNothing(t *testing.T, c *pgx.Conn, guest asks) {
	if status, body := guest("/review/list", nil); status != 200 || !strings.Contains(body, "Pairs 1 to 1 of 1") || strings.Contains(body, "secret&#34;") || strings.Contains(body, "public.hidden") {
		t.Errorf("as a guest: status %d, want 200, one pair and nothing of secret and hidden: %s", status, body)
	}
	if status, body := guest("/review/decide", reviewedPair()); status != 500 || !strings.Contains(body, "permission denied") || reviewVerdicts(t, c) != "" {
		t.Errorf("a guest decides: status %d and verdicts %q, want 500, none and that permission is denied: %s", status, reviewVerdicts(t, c), body)
	}
}

// reviewed is a server with notes, of which a policy hides one row from guests, and with a
// table that they may not read.
func reviewed(t *testing.T) (*pgtest.Server, *pgx.Conn) {
	t.Helper()
	s := pgtest.New(t, pgtest.Version())
	roles := exec.Command("deploy/roles.sh")
	roles.Env = append(os.Environ(), "PGHOST="+s.Dir, "POSTGRES_PASSWORD=secret")
	if out, err := roles.CombinedOutput(); err != nil {
		t.Fatalf("roles.sh: %v\n%s", err, out)
	}
	must(t, "migrate", "up", "--database-url", s.URL("postgres", "app"))
	admin, c := pgtest.Connect(t, s.URL("postgres", "app")), pgtest.Connect(t, s.URL("app", "app"))
	for _, sql := range []string{
		"create role guest login in role alike_reader",
		"create table hidden (id int primary key, body text)",
		"insert into hidden values (1, 'what a guest must not read at all in here'), (2, 'what a guest must not read at all in here')",
	} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"create table notes (a int, b text, body text, primary key (a, b))",
		`insert into notes values (1, 'x"', '<script>alert(1)</script> is the text that these two rows of notes share'), (2, 'é', '<script>alert(1)</script> is the text that these two rows of notes share'),
			(3, 'secret', '<script>alert(1)</script> is the text that these two rows of notes share')`,
		"alter table notes enable row level security",
		"create policy p on notes to guest using (b <> 'secret')",
		"select alike.attach('notes', 'body')",
		"grant select on notes to guest",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if _, err := admin.Exec(t.Context(), "select alike.attach('hidden', 'body')"); err != nil {
		t.Fatal(err)
	}
	must(t, "run", "--once", "--allow-superuser", "--database-url", s.URL("postgres", "app"))
	return s, c
}

func reviewAs(t *testing.T, s *pgtest.Server, role string) *pgxpool.Config {
	t.Helper()
	config, err := reviewConfig(s.URL(role, "app"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// openReview opens the page for a role: it asks with the cookies and the secret of a browser.
func openReview(t *testing.T, s *pgtest.Server, role string) asks {
	t.Helper()
	page, done, err := reviewPage(t.Context(), reviewAs(t, s, role), "the token", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(beside(page, http.NotFoundHandler()))
	t.Cleanup(func() { server.Close(); done() })
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	secret := ""
	ask := func(path string, form url.Values) (int, string) {
		t.Helper()
		var resp *http.Response
		var err error
		if form == nil {
			resp, err = client.Get(server.URL + path)
		} else {
			form.Set("secret", secret)
			resp, err = client.PostForm(server.URL+path, form)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(body), `name="secret" value="`); ok {
			secret, _, _ = strings.Cut(after, `"`)
		}
		return resp.StatusCode, string(body)
	}
	if status, body := ask("/review/", nil); status != 401 || strings.Contains(body, "notes") {
		t.Errorf("without the token: status %d, want 401 and nothing of notes: %s", status, body)
	}
	if status, _ := ask("/metrics", nil); status != 404 {
		t.Errorf("the page answers for the worker: status %d, want 404", status)
	}
	if status, _ := ask("/review/open", url.Values{"token": {"the token"}}); status != 200 {
		t.Errorf("with the token: status %d, want 200", status)
	}
	return ask
}
