package main

import (
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/sketch"
)

func (c *command) benchCommand() *cobra.Command {
	var profile string
	var size int
	bench := &cobra.Command{
		Use:   "bench",
		Short: "How fast this machine sketches",
		Long: `bench sketches generated text with one core and prints the rate for the families
fast and classic under a profile, text to features.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := benchText(16 << 20)
			out := c.sheet(cmd.OutOrStdout(), []string{"profile", "bytes", "ns_per_document", "mb_per_second"})
			for _, family := range []string{"fast", "classic"} {
				p, err := sketch.ParseProfile(profile + " " + family)
				if err != nil {
					return usageError{err}
				}
				s, err := sketch.NewSketcher(p)
				if err != nil {
					return err
				}
				var features []sketch.Feature
				best := time.Duration(1 << 62)
				documents := len(text) / size
				for range 5 {
					start := time.Now()
					for i := range documents {
						s.Document(text[i*size : (i+1)*size])
						features = s.AppendFeatures(features[:0])
					}
					best = min(best, time.Since(start))
				}
				rate := float64(documents*size) / 1e6 / best.Seconds()
				if err := out.row([]any{p.String(), size, float64(best.Nanoseconds()) / float64(documents), rate}); err != nil {
					return err
				}
			}
			return out.end()
		},
	}
	bench.Flags().StringVar(&profile, "profile", "prose", "the profile")
	intFlag(bench.Flags(), &size, "size", 2600, 1, 1<<20, "bytes of a document")
	return bench
}

// benchText makes text of frequent and rare words.
func benchText(n int) []byte {
	random := rand.New(rand.NewPCG(1, 1))
	vocabulary := make([][]byte, 20000)
	for i := range vocabulary {
		word := make([]byte, 2+random.IntN(8))
		for j := range word {
			word[j] = byte('a' + random.IntN(26))
		}
		vocabulary[i] = word
	}
	zipf := rand.NewZipf(random, 1.1, 3, uint64(len(vocabulary)-1))
	text := make([]byte, 0, n+16)
	for len(text) < n {
		text = append(append(text, vocabulary[zipf.Uint64()]...), ' ')
	}
	return text[:n]
}
