#!/usr/bin/env python3
"""Computes golden.tsv from the texts beside it: every combination of Roth 2011,
written for clearness, without anything from the Go code. Run it in this folder.

    ./reference.py > golden.tsv
"""
import pathlib
import unicodedata

STOP = set("""
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
hers herself it its itself they them their theirs themselves what which who whom this that these
those am is are was were be been being have has had having do does did doing would should could
ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd
they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't
doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's
who's what's here's there's when's where's why's how's a an the and but if or because as until while
of at by for with about against between into through during before after above below to from up down
in out on off over under again further then once here there when where why how all any both each few
more most other some such no nor not only own same so than too very""".split())
assert len(STOP) == 174


def is_letter(c):
    return unicodedata.category(c) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd")


def words(text):
    text = text.replace("’", "'")
    found, word = [], ""
    for i, c in enumerate(text + " "):
        inside = word and c == "'" and i + 1 < len(text) and is_letter(text[i + 1])
        if inside or is_letter(c):
            word += c.lower()
        elif word:
            found.append(word)
            word = ""
    return found


DIGIT = dict(zip("abcdefghijklmnopqrstuvwxyz", "01230120022455012623010202"))


def soundex(word):
    word = [c for c in unicodedata.normalize("NFD", word) if c in DIGIT]
    if not word:
        return ""
    code, last = word[0].upper(), DIGIT[word[0]]
    for c in word[1:]:
        if c not in "hw":
            if DIGIT[c] not in ("0", last):
                code += DIGIT[c]
            last = DIGIT[c]
    return (code + "000")[:4]


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


def java_hash(values):
    h = 0
    for v in values:
        h = h * 31 + v
    return signed(h, 32)


def units(s):
    raw = s.encode("utf-16-be")
    return [raw[i] << 8 | raw[i + 1] for i in range(0, len(raw), 2)]


def tokens(text, stream, variation):
    """The tokens, each a list of UTF-16 units, and what joins them."""
    found = words(text)
    if variation in "BD":
        found = [w for w in found if w not in STOP]
    found = [w.replace("'", "") for w in found]
    if stream == 0:
        s = "".join(found)
        if variation in "CD":
            s = "".join(c for c in s if c not in "aeiou")
        return [[u] for u in units(s)], []
    if stream == 2:
        found = [c for c in map(soundex, found) if c]
    if variation in "CD":
        found = list(dict.fromkeys(found))
    return [units(w) for w in found], [32]


def grams(items, k):
    """Overlapping runs of k; fewer than k are one run."""
    return [items[i:i + k] for i in range(max(1, len(items) - k + 1))] if items else []


def joined(gram, blank):
    out = []
    for i, token in enumerate(gram):
        out += (blank if i else []) + token
    return out


def winnow(prints, w):
    kept, position = [], None
    for i in range(max(1, len(prints) - w + 1)):
        window = range(i, min(i + w, len(prints)))
        rightmost = max(window, key=lambda p: (-prints[p], p))
        if rightmost != position:
            kept.append(prints[rightmost])
        position = rightmost
    return kept


def splitmix(seed):
    mask = (1 << 64) - 1
    while True:
        seed = seed + 0x9e3779b97f4a7c15 & mask
        z = seed
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
        yield z ^ z >> 31


def rabin(prints):
    """Bit by bit, modulo t^64 + t^4 + t^3 + t + 1."""
    rest = 0
    for p in prints:
        for bit in format(p & 0xffffffff, "032b"):
            rest = rest << 1 | int(bit)
            if rest >> 64:
                rest ^= 1 << 64 | 0b11011
    return signed(rest, 64)


def supershingle(prints, k):
    rounds = 0
    while len(prints) > 1:
        prints = [java_hash(g) for g in grams(prints, k if rounds < 100 else len(prints))]
        rounds += 1
    return prints[0]


def index(text, number, variation, k, w):
    stream, method = divmod(number, 20)
    items, blank = tokens(text, stream, variation)
    if not items:
        return 0
    if method == 13:
        count = {}
        for token in map(tuple, items):
            count[token] = count.get(token, 0) + 1
        common = sorted(count, key=lambda token: -count[token])[:200]
        return sum(map(java_hash, common))
    prints = [java_hash(joined(g, blank)) for g in grams(items, k)]
    if method == 14:
        return supershingle(prints, k)
    kept = {
        1: lambda: prints,
        3: lambda: [p for p in prints if p % 25 == 0],
        5: lambda: winnow(prints, w),
        7: lambda: sorted(prints)[:400],
        9: lambda: sorted(prints)[-400:],
        11: lambda: [p for p, random in zip(prints, splitmix(2011)) if random % 3 == 0],
    }[method - (method + 1) % 2]()
    return rabin(kept) if method % 2 == 0 else sum(kept)


def main():
    for path in sorted(pathlib.Path().glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        for k, w in (4, 5), (8, 12), (16, 25), (40, 100):
            for stream in 0, 20, 40:
                for method in range(1, 15):
                    if stream + method == 13:
                        continue
                    for variation in "ABCD":
                        name = f"{stream + method}{variation}/{k}" + (f"/{w}" if method in (5, 6) else "")
                        print(path.name, name, index(text, stream + method, variation, k, w), sep="\t")


if __name__ == "__main__":
    main()
