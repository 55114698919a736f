//go:build !purego

#include "textflag.h"

// func features512(out *uint64, slots *byte, k, s int, coef *uint64, order *[64]byte, p, mu uint64)
//
// A feature is a sum of products like a shingle, see shingle_amd64.s, but the
// slots of a group lie side by side: eight are multiplied by their constants
// at a time, those at even places and those at odd ones, and the products
// added across. coef has the constant of the group's number, then those of the
// slots. The sums of the groups, 128 bits each, are collected in the frame;
// then the groups' numbers are added and the sums reduced, four at a time.
// k is 1 to 64.
TEXT ·features512(SB), 0, $1024-64
	MOVQ out+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ k+16(FP), CX
	MOVQ s+24(FP), R8
	MOVQ coef+32(FP), R9
	MOVQ order+40(FP), R10
	VMOVDQU64 (R10), Z29
	VPBROADCASTQ p+48(FP), Z30
	VPBROADCASTQ mu+56(FP), Z31
	MOVQ $-1, R13
	MOVQ SP, R11
	MOVQ CX, R12

group:
	LEAQ 8(R9), R10
	MOVQ R8, DX
	VPXORQ Z0, Z0, Z0
	KMOVB R13, K1

eight:
	CMPQ DX, $8
	JAE whole
	BZHIQ DX, R13, AX
	KMOVB AX, K1

whole:
	VMOVDQU64.Z (SI), K1, Z1
	VMOVDQU64.Z (R10), K1, Z2
	VPSHUFB Z29, Z1, Z1
	VPCLMULQDQ $0x00, Z2, Z1, Z3
	VPCLMULQDQ $0x11, Z2, Z1, Z4
	VPTERNLOGQ $0x96, Z3, Z4, Z0
	ADDQ $64, SI
	ADDQ $64, R10
	SUBQ $8, DX
	JA eight
	LEAQ (SI)(DX*8), SI // back to the end of the group
	VEXTRACTI64X4 $1, Z0, Y1
	VPXOR Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPXOR X1, X0, X0
	VMOVDQU X0, (R11)
	ADDQ $16, R11
	DECQ R12
	JNZ group

	VMOVDQU64 numbers<>(SB), Z5
	MOVL $4, AX
	VPBROADCASTQ AX, Z6
	VPBROADCASTQ (R9), Z7
	MOVQ SP, R11
	MOVL $0x0f, AX
	KMOVB AX, K1

reduce:
	CMPQ CX, $4
	JAE four
	BZHIQ CX, R13, AX
	KMOVB AX, K1

four:
	VPCLMULQDQ $0x00, Z7, Z5, Z0
	VPXORQ (R11), Z0, Z0
	VPCLMULQDQ $0x01, Z31, Z0, Z1
	VPXORQ Z0, Z1, Z1
	VPCLMULQDQ $0x01, Z30, Z1, Z1
	VPXORQ Z0, Z1, Z1
	VMOVDQU64 lows<>(SB), Z2
	VPERMQ Z1, Z2, Z1
	VPADDQ Z6, Z5, Z5
	VMOVDQU64 Z1, K1, (DI)
	ADDQ $64, R11
	ADDQ $32, DI
	SUBQ $4, CX
	JA reduce
	VZEROUPPER
	RET

DATA numbers<>+0(SB)/8, $1
DATA numbers<>+8(SB)/8, $0
DATA numbers<>+16(SB)/8, $2
DATA numbers<>+24(SB)/8, $0
DATA numbers<>+32(SB)/8, $3
DATA numbers<>+40(SB)/8, $0
DATA numbers<>+48(SB)/8, $4
DATA numbers<>+56(SB)/8, $0
GLOBL numbers<>(SB), RODATA|NOPTR, $64

DATA lows<>+0(SB)/8, $0
DATA lows<>+8(SB)/8, $2
DATA lows<>+16(SB)/8, $4
DATA lows<>+24(SB)/8, $6
DATA lows<>+32(SB)/8, $0
DATA lows<>+40(SB)/8, $2
DATA lows<>+48(SB)/8, $4
DATA lows<>+56(SB)/8, $6
GLOBL lows<>(SB), RODATA|NOPTR, $64

// func features128(out *uint64, slots *byte, k, s int, coef *uint64, order *[64]byte, p, mu uint64)
//
// The same, two slots at a time. k and s are at least 1.
TEXT ·features128(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ k+16(FP), CX
	MOVQ s+24(FP), R8
	MOVQ coef+32(FP), R9
	MOVQ order+40(FP), R10
	VMOVDQU (R10), X13
	VMOVQ p+48(FP), X14
	VMOVQ mu+56(FP), X15
	XORL R12, R12

group:
	INCQ R12 // its number
	VMOVQ R12, X0
	VMOVQ (R9), X2
	VPCLMULQDQ $0x00, X2, X0, X0
	LEAQ 8(R9), R10
	MOVQ R8, DX

two:
	SUBQ $2, DX
	JB one
	VMOVDQU (SI), X1
	VMOVDQU (R10), X2
	VPSHUFB X13, X1, X1
	VPCLMULQDQ $0x00, X2, X1, X3
	VPCLMULQDQ $0x11, X2, X1, X4
	VPXOR X3, X0, X0
	VPXOR X4, X0, X0
	ADDQ $16, SI
	ADDQ $16, R10
	JMP two

one:
	TESTQ $1, R8
	JZ summed
	VMOVQ (SI), X1
	VMOVQ (R10), X2
	VPSHUFB X13, X1, X1
	VPCLMULQDQ $0x00, X2, X1, X3
	VPXOR X3, X0, X0
	ADDQ $8, SI

summed:
	VPCLMULQDQ $0x01, X15, X0, X1
	VPXOR X0, X1, X1
	VPCLMULQDQ $0x01, X14, X1, X1
	VPXOR X0, X1, X1
	VMOVQ X1, (DI)
	ADDQ $8, DI
	CMPQ R12, CX
	JB group
	RET

// func cut512(out *byte, slots *uint64, n int, multiplier uint64)
//
// The highest byte of each product, eight slots at a time. n > 0.
TEXT ·cut512(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ slots+8(FP), SI
	MOVQ n+16(FP), CX
	VPBROADCASTQ multiplier+24(FP), Z1
	MOVQ $-1, AX
	KMOVB AX, K1

eight:
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, AX, BX
	KMOVB BX, K1

whole:
	VMOVDQU64.Z (SI), K1, Z0
	VPMULLQ Z1, Z0, Z0
	VPSRLQ $56, Z0, Z0
	VPMOVQB Z0, X0
	VMOVDQU8 X0, K1, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	SUBQ $8, CX
	JA eight
	VZEROUPPER
	RET
