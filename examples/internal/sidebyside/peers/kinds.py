"""Runs datasketch, rensa and gaoya on the texts of a file, a JSON string a line.

Each fills an index at the threshold 0.5 with the runs of five characters of the folded text
and finds all pairs; datasketch and rensa check each candidate by their estimate. The last line of
the output is a JSON object: per peer its version, the seconds to fill and for a question,
and the pairs.
"""
import importlib.metadata
import json
import random
import sys
import time

THRESHOLD = 0.5


def shingles(text):
    return {text[i : i + 5] for i in range(max(1, len(text) - 4))}


def measure(name, texts, fill, ask):
    began = time.process_time()
    index = fill(texts)
    filled = time.process_time() - began
    began = time.process_time()
    pairs = {}
    for i in range(len(texts)):
        for j, estimate in ask(index, i):
            if i != j:
                pairs[min(i, j), max(i, j)] = estimate
    asked = (time.process_time() - began) / len(texts)
    sample = [(p, e) for p, e in pairs.items() if e is not None]
    random.Random(1).shuffle(sample)
    within = None
    if sample:
        good = 0
        for (i, j), estimate in sample[:1000]:
            a, b = shingles(texts[i]), shingles(texts[j])
            good += abs(len(a & b) / len(a | b) - estimate) <= 0.1
        within = good / min(1000, len(sample))
    return {"Version": importlib.metadata.version(name), "Fill": filled, "Question": asked, "Within": within, "Pairs": sorted(pairs)}


def main():
    with open(sys.argv[1], encoding="utf8") as f:
        texts = [json.loads(line).lower() for line in f]
    import datasketch
    import gaoya
    import rensa

    def with_datasketch(texts):
        lsh, hashes = datasketch.MinHashLSH(threshold=THRESHOLD, num_perm=128), []
        for i, text in enumerate(texts):
            m = datasketch.MinHash(num_perm=128)
            m.update_batch([s.encode("utf8", "replace") for s in shingles(text)])
            hashes.append(m)
            lsh.insert(i, m)
        return lsh, hashes

    def with_rensa(texts):
        lsh, hashes = rensa.RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=32), []
        for i, text in enumerate(texts):
            m = rensa.RMinHash(num_perm=128, seed=42)
            m.update(list(shingles(text)))
            hashes.append(m)
            lsh.insert(i, m)
        return lsh, hashes

    def ask_hashes(index, i):
        lsh, hashes = index
        for j in lsh.query(hashes[i]):
            estimate = hashes[i].jaccard(hashes[j])
            if estimate >= THRESHOLD:
                yield j, estimate

    def with_gaoya(texts):
        index = gaoya.minhash.MinHashStringIndex(
            hash_size=32, jaccard_threshold=THRESHOLD, num_bands=42, band_size=3, analyzer="char", lowercase=True, ngram_range=(5, 5)
        )
        for i, text in enumerate(texts):
            index.insert_document(i, text)
        return index, texts

    def ask_gaoya(index, i):
        return [(j, None) for j in index[0].query(index[1][i])]

    print(
        json.dumps(
            {
                "datasketch": measure("datasketch", texts, with_datasketch, ask_hashes),
                "rensa": measure("rensa", texts, with_rensa, ask_hashes),
                "gaoya": measure("gaoya", texts, with_gaoya, ask_gaoya),
            }
        )
    )


if __name__ == "__main__":
    main()
