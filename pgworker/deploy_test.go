package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// What reads manifests and compose files as their specifications say accepts ours, and refuses them with a mistake in them.
func TestSpecifications(t *testing.T) {
	for file, c := range map[string]struct {
		program         []string
		right, mistaken string
	}{
		"deploy/kubernetes.yaml": {[]string{pgtest.Installed(t, "packages", "deploy/bin/kubernetes-validate"), "--strict"}, "readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"},
		"../docker-compose.yml":  {[]string{pgtest.Installed(t, "packages", "deploy/bin/compose")}, "condition: service_healthy", "conditions: service_healthy"},
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(c.program[0], append(c.program[1:], file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
		mistaken := filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(mistaken, []byte(strings.ReplaceAll(string(b), c.right, c.mistaken)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(c.program[0], append(c.program[1:], mistaken)...).CombinedOutput(); err == nil {
			t.Errorf("%s with a mistake is accepted:\n%.1000s", file, out)
		}
	}
	manifest, err := os.ReadFile("deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^ *args: \[(.*)\]$`).FindSubmatch(manifest)
	if found == nil {
		t.Fatal("the manifest has no arguments")
	}
	checkCommandLine(t, "kubernetes.yaml", strings.Fields(strings.NewReplacer(`"`, "", ",", "").Replace(string(found[1]))))
}

// The files that start the worker elsewhere name verbs, flags and metrics that
// exist.
func TestComposeFile(t *testing.T) {
	b, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Profiles    []string
			DependsOn   any `yaml:"depends_on"`
			Deploy      struct{ Replicas int }
			Volumes     []string
			Environment map[string]string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"db", "migrate", "worker", "coordinator", "node1", "node2", "prometheus", "dashboard"} {
		if _, ok := file.Services[want]; !ok {
			t.Errorf("no service %s", want)
		}
	}
	if n := file.Services["worker"].Deploy.Replicas; n != 2 {
		t.Errorf("%d workers, want 2", n)
	}
	for name, service := range file.Services {
		if depends, ok := service.DependsOn.(map[string]any); ok {
			for other := range depends {
				if _, ok := file.Services[other]; !ok {
					t.Errorf("%s depends on %s, which is no service", name, other)
				}
			}
		}
		if service.Image == "alike/pgworker" {
			checkCommandLine(t, name, service.Command)
			if url := service.Environment["DATABASE_URL"]; service.Command[0] == "run" && (slices.Contains(service.Command, "--allow-superuser") || !strings.HasPrefix(url, "postgres://alike_job@")) {
				t.Errorf("%s runs %v at %s, want the role alike_job", name, service.Command, url)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if path, ok := strings.CutPrefix(source, "./"); ok {
				if _, err := os.Stat("../" + path); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if _, ok := file.Volumes[source]; !ok {
				t.Errorf("%s: the volume %s is not declared", name, source)
			}
		}
	}
}

// The roles of the compose file are enough: the owner attaches, the worker sketches,
// and neither is a superuser.
func TestComposeRoles(t *testing.T) {
	s := pgtest.New(t, pgtest.Version())
	roles := exec.Command("deploy/roles.sh")
	roles.Env = append(os.Environ(), "PGHOST="+s.Dir, "POSTGRES_PASSWORD=it's \\ secret")
	if out, err := roles.CombinedOutput(); err != nil {
		t.Fatalf("roles.sh: %v\n%s", err, out)
	}
	must(t, "migrate", "up", "--database-url", s.URL("postgres", "app"))
	c := pgtest.Connect(t, s.URL("app", "app"))
	for _, sql := range []string{
		"create table documents (id int primary key, body text)",
		"insert into documents values (1, 'one two three four')",
		"select alike.attach('documents', 'body')",
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	must(t, "run", "--once", "--database-url", s.URL("alike_job", "app"))
	var n int
	if err := c.QueryRow(t.Context(), "select count(*) from documents_alike").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows are sketched (error %v), want 1", n, err)
	}
	if _, err := pgworker(t, "run", "--once", "--database-url", s.URL("postgres", "app")); err == nil || !strings.Contains(err.Error(), "is a superuser") {
		t.Errorf("as postgres: error %v, want a refusal", err)
	}
}

// checkCommandLine fails for a verb or flag that pgworker does not have.
func checkCommandLine(t *testing.T, where string, args []string) {
	t.Helper()
	verb, rest, err := newRoot().Find(args)
	if err == nil {
		err = verb.ParseFlags(rest)
	}
	if err != nil || verb == verb.Root() {
		t.Errorf("%s: pgworker %v: %v", where, args, err)
	}
}

func TestUnitAndImage(t *testing.T) {
	for file, pattern := range map[string]string{
		"deploy/alike-worker.service": `(?m)^ExecStart=\S+/pgworker (.*)$`,
		"Dockerfile":                  `(?m)^CMD \[(.*)\]$`,
	} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(b))
		if found == nil {
			t.Fatalf("%s does not match %s", file, pattern)
		}
		checkCommandLine(t, file, strings.Fields(strings.NewReplacer(`"`, "", ",", "").Replace(found[1])))
	}
	// What the command would be is checked elsewhere: it is not installed here.
	out, err := exec.Command("sh", "-c", `sed 's,^ExecStart=[^ ]*,ExecStart=/bin/true,' deploy/alike-worker.service >"$0/alike-worker.service" && systemd-analyze verify "$0/alike-worker.service"`, t.TempDir()).CombinedOutput()
	if err != nil || strings.Contains(string(out), "alike-worker.service:") {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}

func TestDashboardMetricsExist(t *testing.T) {
	board, err := os.ReadFile("deploy/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(board) {
		t.Fatal("dashboard.json is not JSON")
	}
	source, err := os.ReadFile("worker/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`describe\("(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		known = append(known, "alike_"+m[1])
	}
	used := regexp.MustCompile(`alike_\w+`).FindAllString(string(board), -1)
	if len(used) < 8 {
		t.Errorf("the dashboard shows %d metrics, want at least 8", len(used))
	}
	for _, metric := range used {
		if !slices.Contains(known, metric) {
			t.Errorf("the dashboard shows %s, which the worker does not export", metric)
		}
	}
}
