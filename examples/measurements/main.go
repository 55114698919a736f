// Command measurements compares things that are no texts, in the two ways that
// Manasse describes: imprecise features, such as the peaks in a recording, that
// no two measurements give alike; and important features, that say more about a
// thing than others do.
//
//	go run ./examples/measurements [-database FILE]
package main

import (
	"database/sql"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/alike-sql/alike/examples/steps"
)

// Each file is one step, and runs as it is in the sqlite3 shell too.
//
//go:embed *.sql
var statements embed.FS

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "measurements:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("measurements", flag.ContinueOnError)
	file := flags.String("database", "build/measurements.db", "the SQLite `file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := steps.Create(*file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := fill(db); err != nil {
		return err
	}
	for _, name := range []string{"cells.sql", "people.sql"} {
		if err := steps.Do(db, statements, name); err != nil {
			return err
		}
	}
	for _, step := range [][2]string{
		{"Imprecise: two measurements of one number", "distance.sql"},
		{"Imprecise: fifty uploads, a catalogue of a hundred songs", "songs.sql"},
		{"Important: five people, by what is known of them", "pairs.sql"},
		{"Important: four hundred pairs of sets with weights", "error.sql"},
	} {
		if err := steps.Show(out, db, statements, step[0], step[1]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "All of it is in %s.\n", *file)
	return err
}

// A peak of a recording: its pitch in quarter tones, and the time to the next
// peak in hundredths of a second.
type peak struct{ pitch, gap float64 }

// versions are how an upload differs from the song in the catalogue: how far a
// peak is off, as a standard deviation, and the share of the peaks that are
// others altogether.
var versions = []struct {
	name  string
	noise float64
	lost  float64
}{
	{"the same file", 0, 0},
	{"another rip", 0.1, 0.02},
	{"a low bit rate", 0.3, 0.1},
	{"from the radio", 0.5, 0.25},
	{"a live recording", 1, 0.4},
}

// fill makes the recordings and the weighted sets.
func fill(db *sql.DB) error {
	const songs, uploads, peaks, pairs = 100, 10, 80, 400
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	do := func(statement string, values ...any) {
		if err == nil {
			_, err = tx.Exec(statement, values...)
		}
	}
	do(`create table recording (id integer primary key, song integer, version text);
		create table peak (recording integer, pitch real, gap real);
		create table weighted_element (pair integer, side integer, element text, weight real, whole integer)`)

	random := rand.New(rand.NewPCG(2007, 0))
	any := func() peak { return peak{100 * random.Float64(), 100 * random.Float64()} }
	id := 0
	record := func(song int, version string, list []peak) {
		id++
		do("insert into recording values (?, ?, ?)", id, song, version)
		for _, p := range list {
			do("insert into peak values (?, ?, ?)", id, p.pitch, p.gap)
		}
	}
	catalogue := make([][]peak, songs)
	for song := range catalogue {
		for range peaks {
			catalogue[song] = append(catalogue[song], any())
		}
		record(song+1, "catalogue", catalogue[song])
	}
	for _, v := range versions {
		for range uploads {
			song := random.IntN(songs)
			var list []peak
			for _, p := range catalogue[song] {
				if random.Float64() < v.lost {
					p = any()
				}
				list = append(list, peak{p.pitch + v.noise*random.NormFloat64(), p.gap + v.noise*random.NormFloat64()})
			}
			record(song+1, v.name, list)
		}
	}

	// The two sets of a pair share elements, and the weights of some of these.
	for pair := range pairs {
		shared, equal := math.Sqrt(random.Float64()), math.Sqrt(random.Float64())
		for element := range 40 {
			weight := 10 * random.Float64()
			for side := range 2 {
				name := fmt.Sprintf("%d %d", pair, element)
				if random.Float64() > shared {
					name = fmt.Sprintf("%d %d of %d", pair, element, side)
				}
				if random.Float64() > equal {
					weight = 10 * random.Float64()
				}
				do("insert into weighted_element values (?, ?, ?, ?, ?)", pair, side, name, weight, math.Ceil(weight))
			}
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}
