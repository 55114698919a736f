//go:build !purego

package sketch

// implementations are the ways this machine can run the kernels, the best
// first, and how to choose one. A test that chooses must not be parallel.
func implementations() []implementation {
	avx2, avx512, avx512Bytes := detectCPU()
	set := func(a, b, c bool) func() { return func() { useAVX2, useAVX512, useAVX512Bytes = a, b, c } }
	var list []implementation
	if avx512Bytes {
		list = append(list, implementation{"avx512", set(true, true, true)})
	}
	if avx512 {
		list = append(list, implementation{"avx512f", set(true, true, false)})
	}
	if avx2 {
		list = append(list, implementation{"avx2", set(true, false, false)})
	}
	return append(list, implementation{"generic", set(false, false, false)})
}
