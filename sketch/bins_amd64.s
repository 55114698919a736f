//go:build !purego

#include "textflag.h"

// func mix512(out, x *uint64, n int, first, second, low, width uint64) int
//
// Writes the mixed values of x from low to low+width and returns how many
// they are: eight at a time, the ones that pass moved together by VPCOMPRESSQ,
// so that no branch depends on them. Writes up to 8 values more than it counts.
// n > 0.
TEXT ·mix512(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VPBROADCASTQ first+24(FP), Z29
	VPBROADCASTQ second+32(FP), Z30
	VPBROADCASTQ low+40(FP), Z28
	VPBROADCASTQ width+48(FP), Z31
	MOVQ DI, R8
	MOVQ $-1, AX
	KMOVB AX, K1

block:
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, AX, BX
	KMOVB BX, K1

whole:
	VMOVDQU64.Z (SI), K1, Z0
	VPMULLQ Z29, Z0, Z0
	VPSRLQ $32, Z0, Z1
	VPXORQ Z1, Z0, Z0
	VPMULLQ Z30, Z0, Z0
	VPSRLQ $29, Z0, Z1
	VPXORQ Z1, Z0, Z0
	VPSUBQ Z28, Z0, Z1
	VPCMPUQ $2, Z31, Z1, K1, K2
	VPCOMPRESSQ.Z Z0, K2, Z2
	VMOVDQU64 Z2, (DI)
	KMOVB K2, BX
	POPCNTL BX, BX
	LEAQ (DI)(BX*8), DI
	ADDQ $64, SI
	SUBQ $8, CX
	JA block
	SUBQ R8, DI
	SHRQ $3, DI
	MOVQ DI, ret+56(FP)
	VZEROUPPER
	RET
