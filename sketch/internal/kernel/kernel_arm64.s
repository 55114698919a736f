//go:build !purego

#include "textflag.h"

// A byte is of a word when the entries of its two halves have a bit in common: digits have
// the upper half 3 and a lower one up to 9, letters 4 or 6 and 1 to 15, or 5 or 7 and
// up to 10.
DATA halves<>+0x00(SB)/8, $0x0707070707070705 // lower
DATA halves<>+0x08(SB)/8, $0x0202020202060707
DATA halves<>+0x10(SB)/8, $0x0402040201000000 // upper
DATA halves<>+0x18(SB)/8, $0
DATA halves<>+0x20(SB)/8, $0x8040201008040201
DATA halves<>+0x28(SB)/8, $0x8040201008040201
GLOBL halves<>(SB), RODATA|NOPTR, $48

// CLASSIFY leaves in V, a bit for each byte, which of its bytes are of words.
#define CLASSIFY(V, T) \
	VUSHR $4, V.B16, T.B16; \
	VAND V20.B16, V.B16, V.B16; \
	VTBL V.B16, [V16.B16], V.B16; \
	VTBL T.B16, [V17.B16], T.B16; \
	VCMTST T.B16, V.B16, V.B16; \
	VAND V18.B16, V.B16, V.B16

// EDGE takes the first of the bits, the highest of R11, to the position E.
#define EDGE(E) \
	CLZ R11, R12; \
	ADD R12, R5, E; \
	LSR R12, R13, R12; \
	BIC R12, R11, R11

// func edgesNEON(text *byte, edges *uint32, src *byte, blocks int, base, fold, carry uint64) (count, done int)
//
// As edges256 in words_amd64.s, but up to 3 edges more than are counted.
TEXT ·edgesNEON(SB), NOSPLIT, $0-72
	MOVD text+0(FP), R0
	MOVD edges+8(FP), R1
	MOVD src+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD base+32(FP), R5
	MOVD fold+40(FP), R6
	MOVD carry+48(FP), R7
	VDUP R6, V19.B16
	MOVD $halves<>(SB), R6
	VLD1 (R6), [V16.B16, V17.B16, V18.B16]
	VMOVI $15, V20.B16
	MOVD $(1<<63), R13
	MOVD R1, R8
	MOVD R3, R4

block:
	VLD1.P 64(R2), [V0.B16, V1.B16, V2.B16, V3.B16]
	VORR V0.B16, V1.B16, V4.B16
	VORR V2.B16, V3.B16, V5.B16
	VORR V4.B16, V5.B16, V4.B16
	VMOV V4.D[0], R9
	VMOV V4.D[1], R10
	ORR R10, R9, R9
	TST $0x8080808080808080, R9
	BNE finish
	VORR V0.B16, V19.B16, V4.B16
	VORR V1.B16, V19.B16, V5.B16
	VORR V2.B16, V19.B16, V6.B16
	VORR V3.B16, V19.B16, V7.B16
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(R0)
	CLASSIFY(V0, V4)
	CLASSIFY(V1, V5)
	CLASSIFY(V2, V6)
	CLASSIFY(V3, V7)
	VADDP V1.B16, V0.B16, V0.B16
	VADDP V3.B16, V2.B16, V2.B16
	VADDP V2.B16, V0.B16, V0.B16
	VADDP V0.B16, V0.B16, V0.B16
	VMOV V0.D[0], R9
	ORR R9<<1, R7, R11
	EOR R9, R11, R11 // a bit where a word begins or ends
	LSR $63, R9, R7
	VMOV R11, V0.D[0]
	VCNT V0.B8, V0.B8
	VUADDLV V0.B8, V0
	VMOV V0.H[0], R10
	ADD R10<<2, R8, R10
	RBIT R11, R11

list:
	EDGE(R14)
	EDGE(R15)
	EDGE(R16)
	EDGE(R17)
	STPW (R14, R15), (R8)
	STPW (R16, R17), 8(R8)
	ADD $16, R8
	CMP R10, R8
	BLO list
	MOVD R10, R8
	ADD $64, R5
	SUB $1, R4
	CBNZ R4, block

finish:
	SUB R1, R8, R8
	LSR $2, R8, R8
	MOVD R8, count+56(FP)
	SUB R4, R3, R3
	MOVD R3, done+64(FP)
	RET

// BIN leaves in R9 the value of the next x and in R10 its bin.
#define BIN \
	MOVD.P 8(R2), R9; \
	MUL R4, R9, R9; \
	EOR R9>>32, R9, R9; \
	MUL R5, R9, R9; \
	EOR R9>>29, R9, R9; \
	LSR $32, R9, R10; \
	UMULH R1, R10, R10; \
	EXTR $2, R9, R6, R9

// func binsNEON(m *uint64, t uint64, x *uint64, n int, first, second, round uint64)
//
// NEON does not multiply 64-bit numbers, so these are ordinary instructions. Each value is
// compared with its bound once. n > 0.
TEXT ·binsNEON(SB), NOSPLIT, $0-56
	MOVD m+0(FP), R0
	MOVD t+8(FP), R1
	LSL $32, R1, R1
	MOVD x+16(FP), R2
	MOVD n+24(FP), R3
	MOVD first+32(FP), R4
	MOVD second+40(FP), R5
	MOVD round+48(FP), R6
	ADD R3<<3, R2, R3

value:
	BIN
	MOVD (R0)(R10<<3), R11
	CMP R9, R11
	CSEL HI, R9, R11, R11
	MOVD R11, (R0)(R10<<3)
	CMP R2, R3
	BNE value
	RET

// func binsFewNEON(m *uint64, t uint64, x *uint64, n int, first, second, round uint64)
//
// It does the same, for values of which few are used. n > 0.
TEXT ·binsFewNEON(SB), NOSPLIT, $0-56
	MOVD m+0(FP), R0
	MOVD t+8(FP), R1
	LSL $32, R1, R1
	MOVD x+16(FP), R2
	MOVD n+24(FP), R3
	MOVD first+32(FP), R4
	MOVD second+40(FP), R5
	MOVD round+48(FP), R6
	ADD R3<<3, R2, R3

value:
	BIN
	MOVD (R0)(R10<<3), R11
	CMP R9, R11
	BHI lower
	CMP R2, R3
	BNE value
	RET

lower:
	MOVD R9, (R0)(R10<<3)
	CMP R2, R3
	BNE value
	RET

// func countNEON(m *uint64, n int, round uint64) (count int)
//
// How many slots have the round at their top, or a later one. n > 0, a multiple of 8.
TEXT ·countNEON(SB), NOSPLIT, $0-32
	MOVD m+0(FP), R0
	MOVD n+8(FP), R1
	MOVD round+16(FP), R2
	MOVD $4, R3
	SUB R2, R3, R2
	VDUP R2, V16.D2 // added to the number of a slot's round, makes 4 or more where it counts
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16

eight:
	VLD1.P 64(R0), [V0.D2, V1.D2, V2.D2, V3.D2]
	VUSHR $62, V0.D2, V0.D2
	VUSHR $62, V1.D2, V1.D2
	VUSHR $62, V2.D2, V2.D2
	VUSHR $62, V3.D2, V3.D2
	VADD V16.D2, V0.D2, V0.D2
	VADD V16.D2, V1.D2, V1.D2
	VADD V16.D2, V2.D2, V2.D2
	VADD V16.D2, V3.D2, V3.D2
	VUSRA $2, V0.D2, V4.D2
	VUSRA $2, V1.D2, V5.D2
	VUSRA $2, V2.D2, V4.D2
	VUSRA $2, V3.D2, V5.D2
	SUB $8, R1
	CBNZ R1, eight
	VADD V5.D2, V4.D2, V4.D2
	VMOV V4.D[0], R0
	VMOV V4.D[1], R1
	ADD R1, R0, R0
	MOVD R0, count+24(FP)
	RET

// LOWER lowers the minimum M by A·x+B, x being in R5. T is scratch.
#define LOWER(M, A, B, T) \
	MADD R5, B, A, T; \
	CMP T, M; \
	CSEL HI, T, M, M

// func minimaNEON(m, a, b, x *uint64, n int)
//
// Seven slots, which with their permutations fill the registers; again no vectors. n > 0.
TEXT ·minimaNEON(SB), NOSPLIT, $0-40
	MOVD m+0(FP), R0
	MOVD a+8(FP), R1
	MOVD b+16(FP), R2
	MOVD x+24(FP), R3
	MOVD n+32(FP), R4
	ADD R4<<3, R3, R4
	LDP (R0), (R6, R7)
	LDP 16(R0), (R8, R9)
	LDP 32(R0), (R10, R11)
	MOVD 48(R0), R12
	LDP (R1), (R13, R14)
	LDP 16(R1), (R15, R16)
	LDP 32(R1), (R17, R19)
	MOVD 48(R1), R20
	LDP (R2), (R21, R22)
	LDP 16(R2), (R23, R24)
	LDP 32(R2), (R25, R26)
	MOVD 48(R2), R2

value:
	MOVD.P 8(R3), R5
	LOWER(R6, R13, R21, R0)
	LOWER(R7, R14, R22, R1)
	LOWER(R8, R15, R23, R0)
	LOWER(R9, R16, R24, R1)
	LOWER(R10, R17, R25, R0)
	LOWER(R11, R19, R26, R1)
	LOWER(R12, R20, R2, R0)
	CMP R3, R4
	BNE value
	MOVD m+0(FP), R0
	STP (R6, R7), (R0)
	STP (R8, R9), 16(R0)
	STP (R10, R11), 32(R0)
	MOVD R12, 48(R0)
	RET
