//go:build !purego

#include "textflag.h"

// Minima of a·x+b mod 2^64. The minima and the multipliers of a block of slots
// stay in registers while the fingerprints go by, each broadcast to all lanes.

// AVX-512: 8 slots a register, at most 11 registers of minima (Z0 to Z10) and
// 11 of multipliers (Z11 to Z21); the addends do not fit and are read from a
// copy in the frame, padded so that a whole register can be read. The bound is
// the two pipes that VPMULLQ and VPMINUQ share.

#define LOAD512(i, M, A) \
	KMOVB R11, K1; \
	SHRQ $8, R11; \
	VMOVDQU64.Z (64*i)(R10), K1, M; \
	VMOVDQU64.Z (64*i)(R8), K1, A; \
	VMOVDQU64.Z (64*i)(R9), K1, Z23; \
	VMOVDQU64 Z23, (64*i)(SP)

#define STORE512(i, M) \
	KMOVB R11, K1; \
	SHRQ $8, R11; \
	VMOVDQU64 M, K1, (64*i)(R10)

#define SLOT512(i, M, A, T) \
	VPMULLQ A, Z22, T; \
	VPADDQ (64*i)(SP), T, T; \
	VPMINUQ T, M, M

#define NEXT512(loop) \
	ADDQ $8, SI; \
	DECQ CX; \
	JNZ loop

#define SLOTS1 SLOT512(0, Z0, Z11, Z23)
#define SLOTS2 SLOTS1; SLOT512(1, Z1, Z12, Z24)
#define SLOTS3 SLOTS2; SLOT512(2, Z2, Z13, Z25)
#define SLOTS4 SLOTS3; SLOT512(3, Z3, Z14, Z26)
#define SLOTS5 SLOTS4; SLOT512(4, Z4, Z15, Z27)
#define SLOTS6 SLOTS5; SLOT512(5, Z5, Z16, Z28)
#define SLOTS7 SLOTS6; SLOT512(6, Z6, Z17, Z29)
#define SLOTS8 SLOTS7; SLOT512(7, Z7, Z18, Z30)
#define SLOTS9 SLOTS8; SLOT512(8, Z8, Z19, Z31)
#define SLOTS10 SLOTS9; SLOT512(9, Z9, Z20, Z23)
#define SLOTS11 SLOTS10; SLOT512(10, Z10, Z21, Z24)

// func minima512(m, a, b *uint64, low, high uint64, x *uint64, n int)
//
// Bit i of low (of high for i-64) says that there is a slot i; n > 0.
TEXT ·minima512(SB), 0, $704-56
	MOVQ m+0(FP), R10
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ low+24(FP), R11
	MOVQ x+40(FP), SI
	MOVQ n+48(FP), CX
	POPCNTQ R11, DX
	LOAD512(0, Z0, Z11)
	LOAD512(1, Z1, Z12)
	LOAD512(2, Z2, Z13)
	LOAD512(3, Z3, Z14)
	LOAD512(4, Z4, Z15)
	LOAD512(5, Z5, Z16)
	LOAD512(6, Z6, Z17)
	LOAD512(7, Z7, Z18)
	MOVQ high+32(FP), R11
	POPCNTQ R11, AX
	ADDQ AX, DX
	LOAD512(8, Z8, Z19)
	LOAD512(9, Z9, Z20)
	LOAD512(10, Z10, Z21)

	ADDQ $7, DX
	SHRQ $3, DX
	CMPQ DX, $6
	JB few
	JE loop6
	CMPQ DX, $11
	JE loop11
	CMPQ DX, $9
	JB to8
	JE loop9

loop10:
	VPBROADCASTQ (SI), Z22
	SLOTS10
	NEXT512(loop10)
	JMP store

loop11:
	VPBROADCASTQ (SI), Z22
	SLOTS11
	NEXT512(loop11)
	JMP store

loop9:
	VPBROADCASTQ (SI), Z22
	SLOTS9
	NEXT512(loop9)
	JMP store

to8:
	CMPQ DX, $7
	JE loop7

loop8:
	VPBROADCASTQ (SI), Z22
	SLOTS8
	NEXT512(loop8)
	JMP store

loop7:
	VPBROADCASTQ (SI), Z22
	SLOTS7
	NEXT512(loop7)
	JMP store

loop6:
	VPBROADCASTQ (SI), Z22
	SLOTS6
	NEXT512(loop6)
	JMP store

few:
	CMPQ DX, $4
	JE loop4
	JA loop5
	CMPQ DX, $2
	JE loop2
	JB loop1

loop3:
	VPBROADCASTQ (SI), Z22
	SLOTS3
	NEXT512(loop3)
	JMP store

loop5:
	VPBROADCASTQ (SI), Z22
	SLOTS5
	NEXT512(loop5)
	JMP store

loop4:
	VPBROADCASTQ (SI), Z22
	SLOTS4
	NEXT512(loop4)
	JMP store

loop2:
	VPBROADCASTQ (SI), Z22
	SLOTS2
	NEXT512(loop2)
	JMP store

loop1:
	VPBROADCASTQ (SI), Z22
	SLOTS1
	NEXT512(loop1)

store:
	MOVQ low+24(FP), R11
	STORE512(0, Z0)
	STORE512(1, Z1)
	STORE512(2, Z2)
	STORE512(3, Z3)
	STORE512(4, Z4)
	STORE512(5, Z5)
	STORE512(6, Z6)
	STORE512(7, Z7)
	MOVQ high+32(FP), R11
	STORE512(8, Z8)
	STORE512(9, Z9)
	STORE512(10, Z10)
	VZEROUPPER
	RET

// AVX2: 4 slots a register. There is no 64-bit multiplication, so
// with a = a1·2^32+a0 and x = x1·2^32+x0 the product is
// a0·x0 + (a1·x0 + a0·x1 mod 2^32)·2^32; H has a1 in its upper halves and zeros
// below, U (in the frame) a0. There is no unsigned comparison, so minima and
// addends carry a flipped top bit: adding 2^63 mod 2^64 is flipping it.

#define SLOT256(i, M, A, H, B) \
	VPMULUDQ A, Y12, Y14; \
	VPADDQ B, Y14, Y14; \
	VPMULLD H, Y12, Y15; \
	VPADDQ Y15, Y14, Y14; \
	VPMULLD (32*i)(SP), Y13, Y15; \
	VPADDQ Y15, Y14, Y14; \
	VPCMPGTQ Y14, M, Y15; \
	VPBLENDVB Y15, Y14, M, M

#define LOAD256(i, M, A, H, B) \
	VPXOR (32*i)(R10), Y15, M; \
	VMOVDQU (32*i)(R8), A; \
	VPSLLQ $32, A, H; \
	VMOVDQU H, (32*i)(SP); \
	VPSRLQ $32, A, H; \
	VPSLLQ $32, H, H; \
	VPXOR (32*i)(R9), Y15, B

#define STORE256(i, M) \
	VPXOR Y15, M, M; \
	VMOVDQU M, (32*i)(R10)

#define SLOT64(A, B, M, T) \
	MOVQ A, T; \
	IMULQ AX, T; \
	ADDQ B, T; \
	CMPQ T, M; \
	CMOVQCS T, M

// func minima256(m, a, b *uint64, x *uint64, n, first int)
//
// 14 slots: the integer units take the last two, which the vector units, kept
// busy by the others, do not notice. When first is 4, of the others only the
// first four. n > 0.
TEXT ·minima256(SB), 0, $96-48
	MOVQ m+0(FP), R10
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), R9
	MOVQ x+24(FP), SI
	MOVQ n+32(FP), CX
	VPCMPEQB Y15, Y15, Y15
	VPSLLQ $63, Y15, Y15
	LOAD256(0, Y0, Y3, Y6, Y9)
	LOAD256(1, Y1, Y4, Y7, Y10)
	LOAD256(2, Y2, Y5, Y8, Y11)
	MOVQ 96(R10), R11
	MOVQ 104(R10), R12
	MOVQ 96(R8), R13
	MOVQ 104(R8), R15
	MOVQ 96(R9), DI
	MOVQ 104(R9), R9
	CMPQ first+40(FP), $4
	JE few
	PCALIGN $32

loop:
	MOVQ (SI), AX
	VPBROADCASTD (SI), Y12
	VPBROADCASTD 4(SI), Y13
	SLOT256(0, Y0, Y3, Y6, Y9)
	SLOT64(R13, DI, R11, BX)
	SLOT256(1, Y1, Y4, Y7, Y10)
	SLOT64(R15, R9, R12, DX)
	SLOT256(2, Y2, Y5, Y8, Y11)
	ADDQ $8, SI
	DECQ CX
	JNZ loop

store:
	VPCMPEQB Y15, Y15, Y15
	VPSLLQ $63, Y15, Y15
	STORE256(0, Y0)
	STORE256(1, Y1)
	STORE256(2, Y2)
	MOVQ R11, 96(R10)
	MOVQ R12, 104(R10)
	VZEROUPPER
	RET

few:
	MOVQ (SI), AX
	VPBROADCASTD (SI), Y12
	VPBROADCASTD 4(SI), Y13
	SLOT256(0, Y0, Y3, Y6, Y9)
	SLOT64(R13, DI, R11, BX)
	SLOT64(R15, R9, R12, DX)
	ADDQ $8, SI
	DECQ CX
	JNZ few
	JMP store
