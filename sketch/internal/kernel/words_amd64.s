//go:build !purego

#include "textflag.h"

// The edges of ASCII words: the positions where a word begins or ends. A block
// of 64 bytes becomes a mask of the bytes that are letters or digits; a bit
// that differs from the one before it is an edge. The numbers of the bits are
// written out with the position of the block added, and the words' starts and
// ends come to lie as pairs. The text is copied with its case folded: 0x20 is
// set in every byte, which changes no digit and no small letter; the
// changed separators are unused.

DATA bytes<>+0(SB)/8, $0x0706050403020100
DATA bytes<>+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA bytes<>+16(SB)/8, $0x1716151413121110
DATA bytes<>+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA bytes<>+32(SB)/8, $0x2726252423222120
DATA bytes<>+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA bytes<>+48(SB)/8, $0x3736353433323130
DATA bytes<>+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL bytes<>(SB), RODATA|NOPTR, $64

// LIST writes the edges of the mask BX, positions from R13 on. VPCOMPRESSB makes
// the list of the set bits at once; most blocks have at most 32.
#define LIST(few) \
	KMOVQ BX, K3; \
	VPCOMPRESSB.Z Z30, K3, Z2; \
	VPBROADCASTD R13, Z6; \
	VEXTRACTI32X4 $1, Z2, X5; \
	VPMOVZXBD X2, Z4; \
	VPMOVZXBD X5, Z5; \
	VPADDD Z6, Z4, Z4; \
	VPADDD Z6, Z5, Z5; \
	VMOVDQU32 Z4, (R8); \
	VMOVDQU32 Z5, 64(R8); \
	POPCNTQ BX, BX; \
	CMPQ BX, $32; \
	JBE few; \
	VEXTRACTI32X4 $2, Z2, X4; \
	VEXTRACTI32X4 $3, Z2, X5; \
	VPMOVZXBD X4, Z4; \
	VPMOVZXBD X5, Z5; \
	VPADDD Z6, Z4, Z4; \
	VPADDD Z6, Z5, Z5; \
	VMOVDQU32 Z4, 128(R8); \
	VMOVDQU32 Z5, 192(R8); \
few: \
	LEAQ (R8)(BX*4), R8

// func edges512(text *byte, edges *uint32, src *byte, n int, base, fold uint64, plain *PlainTable) (count, done int)
//
// Stops before the first character that is neither ASCII nor plain; without a
// table none is plain. Writes up to 64 bytes and 64 edges more than it counts.
// n > 0.
//
// In a block that is not all ASCII, the lead bytes that occur are taken one
// after the other, each where it stands: two tables of 64 bytes give, by the
// second byte of the character, the two bytes of its canonical form, or zero
// for the first where it separates and for the second where it is not plain.
// Of the characters of three bytes the punctuation from U+2000 on is known. A
// character that the end of the block cuts is left to the next block.
TEXT ·edges512(SB), NOSPLIT, $0-72
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
	MOVL $0xc0, AX
	VPBROADCASTB AX, Z24
	MOVL $0x80, AX
	VPBROADCASTB AX, Z23
	MOVQ $-1, R14
	KMOVQ R14, K4
	XORL R11, R11 // 1 if the byte before is of a word

block:
	CMPQ CX, $64
	JB tail

whole:
	PREFETCHT0 1024(SI) // across the pages, where the processor does not by itself
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
	JNZ foreign
	LEAQ (R11)(AX*2), BX
	MOVQ AX, R11
	SHRQ $63, R11
	XORQ AX, BX
	ANDQ R14, BX // a word that reaches the end is left open
	LIST(listed)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, R13
	SUBQ $64, CX
	JA block
	ADDQ CX, SI // nothing, or less than nothing after a tail

finish:
	SUBQ edges+8(FP), R8
	SHRQ $2, R8
	MOVQ R8, count+56(FP)
	SUBQ src+16(FP), SI
	MOVQ SI, done+64(FP)
	VZEROUPPER
	RET

tail:
	BZHIQ CX, R14, R14
	KMOVQ R14, K4
	JMP whole

foreign:
	KMOVQ K2, DX            // the bytes that are not ASCII
	XORL R9, R9             // those of plain characters
	MOVQ plain+48(FP), R10
	TESTQ R10, R10
	JZ taken
	VMOVDQU8 Z0, K2, Z3
	VPCMPB $1, Z24, Z0, K5  // below 0xc0 as signed numbers: 0x80 to 0xbf
	KANDNQ K2, K5, K6
	KMOVQ K6, BX            // the leads

	// The bytes after each, and after those, as far as there are any.
	MOVQ $-1, R14
	MOVL $66, R15
	CMPQ CX, R15
	CMOVQLT CX, R15
	SUBQ $1, R15
	BZHIQ R15, R14, R12
	KMOVQ R12, K3
	VMOVDQU8.Z 1(SI), K3, Z20
	SHRQ $1, R12
	CMPQ R15, $65
	CMOVQEQ R14, R12
	KMOVQ R12, K3
	VMOVDQU8.Z 2(SI), K3, Z21
	TESTQ BX, BX
	JZ taken

lead:
	TZCNTQ BX, R15
	MOVBLZX (SI)(R15*1), R15
	VPBROADCASTB R15, Z4
	VPCMPEQB Z4, Z0, K3
	KMOVQ K3, R12
	XORQ R12, BX
	CMPL R15, $0xe2
	JE punctuation
	SUBL $0xc0, R15
	CMPL R15, $0x1f
	JA next
	SHLQ $7, R15
	VMOVDQU8 (R10)(R15*1), Z5   // second bytes
	VMOVDQU8 64(R10)(R15*1), Z6 // first bytes
	VPERMB Z5, Z20, Z7
	VPERMB Z6, Z20, Z8
	VPERMB Z5, Z0, Z9
	VPTESTMB Z7, Z7, K3, K3
	KSHIFTRQ $1, K5, K6
	KANDQ K6, K3, K3            // plain
	VPTESTMB Z8, Z8, K3, K6     // of a word
	KSHIFTLQ $1, K6, K7
	VMOVDQU8 Z8, K6, Z3
	VMOVDQU8 Z9, K7, Z3
	KORQ K6, K7, K6
	KMOVQ K6, R12
	ORQ R12, AX
	KMOVQ K3, R12
	ORQ R12, R9
	ADDQ R12, R12
	ORQ R12, R9

next:
	TESTQ BX, BX
	JNZ lead

taken:
	ANDNQ DX, R9, DX
	TZCNTQ DX, R15 // 64 if there is none
	CMPQ R15, CX
	CMOVQGT CX, R15
	TESTQ R15, R15
	JZ finish
	MOVQ $-1, R14
	BZHIQ R15, R14, R12
	VMOVDQU8 Z3, (DI)
	LEAQ (R11)(AX*2), BX
	LEAQ -1(R15), R9
	SHRXQ R9, AX, R11
	ANDL $1, R11
	XORQ AX, BX
	ANDQ R12, BX
	LIST(some)
	ADDQ R15, SI
	ADDQ R15, DI
	ADDQ R15, R13
	KMOVQ R14, K4
	SUBQ R15, CX
	JA block
	JMP finish

punctuation:
	VPCMPEQB Z23, Z20, K3, K3
	VMOVDQU8 4096(R10), Z5
	VPERMB Z5, Z21, Z7
	VPTESTMB Z7, Z7, K3, K3
	KSHIFTRQ $2, K5, K6
	KANDQ K6, K3, K3
	KMOVQ K3, R12
	ORQ R12, R9
	ADDQ R12, R12
	ORQ R12, R9
	ADDQ R12, R12
	ORQ R12, R9
	JMP next

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
	PREFETCHT0 1024(SI)
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
