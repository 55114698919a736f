"""Writes families.tsv: the slots of small sets in families whose definition is arithmetic.

Run as: python3 families.py > families.tsv
An implementation of its own of the definitions written down in weighted.go and
lean.go, without their economies of time: every element is tried in every slot.
Python's floats are IEEE doubles, never fused.

Columns: family, t, elements (fingerprint or fingerprint:weight, separated by
blanks), slots. Fingerprints and slots in hexadecimal, weights in decimal.
The rows "logarithm" have a number and the bits of its logarithm; the rows
"cells" the arguments x, radius, spacing and maybe y and z, and the cells.
"""
import bisect
import itertools
import math
import struct

MASK = (1 << 64) - 1
K1, K2, STEP = 0x9FB21C651E98DF25, 0xD6E8FEB86659FD93, 0x9E3779B97F4A7C16


def splitmix(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


numbers = splitmix(2000)
PERMUTATIONS = [(next(numbers) | 1, next(numbers)) for _ in range(4096)]


def mix(x, r=0):
    h = x * (K1 + r * STEP) & MASK
    h ^= h >> 32
    h = h * K2 & MASK
    return h ^ h >> 29


def linear(i, x):
    a, b = PERMUTATIONS[i]
    return a * x + b & MASK


def bits(f):
    return struct.unpack(">Q", struct.pack(">d", f))[0]


def logarithm(x):
    m, e = math.frexp(x)  # m from 0.5 to 1
    m, e = m * 2, e - 1
    if m > math.sqrt(2):
        m, e = m * 0.5, e + 1
    s = (m - 1) / (m + 1)
    z = s * s
    p = 0.0
    for n in range(23, 1, -2):
        p = z * (p + 1 / n)
    return e * 0.6931471805599453 + (2 * s + 2 * s * p)


def uniform(v):
    return ((v & 0xFFFFFFFF) + 0.5) * 2.0**-32


def weighted(i, x, weight):
    h = linear(i, x)
    a, b, c = mix(h, 0), mix(h, 1), mix(h, 2)
    r = -logarithm(uniform(a >> 32) * uniform(a))
    v = uniform(b >> 32) * uniform(b)
    beta = uniform(c >> 32)
    k = math.floor(logarithm(weight) / r + beta)
    order = logarithm(-logarithm(v)) - r * (k - beta + 1)
    o = bits(order)
    return ~o & MASK if o >> 63 else o | 1 << 63


def fold(h):
    h ^= h >> 32
    h = h * K2 & MASK
    return h ^ h >> 29


def extension(i, x):
    return mix(linear(i, x))


def lean(i, x):
    prefix = fold(linear(i // 8, x)) >> 8 * (i % 8) & 0xFF
    return prefix << 56 | extension(i, x) >> 8


def zeros_before(i, x, first):
    """What piece i of the words of x lacks of 63 zeros."""
    word, zeros = first, 0
    while True:
        w = fold(linear(word % 4096, x))
        for b in range(64):
            if not w >> b & 1:
                zeros += 1
            elif i == 0:
                return 63 - min(zeros, 63)
            else:
                i, zeros = i - 1, 0
        word += 1


def zeros_slot(i, x, first=0):
    return zeros_before(i, x, first) << 58 | extension(i, x) >> 6


CUMULATIVE = [0]
survive = 1 << 32
while survive >> 6:
    survive -= survive >> 6
    CUMULATIVE.append((1 << 32) - survive)
CUMULATIVE.append(1 << 32)


def fair_bits(x):
    word = 0
    while True:
        w = fold(linear(word % 4096, x))
        yield from (w >> b & 1 for b in range(63, -1, -1))
        word += 1


def biased_slot(i, x):
    stream = fair_bits(x)
    at = -1
    while True:
        low, size = 0, 1 << 32
        while True:  # bits until they tell the interval
            size //= 2
            low += size * next(stream)
            gap = bisect.bisect_right(CUMULATIVE, low) - 1
            if low + size <= CUMULATIVE[gap + 1]:
                break
        at += 1 + gap
        if at > i:  # the first bit in slot i is a one
            return 1 << 63 | zeros_slot(i, x, 2048) >> 1
        zeros = 0
        while not next(stream):
            zeros += 1
        if at == i:
            return 63 - min(zeros, 63) << 57 | extension(i, x) >> 7


def row(family, t, elements, slot):
    spelled = " ".join("%016x" % e[0] + (":%r" % e[1] if len(e) > 1 else "") for e in elements)
    print(family, t, spelled, " ".join("%016x" % min(slot(i, *e) for e in elements) for i in range(t)), sep="\t")


for x in (1.0, 2.0, 0.5, 3.0, 10.0, 1e-300, 5e-324, 1e300, 1.7976931348623157e308, 0.1, math.sqrt(2), 1.414213562373095, 1.4142135623730951, 1 - 2**-53, 1 + 2**-52, 2**-33.0, 0.9999999998):
    print("logarithm", repr(x), "%016x" % bits(logarithm(x)), sep="\t")

some = splitmix(7)
xs = [next(some) for _ in range(300)]
weights = [1.0, 2.0, 0.1, 1e-9, 3.75, 1e12, 0.3333333333333333, 5e-324, 1e300, 17.0]
row("weighted", 8, [(xs[0], 1.0)], weighted)
row("weighted", 8, [(xs[0], 1e300)], weighted)
row("weighted", 8, [(xs[0], 5e-324)], weighted)
row("weighted", 8, [(xs[0], 2.5), (xs[1], 0.5), (0, 1.0)], weighted)
row("weighted", 12, [(x, w) for x, w in zip(xs, weights)], weighted)
row("weighted", 12, [(x, 1.0 + i % 7) for i, x in enumerate(xs)], weighted)
for family, slot, t in (("lean", lean, 13), ("lean-zeros", zeros_slot, 84), ("lean-biased", biased_slot, 84)):
    row(family, t, [(0,)], slot)
    row(family, t, [(xs[0],)], slot)
    row(family, t, [(x,) for x in xs[:20]], slot)
    row(family, t, [(x,) for x in xs], slot)


def cells(x, radius, spacing, *yz):
    square = lambda d: 0.0 if abs(d) < 1e-150 else d * d
    center = [v / spacing for v in (x, *yz)]
    q = radius / spacing
    ranges = [range(math.ceil(u - q), math.floor(u + q) + 1) for u in center]
    for numbers in itertools.product(*ranges):
        distance = 0.0
        for n, u in zip(numbers, center):
            distance = distance + square(n - u)
        if distance <= q * q:
            yield ",".join(map(str, numbers))


for arguments in ((0.0, 1.0, 1.0), (20.3, 1.0, 0.1), (-7.25, 3.0, 0.3), (1e-200, 1.0, 1.0), (123456789.123, 0.01, 0.003), (0.1, 0.7, 0.1), (0.3, 0.1, 0.1),
                  (0.1, 0.5, 0.1, 0.2), (-3.7, 2.5, 0.5, 1e6), (1.5, 2.0, 1.0, 2.5), (0.0, 5.0, 1.0, 0.0), (0.0, 3.0, 1.0, 0.0, 0.0), (2.2, 0.3, 0.1, -1.1, 0.7)):
    print("cells", " ".join(map(repr, arguments)), " ".join(cells(*arguments)), sep="\t")
