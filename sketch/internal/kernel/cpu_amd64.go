//go:build !purego

package kernel

// What the processor and the operating system allow, found once. A kernel
// looks at one of these; tests turn them off one by one.
var useAVX2, useAVX512, useAVX512Bytes = detectCPU()

// A cpuLevel is what one of the three needs: bits of CPUID, and of XCR0 the
// registers that the system saves (Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 1, chapters 14 and 15). A test reads the assembly
// and compares.
type cpuLevel struct {
	saved    uint32
	features []cpuFeature
}

type cpuFeature struct {
	name     string
	register int // of cpuRegisters
	bit      int
}

// cpuRegisters are CPUID(1).ECX, CPUID(7,0).EBX and CPUID(7,0).ECX.
type cpuRegisters [3]uint32

var (
	levelAVX2 = cpuLevel{0x06, []cpuFeature{{"OSXSAVE", 0, 27}, {"AVX", 0, 28}, {"POPCNT", 0, 23}, {"PCLMULQDQ", 0, 1},
		{"BMI1", 1, 3}, {"AVX2", 1, 5}, {"BMI2", 1, 8}}}
	levelAVX512      = cpuLevel{0xe6, []cpuFeature{{"AVX512F", 1, 16}, {"AVX512DQ", 1, 17}, {"AVX512BW", 1, 30}, {"AVX512VL", 1, 31}}}
	levelAVX512Bytes = cpuLevel{0xe6, []cpuFeature{{"AVX512_VBMI", 2, 1}, {"AVX512_VBMI2", 2, 6}, {"VPCLMULQDQ", 2, 10}}}
)

// in reports whether a processor has the level's own features.
func (l cpuLevel) in(r cpuRegisters, saved uint32) bool {
	for _, f := range l.features {
		if r[f.register]>>f.bit&1 == 0 {
			return false
		}
	}
	return saved&l.saved == l.saved
}

// levels are avx2; avx512, from Skylake on; and avx512Bytes, from Ice Lake and
// Zen 4 on. Each needs the ones before.
func levels(r cpuRegisters, saved uint32) (avx2, avx512, avx512Bytes bool) {
	avx2 = levelAVX2.in(r, saved)
	avx512 = avx2 && levelAVX512.in(r, saved)
	return avx2, avx512, avx512 && levelAVX512Bytes.in(r, saved)
}

// detectCPU asks this processor.
func detectCPU() (avx2, avx512, avx512Bytes bool) { return detect(cpuid, xgetbv) }

func detect(cpuid func(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32), xgetbv func() uint32) (avx2, avx512, avx512Bytes bool) {
	const osxsave = 1 << 27 // without it there is no XGETBV
	last, _, _, _ := cpuid(0, 0)
	_, _, c1, _ := cpuid(1, 0)
	if last < 7 || c1&osxsave == 0 {
		return false, false, false
	}
	_, b7, c7, _ := cpuid(7, 0)
	return levels(cpuRegisters{c1, b7, c7}, xgetbv())
}

func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// xgetbv returns the low half of XCR0.
func xgetbv() uint32
