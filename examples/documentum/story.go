package main

import (
	"database/sql"
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/alike-sql/alike/examples/internal/steps"
)

//go:embed office
var office embed.FS

func text(name string) string {
	b, err := office.ReadFile("office/" + name + ".txt")
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(b)
}

// tell is a year in the office. The first error ends it.
func tell(r *repository, out io.Writer) error {
	s := story{r: r, out: out}
	s.past()
	s.aspect()
	s.versions()
	s.policies()
	s.rothsQuery()
	s.reports()
	s.quarantine()
	s.detach()
	return s.err
}

type story struct {
	r   *repository
	out io.Writer
	err error
}

// do takes the next step unless one has failed.
func (s *story) do(step func() error) {
	if s.err == nil {
		s.err = step()
	}
}

func (s *story) call(procedure string, args ...any) {
	s.do(func() error { return s.r.call(procedure, args...) })
}

func (s *story) file(name string) { s.do(func() error { return s.r.do(name) }) }

func (s *story) show(title, name string, args ...sql.NamedArg) {
	s.do(s.r.settle)
	s.do(func() error { return s.r.show(s.out, title, name, args...) })
}

func (s *story) importDocument(kind, name, folder, owner, content string, date any) {
	s.do(func() error { return s.r.importDocument(kind, name, folder, owner, []byte(content), date) })
}

func (s *story) id(name string) (id string) {
	s.do(func() (err error) {
		if id, err = s.r.id(name); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return err
	})
	return id
}

// refused prints the error that a step must end with.
func (s *story) refused(what string, step func() error) {
	s.do(func() error {
		refusal := step()
		if refusal == nil {
			return fmt.Errorf("%s: was not refused", what)
		}
		_, err := fmt.Fprintf(s.out, "%s is refused:\n    %v\n\n", what, refusal)
		return err
	})
}

const contracts, letters = "/Office/Contracts", "/Office/Letters"

// past is what the repository has before it has the aspect.
func (s *story) past() {
	s.call("create_type", "contract", "dm_document")
	s.call("create_type", "framework_contract", "contract")
	for _, folder := range []string{"/Office", contracts, letters} {
		if s.r.worker == nil {
			s.call("create_folder", folder, nil)
		} else {
			s.call("create_folder", folder)
		}
	}
	s.importDocument("contract", "Lease of berth 7", contracts, "anna", text("lease"), "2011-03-07 09:00:00")
	s.importDocument("contract", "LEASE BERTH 7 (from mail)", contracts, "ben", strings.ToUpper(text("lease")), "2011-03-08 10:00:00")
	s.importDocument("framework_contract", "Insurance 2011", contracts, "anna", text("insurance"), "2011-03-08 11:00:00")
	s.importDocument("dm_document", "Breakwater", letters, "carl", text("letter"), "2011-03-09 12:00:00")
	s.importDocument("dm_document", "Breakwater, draft", letters, "carl", strings.Replace(text("letter"), "With kind regards", "Yours", 1), "2011-03-09 12:30:00")
}

// aspect attaches it to a type, whose subtypes inherit it, and to one object.
func (s *story) aspect() {
	s.call("attach_default_aspect", "contract", "si_aspect")
	s.call("attach_aspect", s.id("Breakwater"), "si_aspect")
	s.do(s.r.backfill)
	s.show("Who carries the aspect, and from what", "carriers")
	s.do(func() error { return s.r.policy("link") })
	s.do(s.r.settle)
}

// versions makes a tree. A version is not reported against the others of its
// document, but against the copy that somebody filed.
func (s *story) versions() {
	lease := s.id("Lease of berth 7")
	s.call("checkout", lease, "anna")
	s.refused("Ben's checkout of what Anna has", func() error { return s.r.call("checkout", lease, "ben") })
	s.refused("Ben's checkin of what Anna has", func() error {
		return s.r.checkin(checkin{id: lease, user: "ben", version: "minor"})
	})
	longer := strings.Replace(text("lease"), "five years", "ten years", 1)
	s.do(func() error {
		return s.r.checkin(checkin{id: lease, user: "anna", version: "minor", content: []byte(longer), label: "SENT"})
	})
	s.do(s.r.settle)
	s.call("checkout", lease, "carl")
	s.refused("A second 1.1", func() error { return s.r.checkin(checkin{id: lease, user: "carl", version: "minor"}) })
	s.refused("A second label SENT", func() error {
		return s.r.checkin(checkin{id: lease, user: "carl", version: "branch", label: "SENT"})
	})
	s.do(func() error {
		return s.r.checkin(checkin{id: lease, user: "carl", version: "branch", label: "FERRY",
			content: []byte(strings.Replace(text("lease"), "twelve thousand", "nine thousand", 1))})
	})
	s.do(s.r.settle)
	current := s.id("Lease of berth 7")
	s.call("checkout", current, "anna")
	s.do(func() error {
		return s.r.checkin(checkin{id: current, user: "anna", version: "major", label: "SIGNED"})
	})
	s.show("The versions of the lease", "tree", sql.Named("id", lease))
	s.show("What was recorded at these checkins", "matches")
}

// policies shows what each does with a copy of the insurance, and that none of
// them minds a new version of a document unless it is asked to.
func (s *story) policies() {
	rows := [][]string{{"policy", "the copy", "recorded"}}
	for i, policy := range []string{"ignore", "link", "warn", "reject"} {
		s.do(func() error { return s.r.policy(policy) })
		s.do(s.r.settle)
		name := "Insurance, copy under " + policy
		copied := strings.Replace(text("insurance"), "five\nthousand crowns", []string{"one", "two", "three", "four"}[i]+" thousand crowns", 1)
		s.do(func() error {
			outcome := "checked in"
			refusal := s.r.importDocument("contract", name, contracts, "ben", []byte(copied), nil)
			if refusal != nil {
				outcome = "refused: " + refusal.Error()
			}
			if err := s.r.settle(); err != nil {
				return err
			}
			var recorded string
			if err := s.r.db.QueryRow(`select count(*) from si_aspect_alike_match m join dm_sysobject_s o on o.r_object_id = m.r_object_id
				where o.object_name = $1 and m.other < m.r_object_id`, name).Scan(&recorded); err != nil {
				return err
			}
			rows = append(rows, []string{policy, outcome, recorded})
			return nil
		})
	}
	s.do(func() error {
		_, err := fmt.Fprintf(s.out, "A copy of the insurance, under each policy\n\n%s\n", steps.Table(rows))
		return err
	})

	letter := s.id("Breakwater")
	s.call("checkout", letter, "carl")
	again := checkin{id: letter, user: "carl", version: "minor", content: []byte(strings.Replace(text("letter"), "middle of May", "end of May", 1)), compareVersions: true}
	s.refused("Under reject, a new version that asks to be compared with its own", func() error { return s.r.checkin(again) })
	again.compareVersions = false
	s.do(func() error { return s.r.checkin(again) })
	s.do(func() error {
		_, err := fmt.Fprint(s.out, "The same version, when it does not ask, is checked in.\n\n")
		return err
	})
}

func (s *story) rothsQuery() {
	lease := s.id("Lease of berth 7")
	s.show("Roth's query: within 30 % of the si_aspect.value of the lease", "range", sql.Named("id", lease))
	s.show("The same question by sketches", "similar", sql.Named("id", lease))
}

func (s *story) reports() {
	s.show("Clusters", "clusters")
	s.show("Features that three documents have", "hot")
	s.show("Checkins by day", "checkins")
	s.show("Versions, when one asks", "versions_alike")
}

func (s *story) quarantine() {
	s.call("checkout", s.id("Insurance, copy under warn"), "ben")
	s.file("plan")
	s.show("The plan of a quarantine: what is checked out stays", "planned")
	s.file("quarantine")
	s.show("In quarantine", "quarantined")
	s.file("release")
	s.show("After the release", "quarantined")
}

// detach takes the aspect from the type. What carries it by itself keeps it.
func (s *story) detach() {
	s.call("attach_aspect", s.id("Insurance 2011"), "si_aspect")
	s.call("detach_default_aspect", "contract", "si_aspect")
	s.show("Detached from the type: who still carries the aspect", "carriers")
}
