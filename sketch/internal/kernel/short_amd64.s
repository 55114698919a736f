//go:build !purego

#include "textflag.h"

// func short512(m *uint64, t uint64, x *uint64, n int, a, b *uint64, first, second, step uint64)
//
// All rounds of fast, and its fallback, for a short document, in 1 to 256 bins.
//
// Which bins the first round reaches is kept as 256 bits in registers, so that
// nothing waits for what was just written to m. Its values go through the frame, with
// the numbers of their bins; they are taken to these one by one while the later rounds
// are mixed, which keeps other units busy. Of the later rounds those are collected
// whose bins the first does not reach, and taken after it; order does not matter, the
// round is the top of a value. So few values nearly always leave bins to the fallback:
// their permutations are moved together, the minima taken of sixteen at a time and
// moved back apart; where most bins are left, the minima are taken of all in their
// places. n is 1 to 128.

#define VALUES 0
#define LATER  1024 // in either list, the values of the later rounds
#define BINS   3136
#define OWNA 0      // over what is no longer needed
#define OWNB 2176

// MIX makes of the values in Z0 their mixes H by a round's multiplier and their bins B.
// Z7 is scratch.
#define MIX(MULTIPLIER, H, B) \
	VPMULLQ MULTIPLIER, Z0, H; \
	VPSRLQ $32, H, Z7; \
	VPXORQ Z7, H, H; \
	VPMULLQ Z29, H, H; \
	VPSRLQ $29, H, Z7; \
	VPXORQ Z7, H, H; \
	VPSRLQ $32, H, B; \
	VPMULUDQ Z31, B, B; \
	VPSRLQ $32, B, B; \
	VPSRLQ $2, H, H

// MARK sets the bits Z7 of the bins whose 64 have the number N, Z6 being theirs.
#define MARK(N, Z) \
	VPCMPEQQ N, Z6, K1, K2; \
	VPORQ Z7, Z, K2, Z

// WORD leaves in the lowest lane of Z the bits set in any of its lanes.
#define WORD(Z, Y, X) \
	VEXTRACTI64X4 $1, Z, Y1; \
	VPORQ Y1, Y, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPOR X1, X0, X0; \
	VPSRLDQ $8, X0, X1; \
	VPORQ X1, X0, X

// KEEP collects the values H whose bins B the first round does not reach.
#define KEEP(H, B, TAG) \
	VPSRLQ $6, B, Z7; \
	VPERMQ Z22, Z7, Z7; \
	VPRORVQ B, Z7, Z7; \
	VPTESTNMQ Z18, Z7, K1, K2; \
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

// OPEN begins the minima M of the i-th eight bins of a block, and reads their
// permutations; R11 has a bit for each bin that there is.
#define OPEN(i, M, A, B) \
	KMOVB R11, K1; \
	SHRQ $8, R11; \
	VMOVDQU64.Z (64*i)(R12), K1, A; \
	VMOVDQU64.Z (64*i)(R13), K1, B; \
	VPTERNLOGQ $0xff, M, M, M

#define LOWER(M, A, B, T) \
	VPMULLQ Z0, A, T; \
	VPADDQ B, T, T; \
	VPMINUQ T, M, M

// CLOSE lowers the i-th eight bins of a block by their minima, as values of the
// fallback.
#define CLOSE(i, M) \
	KMOVB BX, K1; \
	SHRQ $8, BX; \
	VPSRLQ $2, M, M; \
	VPORQ Z24, M, M; \
	VMOVDQU64.Z (64*i)(DI), K1, Z0; \
	VPMINUQ Z0, M, M; \
	VMOVDQU64 M, K1, (64*i)(DI)

TEXT ·short512(SB), 0, $6272-72
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
	VPBROADCASTQ AX, Z18
	VPSLLQ $62, Z18, Z26 // the tags of the second round and of the third
	VPSLLQ $63, Z18, Z25
	VPORQ Z25, Z26, Z24  // that of the fallback
	VPTERNLOGQ $0xff, Z17, Z17, Z17
	VPXORQ Z16, Z16, Z16
	VPADDQ Z18, Z18, Z15
	VPADDQ Z18, Z15, Z14
	VPXORQ Z22, Z22, Z22
	VPXORQ Z21, Z21, Z21
	VPXORQ Z20, Z20, Z20
	VPXORQ Z19, Z19, Z19
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
	MIX(Z30, Z1, Z2)
	VPBLENDMQ Z1, Z17, K1, Z1 // behind the last, values that lower nothing
	VMOVDQU64 Z1, VALUES(R11)
	VMOVDQU64 Z2, BINS(R11)
	VPSRLQ $6, Z2, Z6
	VPROLVQ Z2, Z18, Z7
	MARK(Z16, Z22)
	MARK(Z18, Z21)
	MARK(Z15, Z20)
	MARK(Z14, Z19)
	ADDQ $64, R8
	ADDQ $64, R11
	SUBQ $8, R9
	JA first

	WORD(Z22, Y22, X22)
	WORD(Z21, Y21, X21)
	WORD(Z20, Y20, X20)
	WORD(Z19, Y19, X19)
	VPUNPCKLQDQ X21, X22, X22
	VPUNPCKLQDQ X19, X20, X20
	VINSERTI64X2 $1, X20, Y22, Y22
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
	MIX(Z28, Z1, Z2)
	MIX(Z27, Z4, Z5)
	KEEP(Z1, Z2, Z26)
	KEEP(Z4, Z5, Z25)
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
	MOVQ a+32(FP), R12
	MOVQ b+40(FP), R13
	MOVQ t+8(FP), R9
	LEAQ (CX)(CX*4), AX
	CMPQ AX, R9
	JB most

	// The permutations of the bins that are open still.
	MOVQ DI, R8
	XORL R10, R10 // how many
	KMOVB R14, K1

open:
	CMPQ R9, $8
	JAE opens
	BZHIQ R9, R14, BX
	KMOVB BX, K1

opens:
	VMOVDQU64.Z (R8), K1, Z0
	VPCMPUQ $5, Z24, Z0, K1, K2
	VMOVDQU64.Z (R12), K2, Z1
	VMOVDQU64.Z (R13), K2, Z2
	VPCOMPRESSQ.Z Z1, K2, Z1
	VPCOMPRESSQ.Z Z2, K2, Z2
	VMOVDQU64 Z1, OWNA(SP)(R10*8)
	VMOVDQU64 Z2, OWNB(SP)(R10*8)
	KMOVB K2, BX
	POPCNTL BX, BX
	ADDQ BX, R10
	ADDQ $64, R8
	ADDQ $64, R12
	ADDQ $64, R13
	SUBQ $8, R9
	JA open
	TESTQ R10, R10
	JZ done

	LEAQ OWNA(SP), R11
	LEAQ (SI)(CX*8), R8
	NEGQ CX

sixteen:
	VMOVDQU64 (R11), Z1
	VMOVDQU64 64(R11), Z2
	VMOVDQU64 (OWNB-OWNA)(R11), Z5
	VMOVDQU64 (OWNB-OWNA+64)(R11), Z6
	VPTERNLOGQ $0xff, Z3, Z3, Z3
	VMOVDQA64 Z3, Z4
	MOVQ CX, AX

value:
	VPBROADCASTQ (R8)(AX*8), Z0
	VPMULLQ Z0, Z1, Z7
	VPMULLQ Z0, Z2, Z8
	VPADDQ Z5, Z7, Z7
	VPADDQ Z6, Z8, Z8
	VPMINUQ Z7, Z3, Z3
	VPMINUQ Z8, Z4, Z4
	INCQ AX
	JNZ value
	VMOVDQU64 Z3, (R11)
	VMOVDQU64 Z4, 64(R11)
	ADDQ $128, R11
	SUBQ $16, R10
	JA sixteen

	MOVQ t+8(FP), R9
	LEAQ OWNA(SP), R11
	KMOVB R14, K1

close:
	CMPQ R9, $8
	JAE closes
	BZHIQ R9, R14, BX
	KMOVB BX, K1

closes:
	VMOVDQU64.Z (DI), K1, Z0
	VPCMPUQ $5, Z24, Z0, K1, K2
	VPEXPANDQ.Z (R11), K2, Z1
	VPSRLQ $2, Z1, Z1
	VPORQ Z24, Z1, Z1
	VPMINUQ Z1, Z0, K2, Z0
	VMOVDQU64 Z0, K1, (DI)
	KMOVB K2, BX
	POPCNTL BX, BX
	LEAQ (R11)(BX*8), R11
	ADDQ $64, DI
	SUBQ $8, R9
	JA close

done:
	VZEROUPPER
	RET

most:
	// A bin that a round has filled is below every value of the fallback. Blocks of 56.
	LEAQ (SI)(CX*8), R8
	NEGQ CX

block:
	MOVQ R14, R11
	CMPQ R9, $56
	JAE all
	BZHIQ R9, R14, R11

all:
	MOVQ R11, BX
	OPEN(0, Z1, Z8, Z15)
	OPEN(1, Z2, Z9, Z16)
	OPEN(2, Z3, Z10, Z17)
	OPEN(3, Z4, Z11, Z18)
	OPEN(4, Z5, Z12, Z19)
	OPEN(5, Z6, Z13, Z20)
	OPEN(6, Z7, Z14, Z21)
	MOVQ CX, AX

every:
	VPBROADCASTQ (R8)(AX*8), Z0
	LOWER(Z1, Z8, Z15, Z22)
	LOWER(Z2, Z9, Z16, Z23)
	LOWER(Z3, Z10, Z17, Z25)
	LOWER(Z4, Z11, Z18, Z26)
	LOWER(Z5, Z12, Z19, Z27)
	LOWER(Z6, Z13, Z20, Z28)
	LOWER(Z7, Z14, Z21, Z29)
	INCQ AX
	JNZ every

	CLOSE(0, Z1)
	CLOSE(1, Z2)
	CLOSE(2, Z3)
	CLOSE(3, Z4)
	CLOSE(4, Z5)
	CLOSE(5, Z6)
	CLOSE(6, Z7)
	ADDQ $448, DI
	ADDQ $448, R12
	ADDQ $448, R13
	SUBQ $56, R9
	JA block
	VZEROUPPER
	RET
