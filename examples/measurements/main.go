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
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/alike-sql/alike/examples/internal/steps"
)

//go:embed *.sql
var statements embed.FS

var example = steps.Example{
	Name:  "measurements",
	Files: statements,
	Fill:  fill,
	Do:    []string{"cells.sql", "people.sql"},
	Show: [][2]string{
		{"Imprecise: two measurements of one number", "distance.sql"},
		{"Imprecise: fifty uploads, a catalogue of a hundred songs", "songs.sql"},
		{"Important: five people, by what is known of them", "pairs.sql"},
		{"Important: four hundred pairs of sets with weights", "error.sql"},
	},
}

func main() { example.Main() }

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
