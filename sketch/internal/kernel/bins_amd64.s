//go:build !purego

#include "textflag.h"

// func bins512(m *uint64, t uint64, x *uint64, n int, first, second, tag uint64, sieve int) (open int)
//
// 128 values at a time are mixed in registers, and those that may lower their
// bin moved together in the frame by VPCOMPRESSQ, with the numbers of their
// bins, so that no branch depends on them. Then they are taken to their bins one
// by one; a bin is read and written whether it changes or not, which costs less
// than a branch that guesses.
//
// Which may lower their bin is told by a sieve of a byte a bin, made from the
// bins at the beginning. Bins are ranges of values: with the upper half of a
// value times t, the upper half of the product is the bin and the lower one the
// place in it. The byte is the highest of the place of the smallest value so far;
// 255 where there is none, and 0 in a bin that an earlier round has filled, which
// lets few pass. Where none is open, which is where an earlier round has filled
// all, nothing is done.
//
// sieve 0: all values pass, and open is not told; 1: all pass; 2: those that the
// sieve lets. It has room for 256 bins; t is at most that or sieve 0. n > 0.

#define VALUES 0
#define BINS   1088
#define SIEVE  2176

TEXT ·bins512(SB), 0, $2432-72
	MOVQ m+0(FP), DI
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	VPBROADCASTQ t+8(FP), Z31
	VPBROADCASTQ first+32(FP), Z30
	VPBROADCASTQ second+40(FP), Z29
	MOVQ tag+48(FP), R9
	VPBROADCASTQ R9, Z28
	VPTERNLOGQ $0xff, Z26, Z26, Z26 // all ones: everything passes
	VMOVDQA64 Z26, Z25
	VMOVDQA64 Z26, Z23
	VMOVDQA64 Z26, Z22
	VPSRLQ $8, Z26, Z27
	MOVQ $1, AX
	SHLQ $62, AX
	ADDQ R9, AX
	VPBROADCASTQ AX, Z24            // the smallest value of a later round
	MOVQ $-1, AX

	KMOVB AX, K1
	CMPQ sieve+56(FP), $0
	JE mix
	XORL R10, R10
	MOVQ DI, R11
	MOVQ t+8(FP), R8
	LEAQ SIEVE(SP), R12

sift:
	CMPQ R8, $8
	JAE slots
	BZHIQ R8, AX, BX
	KMOVB BX, K1

slots:
	VMOVDQU64.Z (R11), K1, Z0
	VPSRLQ $30, Z0, Z1
	VPMULUDQ Z31, Z1, Z1
	VPSRLQ $24, Z1, Z1
	VPCMPUQ $5, Z24, Z0, K2
	VPCMPUQ $5, Z28, Z0, K1, K3
	VPTERNLOGQ $0xff, Z1, Z1, K2, Z1
	VPMOVQB.Z Z1, K3, X1
	VMOVQ X1, (R12)
	KMOVB K3, BX
	POPCNTL BX, BX
	ADDQ BX, R10
	ADDQ $64, R11
	ADDQ $8, R12
	SUBQ $8, R8
	JA sift
	MOVQ R10, open+64(FP)
	TESTQ R10, R10
	JZ done
	KMOVB AX, K1
	CMPQ sieve+56(FP), $1
	JE mix
	VMOVDQU8 SIEVE(SP), Z26
	VMOVDQU8 (SIEVE+64)(SP), Z25
	VMOVDQU8 (SIEVE+128)(SP), Z23
	VMOVDQU8 (SIEVE+192)(SP), Z22

mix:
	MOVL $128, R13
	CMPQ CX, R13
	CMOVQLT CX, R13
	SUBQ R13, CX
	XORL R10, R10 // how many have passed

eight:
	CMPQ R13, $8
	JAE whole
	BZHIQ R13, AX, BX
	KMOVB BX, K1

whole:
	VMOVDQU64.Z (SI), K1, Z0
	VPMULLQ Z30, Z0, Z0
	VPSRLQ $32, Z0, Z1
	VPXORQ Z1, Z0, Z0
	VPMULLQ Z29, Z0, Z0
	VPSRLQ $29, Z0, Z1
	VPXORQ Z1, Z0, Z0
	VPSRLQ $32, Z0, Z1
	VPMULUDQ Z31, Z1, Z1
	VPSLLQ $24, Z1, Z2      // the bin in the highest byte
	VPSLLQ $32, Z1, Z3      // the place in it
	VPSRLQ $32, Z1, Z1
	VMOVDQA64 Z2, Z4
	VPMOVB2M Z2, K3
	VPERMI2B Z25, Z26, Z2
	VPERMI2B Z22, Z23, Z4   // of bins from 128 on
	VMOVDQU8 Z4, K3, Z2
	VPORQ Z27, Z2, Z2
	VPCMPUQ $2, Z2, Z3, K1, K2
	VPSRLQ $2, Z0, Z0
	VPORQ Z28, Z0, Z0
	VPCOMPRESSQ.Z Z0, K2, Z0
	VPCOMPRESSQ.Z Z1, K2, Z1
	VMOVDQU64 Z0, VALUES(SP)(R10*8)
	VMOVDQU64 Z1, BINS(SP)(R10*8)
	KMOVB K2, BX
	POPCNTL BX, BX
	ADDQ BX, R10
	ADDQ $64, SI
	SUBQ $8, R13
	JA eight

	LEAQ VALUES(SP)(R10*8), R12
	NEGQ R10
	JZ taken

take:
	MOVQ (R12)(R10*8), BX
	MOVQ (BINS-VALUES)(R12)(R10*8), DX
	MOVQ (DI)(DX*8), R11
	CMPQ BX, R11
	CMOVQCC R11, BX
	MOVQ BX, (DI)(DX*8)
	INCQ R10
	JNZ take

taken:
	TESTQ CX, CX
	JNZ mix

done:
	VZEROUPPER
	RET

// func open512(ownA, ownB, m, a, b *uint64, t, bound uint64) (n int)
//
// Moves together the a and b of the slots of m that are at least bound. Writes
// up to 7 more than it counts. t > 0.
TEXT ·open512(SB), NOSPLIT, $0-64
	MOVQ ownA+0(FP), DI
	MOVQ ownB+8(FP), R9
	MOVQ m+16(FP), SI
	MOVQ a+24(FP), R10
	MOVQ b+32(FP), R11
	MOVQ t+40(FP), CX
	VPBROADCASTQ bound+48(FP), Z31
	MOVQ $-1, AX
	KMOVB AX, K1
	XORL R12, R12

eight:
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, AX, BX
	KMOVB BX, K1

whole:
	VMOVDQU64.Z (SI), K1, Z0
	VPCMPUQ $5, Z31, Z0, K1, K2
	VMOVDQU64.Z (R10), K2, Z1
	VMOVDQU64.Z (R11), K2, Z2
	VPCOMPRESSQ.Z Z1, K2, Z1
	VPCOMPRESSQ.Z Z2, K2, Z2
	VMOVDQU64 Z1, (DI)(R12*8)
	VMOVDQU64 Z2, (R9)(R12*8)
	KMOVB K2, BX
	POPCNTL BX, BX
	ADDQ BX, R12
	ADDQ $64, SI
	ADDQ $64, R10
	ADDQ $64, R11
	SUBQ $8, CX
	JA eight
	MOVQ R12, n+56(FP)
	VZEROUPPER
	RET

// func close512(m, own *uint64, t, bound uint64)
//
// Lowers the slots of m that are at least bound to bound + own>>2, own being
// moved together as open512 does. t > 0.
TEXT ·close512(SB), NOSPLIT, $0-32
	MOVQ m+0(FP), SI
	MOVQ own+8(FP), DI
	MOVQ t+16(FP), CX
	VPBROADCASTQ bound+24(FP), Z31
	MOVQ $-1, AX
	KMOVB AX, K1

eight:
	CMPQ CX, $8
	JAE whole
	BZHIQ CX, AX, BX
	KMOVB BX, K1

whole:
	VMOVDQU64.Z (SI), K1, Z0
	VPCMPUQ $5, Z31, Z0, K1, K2
	VPEXPANDQ.Z (DI), K2, Z1
	VPSRLQ $2, Z1, Z1
	VPORQ Z31, Z1, Z1
	VPMINUQ Z1, Z0, K2, Z0
	VMOVDQU64 Z0, K1, (SI)
	KMOVB K2, BX
	POPCNTL BX, BX
	LEAQ (DI)(BX*8), DI
	ADDQ $64, SI
	SUBQ $8, CX
	JA eight
	VZEROUPPER
	RET

// For processors with AVX2, one by one: half as many instructions as the
// compiler needs.

// BIN leaves the bin of a value in BX and what the bin may be lowered to in AX.
#define BIN \
	MOVQ (SI)(CX*8), AX; \
	IMULQ R9, AX; \
	SHRXQ R12, AX, BX; \
	XORQ BX, AX; \
	IMULQ R10, AX; \
	SHRXQ R13, AX, BX; \
	XORQ BX, AX; \
	SHRXQ R12, AX, BX; \
	IMULQ R8, BX; \
	SHRQ $32, BX; \
	SHRQ $2, AX; \
	ORQ R11, AX

// func bins64(m *uint64, t uint64, x *uint64, n int, first, second, tag uint64)
//
// n > 0.
TEXT ·bins64(SB), NOSPLIT, $0-56
	MOVQ m+0(FP), DI
	MOVQ t+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ first+32(FP), R9
	MOVQ second+40(FP), R10
	MOVQ tag+48(FP), R11
	LEAQ (SI)(CX*8), SI
	NEGQ CX
	MOVL $32, R12
	MOVL $29, R13
	PCALIGN $32

value:
	BIN
	MOVQ (DI)(BX*8), DX
	CMPQ AX, DX
	CMOVQCC DX, AX
	MOVQ AX, (DI)(BX*8)
	INCQ CX
	JNZ value
	RET

// func binsFew64(m *uint64, t uint64, x *uint64, n int, first, second, tag uint64)
//
// It does the same, for values of which few are used. n > 0.
TEXT ·binsFew64(SB), NOSPLIT, $0-56
	MOVQ m+0(FP), DI
	MOVQ t+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ first+32(FP), R9
	MOVQ second+40(FP), R10
	MOVQ tag+48(FP), R11
	LEAQ (SI)(CX*8), SI
	NEGQ CX
	MOVL $32, R12
	MOVL $29, R13
	PCALIGN $32

value:
	BIN
	CMPQ AX, (DI)(BX*8)
	JCS lower

next:
	INCQ CX
	JNZ value
	RET

lower:
	MOVQ AX, (DI)(BX*8)
	JMP next
