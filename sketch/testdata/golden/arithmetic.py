"""Writes arithmetic.tsv: values of the filter and of the interval, to the last bit.

Run as: python3 arithmetic.py > arithmetic.tsv
An implementation of its own of the orders written down in filter.go and
estimate_interval.go. Python's floats are IEEE doubles, never fused, and repr() is the
shortest decimal that reads back as the same double.
"""


def flush(x):
    return 0.0 if x < 1e-150 else x


def accept(k, s, r, rho):
    p = 1.0
    for _ in range(s):
        p = flush(p * rho)
    q = 1.0 - p
    d = [1.0] + [0.0] * (r - 1)
    a = 0.0
    for _ in range(k):
        a = a + flush(d[r - 1] * p)
        for i in range(r - 1, 0, -1):
            d[i] = flush(d[i] * q) + flush(d[i - 1] * p)
        d[0] = flush(d[0] * q)
    return min(a, 1.0)


def half(k, s, r):
    low, high = 0.0, 1.0
    for _ in range(52):
        mid = (low + high) * 0.5
        if accept(k, s, r, mid) < 0.5:
            low = mid
        else:
            high = mid
    return mid


def lower(n, m, confidence):
    if m == 0:
        return 0.0
    alpha = (1.0 - confidence) * 0.5
    p = (n - 0.5) / n if m == n else alpha / n if m == 1 else (m - 1) / (n - 1)
    for _ in range(200):
        above = w = 1.0
        for k in range(m, n):
            w = w * (n - k) / (k + 1) * (p / (1.0 - p))
            if w < above * 1e-17:
                break
            above += w
        below, w = 0.0, 1.0
        for k in range(m, 0, -1):
            w = w * k / (n - k + 1) * ((1.0 - p) / p)
            if w < below * 1e-17:
                break
            below += w
        step = (above - (above + below) * alpha) * p / m
        p = p - step
        if abs(step) < p * 1e-12:
            break
    return p


def row(*columns):
    print(*(repr(c) if isinstance(c, float) else c for c in columns), sep="\t")


settings = [(6, 14, 2), (12, 7, 2), (6, 5, 4), (1, 1, 1), (8, 1, 8), (20, 3, 5), (255, 255, 1), (255, 9, 40), (64, 64, 8)]
for k, s, r in settings:
    for rho in (0.0, 1e-200, 1e-30, 0.01, 0.1, 1 / 3, 0.5, 0.77, 0.9, 0.95, 0.975, 0.99, 0.999, 1 - 2**-53, 1.0):
        row("filter", k, s, r, rho, accept(k, s, r, rho))
    row("half", k, s, r, half(k, s, r))
for n in (1, 2, 7, 42, 84, 100, 128, 1000, 5000):
    for m in sorted({0, 1, n // 3, n // 2, n * 9 // 10, n - 1, n}):
        for confidence in (0.5, 0.9, 0.95, 0.99, 0.999999):
            row("interval", n, m, confidence, lower(n, m, confidence), 1.0 - lower(n, n - m, confidence))
