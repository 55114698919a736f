//go:build !purego

#include "textflag.h"

// Fingerprints by carry-less multiplication. A shingle is a sum of products of
// a token and a constant; the sum is taken in 128 bits and reduced once, by
// Barrett's method: with the polynomial t^64+p and its reciprocal, t^64+mu =
// t^128 div (t^64+p), the quotient of h·t^64+l is exactly
// q = h + (h·mu div t^64), and the residue the low half of l + q·p.

// R is a register of 128-bit sums, T scratch; leaves the residues in the low
// halves of T. P and MU hold p and mu in their low halves.
#define REDUCE(R, T, P, MU) \
	VPCLMULQDQ $0x01, MU, R, T; \
	VPXORQ R, T, T; \
	VPCLMULQDQ $0x01, P, T, T; \
	VPXORQ R, T, T

#define REDUCE128(R, T, P, MU) \
	VPCLMULQDQ $0x01, MU, R, T; \
	VPXOR R, T, T; \
	VPCLMULQDQ $0x01, P, T, T; \
	VPXOR R, T, T

// func shingle512(out, tokens, coef *uint64, w, n int, p, mu uint64)
//
// Eight shingles at a time: those that begin at even tokens are summed in Z0,
// the others in Z1. n > 0.
TEXT ·shingle512(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DI
	MOVQ tokens+8(FP), SI
	MOVQ coef+16(FP), R9
	MOVQ w+24(FP), R8
	MOVQ n+32(FP), CX
	VPBROADCASTQ p+40(FP), Z30
	VPBROADCASTQ mu+48(FP), Z31
	MOVQ $-1, AX
	KMOVB AX, K1

block:
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, AX, BX // the last tokens and shingles
	KMOVB BX, K1

whole:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	XORL R10, R10

sum:
	VMOVDQU64.Z (SI)(R10*8), K1, Z4
	VPBROADCASTQ (R9)(R10*8), Z5
	VPCLMULQDQ $0x00, Z5, Z4, Z2
	VPCLMULQDQ $0x01, Z5, Z4, Z3
	VPXORQ Z2, Z0, Z0
	VPXORQ Z3, Z1, Z1
	INCQ R10
	CMPQ R10, R8
	JB sum

	REDUCE(Z0, Z2, Z30, Z31)
	REDUCE(Z1, Z3, Z30, Z31)
	VPUNPCKLQDQ Z3, Z2, Z2
	VMOVDQU64 Z2, K1, (DI)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JA block
	VZEROUPPER
	RET

// func shingle128(out, tokens, coef *uint64, w, n int, p, mu uint64)
//
// Two shingles at a time; the last pair may overlap the one before. n > 1.
TEXT ·shingle128(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DI
	MOVQ tokens+8(FP), SI
	MOVQ coef+16(FP), R9
	MOVQ w+24(FP), R8
	MOVQ n+32(FP), CX
	VMOVQ p+40(FP), X14
	VMOVQ mu+48(FP), X15
	SUBQ $2, CX // of the last pair
	XORL DX, DX

pair:
	LEAQ (SI)(DX*8), R11
	VPXOR X0, X0, X0
	VPXOR X1, X1, X1
	XORL R10, R10

sum:
	VMOVDQU (R11)(R10*8), X4
	VMOVQ (R9)(R10*8), X5
	VPCLMULQDQ $0x00, X5, X4, X2
	VPCLMULQDQ $0x01, X5, X4, X3
	VPXOR X2, X0, X0
	VPXOR X3, X1, X1
	INCQ R10
	CMPQ R10, R8
	JB sum

	REDUCE128(X0, X2, X14, X15)
	REDUCE128(X1, X3, X14, X15)
	VPUNPCKLQDQ X3, X2, X2
	VMOVDQU X2, (DI)(DX*8)
	CMPQ DX, CX
	JE done
	ADDQ $2, DX
	CMPQ DX, CX
	CMOVQGT CX, DX
	JMP pair

done:
	RET

// func fingerprints128(out *uint64, text *byte, spans *span, n int, masks *[32][16]byte, p, mu uint64) int
//
// The fingerprint of a token of at most 15 bytes is the residue of its bytes
// and the marker, which a 16-byte load and two masks of its length leave of
// the text. Stops before a longer token and returns how many it has done.
TEXT ·fingerprints128(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ spans+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ masks+32(FP), R9
	VMOVQ p+40(FP), X14
	VMOVQ mu+48(FP), X15
	XORL R12, R12
	PCALIGN $32

token:
	MOVQ (R8)(R12*8), AX
	MOVL AX, DX
	SHRQ $32, AX
	SUBL DX, AX
	CMPL AX, $15
	JA done
	SHLL $4, AX
	VMOVDQU (SI)(DX*1), X0
	VPAND (R9)(AX*1), X0, X0
	VPOR 256(R9)(AX*1), X0, X0
	REDUCE128(X0, X1, X14, X15)
	VMOVQ X1, (DI)(R12*8)
	INCQ R12
	CMPQ R12, CX
	JB token

done:
	MOVQ R12, ret+56(FP)
	RET
