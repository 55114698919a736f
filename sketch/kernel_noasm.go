//go:build !amd64 || purego

package sketch

func shingleKernel(win *window, tokens, out []uint64) { shingleGeneric(win, tokens, out) }

func minimaKernel(m, a, b, xs []uint64) { minimaGeneric(m, a, b, xs) }

func binsKernel(m, xs []uint64, round int) { binsGeneric(m, xs, round) }
