//go:build !purego

#include "textflag.h"

// func spaced512(out, src *byte, n int, table *byte, blank uint64) (count, done int)
//
// 64 bytes at a time: a permutation looks them up in the first 128 bytes of the
// table, and those that are kept move together. blank is 1 where there is one before,
// otherwise 0. Writes up to 64 bytes more than it counts. n > 0.
TEXT ·spaced512(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ table+24(FP), AX
	MOVQ blank+32(FP), R11
	VMOVDQU8 (AX), Z30
	VMOVDQU8 64(AX), Z31
	MOVL $0x20, AX
	VPBROADCASTB AX, Z29
	MOVQ $-1, R14

block:
	MOVQ R14, R12
	CMPQ CX, $64
	JAE whole
	BZHIQ CX, R14, R12

whole:
	KMOVQ R12, K1
	VMOVDQU8.Z (SI), K1, Z0
	VPMOVB2M Z0, K2
	KMOVQ K2, DX
	TESTQ DX, DX
	JNZ foreign

lookup:
	VMOVDQA64 Z0, Z1
	VPERMI2B Z31, Z30, Z1
	VPCMPEQB Z29, Z1, K3
	KMOVQ K3, AX // blanks
	LEAQ (R11)(AX*2), BX
	MOVQ AX, R11
	SHRQ $63, R11
	ANDQ AX, BX
	ANDNQ R12, BX, BX
	KMOVQ BX, K3
	VPCOMPRESSB.Z Z1, K3, Z1
	VMOVDQU8 Z1, (DI)
	POPCNTQ BX, BX
	ADDQ BX, DI
	TESTQ DX, DX
	JNZ last
	ADDQ $64, SI
	SUBQ $64, CX
	JA block
	ADDQ CX, SI

done:
	SUBQ out+0(FP), DI
	MOVQ DI, count+40(FP)
	SUBQ src+8(FP), SI
	MOVQ SI, done+48(FP)
	VZEROUPPER
	RET

foreign:
	TZCNTQ DX, R8
	TESTQ R8, R8
	JZ done
	BZHIQ R8, R12, R12
	JMP lookup

last:
	ADDQ R8, SI
	JMP done
