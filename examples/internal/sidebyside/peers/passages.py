"""Asks datasketch's MinHashLSHEnsemble which pages contain passages.

    python passages.py FILE THRESHOLD

The first line of the file is a JSON list of lists of passages, each further line a page, a JSON
string. The sets are those of the runs of five words. Prints a JSON object: the version, the
seconds and bytes of a page, and for each list of passages the numbers of the pages found, the
median time and that of the slowest but one in a hundred.
"""
import importlib.metadata
import json
import resource
import sys
import time

from datasketch import MinHash, MinHashLSHEnsemble


def runs(text):
    words = text.split()
    return {" ".join(words[i : i + 5]).encode() for i in range(len(words) - 4)}


def sketched(text):
    some = runs(text)
    m = MinHash(num_perm=128)
    m.update_batch(some)
    return m, len(some)


def main():
    def memory():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    with open(sys.argv[1], encoding="utf8") as f:
        questions = json.loads(f.readline())
        before, began = memory(), time.perf_counter()
        ensemble = MinHashLSHEnsemble(threshold=float(sys.argv[2]), num_perm=128, num_part=32, weights=(0.1, 0.9))
        entries = [(n, *sketched(json.loads(line))) for n, line in enumerate(f)]
        ensemble.index(entries)
    rows = len(entries)
    del entries
    said = {"Version": importlib.metadata.version("datasketch"), "Fill": (time.perf_counter() - began) / rows, "Bytes": (memory() - before) / rows,
            "Found": [], "Median": [], "Slow": []}
    for texts in questions:
        found, times = [], []
        for text in texts:
            began = time.perf_counter()
            found.append(sorted(ensemble.query(*sketched(text))))
            times.append(time.perf_counter() - began)
        times.sort()
        said["Found"].append(found)
        said["Median"].append(times[len(times) // 2])
        said["Slow"].append(times[len(times) * 99 // 100])
    json.dump(said, sys.stdout)


main()
