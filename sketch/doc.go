// Package sketch finds documents that are roughly the same, by the method that
// Andrei Broder published in 1997 and AltaVista used to keep duplicates out of its
// index: from each document it computes, by itself and once, a sketch of a few
// hundred bytes and a few features; two sketches tell how much the documents have
// in common, and equal features find the pairs worth asking about.
//
// # From a document to a set
//
// A document is reduced to canonical tokens: its words, say, with case and
// punctuation folded, so that what was chosen to be ignored is gone. Every w
// consecutive tokens are a shingle, and the document is the set of its shingles.
// Two documents then have a resemblance and a containment,
//
//	r(A, B) = |A ∩ B| / |A ∪ B|        c(A, B) = |A ∩ B| / |A|
//
// between 0 and 1. Changing one word of A changes w of its shingles; moving a
// paragraph changes few. [ExactResemblance] and [ExactContainment] compute them
// as they are defined, [Tokens], [Shingles] and [Explain] show what they are made of.
//
// # From a set to a sketch
//
// A shingle is replaced by its Rabin fingerprint, a number of 64 bits (package [github.com/alike-sql/alike/sketch/rabin]
// is the general form). For a random permutation of these numbers, the smallest number
// of A and that of B are equal with probability r(A, B): the smallest number of A ∪ B
// is as likely to be any of its members, and it is the smallest of both just when it
// is in A ∩ B. A sketch has t such minima; the share of them
// that two sketches have in common is an unbiased estimate of the resemblance, with
// a standard error of √(r(1-r)/t), or less: 0.039 at most for the 168 of the default.
//
// A [Sketcher] makes sketches, [Resemblance] compares two, [Bounds] says between
// which values the truth lies at a stated confidence, a [Merger] makes the sketch
// of a union. There are several ways to sample, the families:
//
//   - fast, the default: one hash a shingle shares the shingles out among the t
//     slots (Dahlgaard, Knudsen and Thorup 2017). As accurate as classic on long documents and
//     sharper on short ones.
//   - classic: t permutations a·x+b, as in Broder 2000.
//   - bottom=s, mod=m, scaled: the samples of Broder 1997: the s smallest values, the
//     multiples of m, the multiples of a power of two that leaves at most 100.
//     The last two estimate containment as well.
//   - bins: Ping Li's one permutation; lean, lean-zeros, lean-biased: Manasse's
//     economies of random bits; weighted: elements with real weights.
//
// Families with slots can be stored at 8, 4, 2 or 1 bits a slot (bits=8, or [Cut]);
// the estimate takes out the matches by luck.
//
// # From a sketch to features
//
// To find the similar pairs among millions of documents no two sketches need be
// compared. The minima are taken in k groups of s, and each group is
// fingerprinted: a feature. A feature is equal with probability r^s, so that two documents
// that share at least one of k become likely candidates around a resemblance
// that k, s and the number r of shared features choose: [FilterProbability] is the curve,
// [HalfPoint] where it crosses a half, [ThresholdFilter] the k and s for a threshold,
// [FilterPlan] the search for k, s and r.
// Features are ordinary numbers for an ordinary index or join. [Superfeatures] turn
// "at least r equal" into "one equal", and package
// [github.com/alike-sql/alike/sketch/cluster] joins the pairs of any number of
// documents in bounded memory.
//
// # Profiles
//
// Everything that decides the numbers is a [Profile], spelled as in
//
//	words w=2 set fast t=168 k=23 s=4 r=2
//
// and stored in front of every sketch. Sketches of different profiles are never
// compared: the error names both. [Presets] has profiles for prose, short texts,
// texts without blanks between words, web pages, source code, logs and records, and
// [Look] chooses among them.
//
// # The truncation trap
//
// Fingerprints that differ in a short last word differ in few bits, and minima are
// small numbers, so that neither may simply be cut to their first or last bits: that
// merges or biases them. Wherever bits are chosen here, a multiplication mixes
// the number first.
//
// # The stored form
//
// FORMAT.md beside the source specifies every byte, with vectors that an implementation
// in another language reproduces. The same document under the same profile has the
// same bytes on every processor, and in every later version of this package.
//
// # Roth's similarity indexes
//
// Package [github.com/alike-sql/alike/sketch/simindex] makes one number of a
// document, to be found by a range scan: those of the experiment that Roth
// published in 2011, and two that serve such a scan without loss, length and forest.
package sketch
