package cluster_test

import (
	"context"
	"fmt"
	"log"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
)

// Documents that share a feature are candidates, and their sketches decide.
func ExampleFinder() {
	documents := []string{
		"It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife.",
		"Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, I thought I would sail about a little.",
		"It is a truth universally acknowledged that a single man in possession of a good fortune must be in want of a wife!",
		"CALL ME ISHMAEL. Some years ago, never mind how long precisely, having little or no money in my purse, I thought I would sail about a bit.",
		"The past is a foreign country: they do things differently there.",
	}
	profile, err := sketch.ParseProfile("words")
	if err != nil {
		log.Fatal(err)
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		log.Fatal(err)
	}
	sketches := make([][]byte, len(documents))
	finder, err := cluster.New(cluster.Options{
		Verify:      func(a, b uint64) (float64, error) { return sketch.Resemblance(sketches[a], sketches[b]) },
		Resemblance: sketch.HalfPoint(profile.K, profile.S, profile.R),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer finder.Close()
	for id, document := range documents {
		sketcher.Reset()
		sketcher.Document([]byte(document))
		sketches[id] = sketcher.AppendSketch(nil)
		var features []int64
		for _, f := range sketcher.AppendFeatures(nil) {
			features = append(features, f.Value)
		}
		if err := finder.Add(uint64(id), features); err != nil {
			log.Fatal(err)
		}
	}
	report, err := finder.Clusters(context.Background(), func(m cluster.Member) error {
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
