"""Prints the columns and the rows of a Parquet file as one JSON document, as DuckDB reads them.

usage: read.py FILE
"""

import json
import sys

import duckdb


def main(file: str) -> None:
    table = duckdb.read_parquet(file)
    columns = dict(zip(table.columns, map(str, table.types)))
    milliseconds = "epoch_ms(started_at) AS started_at, epoch_ms(finished_at) AS finished_at"
    table = duckdb.sql(f"SELECT * REPLACE ({milliseconds}) FROM '{file}'")
    rows = [dict(zip(columns, row)) for row in table.fetchall()]
    summary = duckdb.sql(
        f"SELECT count(*), CAST(sum(CAST(inputs->>'$.add' AS INT)) AS INT) FROM '{file}' WHERE succeeded"
    ).fetchall()[0]
    print(json.dumps({"columns": columns, "rows": rows, "summary": summary}))


main(*sys.argv[1:])
