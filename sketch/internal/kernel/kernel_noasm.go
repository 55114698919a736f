//go:build (!amd64 && !arm64) || purego

package kernel

func Minima(m, a, b, xs []uint64) { minimaGeneric(m, a, b, xs) }

func Bins(m, xs []uint64, round int) int { return binsGeneric(m, xs, round) }

func fallbackKernel(m, a, b, xs []uint64, own *OwnMinima) { fallbackGeneric(m, a, b, xs, own) }

func Rounds(m, a, b, xs []uint64, own *OwnMinima) (full bool) {
	return roundsGeneric(m, a, b, xs, own)
}

func KnowsPlain() bool { return false }

func Edges(text []byte, edges []uint32, src []byte, base uint32, fold byte, _ *PlainTable) (count, done int) {
	return edgesGeneric(text, edges, src, base, fold)
}

func Spaced(out, src []byte, table *[256]byte, blank bool) (n, done int) {
	return spacedGeneric(out, src, table, blank)
}

func Characters(out []uint64, text []byte) int { return charactersGeneric(out, text) }

func CutBytes(out []byte, slots []uint64) { cutGeneric(out, slots) }

func Differing(p, q []byte, b int) int { return differingGeneric(p, q, b) }

func countFrom(m []uint64, round int) int { return countGeneric(m, round) }

func shingleKernel(win *Window, tokens, out []uint64) { shingleGeneric(win, tokens, out) }

func Fingerprints(out []uint64, text []byte, spans []Span) { fingerprintGeneric(out, text, spans) }

func Features(out []uint64, slots []byte, s int, order SlotOrder) {
	featureGeneric(out, slots, s, order)
}

func Implementations() []implementation { return []implementation{{"generic", func() {}}} }
