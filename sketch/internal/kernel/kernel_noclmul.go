//go:build (!amd64 && !arm64) || purego

package kernel

func shingleKernel(win *Window, tokens, out []uint64) { shingleGeneric(win, tokens, out) }

func Fingerprints(out []uint64, text []byte, spans []Span) { fingerprintGeneric(out, text, spans) }

func Features(out []uint64, slots []byte, s int, order SlotOrder) {
	featureGeneric(out, slots, s, order)
}

func Implementations() []implementation { return []implementation{{"generic", func() {}}} }
