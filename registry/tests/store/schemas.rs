//! Both databases have the same tables: the schema of SQLite and that of Postgres, as their catalogues describe them. Checks
//! of columns and the bodies of triggers are not compared; the other tests of this program run them on both databases.

use std::collections::BTreeSet;

use registry::DatabaseLocation;
use sqlx::{Connection, PgConnection, SqliteConnection};

use crate::database::is_server;
use crate::fixtures::World;

/// Facts of the schema of SQLite, one in a row. The full-text index is a virtual table there and an ordinary one in Postgres,
/// and is left out. A column of the primary key is not null, although SQLite does not say so.
const SQLITE: &str = "
    WITH tables AS (
        SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'inv_text%')
    SELECT t.name || ': column ' || c.name || ' ' || replace(replace(c.type, 'INTEGER', 'BIGINT'), 'BLOB', 'BYTEA')
            || CASE WHEN c.\"notnull\" = 1 OR c.pk > 0 THEN ' NOT NULL' ELSE '' END
            || coalesce(' DEFAULT ' || c.dflt_value, '')
        FROM tables t JOIN pragma_table_info(t.name) c
    UNION ALL
    SELECT t.name || ': primary key (' || group_concat(c.name, ', ' ORDER BY c.pk) || ')'
        FROM tables t JOIN pragma_table_info(t.name) c WHERE c.pk > 0 GROUP BY t.name
    UNION ALL
    SELECT t.name || ': ' || CASE i.\"unique\" WHEN 1 THEN 'unique ' ELSE '' END
            || CASE i.origin WHEN 'c' THEN 'index ' || i.name || ' ' ELSE '' END
            || '(' || (SELECT group_concat(c.name, ', ' ORDER BY c.seqno) FROM pragma_index_info(i.name) c) || ')'
            || CASE i.partial WHEN 1 THEN (SELECT ' ' || substr(m.sql, instr(m.sql, 'WHERE')) FROM sqlite_master m
                WHERE m.name = i.name) ELSE '' END
        FROM tables t JOIN pragma_index_list(t.name) i WHERE i.origin <> 'pk'
    UNION ALL
    SELECT t.name || ': foreign key (' || group_concat(f.\"from\", ', ' ORDER BY f.seq) || ') references ' || f.\"table\"
            || ' (' || group_concat(coalesce(f.\"to\",
                (SELECT p.name FROM pragma_table_info(f.\"table\") p WHERE p.pk = f.seq + 1)), ', ' ORDER BY f.seq)
            || ') on delete ' || f.on_delete
        FROM tables t JOIN pragma_foreign_key_list(t.name) f GROUP BY t.name, f.id
    UNION ALL
    SELECT tbl_name || ': trigger ' || name FROM sqlite_master WHERE type = 'trigger'";

/// The same facts of the schema of Postgres. Partitions are parts of their tables.
const POSTGRES: &str = "
    WITH tables AS (
        SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'inv_text')
    SELECT t.name || ': column ' || a.attname || ' ' || upper(format_type(a.atttypid, a.atttypmod))
            || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
            || coalesce(' DEFAULT ' || replace(pg_get_expr(d.adbin, d.adrelid), '::text', ''), '')
        FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
    UNION ALL
    SELECT t.name || ': ' || CASE WHEN i.indisprimary THEN 'primary key ' WHEN i.indisunique THEN 'unique ' ELSE '' END
            || CASE WHEN k.oid IS NULL THEN 'index ' || c.relname || ' ' ELSE '' END
            || '(' || (SELECT string_agg(pg_get_indexdef(c.oid, n, false), ', ' ORDER BY n)
                FROM generate_series(1, i.indnatts) n) || ')'
            || coalesce(' WHERE ' || replace(btrim(pg_get_expr(i.indpred, i.indrelid), '()'), '::text', ''), '')
        FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
        LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u')
    UNION ALL
    SELECT t.name || ': foreign key (' || from_.names || ') references ' || p.relname || ' (' || to_.names || ') on delete '
            || CASE f.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'c' THEN 'CASCADE' ELSE f.confdeltype::text END
        FROM tables t JOIN pg_constraint f ON f.conrelid = t.oid AND f.contype = 'f' AND f.conparentid = 0
        JOIN pg_class p ON p.oid = f.confrelid
        CROSS JOIN LATERAL (SELECT string_agg(a.attname, ', ' ORDER BY u.n) AS names
            FROM unnest(f.conkey) WITH ORDINALITY u (number, n)
            JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = u.number) from_
        CROSS JOIN LATERAL (SELECT string_agg(a.attname, ', ' ORDER BY u.n) AS names
            FROM unnest(f.confkey) WITH ORDINALITY u (number, n)
            JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = u.number) to_
    UNION ALL
    SELECT t.name || ': trigger ' || g.tgname FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid
        WHERE NOT g.tgisinternal AND g.tgparentid = 0";

/// Facts that only the schema of SQLite has. The sequence of an end is its row id, so that it comes first and has no gaps in
/// the table; a partitioned table has no unique key without the column by which it is partitioned.
const ONLY_SQLITE: [&str; 7] = [
    // The catalogue of SQLite does not show expressions.
    "agents: unique index agents_live_slug (organization, slug) WHERE deleted_at IS NULL",
    "inv_finished: column sequence BIGINT NOT NULL",
    "inv_finished: primary key (sequence)",
    "inv_finished: unique (invocation)",
    "inv_started: index inv_started_by_group (organization, started_at, invocation)",
    "inv_started: index inv_started_by_origin (organization, started_at, invocation)",
    "inv_started: index inv_started_by_user (organization, started_at, invocation)",
];

/// Facts that only the schema of Postgres has. Its tables have no row ids, by which pages of the history are found: a column
/// and a sequence take their place.
const ONLY_POSTGRES: [&str; 9] = [
    "agents: unique index agents_live_slug (organization, slug, (\nCASE\n    WHEN (scope = 'personal'::text) THEN author\n    ELSE ''::text\nEND)) WHERE deleted_at IS NULL",
    "inv_finished: column sequence BIGINT NOT NULL DEFAULT nextval('inv_finished_sequence'::regclass)",
    "inv_finished: index inv_finished_by_sequence (sequence)",
    "inv_finished: primary key (invocation)",
    "inv_started: column rowid BIGINT NOT NULL DEFAULT nextval('inv_started_rowid'::regclass)",
    "inv_started: index inv_started_by_group (organization, ((((((((COALESCE(tool, ''::text) || ' '::text) || (COALESCE(major, (0)::bigint))::text) || '.'::text) || (COALESCE(minor, (0)::bigint))::text) || '.'::text) || (COALESCE(patch, (0)::bigint))::text) ||\nCASE\n    WHEN ((source_kind = 'simulation-conversation'::text) OR ((source_kind <> 'regular-conversation'::text) AND (mode = 'conversation-simulation'::text))) THEN ' simulation'::text\n    ELSE ''::text\nEND)), started_at, invocation)",
    "inv_started: index inv_started_by_origin (organization, (\nCASE\n    WHEN (protocol = 'mcp'::text) THEN 'mcp'::text\n    WHEN (protocol = 'rest'::text) THEN 'agent'::text\n    WHEN (source_kind = ANY (ARRAY['direct'::text, 'branch-test'::text])) THEN source_kind\n    ELSE 'conversation'::text\nEND), started_at, invocation)",
    "inv_started: index inv_started_by_rowid (rowid)",
    "inv_started: index inv_started_by_user (organization, substr(((source)::json ->> 'user_id'::text), 1, 256), started_at, invocation)",
];

/// Fewer facts mean that the queries no longer see them.
const FACTS_MIN: usize = 250;

#[tokio::test]
async fn both_databases_have_the_same_tables() {
    if !is_server() {
        return;
    }
    let world = World::new().await;
    let DatabaseLocation::Url(url) = &world.database else { panic!("a server") };
    let mut connection = PgConnection::connect(url.expose()).await.unwrap();
    let postgres: Vec<String> = sqlx::query_scalar(POSTGRES).fetch_all(&mut connection).await.unwrap();
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    for script in std::iter::once(migrations::SQLITE.table).chain(migrations::SQLITE.list.iter().map(|one| one.up)) {
        sqlx::raw_sql(script).execute(&mut connection).await.unwrap();
    }
    let sqlite: Vec<String> = sqlx::query_scalar(SQLITE).fetch_all(&mut connection).await.unwrap();
    assert!(sqlite.len() >= FACTS_MIN, "only {} facts were found", sqlite.len());
    assert_eq!((missing(&sqlite, &postgres), missing(&postgres, &sqlite)), (ONLY_SQLITE.into(), ONLY_POSTGRES.into()));
}

/// Returns the facts that the other schema lacks, sorted.
fn missing<'a>(schema: &'a [String], other: &[String]) -> Vec<&'a str> {
    let facts: BTreeSet<&str> = schema.iter().map(String::as_str).collect();
    facts.into_iter().filter(|fact| !other.iter().any(|known| known == fact)).collect()
}
