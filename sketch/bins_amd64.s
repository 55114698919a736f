//go:build !purego

#include "textflag.h"

// func bins512(m *uint64, t uint64, x *uint64, n int, first, second, tag, low, width uint64)
//
// Up to 512 values are mixed eight at a time, and those from low to low+width
// moved together in the frame by VPCOMPRESSQ, so that no branch depends on
// them. Then they are taken to their bins one by one; a bin is read and written
// whether it changes or not, which costs less than a branch that guesses.
// n > 0.
TEXT ·bins512(SB), 0, $4160-72
	MOVQ m+0(FP), DI
	MOVQ t+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ tag+48(FP), R9
	VPBROADCASTQ first+32(FP), Z29
	VPBROADCASTQ second+40(FP), Z30
	VPBROADCASTQ low+56(FP), Z28
	VPBROADCASTQ width+64(FP), Z31
	MOVQ $-1, AX
	KMOVB AX, K1
	LEAQ 4096(SP), R11

some:
	MOVQ SP, R10

eight:
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
	VMOVDQU64 Z2, (R10)
	KMOVB K2, BX
	POPCNTL BX, BX
	LEAQ (R10)(BX*8), R10
	ADDQ $64, SI
	SUBQ $8, CX
	JBE mixed
	CMPQ R10, R11
	JB eight

mixed:
	MOVQ SP, R12
	CMPQ R12, R10
	JAE taken

take:
	MOVQ (R12), BX
	MOVL 4(R12), DX
	SHRQ $2, BX
	IMULQ R8, DX
	ORQ R9, BX
	SHRQ $32, DX
	MOVQ (DI)(DX*8), R13
	CMPQ BX, R13
	CMOVQCC R13, BX
	MOVQ BX, (DI)(DX*8)
	ADDQ $8, R12
	CMPQ R12, R10
	JB take

taken:
	CMPQ CX, $0
	JGT some
	VZEROUPPER
	RET
