"""Writes dates.tsv: texts made of pieces of dates and times, and what remains of them.

Run as: python3 dates.py > dates.tsv
"""
import random
import sys

import reference

PIECES = """2026 26 11 22 1 01 31 99 - / . : , nov november may mon monday , st nd th of at am p.m. z utc +0100 T 10:15 x _ Nov. 22nd
10:15:30 .123 2026-11-22 22.11.26 22/Nov/2026 Sun \u5e74 \u6708 \u65e5 \u65f6 \u70b9 \u5206 \u79d2 \ub144 \uc6d4 \uc77c \uc2dc \xe9""".split()

numbers = random.Random(1)
for _ in range(600):
    text = "".join(numbers.choice(PIECES) + numbers.choice(("", " ")) for _ in range(numbers.randrange(1, 12)))
    sys.stdout.buffer.write(text.encode() + b"\t" + reference.without_dates(text.encode()) + b"\n")
