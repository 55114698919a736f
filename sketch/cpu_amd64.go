//go:build !purego

package sketch

// What the processor and the operating system allow, found once. A kernel
// looks at one of these; tests turn them off one by one.
var useAVX2, useAVX512, useAVX512Bytes = detectCPU()

// detectCPU reads CPUID and, for the registers that the system saves, XGETBV
// (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1,
// chapters 14 and 15).
//
//   - avx2: AVX2, BMI1, BMI2, POPCNT and PCLMULQDQ, which every processor with
//     AVX2 has had.
//   - avx512: the parts F, DQ, BW and VL.
//   - avx512Bytes: VBMI (VPERMB), VBMI2 (VPCOMPRESSB) and carry-less
//     multiplication in 512 bits, Ice Lake and Zen 4 on.
func detectCPU() (avx2, avx512, avx512Bytes bool) {
	most, _, _, _ := cpuid(0, 0)
	if most < 7 {
		return
	}
	const (
		pclmulqdq = 1 << 1
		popcnt    = 1 << 23
		osxsave   = 1 << 27
		avx       = 1 << 28
	)
	_, _, c1, _ := cpuid(1, 0)
	const first = pclmulqdq | popcnt | osxsave | avx
	if c1&first != first {
		return
	}
	saved := xgetbv()
	_, b7, c7, _ := cpuid(7, 0)
	has := func(register uint32, bits ...int) bool {
		for _, bit := range bits {
			if register>>bit&1 == 0 {
				return false
			}
		}
		return true
	}
	avx2 = saved&0x06 == 0x06 && has(b7, 3, 5, 8)                  // BMI1, AVX2, BMI2
	avx512 = avx2 && saved&0xe6 == 0xe6 && has(b7, 16, 17, 30, 31) // F, DQ, BW, VL
	avx512Bytes = avx512 && has(c7, 6, 10)                         // VBMI2, VPCLMULQDQ
	return
}

func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// xgetbv returns the low half of XCR0.
func xgetbv() uint32
