package sketch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alike-sql/alike/sketch"
)

// Documents that share a feature are candidates, and their sketches decide.
func ExampleClusterer() {
	documents := []string{
		"It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife.",
		"Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, I thought I would sail about a little.",
		"It is a truth universally acknowledged that a single man in possession of a good fortune must be in want of a wife!",
		"CALL ME ISHMAEL. Some years ago, never mind how long precisely, having little or no money in my purse, I thought I would sail about a bit.",
		"The past is a foreign country: they do things differently there.",
	}
	profile, err := sketch.ParseProfile("text")
	if err != nil {
		log.Fatal(err)
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		log.Fatal(err)
	}
	sketches := make([][]byte, len(documents))
	clusterer, err := sketch.NewClusterer(sketch.ClusterOptions{
		Verify:      func(a, b uint64) (float64, error) { return sketch.Resemblance(sketches[a], sketches[b]) },
		Resemblance: sketch.HalfPoint(profile.K, profile.S, profile.R),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer clusterer.Close()
	for id, document := range documents {
		sketcher.Reset()
		sketcher.Document([]byte(document))
		sketches[id] = sketcher.AppendSketch(nil)
		var features []int64
		for _, f := range sketcher.AppendFeatures(nil) {
			features = append(features, f.Value)
		}
		if err := clusterer.Add(uint64(id), features); err != nil {
			log.Fatal(err)
		}
	}
	report, err := clusterer.Clusters(context.Background(), func(m sketch.Member) error {
		fmt.Printf("document %d is in cluster %d\n", m.ID, m.Cluster)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Clusters, "clusters of", report.Clustered, "documents")
	// Output:
	// document 0 is in cluster 0
	// document 1 is in cluster 1
	// document 2 is in cluster 0
	// document 3 is in cluster 1
	// document 4 is in cluster 4
	// 2 clusters of 4 documents
}

// The filter of AltaVista: what it finds and what it lets through.
func ExampleFilterProbability() {
	for _, resemblance := range []float64{0.5, 0.77, 0.9, 0.975, 0.99} {
		fmt.Printf("%.3f  %.2g\n", resemblance, sketch.FilterProbability(6, 14, 2, resemblance))
	}
	fmt.Printf("half at %.4f\n", sketch.HalfPoint(6, 14, 2))
	// Output:
	// 0.500  5.6e-08
	// 0.770  0.0093
	// 0.900  0.42
	// 0.975  0.99
	// 0.990  1
	// half at 0.9094
}

// Find 99 % of the pairs at 0.9, and let through 5 % of those at 0.5.
func ExampleFilterPlan() {
	plan, err := sketch.FilterPlan(0.9, 0.01, 0.5, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range plan[:3] {
		fmt.Printf("k=%d s=%d r=%d: %d bytes a row, misses %.2f %%, lets through %.2f %%\n", f.K, f.S, f.R, f.Bytes, 100*f.Miss, 100*f.Accept)
	}
	// Output:
	// k=8 s=5 r=2: 124 bytes a row, misses 0.99 %, lets through 2.41 %
	// k=11 s=2 r=6: 130 bytes a row, misses 0.90 %, lets through 3.43 %
	// k=10 s=3 r=4: 130 bytes a row, misses 0.57 %, lets through 2.75 %
}
