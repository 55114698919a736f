//go:build !purego

#include "textflag.h"

// Fingerprints by carry-less multiplication. A shingle is a sum of products of
// a token and a constant; the sum is taken in 128 bits and reduced once, by
// Barrett's method: with the polynomial t^64+p and its reciprocal, t^64+mu =
// t^128 div (t^64+p), the quotient of h·t^64+l is exactly
// q = h + (h·mu div t^64), and the residue the low half of l + q·p.

// R is a register of 128-bit sums, T scratch; leaves the residues in the low
// halves of T. P and MU hold p and mu in their low halves.
//
// The constant of a shingle's last token is t^64: it needs no multiplication,
// the token is added to the upper half of the sum.
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

// The fingerprint of a token of at most 15 bytes is the residue of its bytes
// and the marker, which a 16-byte load and two masks of its length leave of
// the text. A longer one is noted for others and taken as if it were empty.

// MASKED leaves the masked bytes of the token with span S in X.
#define MASKED(S, X, LONG, BACK) \
	MOVL S, DX; \
	SHRQ $32, S; \
	SUBL DX, S; \
	CMPL S, $15; \
	JA LONG; \
BACK: \
	VMOVDQU (SI)(DX*1), X; \
	SHLL $4, S; \
	VPAND (R9)(S*1), X, X; \
	VPOR 256(R9)(S*1), X, X

// SKIP notes the number of the long token whose span is at (8*i)(R8), or gives
// up when R14 is at the end, R15, of the room for such notes.
#define SKIP(i, S, BACK, FULL) \
	CMPQ R14, R15; \
	JAE FULL; \
	LEAQ (8*i)(R8), S; \
	SUBQ spans+16(FP), S; \
	SHRQ $3, S; \
	MOVL S, (R14); \
	ADDQ $4, R14; \
	XORL S, S; \
	JMP BACK

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
	DECQ R8
	MOVQ $-1, AX
	KMOVB AX, K1
	MOVL $0xaa, DX
	KMOVB DX, K2 // upper halves

block:
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, AX, BX // the last tokens and shingles
	KMOVB BX, K1

whole:
	VMOVDQU64.Z (SI)(R8*8), K1, Z1
	VPSLLDQ $8, Z1, Z0
	VMOVDQA64.Z Z1, K2, Z1
	XORL R10, R10
	CMPQ R10, R8
	JAE summed

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

summed:
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
	DECQ R8

pair:
	LEAQ (SI)(DX*8), R11
	VMOVDQU (R11)(R8*8), X1
	VPSLLDQ $8, X1, X0
	VPSRLDQ $8, X1, X1
	VPSLLDQ $8, X1, X1
	XORL R10, R10
	CMPQ R10, R8
	JAE summed

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

summed:
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

// func fingerprints512(out *uint64, text *byte, spans *span, n int, long *[32]uint32, p, mu uint64) (done, longs int)
//
// Eight tokens at a time, four in a register: the bytes of each are cut at its
// length, which a permutation spreads over its 16 bytes, and the marker set there.
// Long tokens are noted, and whatever comes out for them. Returns how many tokens
// are done and how many of them are long, with their numbers in long; n > 0.
TEXT ·fingerprints512(SB), 0, $64-72
	MOVQ out+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ spans+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ long+32(FP), R14
	LEAQ 96(R14), R15 // the last place with room for eight
	VPBROADCASTQ p+40(FP), Z30
	VPBROADCASTQ mu+48(FP), Z31
	VMOVDQU64 even<>(SB), Z29
	VBROADCASTI32X4 bytes16<>(SB), Z28
	VMOVDQU64 spread<>(SB), Z27
	MOVL $32, AX
	VPBROADCASTB AX, Z26
	VPADDB Z26, Z27, Z26 // the second four
	MOVL $1, AX
	VPBROADCASTB AX, Z25
	MOVL $15, AX
	VPBROADCASTD AX, Z24
	MOVL $0x5555, AX
	KMOVW AX, K3
	MOVQ $-1, R13
	KMOVB R13, K4
	XORL R9, R9 // tokens done

eight:
	MOVQ R8, R12
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, R13, AX
	KMOVB AX, K4
	VMOVDQU64.Z (R8), K4, Z4
	VMOVDQU64 Z4, (SP)
	MOVQ SP, R12

whole:
	VMOVDQU64 (R12), Z4
	VPSRLQ $32, Z4, Z5
	VPSUBD Z4, Z5, Z5 // the lengths, in the lower halves
	VPCMPUD $6, Z24, Z5, K3, K2
	KTESTW K2, K2
	JNZ long

short:
	MOVL 0(R12), AX
	MOVL 8(R12), BX
	VMOVDQU (SI)(AX*1), X0
	VINSERTI128 $1, (SI)(BX*1), Y0, Y0
	MOVL 16(R12), AX
	MOVL 24(R12), BX
	VMOVDQU (SI)(AX*1), X1
	VINSERTI128 $1, (SI)(BX*1), Y1, Y1
	VINSERTI64X4 $1, Y1, Z0, Z0
	MOVL 32(R12), AX
	MOVL 40(R12), BX
	VMOVDQU (SI)(AX*1), X1
	VINSERTI128 $1, (SI)(BX*1), Y1, Y1
	MOVL 48(R12), AX
	MOVL 56(R12), BX
	VMOVDQU (SI)(AX*1), X2
	VINSERTI128 $1, (SI)(BX*1), Y2, Y2
	VINSERTI64X4 $1, Y2, Z1, Z1
	VPERMB Z5, Z27, Z6
	VPERMB Z5, Z26, Z7
	VPCMPUB $1, Z6, Z28, K1
	VPCMPEQB Z6, Z28, K2
	VMOVDQU8.Z Z0, K1, Z0
	VMOVDQU8 Z25, K2, Z0
	VPCMPUB $1, Z7, Z28, K1
	VPCMPEQB Z7, Z28, K2
	VMOVDQU8.Z Z1, K1, Z1
	VMOVDQU8 Z25, K2, Z1
	REDUCE(Z0, Z2, Z30, Z31)
	REDUCE(Z1, Z3, Z30, Z31)
	VPERMT2Q Z3, Z29, Z2
	VMOVDQU64 Z2, K4, (DI)
	ADDQ $64, DI
	ADDQ $64, R8
	ADDQ $8, R9
	SUBQ $8, CX
	JA eight
	ADDQ CX, R9 // nothing, or less than nothing

done:
	MOVQ R9, done+56(FP)
	SUBQ long+32(FP), R14
	SHRQ $2, R14
	MOVQ R14, longs+64(FP)
	VZEROUPPER
	RET

long:
	CMPQ R14, R15
	JA done
	KMOVW K2, BX

note:
	TZCNTL BX, AX
	SHRL $1, AX
	ADDL R9, AX
	MOVL AX, (R14)
	ADDQ $4, R14
	BLSRL BX, BX
	JNZ note
	JMP short

DATA bytes16<>+0(SB)/8, $0x0706050403020100
DATA bytes16<>+8(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL bytes16<>(SB), RODATA|NOPTR, $16

DATA spread<>+0(SB)/8, $0x0000000000000000
DATA spread<>+8(SB)/8, $0x0000000000000000
DATA spread<>+16(SB)/8, $0x0808080808080808
DATA spread<>+24(SB)/8, $0x0808080808080808
DATA spread<>+32(SB)/8, $0x1010101010101010
DATA spread<>+40(SB)/8, $0x1010101010101010
DATA spread<>+48(SB)/8, $0x1818181818181818
DATA spread<>+56(SB)/8, $0x1818181818181818
GLOBL spread<>(SB), RODATA|NOPTR, $64

DATA even<>+0(SB)/8, $0
DATA even<>+8(SB)/8, $2
DATA even<>+16(SB)/8, $4
DATA even<>+24(SB)/8, $6
DATA even<>+32(SB)/8, $8
DATA even<>+40(SB)/8, $10
DATA even<>+48(SB)/8, $12
DATA even<>+56(SB)/8, $14
GLOBL even<>(SB), RODATA|NOPTR, $64

// func fingerprints128(out *uint64, text *byte, spans *span, n int, masks *[32][16]byte, long *[32]uint32, p, mu uint64) (done, longs int)
//
// The same, one token at a time.
TEXT ·fingerprints128(SB), NOSPLIT, $0-80
	MOVQ out+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ spans+16(FP), R8
	MOVQ n+24(FP), CX
	MOVQ masks+32(FP), R9
	MOVQ long+40(FP), R14
	LEAQ 128(R14), R15
	VMOVQ p+48(FP), X14
	VMOVQ mu+56(FP), X15
	LEAQ (R8)(CX*8), CX
	PCALIGN $32

token:
	MOVQ (R8), AX
	MASKED(AX, X0, long, short)
	REDUCE128(X0, X1, X14, X15)
	VMOVQ X1, (DI)
	ADDQ $8, DI
	ADDQ $8, R8
	CMPQ R8, CX
	JB token

done:
	SUBQ spans+16(FP), R8
	SHRQ $3, R8
	MOVQ R8, done+64(FP)
	SUBQ long+40(FP), R14
	SHRQ $2, R14
	MOVQ R14, longs+72(FP)
	RET

long:
	SKIP(0, AX, short, done)
