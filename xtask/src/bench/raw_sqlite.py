"""Inserts records into SQLite with the settings of the store, and nothing around it: an arm of the benchmark."""

import os
import sys
import tempfile
import time

try:
    import sqlite3
except ImportError:
    print("absent this python3 has no sqlite3", flush=True)
    sys.exit()

COMMITS = int(sys.argv[1])
with tempfile.TemporaryDirectory(dir=".") as directory:
    connection = sqlite3.connect(os.path.join(directory, "raw.sqlite"), isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE record (run INTEGER, seq INTEGER, bytes BLOB, PRIMARY KEY (run, seq)) STRICT")
    content = b"x" * 450
    seq = 0
    print("ready", flush=True)
    for line in sys.stdin:
        started = time.perf_counter_ns()
        for run in range(COMMITS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO record VALUES (?, ?, ?)", (run, seq, content))
            connection.execute("COMMIT")
        took = time.perf_counter_ns() - started
        seq += 1
        print(took, flush=True)
    connection.close()
