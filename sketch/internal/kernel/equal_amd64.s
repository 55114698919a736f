//go:build !purego

#include "textflag.h"

// How many bytes, or 8-byte words, are equal: 32 bytes at a time are compared
// and the bytes of the result that are set counted. The last step takes the
// last 32 bytes and drops those counted before.

#define COUNT(COMPARE) \
	MOVQ p+0(FP), SI; \
	MOVQ q+8(FP), DI; \
	MOVQ n+16(FP), CX; \
	XORL AX, AX; \
	SUBQ $32, CX; \
	JB last; \
loop: \
	VMOVDQU (SI), Y0; \
	COMPARE (DI), Y0, Y0; \
	VPMOVMSKB Y0, DX; \
	POPCNTL DX, DX; \
	ADDQ DX, AX; \
	ADDQ $32, SI; \
	ADDQ $32, DI; \
	SUBQ $32, CX; \
	JAE loop; \
last: \
	VMOVDQU (SI)(CX*1), Y0; \
	COMPARE (DI)(CX*1), Y0, Y0; \
	VPMOVMSKB Y0, DX; \
	NEGQ CX; \
	SHRQ CX, DX; \
	POPCNTL DX, DX; \
	ADDQ DX, AX; \
	VZEROUPPER

// func equalBytes256(p, q *byte, n int) int
//
// n >= 32.
TEXT ·equalBytes256(SB), NOSPLIT, $0-32
	COUNT(VPCMPEQB)
	MOVQ AX, ret+24(FP)
	RET

// func equalWords256(p, q *byte, n int) int
//
// n >= 32, a multiple of 8.
TEXT ·equalWords256(SB), NOSPLIT, $0-32
	COUNT(VPCMPEQQ)
	SHRQ $3, AX
	MOVQ AX, ret+24(FP)
	RET
