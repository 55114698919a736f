//go:build !purego

#include "textflag.h"

// The edges of ASCII words: the positions where a word begins or ends. A block
// of 64 bytes becomes a mask of the bytes that are letters or digits; a bit
// that differs from the one before it is an edge. The numbers of the bits are
// written out with the position of the block added, and the words' starts and
// ends come to lie as pairs. The text is copied with its case folded: 0x20 is
// set in every byte, which changes no digit and no small letter; what it does
// to separators is of no account, nobody looks at them.

DATA bytes<>+0(SB)/8, $0x0706050403020100
DATA bytes<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA bytes<>+16(SB)/8, $0x1716151413121110
DATA bytes<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA bytes<>+32(SB)/8, $0x2726252423222120
DATA bytes<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA bytes<>+48(SB)/8, $0x3736353433323130
DATA bytes<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL bytes<>(SB), RODATA|NOPTR, $64

// func edges512(text *byte, edges *uint32, src *byte, n int, base, fold uint64) (count, done int)
//
// VPCOMPRESSB makes the list of the set bits at once; most blocks have at most
// 32. Stops at the first byte that is not ASCII. Writes up to 64 bytes and 64
// edges more than it counts. n > 0.
TEXT ·edges512(SB), NOSPLIT, $0-64
	MOVQ text+0(FP), DI
	MOVQ edges+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ base+32(FP), R13
	MOVQ fold+40(FP), AX
	VPBROADCASTB AX, Z31
	VMOVDQU8 bytes<>(SB), Z30
	MOVL $0x20, AX
	VPBROADCASTB AX, Z29
	MOVL $0x61, AX // 'a'
	VPBROADCASTB AX, Z28
	MOVL $26, AX
	VPBROADCASTB AX, Z27
	MOVL $0x30, AX // '0'
	VPBROADCASTB AX, Z26
	MOVL $10, AX
	VPBROADCASTB AX, Z25
	MOVQ $-1, R14
	KMOVQ R14, K4
	XORL R11, R11 // 1 if the byte before is of a word
	MOVQ R8, R15
	MOVQ SI, R12

block:
	CMPQ CX, $64
	JB tail

whole:
	VMOVDQU8.Z (SI), K4, Z0
	VPORQ Z29, Z0, Z1
	VPSUBB Z28, Z1, Z1
	VPCMPUB $1, Z27, Z1, K1 // a letter
	VPSUBB Z26, Z0, Z2
	VPCMPUB $1, Z25, Z2, K2 // a digit
	VPORQ Z31, Z0, Z3
	VMOVDQU8 Z3, (DI)
	KORQ K1, K2, K1
	VPMOVB2M Z0, K2
	KORTESTQ K2, K2
	KMOVQ K1, AX
	LEAQ (R11)(AX*2), BX
	JNZ foreign
	MOVQ AX, R11
	SHRQ $63, R11

list:
	XORQ AX, BX
	ANDQ R14, BX // a word that reaches the end is left open
	KMOVQ BX, K3
	VPCOMPRESSB.Z Z30, K3, Z2
	VPBROADCASTD R13, Z3
	VEXTRACTI32X4 $1, Z2, X5
	VPMOVZXBD X2, Z4
	VPMOVZXBD X5, Z5
	VPADDD Z3, Z4, Z4
	VPADDD Z3, Z5, Z5
	VMOVDQU32 Z4, (R8)
	VMOVDQU32 Z5, 64(R8)
	POPCNTQ BX, BX
	CMPQ BX, $32
	JA many

listed:
	LEAQ (R8)(BX*4), R8
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, R13
	SUBQ $64, CX
	JA block
	ADDQ CX, SI // nothing, or less than nothing after a tail

finish:
	SUBQ R15, R8
	SHRQ $2, R8
	MOVQ R8, count+48(FP)
	SUBQ R12, SI
	MOVQ SI, done+56(FP)
	VZEROUPPER
	RET

tail:
	BZHIQ CX, R14, R14
	KMOVQ R14, K4
	JMP whole

foreign:
	// Take the bytes before the first one that is not ASCII.
	KMOVQ K2, DX
	TZCNTQ DX, CX
	JZ finish
	BZHIQ CX, R14, R14
	JMP list

many:
	VEXTRACTI32X4 $2, Z2, X4
	VEXTRACTI32X4 $3, Z2, X5
	VPMOVZXBD X4, Z4
	VPMOVZXBD X5, Z5
	VPADDD Z3, Z4, Z4
	VPADDD Z3, Z5, Z5
	VMOVDQU32 Z4, 128(R8)
	VMOVDQU32 Z5, 192(R8)
	JMP listed

#define CLASSIFY256(V, MASK) \
	VPOR Y15, V, Y2; \
	VPSUBB Y14, Y2, Y2; \
	VPMINUB Y13, Y2, Y3; \
	VPCMPEQB Y3, Y2, Y2; \
	VPSUBB Y12, V, Y4; \
	VPMINUB Y11, Y4, Y3; \
	VPCMPEQB Y3, Y4, Y4; \
	VPOR Y4, Y2, Y2; \
	VPMOVMSKB Y2, MASK

#define EDGE(i) \
	TZCNTQ BX, AX; \
	ADDL R13, AX; \
	MOVL AX, (4*i)(R8); \
	BLSRQ BX, BX

// func edges256(text *byte, edges *uint32, src *byte, blocks int, base, fold, carry uint64) (count, done int)
//
// Whole blocks of 64 bytes; stops before the first with a byte that is not
// ASCII and returns how many blocks are done. The edges are written in groups
// of 8, up to 7 more than are counted. carry is 1 if the byte before the text
// is of a word. blocks > 0.
TEXT ·edges256(SB), NOSPLIT, $0-72
	MOVQ text+0(FP), DI
	MOVQ edges+8(FP), R8
	MOVQ src+16(FP), SI
	MOVQ blocks+24(FP), CX
	MOVQ base+32(FP), R13
	VMOVQ fold+40(FP), X10
	VPBROADCASTB X10, Y10
	MOVQ carry+48(FP), R11
	MOVL $0x20202020, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	MOVL $0x61616161, AX // 'a'
	VMOVD AX, X14
	VPBROADCASTD X14, Y14
	MOVL $0x19191919, AX // 25
	VMOVD AX, X13
	VPBROADCASTD X13, Y13
	MOVL $0x30303030, AX // '0'
	VMOVD AX, X12
	VPBROADCASTD X12, Y12
	MOVL $0x09090909, AX
	VMOVD AX, X11
	VPBROADCASTD X11, Y11
	MOVQ R8, R15
	XORL R12, R12

block:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VPOR Y0, Y1, Y5
	VPMOVMSKB Y5, DX
	TESTL DX, DX
	JNZ finish
	CLASSIFY256(Y0, AX)
	CLASSIFY256(Y1, BX)
	VPOR Y10, Y0, Y0
	VPOR Y10, Y1, Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	SHLQ $32, BX
	ORQ BX, AX
	LEAQ (R11)(AX*2), BX
	MOVQ AX, R11
	SHRQ $63, R11
	XORQ AX, BX
	POPCNTQ BX, DX
	LEAQ (R8)(DX*4), R10

list:
	EDGE(0)
	EDGE(1)
	EDGE(2)
	EDGE(3)
	EDGE(4)
	EDGE(5)
	EDGE(6)
	EDGE(7)
	ADDQ $32, R8
	CMPQ R8, R10
	JB list
	MOVQ R10, R8
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, R13
	INCQ R12
	CMPQ R12, CX
	JB block

finish:
	SUBQ R15, R8
	SHRQ $2, R8
	MOVQ R8, count+56(FP)
	MOVQ R12, done+64(FP)
	VZEROUPPER
	RET
