// Mutants changes the source in one place at a time and runs the tests: a change
// that no test notices is a survivor. The tree is never touched; a changed file
// reaches the compiler through go's -overlay.
//
//	go run .ci/mutants/mutants.go -n 60 ./sketch ./sketch/cluster
//	go run .ci/mutants/mutants.go -lists .ci/mutants/sketch.list
//
// In Go files it draws n changes a package: an operator for its neighbour, a
// number one higher, a condition negated, a statement left out. For an internal
// package it runs the tests of those that import it too. Changes in SQL, C and
// assembly stand in lists, by hand:
//
//	@ sqlext/sql/rekey.sql: ./sqlext -run Rekey
//	why the change matters
//	- the text that is in the file, once
//	+ what takes its place
//
// Survivors that are as good as the original are explained in explained.list,
// beside this file, as they are printed, with the reason on the next line.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

type mutant struct {
	file  string // from the root of the module
	line  int    // of the change
	from  int    // bytes of the file that are replaced
	upto  int
	text  string   // what replaces them
	name  string   // one line for people
	tests []string // arguments of go test
}

func main() {
	n := flag.Int("n", 60, "changes drawn from each package")
	seed := flag.Uint64("seed", 1, "another number draws other changes")
	with := flag.String("with", "", "more arguments of go test for drawn changes, such as -run and the tests that are quick")
	lists := flag.Bool("lists", false, "the arguments are lists of changes, not packages")
	only := flag.String("only", "", "only changes whose line has this text")
	show := flag.Bool("show", false, "print the changes and run nothing")
	timeout := flag.Duration("timeout", 5*time.Minute, "of the tests of one change; a change that hangs them is caught")
	want := flag.Float64("want", 0.9, "the share that must be caught or explained")
	flag.Parse()
	var all []mutant
	for _, arg := range flag.Args() {
		more, err := read(arg, *lists, *n, *seed, strings.Fields(*with))
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		all = append(all, more...)
	}
	explained, err := readExplained(".ci/mutants/explained.list")
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	counts := map[string]int{}
	for _, m := range all {
		if !strings.Contains(m.name, *only) {
			continue
		}
		if *show {
			fmt.Println(m.name)
			continue
		}
		start := time.Now()
		result, why, err := run(m, *timeout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		if result == "survived" && explained[m.name] != "" {
			result, why = "explained", explained[m.name]
		}
		counts[result]++
		fmt.Printf("%-9s %4.0fs  %s  %s\n", result, time.Since(start).Seconds(), m.name, why)
	}
	if *show {
		return
	}
	tried := counts["caught"] + counts["survived"] + counts["explained"]
	share := float64(counts["caught"]+counts["explained"]) / float64(max(1, tried))
	fmt.Printf("%d changes: %d caught, %d explained, %d survived; %d did not compile. %.0f %% caught or explained, want %.0f %%\n",
		tried, counts["caught"], counts["explained"], counts["survived"], counts["invalid"], 100*share, 100**want)
	if tried == 0 || share < *want {
		os.Exit(1)
	}
}

func read(arg string, list bool, n int, seed uint64, with []string) ([]mutant, error) {
	if list {
		return readList(arg)
	}
	packages, err := listPackages(arg)
	if err != nil {
		return nil, err
	}
	everything, err := listPackages("./...")
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, p := range packages {
		tests := []string{"./" + p.Dir}
		if strings.Contains(p.Dir, "/internal/") { // it is there for those that import it
			for _, other := range everything {
				if slices.Contains(other.Imports, p.ImportPath) {
					tests = append(tests, "./"+other.Dir)
				}
			}
		}
		var found []mutant
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			more, err := mutantsOf(filepath.Join(p.Dir, name), append(tests, with...))
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
		// The draw depends on what each change is, not on where it stands.
		order := func(m mutant) uint64 {
			h := sha256.Sum256(fmt.Append(nil, seed, m.name))
			return binary.BigEndian.Uint64(h[:])
		}
		slices.SortFunc(found, func(a, b mutant) int { return cmp.Compare(order(a), order(b)) })
		all = append(all, found[:min(n, len(found))]...)
	}
	return all, nil
}

type goPackage struct {
	Dir, ImportPath            string
	GoFiles, CgoFiles, Imports []string
}

// listPackages lists packages, each with its folder from the root of the module.
func listPackages(pattern string) (list []goPackage, err error) {
	out, err := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,CgoFiles,Imports", pattern).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pattern, err)
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		if p.Dir, err = filepath.Rel(root, p.Dir); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

var neighbours = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL,
}

// mutantsOf lists every change of a Go file.
func mutantsOf(path string, tests []string) ([]mutant, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(source, []byte("// Code generated")) {
		return nil, nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []mutant
	add := func(from, upto token.Pos, text, what string) {
		at := set.Position(from)
		list = append(list, mutant{path, at.Line, at.Offset, set.Position(upto).Offset, text, fmt.Sprintf("%s: %s", path, what), tests})
	}
	short := func(n ast.Node) string {
		text := string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
		text = strings.Join(strings.Fields(text), " ")
		return text[:min(len(text), 90)]
	}
	function := ""
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			function = n.Name.Name
		case *ast.GenDecl:
			if n.Tok == token.CONST || n.Tok == token.IMPORT {
				return false
			}
		case *ast.BinaryExpr:
			if other, ok := neighbours[n.Op]; ok {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String(), fmt.Sprintf("%s: %s for %s in %s", function, other, n.Op, short(n)))
			}
			for _, side := range []ast.Expr{n.X, n.Y} {
				if literal, ok := side.(*ast.BasicLit); ok && literal.Kind == token.INT {
					if v, err := strconv.ParseUint(literal.Value, 0, 62); err == nil {
						add(literal.Pos(), literal.End(), strconv.FormatUint(v+1, 10), fmt.Sprintf("%s: %d for %s in %s", function, v+1, literal.Value, short(n)))
					}
				}
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), "!("+string(source[set.Position(n.Cond.Pos()).Offset:set.Position(n.Cond.End()).Offset])+")", fmt.Sprintf("%s: not %s", function, short(n.Cond)))
		case *ast.ExprStmt, *ast.IncDecStmt:
			add(n.Pos(), n.End(), "", fmt.Sprintf("%s: without %s", function, short(n)))
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN {
				// The right side still counts as used.
				var uses []string
				for _, side := range n.Rhs {
					uses = append(uses, "_ = "+string(source[set.Position(side.Pos()).Offset:set.Position(side.End()).Offset]))
				}
				if len(n.Lhs) == len(n.Rhs) {
					add(n.Pos(), n.End(), strings.Join(uses, "; "), fmt.Sprintf("%s: without %s", function, short(n)))
				}
			} else if n.Tok != token.DEFINE {
				add(n.Pos(), n.End(), "", fmt.Sprintf("%s: without %s", function, short(n)))
			}
		case *ast.BranchStmt:
			if n.Label == nil && (n.Tok == token.BREAK || n.Tok == token.CONTINUE) {
				other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]
				add(n.Pos(), n.End(), other, fmt.Sprintf("%s: %s for %s in line %d of it", function, other, n.Tok, set.Position(n.Pos()).Line))
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				other := strconv.FormatBool(n.Name == "false")
				add(n.Pos(), n.End(), other, fmt.Sprintf("%s: %s for %s near column %d", function, other, n.Name, set.Position(n.Pos()).Column))
			}
		}
		return true
	})
	return list, nil
}

func readList(path string) (list []mutant, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m mutant
	var old, why []string
	var fresh []string
	finish := func() error {
		if m.file == "" {
			return nil
		}
		source, err := os.ReadFile(m.file)
		if err != nil {
			return err
		}
		before := strings.Join(old, "\n")
		if before == "" || strings.Count(string(source), before) != 1 {
			return fmt.Errorf("%s: %q is in %s %d times, want once", path, before, m.file, strings.Count(string(source), before))
		}
		m.from = strings.Index(string(source), before)
		m.upto, m.text = m.from+len(before), strings.Join(fresh, "\n")
		m.name = fmt.Sprintf("%s: %s", m.file, cmp.Or(strings.Join(why, " "), before))
		list = append(list, m)
		m, old, fresh, why = mutant{}, nil, nil, nil
		return nil
	}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for scanner.Scan() {
		line := scanner.Text()
		switch {
		case strings.HasPrefix(line, "@ "):
			if err := finish(); err != nil {
				return nil, err
			}
			file, tests, ok := strings.Cut(line[2:], ": ")
			if !ok {
				return nil, fmt.Errorf("%s: %q, want @ FILE: arguments of go test", path, line)
			}
			m.file, m.tests = file, strings.Fields(tests)
		case strings.HasPrefix(line, "- "):
			old = append(old, line[2:])
		case strings.HasPrefix(line, "+ "), line == "+":
			fresh = append(fresh, strings.TrimPrefix(strings.TrimPrefix(line, "+"), " "))
		case line != "" && !strings.HasPrefix(line, "#"):
			why = append(why, line)
		}
	}
	if err := finish(); err != nil {
		return nil, err
	}
	return list, scanner.Err()
}

// readExplained reads pairs of lines: a change and why no test can notice it.
func readExplained(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	last := ""
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimRight(line, "\n"); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			m[last] = strings.TrimSpace(line)
		default:
			last = line
		}
	}
	return m, nil
}

// run runs the tests with one change.
func run(m mutant, timeout time.Duration) (result, why string, err error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", "", err
	}
	folder, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil { // servers that tests start run as another user
		return "", "", err
	}
	changed := filepath.Join(folder, filepath.Base(m.file))
	if err := os.WriteFile(changed, slices.Concat(source[:m.from], []byte(m.text), source[m.upto:]), 0o600); err != nil {
		return "", "", err
	}
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", "", err
	}
	file := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", "", err
	}
	args := append([]string{"test", "-overlay", file, "-short", "-failfast", "-count=1", "-vet=off", "-timeout", timeout.String()}, m.tests...)
	cmd := exec.Command("go", args...)
	// What a test builds for itself, the library that it loads or a command, has the change too.
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+file))
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil && bytes.Contains(out, []byte("[no tests to run]")):
		return "", "", fmt.Errorf("go %s runs no tests", strings.Join(args, " "))
	case err == nil:
		return "survived", "", nil
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return "invalid", "", nil
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "--- FAIL: ") || strings.HasPrefix(line, "panic: ") {
			return "caught", strings.TrimSpace(line), nil
		}
	}
	return "caught", "", nil
}
