"""Runs the portable queries on the files of an export.

    python bulk.py duckdb|spark EXPORT QUERIES OUT

EXPORT holds features.parquet and sketches.parquet, QUERIES is queries/portable.
Into OUT go pairs, clusters, clusters1 (of rows that share one feature, not two) and
estimate as .tsv, and the seconds of each, with the engine's version, are printed as
JSON. Spark runs on a cluster of two executors on this machine.
"""

import json
import os
import sys
import time

engine, export, queries, out = sys.argv[1:]


def query(name):
    folder = os.path.dirname(os.path.abspath(__file__)) if name == "estimate" else queries
    with open(os.path.join(folder, name + ".sql")) as f:
        return f.read()


def one_feature(sql):
    """The same question about rows that share one feature."""
    assert sql.count(">= 2") == 1
    return sql.replace(">= 2", ">= 1")


def duckdb():
    import duckdb

    c = duckdb.connect()
    for table, file in (("document_feature", "features"), ("document_sketch", "sketches")):
        c.execute(f"create view {table} as from '{os.path.join(export, file)}.parquet'")
    run = lambda sql: c.execute(sql).fetchall()
    return "DuckDB " + duckdb.__version__, run, lambda change: run(change(query("clusters"))), lambda: None


def spark():
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    import pyspark
    from pyspark.sql import SparkSession

    # The workers keep their logs in the folder of the distribution: a copy by links of our own.
    home = os.path.join(out, "spark")
    os.mkdir(home)
    for part in ("bin", "jars"):
        os.symlink(os.path.join(os.path.dirname(pyspark.__file__), part), os.path.join(home, part))
    os.environ["SPARK_HOME"] = home
    s = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("bulk").config("spark.ui.enabled", "false")
         .config("spark.executor.memory", "1g").config("spark.driver.host", "127.0.0.1").config("spark.local.dir", out)
         .config("spark.sql.shuffle.partitions", "4").getOrCreate())
    s.sparkContext.setLogLevel("ERROR")
    executors = s.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver is one of them
    while executors < 2:
        time.sleep(0.1)
        executors = s.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    for table, file in (("document_feature", "features"), ("document_sketch", "sketches")):
        s.read.parquet(os.path.join(export, file + ".parquet")).createOrReplaceTempView(table)
    run = lambda sql: [tuple(r) for r in s.sql(sql).collect()]

    def clusters(change):
        """Its recursion knows no union that drops what was seen: the step is repeated."""
        s.sql("select distinct key, key as cluster from document_feature").createOrReplaceTempView("document_label")
        before = None
        while True:
            labels = s.sql(change(query("label_step"))).localCheckpoint()
            labels.createOrReplaceTempView("document_label")
            state = labels.selectExpr("sum(cluster)").collect()[0][0]
            if state == before:
                break
            before = state
        return run("select key, cluster from (select key, cluster, count(*) over (partition by cluster) as size from document_label) where size > 1")

    return f"Spark {s.version}, {executors} executors", run, clusters, s.stop


version, run, clusters, stop = {"duckdb": duckdb, "spark": spark}[engine]()
work = {
    "pairs": lambda: run(query("pairs")),
    "clusters": lambda: clusters(lambda sql: sql),
    "clusters1": lambda: clusters(one_feature),
    "estimate": lambda: run(query("estimate")),
}
times = {}
for name, f in work.items():
    start = time.perf_counter()
    rows = f()
    times[name] = time.perf_counter() - start
    with open(os.path.join(out, name + ".tsv"), "w") as file:
        file.writelines("\t".join(str(x) for x in row) + "\n" for row in rows)
stop()
print(json.dumps({"Version": version, "Seconds": times}))
