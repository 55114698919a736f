"""The peers that are Python packages or Debian commands, as contenders.

    python peers.py NAME DOCUMENTS N QUESTIONS ANSWERS

A peer is a function under @peer("name"): it takes a Task and returns the
outcome that contender.go describes; Elsewhere says that the work, and its
memory, are another process's. Each does what its own documentation
says; where that leaves the tokens to the user it gets those of our default,
runs of four folded words, so that all sketch the same sets.
"""

import gc
import importlib.metadata
import json
import os
import re
import resource
import subprocess
import sys
import time

CHECKINS = 1000
PEERS = {}


def peer(name):
    def register(f):
        PEERS[name] = f
        return f

    return register


class Task:
    def __init__(self, path, n, questions, answers):
        self.path, self.n = path, n
        self.answers = open(answers, "w")
        if path.endswith(".csv"):
            return
        with open(path, encoding="utf-8") as f:
            lines = [json.loads(line) for _, line in zip(range(n + CHECKINS), f)]
        self.documents, self.more = lines[:n], lines[n:]
        with open(questions) as f:
            self.questions = [int(line) for line in f]
        self.folder = os.environ.get("TMPDIR", "/tmp")

    def answer(self, a, b):
        self.answers.write(f"{a}\t{b}\n")

    def buckets(self, tables):
        """Answers with every pair of documents that are in a bucket together."""
        seen = set()
        for table in tables:
            for ids in table.values():
                for i, a in enumerate(ids):
                    for b in ids[i + 1:]:
                        seen.add((a, b) if a < b else (b, a))
        return seen


WORD = re.compile(r"\w+")


def shingles(text, w=4):
    words = WORD.findall(text.lower())
    if len(words) < w:
        return [" ".join(words)]
    return [" ".join(words[i:i + w]) for i in range(len(words) - w + 1)]


def version(*packages):
    return ", ".join(f"{p} {importlib.metadata.version(p)}" for p in packages)


class Clock:
    """Processor and elapsed seconds since the last look."""

    def __init__(self):
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def lap(self):
        cpu, wall = time.process_time(), time.perf_counter()
        laps = cpu - self.cpu, wall - self.wall
        self.cpu, self.wall = cpu, wall
        return laps


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def turns(sketch, before=lambda: None, processor=time.process_time):
    """Repeats the sketching of all documents until that has taken two seconds of
    processor time, 1 to 20 times: the last result, and the processor and elapsed
    seconds of the best turn, as for Alike's contenders. What is garbage when a
    turn begins is collected before."""
    laps, result = [], None
    while len(laps) < 20 and sum(cpu for cpu, _ in laps) < 2:
        result = None
        before()
        gc.collect()
        cpu, wall = processor(), time.perf_counter()
        result = sketch()
        laps.append((processor() - cpu, time.perf_counter() - wall))
    return result, *min(laps)


READY = 10_000


def ready(task, sketch, form=shingles):
    """The processor seconds of all documents from sets that are made before, carried on
    from those of the first: strings take ten times the memory of their texts."""
    some = task.documents[:READY]
    sets = [form(d) for d in some]
    return turns(lambda: sketch(sets))[1] * len(task.documents) / len(some)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def timed(questions, ask, limit=10):
    """Asks the questions for a number of seconds; returns the time of each."""
    times, end = [], time.perf_counter() + limit
    for q in questions:
        start = time.perf_counter()
        ask(q)
        times.append(time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return {"query_p50": quantile(times, 0.5), "query_p99": quantile(times, 0.99)} if times else {}


def checkin(more, put, limit=5):
    done, start = 0, time.perf_counter()
    for i, text in enumerate(more):
        put(i, text)
        done += 1
        if time.perf_counter() - start > limit:
            break
    return {"checkins": done / (time.perf_counter() - start)} if done else {}


@peer("datasketch")
def datasketch(task):
    return run_datasketch(task, 0.7, 0.8)


@peer("datasketch, not verified")
def datasketch_unverified(task):
    return run_datasketch(task, 0.8, 0)


def run_datasketch(task, threshold, verify):
    import xxhash
    from datasketch import MinHash, MinHashLSH

    options = {"num_perm": 128, "hashfunc": xxhash.xxh32_intdigest}
    def encoded(d):
        return [s.encode() for s in shingles(d)]

    sketches, cpu, wall = turns(lambda: MinHash.bulk((encoded(d) for d in task.documents), **options))
    measures = {"sketch_cpu": cpu, "ready_cpu": ready(task, lambda sets: MinHash.bulk(sets, **options), encoded), "slots": 128}
    clock = Clock()
    index = MinHashLSH(threshold=threshold, num_perm=128)
    with index.insertion_session() as session:
        for i, m in enumerate(sketches):
            session.insert(i, m)
    measures["build"] = wall + clock.lap()[1]
    for a, m in enumerate(sketches):
        for b in index.query(m):
            if a < b and (not verify or m.jaccard(sketches[b]) >= verify):
                task.answer(a, b)
    measures["pairs"] = clock.lap()[1]
    measures |= timed(task.questions, lambda q: [b for b in index.query(sketches[q]) if sketches[q].jaccard(sketches[b]) >= verify])

    def put(i, text):
        m = MinHash(**options)
        m.update_batch([s.encode() for s in shingles(text)])
        index.query(m)
        index.insert(task.n + i, m)

    measures |= checkin(task.more, put)
    settings = f"MinHashLSH(threshold={threshold}, num_perm=128), xxh32; " + (f"then jaccard() at least {verify}" if verify else "its answers as they are")
    return {"Version": version("datasketch"), "Settings": settings, "Measures": measures, "Answers": True}


@peer("rensa")
def rensa(task):
    from rensa import RMinHash, RMinHashLSH

    sketches, cpu, wall = turns(lambda: RMinHash.from_token_sets([shingles(d) for d in task.documents], num_perm=128, seed=42))
    measures = {"sketch_cpu": cpu, "ready_cpu": ready(task, lambda sets: RMinHash.from_token_sets(sets, num_perm=128, seed=42)), "slots": 128}
    clock = Clock()
    index = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=32)
    index.insert_many(sketches)
    measures["build"] = wall + clock.lap()[1]
    for a, near in enumerate(index.query_all(sketches)):
        for b in near:
            if a < b and sketches[a].jaccard(sketches[b]) >= 0.8:
                task.answer(a, b)
    measures["pairs"] = clock.lap()[1]
    measures |= timed(task.questions, lambda q: [b for b in index.query(sketches[q]) if sketches[q].jaccard(sketches[b]) >= 0.8])

    def put(i, text):
        m = RMinHash(num_perm=128, seed=42)
        m.update(shingles(text))
        index.query(m)
        index.insert(task.n + i, m)

    measures |= checkin(task.more, put)
    return {"Version": version("rensa"), "Settings": "R-MinHash, 128 slots, 32 bands of 4; then jaccard() at least 0.8", "Measures": measures, "Answers": True}


@peer("rensa rho, words")
def rensa_rho(task):
    from rensa import RMinHash

    cpu = turns(lambda: RMinHash.digest_matrix_from_token_sets_rho([d.split() for d in task.documents], 128, 42))[1]
    measures = {"sketch_cpu": cpu, "ready_cpu": ready(task, lambda sets: RMinHash.digest_matrix_from_token_sets_rho(sets, 128, 42), str.split), "slots": 128}
    return {"Version": version("rensa"), "Settings": "the rho pipeline on text.split(): single words, of which it samples some", "Measures": measures, "Answers": False}


@peer("gaoya")
def gaoya(task):
    from gaoya.minhash import MinHashStringIndex

    def new():
        return MinHashStringIndex(hash_size=32, jaccard_threshold=0.8, num_bands=32, band_size=4, analyzer="word", lowercase=True, ngram_range=(4, 4), id_container="vec")

    def fill():
        index = new()
        for i, d in enumerate(task.documents):
            index.insert_document(i, d)
        return index

    index, cpu, wall = turns(fill)
    clock = Clock()
    measures = {"sketch_cpu": cpu, "slots": 128, "build": wall}
    for a, d in enumerate(task.documents):
        for b in index.query(d):
            if a < b:
                task.answer(a, b)
    measures["pairs"] = clock.lap()[1]
    measures |= timed(task.questions, lambda q: index.query(task.documents[q]))
    measures |= checkin(task.more, lambda i, text: (index.query(text), index.insert_document(task.n + i, text)))
    return {"Version": version("gaoya"), "Settings": "MinHashStringIndex, words, ngram_range (4, 4), 32 bands of 4, jaccard_threshold 0.8; sketching includes its index", "Measures": measures, "Answers": True}


@peer("text-dedup")
def text_dedup(task):
    import numpy as np
    from text_dedup import minhash
    from text_dedup.utils import optimal_param, xxh3_32hash

    bands, rows = optimal_param(0.7, 256)
    prime = np.uint32((1 << 32) - 5)
    random = np.random.RandomState(42)
    fixed = {
        "num_perm": 256, "ngram_size": 4, "min_length": 4, "hashranges": [(i * rows, (i + 1) * rows) for i in range(bands)],
        "permutations": (random.randint(1, prime, size=(256,), dtype=np.uint32), random.randint(0, prime, size=(256,), dtype=np.uint32)),
        "hash_func": xxh3_32hash, "dtype": np.uint32, "max_hash": np.uint32((1 << 32) - 1), "modulo_prime": prime,
    }
    signatures, cpu, wall = turns(lambda: [minhash.embed_func(d, i, **fixed)[minhash.SIGNATURE_COLUMN] for i, d in enumerate(task.documents)])
    clock = Clock()
    tables = [{} for _ in range(bands)]
    for i, signature in enumerate(signatures):
        for table, h in zip(tables, signature):
            table.setdefault(h, []).append(i)
    built = clock.lap()[1]
    for a, b in task.buckets(tables):
        task.answer(a, b)
    measures = {"sketch_cpu": cpu, "slots": 256, "build": wall + built, "pairs": clock.lap()[1]}
    return {"Version": version("text-dedup"), "Settings": f"its kernel embed_func, 32 bits, xxh3, 4-grams, threshold 0.7: {bands} bands of {rows}; it does not verify", "Measures": measures, "Answers": True}


@peer("Lance MINHASHLSH")
def lance_index(task):
    os.environ["RUST_LOG"], os.environ["LANCE_CPU_THREADS"] = "error", "1"
    import lance
    import pyarrow
    from lance.indices import IndexConfig
    from lance.query import MinHashQuery

    path = os.path.join(task.folder, "docs.lance")
    data = lance.write_dataset(pyarrow.table({"id": range(task.n), "body": task.documents}), path)
    config = IndexConfig("minhashlsh", {"num_hashes": 128, "num_bands": 16, "shingle_size": 4})
    _, cpu, wall = turns(lambda: data.create_scalar_index("body", config, replace=True))
    files = [os.path.join(folder, f) for folder, _, names in os.walk(os.path.join(path, "_indices")) for f in names]
    newest = os.path.dirname(max(files, key=os.path.getmtime))
    measures = {"sketch_cpu": cpu, "slots": 128, "build": wall, "index_bytes": sum(os.path.getsize(f) for f in files if os.path.dirname(f) == newest)}

    def ask(text):
        found = data.to_table(columns=["id", "_distance"], nearest=MinHashQuery(text, "body"), limit=100)
        return [i for i, d in zip(found["id"].to_pylist(), found["_distance"].to_pylist()) if d <= 0.2]

    clock = Clock()
    for a, d in enumerate(task.documents):
        for b in ask(d):
            if a < b:
                task.answer(a, b)
    measures["pairs"] = clock.lap()[1]
    measures |= timed(task.questions, lambda q: ask(task.documents[q]))

    def put(i, text):  # the index does not have the row yet, so the question reads it, too
        nonlocal data
        ask(text)
        data = lance.write_dataset(pyarrow.table({"id": [task.n + i], "body": [text]}), path, mode="append")

    measures |= checkin(task.more, put)
    return {"Version": version("pylance"), "Settings": "index of 128 hashes in 16 bands, as by default, shingles of 4 words; _distance at most 0.2, the first 100; all pairs ask about each row", "Measures": measures, "Answers": True}


@peer("daft minhash")
def daft_minhash(task):
    os.environ["DAFT_ANALYTICS_ENABLED"], os.environ["DAFT_PROGRESS_BAR"] = "0", "0"
    import daft
    import numpy
    from daft.functions import minhash, normalize

    daft.set_runner_native(num_threads=1)
    bands, rows = 16, 8
    texts = daft.from_pydict({"text": task.documents})

    def sketch(column):
        words = normalize(column, remove_punct=True, lowercase=True, white_space=True)
        return texts.select(minhash(words, num_hashes=bands * rows, ngram_size=4, hash_function="xxhash").alias("m")).to_arrow()

    found, cpu, wall = turns(lambda: sketch(daft.col("text")))
    clock = Clock()
    minima = numpy.stack(found["m"].to_numpy())
    tables = [{} for _ in range(bands)]
    for i, signature in enumerate(minima):
        for b, table in enumerate(tables):
            table.setdefault(signature[b * rows:(b + 1) * rows].tobytes(), []).append(i)
    built = clock.lap()[1]
    for a, b in task.buckets(tables):
        task.answer(a, b)
    measures = {"sketch_cpu": cpu, "slots": bands * rows, "build": wall + built, "pairs": clock.lap()[1]}
    return {"Version": version("daft"), "Settings": "normalize, then minhash of 128 xxhash values, ngrams of 4; 16 bands of 8 in Python; it does not verify", "Measures": measures, "Answers": True}


@peer("datatrove")
def datatrove(task):
    import struct

    from loguru import logger
    logger.remove()
    from datatrove.data import Document
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupSignature

    config = MinhashConfig(n_grams=4)
    folder = os.path.join(task.folder, "signatures")
    documents = [Document(text=d, id=str(i)) for i, d in enumerate(task.documents)]
    _, cpu, wall = turns(lambda: MinhashDedupSignature(folder, config=config).run(iter(documents), 0, 1))
    clock = Clock()
    found = os.path.join(task.folder, "duplicates")
    for bucket in range(config.num_buckets):
        MinhashDedupBuckets(folder, found, config=config).run(None, bucket, config.num_buckets)
    pairs = clock.lap()[1]
    for name in os.listdir(found):
        with open(os.path.join(found, name), "rb") as f:
            run = []  # those of one bucket follow each other, each with the next
            for _, a, _, b in struct.iter_unpack("<4I", f.read()):
                run = run + [b] if run and run[-1] == a else [a, b]
                for before in run[:-1]:
                    task.answer(min(before, b), max(before, b))
    return {"Version": version("datatrove"), "Settings": "the steps signatures and buckets, n_grams=4, 14 buckets of 8 as by default, in one task; it does not verify",
            "Measures": {"sketch_cpu": cpu, "slots": 112, "build": wall, "pairs": pairs}, "Answers": True}


@peer("ClickHouse wordShingleMinHash")
def clickhouse(task):
    from chdb import session

    s = session.Session()
    path = os.path.join(task.folder, "docs.jsonl")
    with open(path, "w") as f:
        for i, d in enumerate(task.documents):
            f.write(json.dumps({"id": i, "body": d}) + "\n")
    s.query("create database d; ")
    s.query("create table d.docs (id UInt32, body String) engine = Memory")
    s.query(f"insert into d.docs select * from file('{path}', JSONEachRow)")
    s.query("select count() from d.docs")
    _, cpu, wall = turns(lambda: s.query("create table d.hashes engine = Memory as select id, wordShingleMinHashCaseInsensitiveUTF8(body, 4) as h from d.docs settings max_threads = 1"), before=lambda: s.query("drop table if exists d.hashes"))
    clock = Clock()
    # The rule of its documentation: one of the two hashes is the same.
    out = s.query(
        "select a, b from (select l.id as a, r.id as b from d.hashes l join d.hashes r on l.h.1 = r.h.1 where l.id < r.id"
        " union distinct select l.id, r.id from d.hashes l join d.hashes r on l.h.2 = r.h.2 where l.id < r.id)", "CSV")
    pairs = clock.lap()[1]
    for line in str(out).split():
        a, b = line.split(",")
        task.answer(a, b)
    return {"Version": version("chdb"), "Settings": "wordShingleMinHashCaseInsensitiveUTF8(body, 4), 6 minima each way; one of the two hashes the same, as its documentation says", "Measures": {"sketch_cpu": cpu, "build": wall, "pairs": pairs}, "Answers": True}


@peer("ClickHouse wordShingleSimHash")
def clickhouse_simhash(task):
    from chdb import session

    s = session.Session()
    path = os.path.join(task.folder, "docs.jsonl")
    with open(path, "w") as f:
        for i, d in enumerate(task.documents):
            f.write(json.dumps({"id": i, "body": d}) + "\n")
    s.query("create database d")
    s.query("create table d.docs (id UInt32, body String) engine = Memory")
    s.query(f"insert into d.docs select * from file('{path}', JSONEachRow)")
    _, cpu, wall = turns(lambda: s.query("create table d.hashes engine = Memory as select id, wordShingleSimHashCaseInsensitiveUTF8(body, 4) as h from d.docs settings max_threads = 1"), before=lambda: s.query("drop table if exists d.hashes"))
    clock = Clock()
    out = s.query("select l.id, r.id from d.hashes l cross join d.hashes r where l.id < r.id and bitHammingDistance(l.h, r.h) <= 3", "CSV")
    pairs = clock.lap()[1]
    for line in str(out).split():
        a, b = line.split(",")
        task.answer(a, b)
    return {"Version": version("chdb"), "Settings": "wordShingleSimHashCaseInsensitiveUTF8(body, 4), every pair compared, at most 3 of 64 bits apart (Manku, Jain and Das Sarma 2007)", "Measures": {"sketch_cpu": cpu, "build": wall, "pairs": pairs}, "Answers": True}


@peer("DuckDB on our columns")
def duckdb_join(task):
    return run_duckdb(task, "the pair view with two features in common, not verified", lambda arms, _: f"select a, b from ({arms}) group by a, b having count(*) >= 2")


@peer("DuckDB on our columns, verified")
def duckdb_verified(task):
    def query(arms, slots):
        matches = " + ".join(f"(x.{s} = y.{s})::integer" for s in slots)
        return (f"select a, b from (select distinct a, b from ({arms})) join docs_alike x on x.id = a join docs_alike y on y.id = b"
                f" where (({matches}) / {len(slots)} - 1 / 256) / (1 - 1 / 256) >= 0.8")

    return run_duckdb(task, "the pair view, then the estimate from the sketches, a column of a byte for each slot, at least 0.8: what alike_pairs does", query)


def run_duckdb(task, how, query):
    import duckdb

    # The columns come from the contender of the same name in Go, beside the documents.
    c = duckdb.connect(config={"threads": 1})
    clock = Clock()
    header = open(task.path).readline().strip().split(",")
    features, slots = ([n for n in header if n[0] == letter] for letter in "fs")
    types = ", ".join(["'id': 'integer'"] + [f"'{f}': 'bigint'" for f in features] + [f"'{s}': 'utinyint'" for s in slots])
    c.execute(f"create table docs_alike as select * from read_csv('{task.path}', header=true, columns={{{types}}})")
    built = clock.lap()[1]
    arms = " union all ".join(f"select a.id as a, b.id as b from docs_alike a join docs_alike b on a.{f} = b.{f} where a.id < b.id" for f in features)
    pairs = c.execute(query(arms, slots)).fetchall()
    joined = clock.lap()[1]
    for a, b in pairs:
        task.answer(a, b)
    return {"Version": version("duckdb"), "Settings": f"f1 to f{len(features)} and the sketches of the profile with 84 slots, read from CSV; {how}; one thread",
            "Measures": {"build": built, "pairs": joined}, "Answers": True}


@peer("Spark MinHashLSH")
def spark(task):
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col, size

    s = (SparkSession.builder.master("local[2]").appName("sidebyside").config("spark.driver.memory", "4g").config("spark.ui.enabled", "false")
         .config("spark.sql.shuffle.partitions", "8").config("spark.local.dir", task.folder).getOrCreate())
    s.sparkContext.setLogLevel("ERROR")
    docs = s.createDataFrame(list(enumerate(task.documents)), "id int, body string").cache()
    docs.count()
    clock = Clock()
    stages = Pipeline(stages=[
        RegexTokenizer(inputCol="body", outputCol="words", pattern="\\W+"),
        NGram(n=4, inputCol="words", outputCol="grams"),
        HashingTF(inputCol="grams", outputCol="features", numFeatures=1 << 20, binary=True),
    ])
    grams = stages.fit(docs).transform(docs).filter(size(col("grams")) > 0).select("id", "features")
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=5, seed=1).fit(grams)
    hashed = model.transform(grams).cache()
    hashed.count()
    built = clock.lap()[1]
    pairs = model.approxSimilarityJoin(hashed, hashed, 0.2, distCol="distance").filter("datasetA.id < datasetB.id").selectExpr("datasetA.id as a", "datasetB.id as b").collect()
    joined = clock.lap()[1]
    for p in pairs:
        task.answer(p.a, p.b)
    s.stop()
    return {"Elsewhere": True, "Version": version("pyspark"), "Settings": "local[2]; NGram(4), HashingTF 2^20, MinHashLSH with 5 tables, approxSimilarityJoin at distance 0.2, which verifies", "Measures": {"build": built, "pairs": joined}, "Answers": True}


def files(task):
    folder = os.path.join(task.folder, "files")
    os.mkdir(folder)
    for i, d in enumerate(task.documents):
        with open(os.path.join(folder, str(i)), "w") as f:
            f.write(d)
    return folder


def command(*args, **options):
    """Runs a command for its output."""
    out = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options).stdout
    return out.decode("utf-8", "replace")


def package(name):
    return name + " " + subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True).stdout


@peer("ssdeep")
def ssdeep(task):
    folder = files(task)
    out, cpu, wall = turns(lambda: command("ssdeep", "-l", "-r", ".", cwd=folder), processor=children)
    signatures = os.path.join(task.folder, "signatures")
    with open(signatures, "w") as f:
        f.write(out)
    clock = Clock()
    matches = command("ssdeep", "-x", "-c", signatures)
    compared = clock.lap()[1]
    for line in matches.splitlines():
        fields = [f.strip('"') for f in line.split(",")]
        if len(fields) == 3:
            task.answer(os.path.basename(fields[0]), os.path.basename(fields[1]))
    return {"Elsewhere": True, "Version": package("ssdeep"), "Settings": "ssdeep -r, then -x: every pair compared, any score above 0; reading the files included", "Measures": {"sketch_cpu": cpu, "build": wall, "pairs": compared}, "Answers": True}


@peer("tlsh")
def tlsh(task):
    folder = files(task)
    out, cpu, wall = turns(lambda: command("tlsh_unittest", "-r", folder), processor=children)
    if out.count("\n") < task.n / 2:  # it only warns, and does nothing
        sys.exit(f"tlsh_unittest does not take {task.n} files")
    listing = os.path.join(task.folder, "digests")
    with open(listing, "w") as f:
        f.write(out)
    clock = Clock()
    matches = command("tlsh_unittest", "-xref", "-l", listing, "-T", "30")
    compared = clock.lap()[1]
    for line in matches.splitlines():
        fields = line.split("\t")
        if len(fields) >= 3:
            task.answer(os.path.basename(fields[0]), os.path.basename(fields[1]))
    return {"Elsewhere": True, "Version": package("tlsh-tools"), "Settings": "tlsh_unittest -r, then -xref -T 30: every pair compared; reading the files included", "Measures": {"sketch_cpu": cpu, "build": wall, "pairs": compared}, "Answers": True}


@peer("simhash")
def simhash(task):
    folder = files(task)
    names = [str(i) for i in range(task.n)]

    def write():
        for i in range(0, task.n, 5000):
            command("simhash", "-w", *names[i:i + 5000], cwd=folder)

    _, cpu, wall = turns(write, processor=children)
    measures = {"sketch_cpu": cpu, "build": wall}
    if task.n > 5000:
        return {"Elsewhere": True, "Version": package("simhash"), "Settings": "simhash -w; the matrix of its -m does not hold as many", "Measures": measures, "Answers": False}
    clock = Clock()
    out = command("simhash", "-m", *names, cwd=folder)
    measures["pairs"] = clock.lap()[1]
    # A line a file: its name, its number, then the similarity to each of those before it.
    for line in out.splitlines()[1:]:
        name, _, *values = line.split()
        for j, value in enumerate(values):
            if float(value) >= 0.8:
                task.answer(name, j)
    return {"Elsewhere": True, "Version": package("simhash"), "Settings": "simhash -w: shingles of 8 bytes, 128 minima; -m, similarity at least 0.8; reading the files included", "Measures": measures, "Answers": True}


def main():
    name, path, n, questions, answers = sys.argv[1:]
    task = Task(path, int(n), questions, answers)
    outcome = PEERS[name](task)
    task.answers.close()
    if not outcome.pop("Elsewhere", False):
        with open("/proc/self/status") as f:
            outcome["Measures"]["peak_bytes"] = next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
    print(json.dumps(outcome))


if __name__ == "__main__":
    if sys.argv[1:] == ["list"]:
        print("\n".join(p for p in PEERS if not p.startswith("DuckDB")))
    else:
        main()
