//go:build !purego

#include "textflag.h"

// The kernels of shingle_amd64.s and feature_amd64.s for arm64, two products at a time.

// REDUCE leaves the residue of the 128-bit sum R in the low half of T. The
// numbers p and mu are in both halves of V30 and V31.
#define REDUCE(R, T) \
	VPMULL2 V31.D2, R.D2, T.Q1; \
	VEOR R.B16, T.B16, T.B16; \
	VPMULL2 V30.D2, T.D2, T.Q1; \
	VEOR R.B16, T.B16, T.B16

// func shingleNEON(out, tokens, coef *uint64, w, n int, p, mu uint64)
//
// Two shingles at a time; the last pair may overlap the one before. n > 1.
TEXT ·shingleNEON(SB), NOSPLIT, $0-56
	MOVD out+0(FP), R0
	MOVD tokens+8(FP), R1
	MOVD coef+16(FP), R2
	MOVD w+24(FP), R3
	MOVD n+32(FP), R4
	MOVD p+40(FP), R5
	VDUP R5, V30.D2
	MOVD mu+48(FP), R5
	VDUP R5, V31.D2
	VEOR V29.B16, V29.B16, V29.B16
	SUB $2, R4 // of the last pair
	MOVD $0, R6
	SUB $1, R3

pair:
	ADD R6<<3, R1, R7
	ADD R3<<3, R7, R8
	VLD1 (R8), [V4.D2]
	VZIP1 V4.D2, V29.D2, V0.D2 // the last token in the upper half
	VZIP2 V4.D2, V29.D2, V1.D2
	MOVD R2, R9
	MOVD R3, R10
	CBZ R10, summed

sum:
	VLD1 (R7), [V4.D2]
	VLD1R (R9), [V5.D2]
	VPMULL V5.D1, V4.D1, V2.Q1
	VPMULL2 V5.D2, V4.D2, V3.Q1
	VEOR V2.B16, V0.B16, V0.B16
	VEOR V3.B16, V1.B16, V1.B16
	ADD $8, R7
	ADD $8, R9
	SUB $1, R10
	CBNZ R10, sum

summed:
	REDUCE(V0, V2)
	REDUCE(V1, V3)
	VZIP1 V3.D2, V2.D2, V2.D2
	ADD R6<<3, R0, R8
	VST1 [V2.D2], (R8)
	CMP R6, R4
	BEQ done
	ADD $2, R6
	CMP R6, R4
	CSEL LT, R4, R6, R6
	B pair

done:
	RET

// func fingerprintsNEON(out *uint64, text *byte, spans *Span, n int, masks *[32][16]byte, p, mu uint64) (done int)
//
// One token at a time; stops before one of more than 15 bytes. n > 0.
TEXT ·fingerprintsNEON(SB), NOSPLIT, $0-64
	MOVD out+0(FP), R0
	MOVD text+8(FP), R1
	MOVD spans+16(FP), R2
	MOVD n+24(FP), R3
	MOVD masks+32(FP), R4
	MOVD p+40(FP), R5
	VDUP R5, V30.D2
	MOVD mu+48(FP), R5
	VDUP R5, V31.D2
	MOVD R3, R6

token:
	MOVWU.P 4(R2), R7
	MOVWU.P 4(R2), R8
	SUB R7, R8, R8
	CMP $15, R8
	BHI done
	ADD R7, R1, R9
	VLD1 (R9), [V0.B16]
	ADD R8<<4, R4, R9
	VLD1 (R9), [V1.B16]
	ADD $256, R9, R9
	VLD1 (R9), [V2.B16]
	VAND V1.B16, V0.B16, V0.B16
	VORR V2.B16, V0.B16, V0.B16
	REDUCE(V0, V1)
	VMOV V1.D[0], R9
	MOVD.P R9, 8(R0)
	SUB $1, R6
	CBNZ R6, token

done:
	SUB R6, R3, R3
	MOVD R3, done+56(FP)
	RET

// func featuresNEON(out *uint64, slots *byte, k, s int, coef *uint64, order uint64, p, mu uint64)
//
// The slots of a group two at a time; order is 1 where their bytes are turned around.
// k and s are at least 1.
TEXT ·featuresNEON(SB), NOSPLIT, $0-64
	MOVD out+0(FP), R0
	MOVD slots+8(FP), R1
	MOVD k+16(FP), R2
	MOVD s+24(FP), R3
	MOVD coef+32(FP), R4
	MOVD order+40(FP), R5
	MOVD p+48(FP), R6
	VDUP R6, V30.D2
	MOVD mu+56(FP), R6
	VDUP R6, V31.D2
	MOVD $0, R7

group:
	ADD $1, R7 // its number
	VMOV R7, V4.D[0]
	MOVD R4, R8
	VLD1.P 8(R8), [V5.D1]
	VPMULL V5.D1, V4.D1, V0.Q1
	MOVD R3, R9

two:
	SUBS $2, R9
	BLT one
	VLD1.P 16(R1), [V4.D2]
	VLD1.P 16(R8), [V5.D2]
	CBZ R5, ordered
	VREV64 V4.B16, V4.B16

ordered:
	VPMULL V5.D1, V4.D1, V2.Q1
	VPMULL2 V5.D2, V4.D2, V3.Q1
	VEOR V2.B16, V0.B16, V0.B16
	VEOR V3.B16, V0.B16, V0.B16
	B two

one:
	TBZ $0, R3, summed
	MOVD.P 8(R1), R10
	CBZ R5, last
	REV R10, R10

last:
	VMOV R10, V4.D[0]
	VLD1 (R8), [V5.D1]
	VPMULL V5.D1, V4.D1, V2.Q1
	VEOR V2.B16, V0.B16, V0.B16

summed:
	REDUCE(V0, V1)
	VMOV V1.D[0], R10
	MOVD.P R10, 8(R0)
	CMP R2, R7
	BLT group
	RET
