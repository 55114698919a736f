//go:build !purego

package kernel

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every feature that a processor, or the machine it emulates, does not have turns
// off the level that needs it and those above.
func TestLevels(t *testing.T) {
	all := cpuRegisters{^uint32(0), ^uint32(0), ^uint32(0)}
	if a, b, c := levels(all, ^uint32(0)); !a || !b || !c {
		t.Errorf("a processor with everything has the levels %v %v %v, want all", a, b, c)
	}
	for n, level := range []cpuLevel{levelAVX2, levelAVX512, levelAVX512Bytes} {
		check := func(what string, r cpuRegisters, saved uint32) {
			a, b, c := levels(r, saved)
			if got := []bool{a, b, c}; slices.Contains(got[n:], true) || slices.Contains(got[:n], false) {
				t.Errorf("without %s the levels are %v, want the first %d", what, got, n)
			}
		}
		for _, f := range level.features {
			r := all
			r[f.register] &^= 1 << f.bit
			check(f.name, r, ^uint32(0))
		}
		if n < 2 { // the third saves what the second does
			for bit := range 8 {
				if level.saved>>bit&1 != 0 && (n == 0 || levelAVX2.saved>>bit&1 == 0) {
					check(fmt.Sprintf("bit %d of XCR0", bit), all, ^uint32(0)&^(1<<bit))
				}
			}
		}
	}
}

// A processor is asked for nothing that it does not have: leaf 7, or XGETBV where the
// system does not save the registers.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		last, ecx uint32
		want      bool
	}{{13, ^uint32(0), true}, {7, ^uint32(0), true}, {6, ^uint32(0), false}, {1, ^uint32(0), false}, {13, ^uint32(0) &^ (1 << 27), false}} {
		a, b, d := detect(func(leaf, _ uint32) (eax, ebx, ecx, edx uint32) {
			switch leaf {
			case 0:
				return c.last, 0, 0, 0
			case 1:
				return 0, 0, c.ecx, 0
			}
			if c.last < leaf {
				t.Errorf("leaf %d was asked of a processor whose last is %d", leaf, c.last)
			}
			return 0, ^uint32(0), ^uint32(0), 0
		}, func() uint32 {
			if !c.want {
				t.Errorf("XGETBV was asked of %+v", c)
			}
			return ^uint32(0)
		})
		if a != c.want || b != c.want || d != c.want {
			t.Errorf("%+v: the levels are %v, %v, %v", c, a, b, d)
		}
	}
}

// Each implementation uses what it is called after and no more.
func TestImplementations(t *testing.T) {
	want := map[string][3]bool{"avx512": {true, true, true}, "avx512f": {true, true, false}, "avx2": {true, false, false}, "generic": {}}
	Each(func(name string) {
		if got := [3]bool{useAVX2, useAVX512, useAVX512Bytes}; got != want[name] {
			t.Errorf("%s uses %v", name, got)
		}
	})
}

// featuresOf are the features that instructions need, by the Intel manual,
// volume 2. Instructions on masks or 512 bits need AVX512 in addition.
var featuresOf = map[string]string{
	"POPCNT": "POPCNTL POPCNTQ",
	"BMI1":   "ANDNQ BLSRL BLSRQ TZCNTL TZCNTQ",
	"BMI2":   "BZHIQ SHRXQ",
	"AVX":    "VZEROUPPER VMOVDQU VMOVD VMOVQ",
	"AVX2": `VEXTRACTI128 VINSERTI128 VPADDB VPADDD VPADDQ VPAND VPBLENDVB VPBROADCASTB VPBROADCASTD VPBROADCASTQ VPCMPEQB VPCMPEQQ VPCMPGTQ
		VPERMQ VPMINUB VPMOVMSKB VPMOVZXBD VPMOVZXBQ VPMULLD VPMULUDQ VPOR VPSHUFB VPSLLDQ VPSLLQ VPSLLVQ VPSRLDQ VPSRLQ VPSUBB VPSUBD
		VPSUBQ VPUNPCKLQDQ VPXOR`,
	"PCLMULQDQ": "VPCLMULQDQ",
	"AVX512F": `KMOVW VBROADCASTI32X4 VEXTRACTI32X4 VEXTRACTI64X4 VINSERTI64X4 VMOVDQA64 VMOVDQU32 VMOVDQU64 VPBLENDMQ VPCMPUD VPCMPUQ
		VPCOMPRESSQ VPERMT2Q VPEXPANDQ VPMINUQ VPMOVQB VPORQ VPROLVQ VPRORVQ VPTERNLOGQ VPTESTNMQ VPXORQ`,
	"AVX512DQ":     "KMOVB KTESTW VINSERTI64X2 VPMULLQ",
	"AVX512BW":     "KANDNQ KANDQ KMOVQ KORQ KORTESTQ KSHIFTLQ KSHIFTRQ VMOVDQU8 VPCMPB VPCMPUB VPMOVB2M VPMOVM2B VPTESTMB",
	"AVX512_VBMI":  "VPERMB VPERMI2B",
	"AVX512_VBMI2": "VPCOMPRESSB",
	// Every processor of the architecture has these.
	"": `ADDL ADDQ ANDL ANDQ CMOVQCC CMOVQCS CMOVQEQ CMOVQGT CMOVQLS CMOVQLT CMPL CMPQ CPUID DECQ IMULQ INCQ JA JAE JB JBE JCS JE JMP JNZ JZ LEAQ
		MOVBLZX MOVL MOVQ NEGQ ORQ PCALIGN PREFETCHT0 RET SHLL SHLQ SHRL SHRQ SUBL SUBQ TESTL TESTQ XGETBV XORL XORQ`,
}

// levelOf is the level that kernel_amd64.go looks at before it calls a function.
var levelOf = map[string]int{
	"cpuid": 0, "xgetbv": 0,
	"equalBytes256": 1, "equalWords256": 1, "features128": 1, "minima256": 1, "shingle128": 1, "fingerprints128": 1, "edges256": 1, "bins64": 1, "binsFew64": 1,
	"minima512": 2, "open512": 2, "close512": 2, "cut512": 2,
	"bins512": 3, "features512": 3, "shingle512": 3, "fingerprints512": 3, "short512": 3, "edges512": 3, "spaced512": 3,
}

// No kernel has an instruction whose feature is not looked at before it is called.
func TestInstructionsAreChecked(t *testing.T) {
	feature := map[string]string{}
	for name, list := range featuresOf {
		for _, instruction := range strings.Fields(list) {
			feature[instruction] = name
		}
	}
	checked := []map[string]bool{{"": true}}
	for _, level := range []cpuLevel{levelAVX2, levelAVX512, levelAVX512Bytes} {
		more := maps.Clone(checked[len(checked)-1])
		for _, f := range level.features {
			more[f.name] = true
		}
		checked = append(checked, more)
	}
	files, err := filepath.Glob("*_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	instruction := regexp.MustCompile(`^[A-Z][A-Z0-9]*`)
	wide := regexp.MustCompile(`\b(Z[0-9]+|K[0-7]|[XY](1[6-9]|2[0-9]|3[01]))\b`)
	macro := regexp.MustCompile(`\b[A-Z][A-Z0-9]+\b`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts, macros := assemblyParts(string(source), found)
		var check func(function, name string, used map[string]bool)
		check = func(function, name string, used map[string]bool) {
			if used[name] {
				return
			}
			used[name] = true
			for _, part := range parts[name] {
				for _, word := range macro.FindAllString(part, -1) {
					if macros[word] {
						check(function, word, used)
					} else if need, known := feature[word]; known && !checked[levelOf[function]][need] {
						t.Errorf("%s: %s has %q, which needs %s; the level %d that is checked before it is called does not look at it", file, function, part, need, levelOf[function])
					}
				}
				m := instruction.FindString(part)
				if m == "" || macros[m] || strings.HasSuffix(part, ":") || strings.Contains(part, "DATA") || strings.Contains(part, "GLOBL") || len(m) == 1 {
					continue
				}
				needs := []string{feature[m]}
				if _, known := feature[m]; !known {
					if isParameter(string(source), m) {
						continue
					}
					t.Errorf("%s: %s: the feature of %s is not in the table", file, function, m)
				}
				if wide.MatchString(part) {
					needs = append(needs, "AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL")
					if m == "VPCLMULQDQ" && !regexp.MustCompile(`\bX[0-9]+$`).MatchString(part) {
						needs = append(needs, "VPCLMULQDQ")
					}
				} else if m == "VPCLMULQDQ" && strings.Contains(part, "Y") {
					needs = append(needs, "VPCLMULQDQ")
				}
				for _, need := range needs {
					if !checked[levelOf[function]][need] {
						t.Errorf("%s: %s has %q, which needs %s; the level %d that is checked before it is called does not look at it", file, function, part, need, levelOf[function])
					}
				}
			}
		}
		for name := range parts {
			if !macros[name] {
				check(name, name, map[string]bool{})
			}
		}
	}
	for name := range levelOf {
		if !found[name] {
			t.Errorf("the table names %s, which is not in the assembly", name)
		}
	}
	for name := range found {
		if _, known := levelOf[name]; !known {
			t.Errorf("%s is in the assembly and not in the table", name)
		}
	}
}

// assemblyParts are what each function and macro of a file of assembly consists of, and which
// of them are macros. The functions are added to found.
func assemblyParts(source string, found map[string]bool) (parts map[string][]string, macros map[string]bool) {
	text := regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)
	define := regexp.MustCompile(`^#define (\w+)`)
	parts, macros = map[string][]string{}, map[string]bool{}
	name := ""
	for line := range strings.Lines(source) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
		if m := text.FindStringSubmatch(line); m != nil {
			name = m[1]
			found[name] = true
			continue
		}
		if m := define.FindStringSubmatch(line); m != nil {
			name = m[1]
			macros[name] = true
			_, line, _ = strings.Cut(line, m[0])
			if strings.HasPrefix(line, "(") {
				_, line, _ = strings.Cut(line, ")")
			}
		}
		for _, part := range strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "\\"), ";") {
			if part = strings.TrimSpace(part); part != "" && name != "" {
				parts[name] = append(parts[name], part)
			}
		}
	}
	return parts, macros
}

// isParameter reports whether a word is the parameter of a macro, which stands
// for an instruction that is given where the macro is used.
func isParameter(source, word string) bool {
	return regexp.MustCompile(`#define \w+\([^)]*\b` + word + `\b[^)]*\)`).MatchString(source)
}
