//go:build !amd64 || purego

package sketch

func shingleKernel(win *window, tokens, out []uint64) { shingleGeneric(win, tokens, out) }

func minimaKernel(m, a, b, xs []uint64) { minimaGeneric(m, a, b, xs) }

func binsKernel(m, xs []uint64, round int) int { return binsGeneric(m, xs, round) }

func fallbackKernel(m, a, b, xs []uint64, own *ownMinima) { fallbackGeneric(m, a, b, xs, own) }

func roundsKernel(m, a, b, xs []uint64, own *ownMinima) (full bool) {
	return roundsGeneric(m, a, b, xs, own)
}

func fingerprintKernel(out []uint64, text []byte, spans []span) { fingerprintGeneric(out, text, spans) }

func plainKernel() bool { return false }

func edgesKernel(text []byte, edges []uint32, src []byte, base uint32, fold byte, _ *plainTable) (count, done int) {
	return edgesGeneric(text, edges, src, base, fold)
}

func cutKernel(out []byte, slots []uint64) { cutGeneric(out, slots) }

func differingKernel(p, q []byte, b int) int { return differingGeneric(p, q, b) }

func featureKernel(out []uint64, slots []byte, s int, order slotOrder) {
	featureGeneric(out, slots, s, order)
}
