// Package clustertest checks clusters that an engine keeps up to date, in tests.
package clustertest

import (
	"fmt"
	"strings"
)

// Event is a line of NAME_alike_event; 0 stands for NULL.
type Event struct {
	Event               string
	Cluster, Other, Key int64
}

// Replay makes the cluster of each row from the events, as another system would.
func Replay(events []Event) (map[int64]int64, error) {
	known, of := map[int64]bool{}, map[int64]int64{}
	members := func(cluster int64, each func(key int64)) {
		for key, c := range of {
			if c == cluster {
				each(key)
			}
		}
	}
	for i, e := range events {
		whole, alone := e.Other != 0 && e.Key == 0, e.Other == 0 && e.Key == 0
		row := e.Other == 0 && e.Key != 0
		switch {
		case e.Event == "made" && alone && !known[e.Cluster]:
			known[e.Cluster] = true
		case e.Event == "joined" && whole && known[e.Cluster] && known[e.Other]:
			members(e.Other, func(key int64) { of[key] = e.Cluster })
			delete(known, e.Other)
		case e.Event == "joined" && row && known[e.Cluster] && of[e.Key] == 0:
			of[e.Key] = e.Cluster
		case e.Event == "split" && e.Other != 0 && e.Key != 0 && known[e.Cluster] && of[e.Key] == e.Other:
			of[e.Key] = e.Cluster
		case e.Event == "gone" && row && of[e.Key] == e.Cluster:
			delete(of, e.Key)
		case e.Event == "gone" && alone && known[e.Cluster]:
			members(e.Cluster, func(key int64) { delete(of, key) })
			delete(known, e.Cluster)
		default:
			return nil, fmt.Errorf("event %d, %+v, cannot follow what came before", i, e)
		}
	}
	for cluster := range known {
		n := 0
		if members(cluster, func(int64) { n++ }); n < 2 {
			return nil, fmt.Errorf("by its events cluster %d has %d rows", cluster, n)
		}
	}
	return of, nil
}

// Crowded are the rows of components of more than maxRows rows: of everything that pairs link,
// whatever people called distinct.
func Crowded(pairs [][2]int64, maxRows int) []int64 {
	of := map[int64]int64{}
	for _, p := range pairs {
		for _, key := range p {
			if of[key] == 0 {
				of[key] = key
			}
		}
		from, to := of[p[0]], of[p[1]]
		for key, component := range of {
			if component == from {
				of[key] = to
			}
		}
	}
	sizes := map[int64]int{}
	for _, component := range of {
		sizes[component]++
	}
	list := []int64{}
	for key, component := range of {
		if sizes[component] > maxRows {
			list = append(list, key)
		}
	}
	return list
}

// Chained is a text that resembles those with the next numbers and no others.
func Chained(n int) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "word%d ", n*5+i)
	}
	return b.String()
}
