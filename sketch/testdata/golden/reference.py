"""Writes vectors.json: documents, their profiles, tokens, sketches and features.

Run as: python3 reference.py > vectors.json
An implementation of its own of FORMAT.md, section by section: slow, literal, and
with nothing but Python's library. It needs Python 3.11 or later; the documents
below keep to characters that every Unicode from 14.0.0 on has.
"""
import base64
import contextlib
import decimal
import functools
import hashlib
import html.entities
import io
import json
import pathlib
import re
import sys
import unicodedata

with contextlib.redirect_stdout(io.StringIO()):
    import families  # the arithmetic of lean, lean-zeros, lean-biased and weighted

MASK = (1 << 64) - 1
EXACT = decimal.Context(prec=2000)

# 2. Canonical text


def decode(data):
    text, i = [], 0
    while i < len(data):
        for n in (1, 2, 3, 4):
            try:
                text.append(data[i : i + n].decode("utf-8"))
                i += n
                break
            except UnicodeDecodeError:
                pass
        else:
            text.append("\ufffd")
            i += 1
    return "".join(text)


def stream_safe(text):
    out, row = [], 0
    for c in text:
        marks = [unicodedata.combining(d) != 0 for d in unicodedata.normalize("NFKD", c)]
        starts = marks.index(False) if False in marks else len(marks)
        if row + starts > 30:
            out.append("\u034f")
            row = 0
        out.append(c)
        if False in marks:
            row = marks[::-1].index(False)
        else:
            row += len(marks)
    return "".join(out)


def ranges(text):
    return [[int(x, 16) for x in (r.split("-") * 2)[:2]] for r in text.split()]


INVISIBLE = ranges("AD 34F 61C 180B-180F 200C-200F 202A-202E 2060-206F FE00-FE0F FEFF E0000-E0FFF")


def canonical(text, fold):
    for c in text:
        assert unicodedata.category(c) != "Cn", "%r is not in this Python's Unicode" % c
    text = unicodedata.normalize("NFKC", stream_safe(text))
    if fold:
        text = unicodedata.normalize("NFKC", text.casefold())
    return "".join(c for c in text if not any(low <= ord(c) <= high for low, high in INVISIBLE))


# 3. Tokens

ALONE = ranges("""0E01-0E30 0E32-0E33 0E40-0E46 0E81-0E82 0E84 0E86-0E8A 0E8C-0EA3 0EA5 0EA7-0EB0 0EB2-0EB3 0EBD 0EC0-0EC4
0EC6 0EDC-0EDF 1000-102A 103F 1050-1055 105A-105D 1061 1065-1066 106E-1070 1075-1081 108E 1780-17B3 17D7 17DC
17F0-17F9 3005 3007 3021-3029 3038-303B 3041-3096 309D-309F 3400-4DBF 4E00-9FFF A9E0-A9E4 A9E6-A9EF A9FA-A9FE
AA60-AA76 AA7A AA7E-AA7F F900-FA6D FA70-FAD9 16FE3 1B001-1B11F 1B132 1B150-1B152 20000-2A6DF 2A700-2B739
2B740-2B81D 2B820-2CEA1 2CEB0-2EBE0 2F800-2FA1D 30000-3134A 31350-323AF""")
WHITE = set(map(chr, [9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]))


def kind(c):
    if c in WHITE:
        return "space"
    category = unicodedata.category(c)
    if category in ("Cc", "Cf"):
        return "control"
    if category[0] == "M":
        return "mark"
    if category == "Nd":
        return "digit"
    if category[0] in "LN":
        return "alone" if any(low <= ord(c) <= high for low, high in ALONE) else "word"
    return "other"


def words(text):
    tokens, token, alone = [], "", False
    for c in text + " ":
        k = kind(c)
        if k in ("space", "control", "other") or k == "alone" or alone and k != "mark":
            if token:
                tokens.append(token)
            token, alone = "", False
        if k not in ("space", "control", "other"):
            token += c
            alone = alone or k == "alone"
    return tokens


def symbol(c):
    c = ord(c)
    if c < 0x2000:
        return chr(c) in "#$%&+<=>@\u00a2\u00a3\u00a4\u00a5\u00a7\u00a9\u00ac\u00ae\u00b0\u00b1\u00d7\u00f7"
    return 0x20A0 <= c <= 0x20CF or 0x2100 <= c <= 0x2BFF or 0x1F000 <= c <= 0x1FAFF


def spaced(text):
    """The words of the stream chars, None standing for what separates two of them."""
    kinds = ["word" if symbol(c) else kind(c) for c in text]
    inside = [k not in ("space", "control", "other") for k in kinds]
    out, i, alone = [], 0, False
    while i < len(text):
        j = i
        while j < len(text) and inside[j] == inside[i]:
            j += 1
        if inside[i]:
            for word in words_of(text[i:j], kinds[i:j]):
                out.append(word)
            last = j - 1
            while last > i and kinds[last] == "mark":
                last -= 1
            alone = kinds[last] == "alone"
        elif out and j < len(text) and not (alone and kinds[j] == "alone" and "other" not in kinds[i:j]):
            out.append(None)
        i = j
    return out


def words_of(text, kinds):
    """A run of the kinds of words: a character alone begins a word that only marks continue."""
    out, alone = [], False
    for c, k in zip(text, kinds):
        if not out or k == "alone" or alone and k != "mark":
            out.append(c)
            alone = k == "alone"
        else:
            out[-1] += c
    return out


def characters(words):
    """The characters of the words that are left, with one blank before, between and after."""
    out, blank = [], True
    for word in words:
        if word is None:
            blank = True
            continue
        out += [" "] * blank + list(word)
        blank = False
    return out + [" "] * bool(out)


def lines(text):
    for line in re.split("[\n\r\x85\u2028\u2029]", text):
        line = re.sub("[%s]+" % "".join(WHITE), " ", line).strip(" ")
        if line:
            yield line


OPERATORS = """== != <= >= && || ++ -- += -= *= /= %= &= |= ^= << >> -> => :: := <- &^ ** ?? ?. .. // /* */ ##
=== !== <=> <<= >>= >>> ... **= //= &&= ||= ??= &^= ->* >>>=""".split()


def code(text):
    tokens, token, state = [], "", None
    i = 0
    while i < len(text):
        c = text[i]
        k = kind(c)
        if c == "_":
            k = "word"
        if state == "number" and c == "." and kind(text[i + 1 : i + 2] or " ") == "digit":
            k = "mark"
        if k in ("space", "control", "other") or k == "alone" or state == "alone" and k != "mark":
            if token:
                tokens.append(token)
            token, state = "", None
        if k == "other":
            size = max([len(o) for o in OPERATORS if text.startswith(o, i)] + [1])
            tokens.append(text[i : i + size])
            i += size
            continue
        if k not in ("space", "control"):
            token += c
            state = state or {"digit": "number", "alone": "alone"}.get(k, "run")
        i += 1
    return tokens + [token] * (token != "")


INLINE = set("""a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr s samp small span strike
strong sub sup time tt u var wbr""".split())
UNSEEN = set("link meta script style template".split())
HIDDEN = {"script", "style", "iframe", "noembed", "noframes"}
RAW = HIDDEN | {"title", "textarea", "xmp", "plaintext"}
BLANK = " \n\r\t\f"


def numeric(digits, base):
    n = int(digits, base)
    if 0x80 <= n <= 0x9F:
        return bytes([n]).decode("cp1252", "ignore") or chr(n)
    return "\ufffd" if n == 0 or n > 0x10FFFF or 0xD800 <= n <= 0xDFFF else chr(n)


def references(text, attribute):
    def replace(m):
        if m[1]:
            return numeric(m[1], 10)
        if m[2]:
            return numeric(m[2], 16)
        name = m[3]
        if attribute:
            if name[-1] != ";" and text[m.end() : m.end() + 1] == "=":
                return m[0]
            return html.entities.html5.get(name, m[0])
        for n in [len(name)] + list(range(min(6, len(name) - 1), 1, -1)):
            if name[:n] in html.entities.html5:
                return html.entities.html5[name[:n]] + name[n:]
        return m[0]

    return re.sub("&(?:#([0-9]+);?|#[xX]([0-9a-fA-F]+);?|([0-9a-zA-Z]+;?))", replace, text)


COMMENT = re.compile(r"<!--(?:-?>|.*?(?:--!?>|$))", re.S)
TAG = re.compile(
    r"<(/?)([a-zA-Z][^ \n\r\t\f/>]*)((?:[ \n\r\t\f/]+|[^ \n\r\t\f/>][^ \n\r\t\f/>=]*"
    r"(?:[ \n\r\t\f]*=[ \n\r\t\f]*(?:\"[^\"]*\"|'[^']*'|(?![\"'])[^ \n\r\t\f>]+|(?=>)))?)*)>"
)
ATTRIBUTE = re.compile(
    r"([^ \n\r\t\f/>][^ \n\r\t\f/>=]*)(?:[ \n\r\t\f]*=[ \n\r\t\f]*(?:\"([^\"]*)\"|'([^']*)'|((?![\"'])[^ \n\r\t\f>]+)|(?=>)))?"
)


def page(data, fold, links=True):
    doc = data.decode("latin-1")  # bytes as characters, until they are text
    tokens, text, i, inert = [], [], 0, 0

    def show(s, attribute=None):
        if not inert:
            text.append(references(s, False))

    def separate():
        whole = decode_mixed("".join(text))
        tokens.extend(words(canonical(whole, fold)))
        text.clear()

    def decode_mixed(s):
        # References may stand for characters beyond Latin-1; the rest is bytes.
        out = []
        for part in re.split("(\ue000[0-9]+\ue001)", s):
            out.append(chr(int(part[1:-1])) if part.startswith("\ue000") else decode(part.encode("latin-1")))
        return "".join(out)

    def references(s, attribute):
        return globals()["references"](s, attribute) if "&" not in s else marked(s, attribute)

    def marked(s, attribute):
        # A character that a reference stands for is kept apart from the bytes.
        out, at = [], 0
        for m in re.finditer("&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[0-9a-zA-Z]+;?)", s):
            out.append(s[at : m.start()])
            at = m.end()
            after = s[at : at + 1] if attribute and s[at : at + 1] == "=" else ""
            value = globals()["references"](m[0] + after, attribute)
            value = value[: len(value) - len(after)]
            out.append(value if value == m[0] else "".join("\ue000%d\ue001" % ord(c) for c in value))
        return "".join(out) + s[at:]

    while i < len(doc):
        if doc[i] != "<":
            end = doc.find("<", i)
            end = len(doc) if end < 0 else end
            show(doc[i:end])
            i = end
            continue
        if doc.startswith("<!--", i):
            i = COMMENT.match(doc, i).end()
            continue
        if doc.startswith("</>", i):
            i += 3
            continue
        if re.match("<[!?]|</[^a-zA-Z]", doc[i : i + 3]):
            end = doc.find(">", i)
            i = len(doc) if end < 0 else end + 1
            continue
        if not re.match("</?[a-zA-Z]", doc[i : i + 3]):
            if not inert:
                text.append("<")
            i += 1
            continue
        m = TAG.match(doc, i)
        if not m:
            break  # a tag without an end
        i = m.end()
        closing, name = m[1], m[2].lower()
        urls = {}
        if not closing:
            for a in ATTRIBUTE.finditer(m[3]):
                key = a[1].lower()
                if key == "href" or key == "src" and name == "img":
                    urls.setdefault(key, (a[2] or a[3] or a[4] or "")[:4096])
        if name == "template":
            inert = max(0, inert - 1) if closing else inert + 1
        if inert or not links:
            urls = {}
        if not inert and (name not in INLINE | UNSEEN or urls):
            separate()
        for url in urls.values():
            url = canonical(decode_mixed(references(url.replace("\0", "&#0;"), True)), fold)
            url = "".join(c for c in url if kind(c) not in ("space", "control"))
            tokens.extend([url] * (url != ""))
        if name in RAW and not closing:
            if name == "plaintext":
                if not inert:
                    text.append(doc[i:])
                break
            end = raw_end(doc, i, name)
            if name in ("title", "textarea"):
                show(doc[i:end])
            elif name == "xmp" and not inert:
                text.append(doc[i:end])
            i = end
    separate()
    return tokens


def raw_end(doc, i, name):
    """Where the content of a raw element ends: at its end tag."""
    end_tag = re.compile("</%s(?=[ \n\r\t\f/>])" % name, re.I)
    if name != "script":
        m = end_tag.search(doc, i)
        return m.start() if m else len(doc)
    start_tag = re.compile("<script[ \n\r\t\f/>]", re.I)
    escape = 0
    while i < len(doc):
        if escape == 0 and doc.startswith("<!--", i):
            escape, i = 1, i + 2  # the dashes may be those of -->
        elif escape and doc.startswith("-->", i):
            escape, i = 0, i + 3
        elif escape == 1 and start_tag.match(doc, i):
            escape, i = 2, start_tag.match(doc, i).end()
        elif end_tag.match(doc, i):
            if escape != 2:
                return i
            escape, i = 1, i + len("</script>")
        else:
            i += 1
    return len(doc)


def split(token):
    """Tokens of at most 4096 bytes, each with as many characters as that holds."""
    part, size = "", 0
    for c in token:
        n = len(c.encode())
        if size + n > 4096:
            yield part
            part, size = "", 0
        part += c
        size += n
    yield part


STOP = set("""a i am an as at be by do he if in is it me my no of on or so to up we all and any are but did few for had has
her him his how i'd i'm its nor not off our out own she the too was who why you been both does down each from have he'd
he's here hers i'll i've into it's more most once only ours over same some such than that them then they this very we'd
were what when whom with your about above after again being below can't could doing don't he'll how's isn't let's other
ought she'd she's their there these those under until we'll we're we've where which while who's why's won't would you'd
yours aren't before cannot didn't during hadn't hasn't having here's itself myself shan't she'll should that's theirs
they'd wasn't what's when's you'll you're you've against because between doesn't further haven't herself himself mustn't
there's they'll they're they've through weren't where's couldn't wouldn't yourself ourselves shouldn't themselves
yourselves""".split())


def soundex(word):
    code, last = "", ""
    for c in word:
        c = unicodedata.normalize("NFD", c)[0].lower()
        if not "a" <= c <= "z":
            continue
        digit = "01230120022455012623010202"[ord(c) - ord("a")]
        if not code:
            code = c.upper()
        elif c in "hw":
            continue
        elif digit != "0" and digit != last and len(code) < 4:
            code += digit
        last = digit
    return (code + "000")[:4] if code else ""


FOLDS = {"chars": True, "words": True, "lines": False, "soundex": True, "html": True, "code": False, "page": True}


BLANK = rb"[\t ][\t ]?"
MONTH = (rb"(?:january|jan|february|feb|march|mar|april|apr|may|june|jun|july|jul|august|aug|"
         rb"september|sept|sep|october|oct|november|nov|december|dec)(?![a-z0-9_])")
WEEKDAY = rb"(?:(?:monday|mon|tuesday|tues|tue|wednesday|wed|thursday|thurs|thu|friday|fri|saturday|sat|sunday|sun)(?![a-z0-9_])[.]?,?" + BLANK + rb")"
DAY, MM, YEAR, ORDINAL = rb"(?:3[01]|[12][0-9]|0?[1-9])", rb"(?:1[0-2]|0?[1-9])", rb"[12][0-9]{3}", rb"(?:st|nd|rd|th)?"


def eastern(unit):
    return rb"(?:" + "|".join(unit).encode() + rb")"


def western_dates():
    for mark in (b"-", b"/", b"[.]"):
        yield YEAR + mark + MM + mark + DAY
    for mark in (b"-", b"/", b"[.]"):
        year = {b"-": YEAR, b"/": b"(?:" + YEAR + b"|[0-9][0-9])", b"[.]": YEAR}[mark]
        yield DAY + mark + MM + mark + year
        if mark != b"[.]":
            yield MM + mark + DAY + mark + year
    yield rb"[0-3][0-9][.][01][0-9][.][0-9][0-9]"
    yield MONTH + rb"[.]?" + BLANK + DAY + ORDINAL + rb"(?:(?![a-z0-9_]),?" + BLANK + YEAR + rb")?"
    between = rb"(?:" + BLANK + rb"of" + BLANK + rb"|" + BLANK + rb"|-|/)"
    for year in (rb"[.]?,?" + BLANK + YEAR, rb"[.]?[-/]" + YEAR, rb""):
        yield DAY + ORDINAL + between + MONTH + year
    yield MONTH + rb"[.]?(?:,?" + BLANK + rb"|-)" + YEAR


EASTERN_DAY = rb"[0-9]{1,2}" + eastern("月월") + rb"[\t ]{0,2}[0-9]{1,2}" + eastern("日일")
EASTERN_DATES = [
    rb"[0-9]{2,4}" + eastern("年년") + rb"[\t ]{0,2}" + EASTERN_DAY, EASTERN_DAY,
    rb"[0-9]{4}" + eastern("年년") + rb"[\t ]{0,2}[0-9]{1,2}" + eastern("月월"), rb"[0-9]{4}" + eastern("年년"),
]


def clock_times():
    hour = rb"(?:2[0-4]|1[0-9]|0?[0-9])"
    half = rb"[\t ]{0,2}(?:[ap][.]m[.]|[ap]m(?![a-z0-9_]))"
    zone = rb"[\t ]{0,2}(?:(?:utc|gmt|z)(?![a-z0-9_])|[-+][0-9]{2}:?[0-9]{2}(?![a-z0-9_]))"
    yield (hour + rb":[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?(?:(?:" + half + rb")?" + zone + rb"|" + half + rb"|(?![a-z0-9_]))")
    yield hour + half
    yield (rb"[0-9]{1,2}" + eastern("時时시") + rb"(?:[\t ]{0,2}[0-9]{1,2}" + eastern("分분") +
           rb"(?:[\t ]{0,2}[0-9]{1,2}" + eastern("秒초") + rb")?)?")
    yield rb"[0-9]{1,2}" + "点".encode() + rb"[0-9]{1,2}" + "分".encode() + rb"(?:[0-9]{1,2}" + "秒".encode() + rb")?"


def alternatives(patterns):
    return rb"(?:" + rb"|".join(rb"(?:" + p + rb")" for p in patterns) + rb")"


DATE = alternatives([alternatives(western_dates()) + rb"\b"] + EASTERN_DATES)
TIME = alternatives(clock_times())
moment = re.compile(alternatives([
    YEAR + rb"[01][0-9][0-3][0-9]t[0-2][0-9][0-5][0-9](?:[0-5][0-9])?(?:z|[-+][0-9]{4})?(?![a-z0-9_])",
    YEAR + rb"-" + MM + rb"-" + DAY + rb"t" + TIME,
    WEEKDAY + rb"?" + DATE + rb"(?:(?::|,?" + BLANK + rb"at" + BLANK + rb"|,?[\t ]{0,2})" + TIME +
    rb"(?:" + BLANK + rb"(?:[a-z]{3,4}" + BLANK + rb")?" + YEAR + rb"(?![a-z0-9_]))?)?",
    TIME + rb"(?:,?" + BLANK + DATE + rb")?",
])).match


def without_dates(data):
    """Data with blanks for its dates and times, as many as they have bytes."""
    lower, out, i = data.lower(), bytearray(data), 0
    while i < len(data):
        # What stands before decides whether a date can begin here.
        before, digit = lower[max(0, i - 2):i], lower[i] in b"0123456789"
        inside = re.search(rb"[a-z0-9_]\Z" if digit else rb"[a-z0-9_\x80-\xff]\Z", before) or re.search(rb"[0-9][-.:/]\Z", before)
        found = None if inside else moment(lower[i:i + 96])
        if found and not re.match(rb"[-.:/][0-9]", lower[i + found.end():]):
            out[i:i + found.end()] = b" " * found.end()
            i += found.end()
        else:
            i += 1
    return bytes(out)


def whole(number):
    """A number of JSON as an element."""
    number = decimal.Decimal(number)
    return "0" if number == 0 else format(number.normalize(EXACT), "f")


def weights_of(data):
    """A set in JSON: its elements, each with its weight, None in an array."""
    value = json.loads(decode(data), parse_int=decimal.Decimal, parse_float=decimal.Decimal)
    if isinstance(value, dict):
        return [(e, weight) for e, weight in sorted(value.items()) if weight]
    return [(whole(e) if isinstance(e, decimal.Decimal) else e, None) for e in value if e is not None]


def tokens_of(p, data):
    if p["stream"] == "elements":
        return [e for e, _ in weights_of(data)]
    if p["dates"]:
        data = without_dates(data)
    fold = FOLDS[p["stream"]] != p["other"]
    text = lambda: canonical(decode(data), fold)
    found = {
        "chars": lambda: spaced(text()), "words": lambda: words(text()), "soundex": lambda: words(text()),
        "lines": lambda: lines(text()), "code": lambda: code(text()), "html": lambda: page(data, fold),
        "page": lambda: page(data, fold, False),
    }[p["stream"]]()
    kept, seen = [], set()
    for whole in found:
        for token in split(whole) if whole else [None]:
            if token is None:
                kept.append(None)
                continue
            kinds = {kind(c) for c in token}
            letters = kinds & {"word", "alone"}
            if "digit" in kinds and (p["numbers"] and not letters or p["ids"] and letters):
                continue
            if p["stop"] and re.sub("[A-Z]", lambda m: m[0].lower(), token) in STOP:
                continue
            if p["vowels"]:
                token = re.sub("[aeiouAEIOU]", "", token)
            if p["stream"] == "soundex":
                token = soundex(token)
            if not token or p["duplicates"] and token in seen:
                continue
            seen.add(token)
            kept.append(token)
    return characters(kept) if p["stream"] == "chars" else kept


# 4. Fingerprints


def irreducible(p):
    """Rabin's test, for a polynomial of degree 64."""

    def mod(a, b):
        while a.bit_length() >= b.bit_length():
            a ^= b << (a.bit_length() - b.bit_length())
        return a

    x, half = 2, 0
    for i in range(64):
        x = reduce(times(x, x), p)
        if i == 31:
            half = x
    a, b = p, half ^ 2
    while b:
        a, b = b, mod(a, b)
    return x == 2 and a == 1


def times(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a, b = a << 1, b >> 1
    return product


def reduce(a, p):
    while a >> 64:
        a ^= p << (a.bit_length() - 65)
    return a


def draw(seed):
    for n in families.splitmix(seed):
        p = 1 << 64 | n | 1
        if irreducible(p):
            return p


SHINGLES, FEATURES, LABELS = draw(1997), draw(2000), draw(2011)


def token_fingerprint(token):
    b = token if isinstance(token, bytes) else token.encode()
    return reduce(int.from_bytes(b, "little") | 1 << 8 * len(b), SHINGLES)


def shingle_fingerprint(tokens):
    w = len(tokens)
    total = 0
    for j, token in enumerate(tokens):
        total ^= token_fingerprint(token) << 64 * (w - j)
    return reduce(total, SHINGLES)


def shingles_of(p, tokens):
    w = 1 if p["stream"] == "elements" else p["w"]
    if 0 < len(tokens) < w:
        return [shingle_fingerprint(tokens)]
    return [shingle_fingerprint(tokens[i : i + w]) for i in range(len(tokens) - w + 1)]


def occurrences(shingles):
    count = {}
    for x in shingles:
        count[x] = count.get(x, 0) + 1
        yield reduce(x << 128 ^ count[x] << 64, LABELS)


# 5. Families

SLOTS = {"classic": 0, "fast": 4, "lean": 5, "bins": 6, "weighted": 7, "lean-zeros": 8, "lean-biased": 9}
LISTS = {"bottom": 1, "mod": 2, "scaled": 3}
EMPTY = MASK


def slots_of(family, t, xs):
    xs = sorted(set(xs))
    if family == "classic":
        return [min(families.linear(i, x) for x in xs) for i in range(t)]
    if family in ("fast", "bins"):
        slots = [EMPTY] * t
        for r in range(3 if family == "fast" else 1):
            for x in xs:
                h = families.mix(x, r)
                i = (h >> 32) * t >> 32
                slots[i] = min(slots[i], r << 62 | h >> 2)
        if family == "fast":
            slots = [min([v] + [3 << 62 | families.linear(i, x) >> 2 for x in xs]) for i, v in enumerate(slots)]
        return slots
    slot = {"lean": families.lean, "lean-zeros": families.zeros_slot, "lean-biased": families.biased_slot}[family]
    return [min(slot(i, x) for x in xs) for i in range(t)]


def weighted_slots(t, weights):
    return [min(families.weighted(i, x, weight) for x, weight in weights.items()) for i in range(t)]


def repeated(p, xs, weights):
    """The shingles of elements with whole weights."""
    out = []
    for x, weight in zip(xs, weights):
        often = list(occurrences([x] * int(weight)))
        out += often if p["bag"] else [x] + often[1:]
    return out


def list_of(p, xs):
    values = sorted({families.mix(x) for x in xs})
    exponent = 0
    if p["modulus"]:
        values = [v for v in values if v % p["modulus"] == 0]
    if p["family"] == "bottom":
        values = values[: p["size"]]
    if p["family"] == "scaled":
        while len(values) > 100:
            exponent += 1
            values = [v for v in values if v % 2**exponent == 0]
    return values, exponent


# 6. Features


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def features_of(p, slots):
    out = []
    for g in range(p["k"]):
        group = slots[g * p["s"] : (g + 1) * p["s"]]
        if all(m == EMPTY for m in group):
            continue
        total = 0
        for n in [g + 1] + group:
            total = total << 64 ^ n
        out.append([g, str(signed(reduce(total << 64, FEATURES)))])
    return out


def cut(m, b):
    return (m * 0x9E3779B97F4A7C15 & MASK) >> (64 - b)


def forest(slots):
    total = 0
    for m in slots[:8]:
        total = total << 8 | cut(m, 8)
    return str(signed(total ^ 1 << 63))


# 7. Stored form

STREAMS = ["chars", "words", "lines", "soundex", "html", "code", "elements", "page"]


def header(p, exponent):
    flags = p["other"] | p["stop"] << 1 | p["vowels"] << 2 | p["duplicates"] << 3 | p["bag"] << 4 | p["numbers"] << 5 | p["ids"] << 6 | p["dates"] << 7
    family = {**SLOTS, **LISTS}[p["family"]]
    out = bytes([0xA1, 1, STREAMS.index(p["stream"]), flags, family, p["bits"]])
    out += p["w"].to_bytes(2, "big") + p["t"].to_bytes(2, "big") + bytes([p["k"], p["s"], p["r"], exponent])
    return out + p["size"].to_bytes(2, "big") + p["modulus"].to_bytes(4, "big") + tokens_fingerprint(p).to_bytes(2, "big")


CANARY_DATES = (pathlib.Path(__file__).parent / "../../internal/token/canary_dates.txt").read_bytes()
CANARY = (pathlib.Path(__file__).parent / "../../internal/token/canary.txt").read_bytes()


@functools.cache
def fingerprint_of(*settings):
    p = dict(zip(("stream", "other", "stop", "vowels", "duplicates", "numbers", "ids", "dates"), settings))
    return max(1, cut(shingle_fingerprint(tokens_of(p, CANARY + (CANARY_DATES if p["dates"] else b""))), 16))


def tokens_fingerprint(p):
    if p["stream"] == "elements":
        return 0
    return fingerprint_of(p["stream"], p["other"], p["stop"], p["vowels"], p["duplicates"], p["numbers"], p["ids"], p["dates"])


def payload(p, slots):
    out = b""
    if p["family"] == "bins":
        filled = "".join("0" if v == EMPTY else "1" for v in slots)
        filled += "0" * (-len(filled) % 8)
        out += int(filled, 2).to_bytes(len(filled) // 8, "big")
        empty = [v == EMPTY for v in slots]
    else:
        empty = [False] * len(slots)
    b = p["bits"]
    if b == 64:
        return out + b"".join((0 if e else v).to_bytes(8, "big") for v, e in zip(slots, empty))
    bits = "".join(format(0 if e else cut(v, b), "0%db" % b) for v, e in zip(slots, empty))
    bits += "0" * (-len(bits) % 8)
    return out + int(bits, 2).to_bytes(len(bits) // 8, "big")


# 9. Profiles


def profile(settings):
    """A canonical spelling; nothing but what that has."""
    p = dict(other=False, stop=False, vowels=False, duplicates=False, numbers=False, ids=False, dates=False, bag=False, bits=64, size=0, modulus=0)
    for word in settings.split():
        name, _, value = word.partition("=")
        if name in STREAMS:
            p["stream"] = name
        elif name in ("case", "fold"):
            p["other"] = True
        elif name in ("stop", "vowels", "duplicates", "numbers", "ids", "dates"):
            p[name] = True
        elif name in ("set", "bag"):
            p["bag"] = name == "bag"
        elif name == "bottom":
            p["family"], p["size"] = name, int(value)
        elif name == "mod":
            p["family"], p["modulus"] = p.get("family", "mod"), int(value)
        elif name in SLOTS or name in LISTS:
            p["family"] = name
        else:
            p[name] = int(value)
    return p


def vector(name, settings, data):
    p = profile(settings)
    tokens = tokens_of(p, data)
    xs = shingles_of(p, tokens)
    v = {"name": name, "profile": settings}
    try:
        v["text"] = data.decode("utf-8")
    except UnicodeDecodeError:
        v["base64"] = base64.b64encode(data).decode()
    if len(tokens) <= 60:
        v["tokens"] = tokens
    weights = [weight for _, weight in weights_of(data)] if p["stream"] == "elements" else [None]
    weighted = {x: float(weight) for x, weight in zip(xs, weights)} if None not in weights else {x: float(xs.count(x)) for x in xs}
    sampled = list(occurrences(xs)) if p["bag"] else xs
    if None not in weights and p["family"] != "weighted":
        sampled = repeated(p, xs, weights)
    v["shingles"] = len(sampled)
    v["content_hash"] = str(signed(int.from_bytes(hashlib.sha256(data).digest()[:8], "big")))
    if xs:
        if len(xs) <= 8:
            v["fingerprints"] = ["%016x" % x for x in xs]
        if p["family"] in LISTS:
            values, exponent = list_of(p, sampled)
            stored = header(p, exponent) + b"".join(x.to_bytes(8, "big") for x in values)
            slots = slots_of("classic", p["t"], values) if values else [EMPTY] * p["t"]
        else:
            slots = weighted_slots(p["t"], weighted) if p["family"] == "weighted" else slots_of(p["family"], p["t"], sampled)
            stored = header(p, 0) + payload(p, slots)
        v["sketch"] = stored.hex()
        v["features"] = features_of(p, slots)
        if p["t"] >= 8:
            v["forest/0"] = forest(slots)
    return v


ROSE = b"a rose is a rose is a rose"
PROSE = (
    "Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty, "
    "and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil war, testing "
    "whether that nation, or any nation so conceived and so dedicated, can long endure."
).encode()
LONG = " ".join("w%d" % (i * i % 1009) for i in range(700)).encode()
SCRIPTS = (
    "Stra\u00dfe \u0152UVRE \ufb01ne \u2163 \u00bd \u00b2 cafe\u0301 CAF\u00c9 \u0130stanbul \u0390 \u1fb3\u0301 \u0345a =\u0338x \u01c6 "
    "\u0421\u044a\u0435\u0448\u044c \u0436\u0435 \u0435\u0449\u0451 \u6211\u80fd\u541e\u4e0b\u73bb\u7483\u3002\u30ab\u30bf\u30ab\u30ca \u3072\u3089\u304c\u306a\u3001\u30fc "
    "\u0e09\u0e31\u0e19\u0e01\u0e34\u0e19\u0e01\u0e23\u0e30\u0e08\u0e01\u0e44\u0e14\u0e49 \u0e51\u0e52 \u092e\u0948\u0902 \u0915\u093e\u0901\u091a \u0958\u094d "
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab \u0627\u0644\u0632\u062c\u0627\u062c \ufdfa \U0001d518\U0001d52b \U00020000 \U0001f600 \u2764\ufe0f \u212b "
    "\ufeffco\u00adop \u0645\u06cc\u200c\u062e a\u200bb \u9089\U000e0100x e\u200d\u0301"
).encode()
BAD = b"caf\xc3 \xe2\x82x \xf0\x9f\x98 \xc0\x80 \xed\xa0\x80 ok\xff"
MARKS = ("a" + "\u0301" * 65 + " b" + "\u0323\u0301" * 20).encode()
SOURCE = (
    "int main(void) { a[i++] >>= 0x1F; x = 3.14e-5 + 1..2 - .5; s->t::u; /* don't */ \"str\\n\"; } // "
    "\u5909\u6570 \u540d_\u524d \u00e9_1 $x \u2260 \u2026 a>>>=b??c <=>d 1.2.3\n"
).encode()
PAGE = (
    "<!DOCTYPE html><title>A &amp; B</title><script>var x = '<p>no';</script><STYLE>no</style><!-- no --><p CLASS=x>Caf&eacute; "
    "<b>B</b>old &#x41;&#66; &notit; &copy2 &#0;&#150;x<br>one<span>two</span> <a href='/X?a=1&copy=2&amp;b=3&lt' HREF=second>the link</a>"
    "<img alt=no src=\" I.png \"><a href=\u00e4\u0301/%20\0>y</a><noscript><i>shown</i></noscript><iframe>no</iframe> a < b </> c<!x>d<?e>f"
    "<script><!-- <script> </script> no --> </script >yes <i>bu</i>s<template>no<p><a href=no>no</template>es<a>'</a>s<q>z</q><textarea><b>&lt;</textarea><td>1<td>2 e<b>\u0301</b><p"
).encode()
NAMES = "C++ & C# for the RTX-4090, 3.5 mm; \u20ac5 \u2014 100% \u2764\ufe0f\U0001f44d\U0001f3fd (x86_64) ~ 1\u00b0 \u00bd".encode()
WRAPPED = (
    "\u5185\u6838 \u6a21\u5757\n\u6587\u4ef6\u3002\u4e2d\u6587Linux \u5185\u6838\u3001 \u0e01\u0e34\u0e19\n\u0e01\u0e23\u0e30\u0e08\u0e01 "
    "\u3072\u3089 \u30ab\u30ca \ud55c\uad6d \uc5b4\u0301 \u6211 \u0301\u80fd"
).encode()
INVOICE = "Invoice 4711-A of 2026-11-22T06:39, 3 pieces at 19.90, id 550e8400-e29b-41d4, 0x1F, v2, \u0663\u0664, \u00bd kg, \u5e74 2 \u6708".encode()
DATED = ("Sun Nov 22 12:53:22 UTC 2026: <p>backup of 2026-11-21T23:00:00Z took 3 hours</p>, see mail of 3rd May 2025\n22.11.2026 10:15 "
         "meeting moved to 24 November at 9:30 am \u4e8e2026\u5e7411\u670822\u65e5\u5f00\u4f1a 10.11.12.13 v1.2.3").encode()
LOG = " one  two \r\n\r\nthree\tfour\u00a0five\u2028 Stra\u00dfe\u0085\nsix\r".encode()
TAGS = b' [ "harbour", "caf\\u00e9", "\\ud83d\\ude00", "", "harbour", null, 7, 7.0, "7", -0, 1e2, -12.50, 1E-3, 12345678901234567890, "caf\xc3", "a b"]\n'
TOPICS = b'{"harbour": 3, "boats": 1.0, "none": 0, "gone": null, "twice": 9, "twice": 2, "tide": 4e1}'
SCORES = b'{"harbour": 3.25, "boats": 0.001, "tide": 1e300, "none": 0, "1e2": 7}'
TAIL = "t=84 k=12 s=7 r=2"

VECTORS = [
    ("Broder's rose", "words w=4 set fast " + TAIL, ROSE),
    ("a bag of roses", "words w=4 bag fast " + TAIL, ROSE),
    ("fewer than w tokens", "words w=4 set fast " + TAIL, b"Rose!"),
    ("no token", "words w=4 set fast " + TAIL, b" ,;. "),
    ("prose", "words w=4 set fast " + TAIL, PROSE),
    ("long tokens", "words w=2 set fast " + TAIL, b"x" * 9000 + b" " + "\u00e9".encode() * 3000 + b" " + bytes(range(97, 123)) * 2),
    ("scripts", "words w=1 set fast " + TAIL, SCRIPTS),
    ("scripts in their case", "words case w=2 set fast " + TAIL, SCRIPTS),
    ("bad UTF-8", "words w=1 set fast " + TAIL, BAD),
    ("bad UTF-8 in lines", "lines w=1 set fast " + TAIL, BAD),
    ("marks without end", "words w=1 set fast " + TAIL, MARKS),
    ("characters", "chars w=9 set fast " + TAIL, PROSE),
    ("characters of every script", "chars w=3 set fast " + TAIL, SCRIPTS),
    ("characters of short texts", "chars w=3 set fast t=168 k=34 s=4 r=1 bits=4", NAMES),
    ("symbols among characters", "chars case w=1 set fast " + TAIL, NAMES),
    ("characters of wrapped lines", "chars w=3 set fast " + TAIL, WRAPPED),
    ("characters without numbers", "chars stop numbers ids w=2 set fast " + TAIL, NAMES),
    ("numbers dropped", "words numbers w=1 set fast " + TAIL, INVOICE),
    ("identifiers dropped", "words ids w=1 set fast " + TAIL, INVOICE),
    ("dates dropped", "words dates w=1 set fast " + TAIL, DATED),
    ("dates and numbers dropped from characters", "chars numbers dates w=3 set fast " + TAIL, DATED),
    ("dates dropped from a page", "page dates w=2 set fast " + TAIL, DATED),
    ("dates dropped from lines", "lines dates w=1 set fast " + TAIL, DATED),
    ("numbers and identifiers dropped", "code numbers ids w=2 set fast " + TAIL, INVOICE),
    ("page without URLs", "page w=2 set fast t=84 k=6 s=14 r=2", PAGE),
    ("lines", "lines w=1 set fast " + TAIL, LOG),
    ("lines folded", "lines fold w=2 set fast " + TAIL, LOG),
    ("Soundex codes", "soundex w=4 set fast " + TAIL, b"Ashcraft Tymczak Pfister \xc3\x89clair Lloyd 42 Honeyman"),
    ("page", "html w=6 set fast t=84 k=6 s=14 r=2", PAGE),
    ("page in its case", "html case w=1 set fast t=84 k=6 s=14 r=2", PAGE),
    ("source", "code w=8 set fast " + TAIL, SOURCE),
    ("source folded", "code fold w=1 set fast " + TAIL, SOURCE),
    ("filters", "words stop vowels duplicates w=2 set fast " + TAIL, PROSE),
    ("filters in case", "words case stop w=2 set fast " + TAIL, PROSE),
    ("filters of codes", "soundex stop vowels duplicates w=1 set fast " + TAIL, PROSE),
    ("filters of characters", "chars stop vowels duplicates w=5 set fast " + TAIL, PROSE),
    ("bottom", "words w=4 set bottom=20 " + TAIL, LONG),
    ("bottom of few", "words w=4 set bottom=100 " + TAIL, PROSE),
    ("bottom after mod", "words w=4 set bottom=10 mod=25 " + TAIL, LONG),
    ("mod", "words w=4 set mod=25 " + TAIL, LONG),
    ("mod of nothing", "words w=4 set mod=2147483647 " + TAIL, ROSE),
    ("scaled", "words w=4 set scaled " + TAIL, LONG),
    ("scaled of few", "words w=4 bag scaled " + TAIL, PROSE),
    ("more shingles than slots", "words w=4 set fast " + TAIL, LONG),
    ("classic", "words w=4 set classic " + TAIL, LONG),
    ("classic of few", "words w=4 set classic " + TAIL, ROSE),
    ("a classic bag", "words w=4 bag classic " + TAIL, ROSE),
    ("bins", "words w=4 set bins t=128 k=12 s=7 r=2", PROSE),
    ("bins, a group empty", "words w=1 set bins t=84 k=12 s=7 r=2", ROSE),
    ("bins of 2 bits", "words w=4 set bins t=129 k=12 s=7 r=2 bits=2", PROSE),
    ("8 bits", "words w=4 set fast t=84 k=12 s=7 r=2 bits=8", PROSE),
    ("4 bits", "words w=4 set fast t=85 k=12 s=7 r=2 bits=4", PROSE),
    ("1 bit", "words w=4 set classic t=100 k=12 s=7 r=2 bits=1", PROSE),
    ("lean", "words w=4 set lean " + TAIL, PROSE),
    ("lean-zeros", "words w=4 set lean-zeros " + TAIL, PROSE),
    ("lean-biased", "words w=4 set lean-biased " + TAIL, PROSE),
    ("weighted", "words w=1 set weighted t=30 k=6 s=5 r=4", PROSE),
    ("the smaller filter", "words w=4 set fast t=30 k=6 s=5 r=4", PROSE),
    ("a set", "elements w=1 set fast " + TAIL, TAGS),
    ("a set whatever w is", "elements w=3 set mod=1 " + TAIL, TAGS),
    ("elements that repeat", "elements w=1 bag fast " + TAIL, TAGS),
    ("elements that repeat, as weights", "elements w=1 set weighted " + TAIL, TAGS),
    ("a set without elements", "elements w=1 set fast " + TAIL, b"[null]"),
    ("whole weights", "elements w=1 set fast " + TAIL, TOPICS),
    ("whole weights in a bag", "elements w=1 bag bottom=20 " + TAIL, TOPICS),
    ("weights", "elements w=1 set weighted " + TAIL, SCORES),
]

if __name__ == "__main__":
    json.dump([vector(*v) for v in VECTORS], sys.stdout, indent=1, ensure_ascii=True)
    print()
