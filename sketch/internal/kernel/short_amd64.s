//go:build !purego

#include "textflag.h"

// func short512(m *uint64, t uint64, x *uint64, n int, a, b *uint64, first, second, step uint64)
//
// All rounds of fast, and its fallback, for a short document: 1 to 128 values in
// 1 to 128 bins.
//
// Which bins a round has reached is kept as 128 bits in registers, so that
// nothing waits for what was just written to m. The values of the first round
// go through the frame, with the numbers of their bins; they are taken to these
// one by one while the later rounds are mixed, which keeps other units busy. Of
// the later rounds those are collected whose bins the first has not reached, and
// taken after it; order does not matter, the round is the top of a value. So few
// values nearly always leave bins to the third round. Those that are open after
// it are filled eight at a time, each in a lane with its own permutation.

#define VALUES 0
#define LATER  1024 // in either list, the values of the later rounds
#define BINS   3136
#define OPEN   6272

DATA numbers8<>+0(SB)/8, $0x0706050403020100
DATA numbers8<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA numbers8<>+16(SB)/8, $0x1716151413121110
DATA numbers8<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA numbers8<>+32(SB)/8, $0x2726252423222120
DATA numbers8<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA numbers8<>+48(SB)/8, $0x3736353433323130
DATA numbers8<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL numbers8<>(SB), RODATA|NOPTR, $64

// MIX makes of the values X their mixes H by the round's multiplier, their
// bins B, and sets the bits of the bins in Z22 and Z21. T is scratch.
#define MIX(X, FIRST, H, B, T) \
	VPMULLQ FIRST, X, H; \
	VPSRLQ $32, H, T; \
	VPXORQ T, H, H; \
	VPMULLQ Z29, H, H; \
	VPSRLQ $29, H, T; \
	VPXORQ T, H, H; \
	VPSRLQ $32, H, B; \
	VPMULUDQ Z31, B, B; \
	VPSRLQ $32, B, B; \
	VPSRLQ $2, H, H; \
	VPSLLVQ.Z B, Z24, K1, T; \
	VPORQ T, Z22, Z22; \
	VPSUBQ Z23, B, T; \
	VPSLLVQ.Z T, Z24, K1, T; \
	VPORQ T, Z21, Z21

// ANY leaves in the register R the bits set in any lane of Z.
#define ANY(Z, Y, R) \
	VEXTRACTI64X4 $1, Z, Y1; \
	VPORQ Y1, Y, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPOR X1, X0, X0; \
	VPSRLDQ $8, X0, X1; \
	VPOR X1, X0, X0; \
	VMOVQ X0, R

// KEEP collects the values H whose bins B the first round has not reached.
#define KEEP(H, B, TAG, T) \
	VMOVDQA64 B, T; \
	VPERMI2B Z19, Z20, T; \
	VPTESTNMQ Z18, T, K1, K2; \
	VPORQ TAG, H, H; \
	VPCOMPRESSQ.Z H, K2, H; \
	VPCOMPRESSQ.Z B, K2, B; \
	VMOVDQU64 H, LATER(SP)(R10*8); \
	VMOVDQU64 B, (BINS+LATER)(SP)(R10*8); \
	KMOVB K2, BX; \
	POPCNTL BX, BX; \
	ADDQ BX, R10

// TAKE lowers the bin of the value at AT by it.
#define TAKE(AT) \
	MOVQ (AT)(R11), BX; \
	MOVQ (BINS-VALUES+AT)(R11), DX; \
	MOVQ (DI)(DX*8), R12; \
	CMPQ BX, R12; \
	CMOVQCC R12, BX; \
	MOVQ BX, (DI)(DX*8)

TEXT ·short512(SB), 0, $6464-72
	MOVQ m+0(FP), DI
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	VPBROADCASTQ t+8(FP), Z31
	MOVQ first+48(FP), AX
	MOVQ step+64(FP), BX
	VPBROADCASTQ AX, Z30
	ADDQ BX, AX
	VPBROADCASTQ AX, Z28
	ADDQ BX, AX
	VPBROADCASTQ AX, Z27
	VPBROADCASTQ second+56(FP), Z29
	MOVQ $1, AX
	VPBROADCASTQ AX, Z24
	VPSLLQ $62, Z24, Z26 // the tags of the second round and of the third
	VPSLLQ $63, Z24, Z25
	VPSLLQ $6, Z24, Z23
	MOVL $0xff, AX
	VPBROADCASTQ AX, Z18
	VPTERNLOGQ $0xff, Z17, Z17, Z17
	VPXORQ Z22, Z22, Z22
	VPXORQ Z21, Z21, Z21
	MOVQ $-1, R14
	KMOVB R14, K1
	MOVQ SI, R8
	MOVQ CX, R9
	MOVQ SP, R11

first:
	CMPQ R9, $8
	JAE firsts
	BZHIQ R9, R14, BX
	KMOVB BX, K1

firsts:
	VMOVDQU64.Z (R8), K1, Z0
	MIX(Z0, Z30, Z1, Z2, Z3)
	VPBLENDMQ Z1, Z17, K1, Z1 // behind the last, values that lower nothing
	VMOVDQU64 Z1, VALUES(R11)
	VMOVDQU64 Z2, BINS(R11)
	ADDQ $64, R8
	ADDQ $64, R11
	SUBQ $8, R9
	JA first

	ANY(Z22, Y22, AX)
	ANY(Z21, Y21, BX)
	KMOVQ AX, K3
	KMOVQ BX, K4
	VPMOVM2B K3, Z20
	VPMOVM2B K4, Z19
	XORL R10, R10 // how many are collected
	LEAQ VALUES(SP), R11
	MOVQ SI, R8
	MOVQ CX, R9
	KMOVB R14, K1

later:
	CMPQ R9, $8
	JAE laters
	BZHIQ R9, R14, BX
	KMOVB BX, K1

laters:
	VMOVDQU64.Z (R8), K1, Z0
	MIX(Z0, Z28, Z1, Z2, Z3)
	MIX(Z0, Z27, Z4, Z5, Z6)
	KEEP(Z1, Z2, Z26, Z3)
	KEEP(Z4, Z5, Z25, Z6)
	TAKE(0)
	TAKE(8)
	TAKE(16)
	TAKE(24)
	TAKE(32)
	TAKE(40)
	TAKE(48)
	TAKE(56)
	ADDQ $64, R8
	ADDQ $64, R11
	SUBQ $8, R9
	JA later

	// The bins that are open still.
	ANY(Z22, Y22, AX)
	ANY(Z21, Y21, BX)
	MOVQ t+8(FP), R9
	BZHIQ R9, R14, R11 // of 64 and more, all
	ANDNQ R11, AX, AX
	XORL R12, R12
	SUBQ $64, R9
	CMOVQLS R12, R9
	BZHIQ R9, R14, R11
	ANDNQ R11, BX, BX
	KMOVQ AX, K3
	KMOVQ BX, K4
	VMOVDQU64 numbers8<>(SB), Z0
	MOVL $64, R11
	VPBROADCASTB R11, Z1
	VPADDB Z0, Z1, Z1
	VPCOMPRESSB.Z Z0, K3, Z0
	VPCOMPRESSB.Z Z1, K4, Z1
	POPCNTQ AX, AX
	POPCNTQ BX, R9
	VMOVDQU64 Z0, OPEN(SP)
	VMOVDQU64 Z1, OPEN(SP)(AX*1)
	ADDQ AX, R9 // how many

	LEAQ LATER(SP), R11
	LEAQ (R11)(R10*8), R10
	CMPQ R11, R10
	JAE taken

take:
	TAKE(0)
	ADDQ $8, R11
	CMPQ R11, R10
	JB take

taken:

	TESTQ R9, R9
	JZ done
	MOVQ a+32(FP), R12
	MOVQ b+40(FP), R13
	LEAQ OPEN(SP), R11
	LEAQ (SI)(CX*8), R8
	NEGQ CX
	VPORQ Z25, Z26, Z26 // the tag of the fallback
	KMOVB R14, K1

open:
	CMPQ R9, $8
	JAE opens
	BZHIQ R9, R14, BX
	KMOVB BX, K1

opens:
	VPMOVZXBQ (R11), Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z7, Z7, Z7
	KMOVB K1, K2
	VPGATHERQQ (R12)(Z0*8), K2, Z1
	KMOVB K1, K2
	VPGATHERQQ (R13)(Z0*8), K2, Z2
	VPTERNLOGQ $0xff, Z3, Z3, Z3
	MOVQ CX, AX

value:
	VPMULLQ.BCST (R8)(AX*8), Z1, Z4
	VPADDQ Z2, Z4, Z4
	VPMINUQ Z4, Z3, Z3
	INCQ AX
	JNZ value

	KMOVB K1, K2
	VPGATHERQQ (DI)(Z0*8), K2, Z7
	VPSRLQ $2, Z3, Z3
	VPORQ Z26, Z3, Z3
	VPMINUQ Z7, Z3, Z3
	KMOVB K1, K2
	VPSCATTERQQ Z3, K2, (DI)(Z0*8)
	ADDQ $8, R11
	SUBQ $8, R9
	JA open

done:
	VZEROUPPER
	RET
