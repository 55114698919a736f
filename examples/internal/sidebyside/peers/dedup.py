"""Deduplicates one file with `alike dedup` and as people do without it: datasketch, text-dedup, sort -u.

    python dedup.py ROWS COMMAND

ROWS records are lines of about 500 bytes. Of every ten, one is a copy of another, one a copy with one of its 83 words changed,
one with three changed. Prints a row of a Markdown table for each way: what a person types, processor seconds, largest memory,
which part of the pairs of each kind was found, and how many records went with everything that resembles them.
COMMAND is the command alike.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile

# What the page of datasketch shows, for a file of lines. Its shingles are three words.
DATASKETCH = """
import sys
from datasketch import MinHash, MinHashLSH
lsh = MinHashLSH(threshold=0.8, num_perm=128)
with open(sys.argv[1]) as lines, open(sys.argv[2], "w") as kept:
    for i, line in enumerate(lines):
        words = line.split()
        m = MinHash(num_perm=128)
        m.update_batch([" ".join(words[j:j + 3]).encode() for j in range(len(words) - 2)])
        if not lsh.query(m):
            lsh.insert(i, m)
            kept.write(line)
"""


def collection(rows):
    """Returns the records in random order, and of each kind the groups of records of which one should stay."""
    chance = random.Random(500)
    words = [f"w{chance.getrandbits(20):x}" for _ in range(20_000)]
    records, groups = [], {"copy": [], "one word": [], "three words": [], "alone": []}
    while len(records) < rows:
        own = [chance.choices(words, k=83) for _ in range(7)]
        for kind, changes in (("copy", 0), ("one word", 1), ("three words", 3)):
            text = own.pop()
            edited = list(text)
            for i in chance.sample(range(83), changes):
                edited[i] = chance.choice(words)
            groups[kind].append((" ".join(text), " ".join(edited)))
        groups["alone"] += [(" ".join(text),) for text in own]
        records += [text for kind in ("copy", "one word", "three words") for text in groups[kind][-1]] + [" ".join(text) for text in own]
    chance.shuffle(records)
    return records, groups


def measured(folder, command, script=None):
    """Runs a command in the folder; returns processor seconds and the largest resident size in MB."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with open("/dev/null", "w") as quiet:
            result = subprocess.run(command, cwd=folder, shell=isinstance(command, str), stdout=quiet, stderr=subprocess.PIPE)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(write, json.dumps([result.returncode, result.stderr.decode()[-500:], used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        code, said, seconds, memory = json.load(f)
    os.waitpid(child, 0)
    if code != 0:
        sys.exit(f"{command}: {said}")
    return seconds, memory


def main():
    rows, alike = int(sys.argv[1]), os.path.abspath(sys.argv[2])
    records, groups = collection(rows)
    print("| way | steps | processor seconds | MB | copies found | one word changed | three changed | records lost |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        inside = lambda name: os.path.join(folder, name)
        with open(inside("notes.txt"), "w") as f:
            f.writelines(text + "\n" for text in records)
        with open(inside("notes.jsonl"), "w") as f:
            f.writelines(json.dumps({"text": text}) + "\n" for text in records)
        with open(inside("dedup.py"), "w") as f:
            f.write(DATASKETCH)

        def text_dedup_output():
            import datasets
            datasets.disable_progress_bars()
            return [row["text"] for row in datasets.load_from_disk(inside("out"))]

        lines = lambda: [line.rstrip("\n") for line in open(inside("kept.txt"))]
        os.environ["HF_HUB_OFFLINE"] = "1"
        for name, steps, command, kept in (
            ("`alike dedup`", "one command", [alike, "dedup", "-q", "notes.txt", "-o", "kept.txt"], lines),
            ("datasketch", "a script of 11 lines", [sys.executable, "dedup.py", "notes.txt", "kept.txt"], lines),
            ("text-dedup", "lines to JSON, one command, a script that reads its output", [sys.executable, "-m", "text_dedup.minhash", "--path", "json",
                "--data_files", "notes.jsonl", "--split", "train", "--cache_dir", "cache", "--output", "out", "--column", "text", "--threshold", "0.8", "--batch_size", "10000"], text_dedup_output),
            ("`sort -u`", "one command; the order is lost", "LC_ALL=C sort -u notes.txt >kept.txt", lines),
        ):
            seconds, memory = measured(folder, command)
            stays = {}
            for text in kept():
                stays[text] = stays.get(text, 0) + 1
            found, lost = [], 0
            for kind in groups:
                left = [sum(stays.get(text, 0) for text in set(group)) for group in groups[kind]]
                lost += left.count(0)
                if kind != "alone":
                    found.append(f"{100 * sum(n < 2 for n in left) / len(left):.1f} %")
            print(f"| {name} | {steps} | {seconds:.1f} | {memory:.0f} | {' | '.join(found)} | {lost} |", flush=True)


main()
