// Package cluster finds the pairs and the clusters among documents, from the
// features and sketches that package sketch makes of each.
//
// A [Finder] does so for any number of documents in bounded memory, by the four
// phases of Broder 2000, section 2: sketch each document, sort its features
// with those of all others, count what each two documents share, join those
// that share enough. It sorts in temporary files when the memory does not
// suffice. The caller can pass a function that decides about each pair; then no
// chain of pairs makes a cluster of strangers. People's verdicts on pairs, passed
// to [Finder.Mark], override everything.
//
// A [Linker] makes clusters of pairs that the caller knows, by the linkage that it asks
// for, and chooses the documents to keep so that no two of these are alike.
//
// A [Greedy] clusters sketches in one pass and in memory, as Broder
// 1997, section 4.4, proposes: each joins the cluster that it resembles most, or
// begins one. A [Sorter] is the Finder's sorting alone.
package cluster
