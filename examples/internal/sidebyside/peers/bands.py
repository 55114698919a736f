"""dedup-pg as a contender, which postgres.go starts beside a server.

    python bands.py URL DOCUMENTS N ANSWERS
"""

import json
import os
import sys

from peers import Clock, Task, checkin, ready, shingles, turns, version

url, path, n, answers = sys.argv[1:]
task = Task(path, int(n), os.devnull, answers)

from dedup_pg import DedupIndex  # noqa: E402
from dedup_pg.backend.sqlalchemy import SQLAlchemyBackend  # noqa: E402
from sqlalchemy import MetaData, create_engine  # noqa: E402

engine, metadata = create_engine(url.replace("postgres://", "postgresql+psycopg2://", 1)), MetaData()
index = DedupIndex(SQLAlchemyBackend(engine=engine, base_or_metadata=metadata, table_name="bands"), num_perms=128, rows=8)
metadata.create_all(engine)

bands, cpu, wall = turns(lambda: [index.bands(shingles(d)) for d in task.documents])
measures = {"sketch_cpu": cpu, "ready_cpu": ready(task, lambda sets: [index.bands(s) for s in sets]), "slots": 128}
clock = Clock()
clusters = {}
for i, b in enumerate(bands):
    members = clusters.setdefault(index.index(b), [])
    for other in members:
        task.answer(other, i)
    members.append(i)
measures["build"] = wall + clock.lap()[1]
measures |= checkin(task.more, lambda i, text: index.query(shingles(text)))
task.answers.close()
print(json.dumps({"Version": version("dedup-pg"), "Measures": measures, "Answers": True,
                  "Settings": "128 hashes, 16 bands of 8 in a table, a transaction a row without waiting for the disk; its answer is a cluster, which is never joined with another"}))
