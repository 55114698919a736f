"""Writes folding.tsv, unicode.tsv and canary.tsv: what every character of Unicode 15.0.0 becomes.

Run as: python3.12 unicode.py, whose unicodedata is of that version. folding.tsv
has str.casefold of each character that it changes. unicode.tsv has, for every
4096 characters, a hash of their kinds and canonical forms, alone and beside
characters that they may combine with, by the functions of reference.py. canary.tsv
has the fingerprint of the tokens of canary.txt under every stream and case with the filters.
"""
import hashlib
import itertools
import unicodedata

import reference

assert unicodedata.unidata_version == "15.0.0", unicodedata.unidata_version

with open("folding.tsv", "w", encoding="ascii") as out:
    for code in range(0x110000):
        folded = chr(code).casefold()
        if folded != chr(code) and not 0xD800 <= code < 0xE000:
            print("%04X" % code, " ".join("%04X" % ord(c) for c in folded), sep="\t", file=out)


def line(code):
    c = chr(code)
    if unicodedata.category(c) == "Cn":
        return "%X unassigned\n" % code
    forms = []
    for text in (c, "e" + c, c + "\u0301", "\u0915" + c + "\u094d"):
        for fold in (True, False):
            forms.append(reference.canonical(text, fold).encode().hex())
    return "%X %s %s\n" % (code, reference.kind(c), " ".join(forms))


with open("unicode.tsv", "w", encoding="ascii") as out:
    for first in range(0, 0x110000, 4096):
        digest = hashlib.sha256()
        for code in range(first, first + 4096):
            if not 0xD800 <= code < 0xE000:
                digest.update(line(code).encode())
        print("%06X" % first, digest.hexdigest()[:16], sep="\t", file=out)

with open("canary.tsv", "w", encoding="ascii") as out:
    for stream in reference.FOLDS:
        each = itertools.product((False, True), repeat=4)
        for flags in [f + (False,) * 3 for f in each] + [(False,) * 4 + f for f in itertools.product((False, True), repeat=3) if any(f)]:
            case = {False: "", True: "case" if reference.FOLDS[stream] else "fold"}[flags[0]]
            names = [stream, case] + [n for n, set in zip(("stop", "vowels", "duplicates", "numbers", "ids", "dates"), flags[1:]) if set]
            print(" ".join(filter(None, names)), "%04x" % reference.fingerprint_of(stream, *flags), sep="\t", file=out)
