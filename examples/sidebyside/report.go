package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type report struct {
	Collections []*collection
	Runs        []result
	Missing     []string
}

func newReport() *report { return &report{} }

func (r *report) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "results.json"), append(b, '\n'), 0o644)
}

// seconds writes a time in the unit that suits it.
func seconds(s float64) string {
	switch {
	case s >= 10:
		return fmt.Sprintf("%.0f s", s)
	case s >= 0.1:
		return fmt.Sprintf("%.2g s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.2g ms", s*1e3)
	}
	return fmt.Sprintf("%.2g µs", s*1e6)
}
