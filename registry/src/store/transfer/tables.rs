//! The tables that are copied.

/// A table with the columns of its key. Rows are read in the order of the key, which both databases have an index for.
#[derive(Debug)]
pub(super) struct Table {
    pub name: &'static str,
    pub key: &'static [&'static str],
}

/// The full-text index. Its rows are made from the records of runs, since the index of SQLite does not store its texts.
pub(super) const TEXT_INDEX: Table = Table { name: "inv_text", key: &["rowid"] };

/// All tables with data, each one after the tables that its foreign keys refer to.
pub(super) const TABLES: [Table; 49] = [
    Table { name: "organizations", key: &["organization"] },
    Table { name: "members", key: &["organization", "account"] },
    Table { name: "roles", key: &["organization", "name"] },
    Table { name: "api_keys", key: &["api_key_id"] },
    Table { name: "tokens", key: &["token_hash"] },
    Table { name: "oauth_clients", key: &["client_id"] },
    Table { name: "oauth_client_uses", key: &["organization", "account", "client_id"] },
    Table { name: "oauth_grants", key: &["grant_id"] },
    Table { name: "oauth_tokens", key: &["token_hash"] },
    Table { name: "user_variables", key: &["organization", "account", "name"] },
    Table { name: "tools", key: &["organization", "tool"] },
    Table { name: "tool_tags", key: &["organization", "tool", "key"] },
    Table { name: "envvars", key: &["organization", "tool", "name"] },
    Table { name: "tool_leases", key: &["organization", "tool"] },
    Table { name: "builds", key: &["organization", "build"] },
    Table { name: "versions", key: &["organization", "version_id"] },
    Table { name: "signing_keys", key: &["organization", "public_key"] },
    Table { name: "attestations", key: &["organization", "version_id"] },
    Table { name: "recorded_answers", key: &["organization", "tool", "request"] },
    Table { name: "inv_started", key: &["rowid"] },
    Table { name: "inv_finished", key: &["sequence"] },
    Table { name: "inv_unlinked", key: &["invocation"] },
    Table { name: "inv_open", key: &["invocation"] },
    Table { name: "inv_effects", key: &["organization", "kind", "name", "started_at", "invocation"] },
    Table { name: "history_holds", key: &["organization", "hold"] },
    Table { name: "history_hold_releases", key: &["organization", "hold"] },
    Table { name: "agents", key: &["organization", "agent"] },
    Table { name: "agent_assignments", key: &["organization", "agent", "tool"] },
    Table { name: "agent_revisions", key: &["organization", "agent", "revision"] },
    Table { name: "agent_states", key: &["organization", "agent", "name"] },
    Table { name: "agent_runs", key: &["organization", "agent_run"] },
    Table { name: "agent_run_steps", key: &["organization", "agent_run", "number"] },
    Table { name: "human_requests", key: &["organization", "human_request"] },
    Table { name: "conversations", key: &["organization", "conversation"] },
    Table { name: "presented_tools", key: &["organization", "digest"] },
    Table { name: "turns", key: &["organization", "turn"] },
    Table { name: "operations", key: &["organization", "operation"] },
    Table { name: "operation_runs", key: &["organization", "operation", "input_index"] },
    Table { name: "answered_attempts", key: &["invocation"] },
    Table { name: "tapes", key: &["invocation"] },
    Table { name: "tape_bodies", key: &["organization", "digest"] },
    Table { name: "tape_body_uses", key: &["organization", "digest", "invocation"] },
    TEXT_INDEX,
    Table { name: "library_items", key: &["organization", "item"] },
    Table { name: "library_revisions", key: &["organization", "item", "revision"] },
    Table { name: "library_shares", key: &["organization", "account", "family", "item"] },
    Table { name: "library_index", key: &["organization", "item"] },
    Table { name: "library_scopes", key: &["organization", "owner", "app"] },
    Table { name: "library_corpora", key: &["organization"] },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use migrations::{Migrations, POSTGRES, SQLITE};

    use super::TABLES;

    /// Servers, counts of the Library, which triggers make of its items, counts of requests, repositories that servers share and their damaged packs, runs that a transaction deletes, cancellations of runs that go on, the check of the master key, which is written at the end, and the migrations.
    const LEFT_OUT: [&str; 10] = [
        "nodes",
        "cancellations",
        "damaged_packs",
        "inv_expired",
        "library_changes",
        "library_usage",
        "master_key",
        "rate_limits",
        "repositories",
        "schema_migrations",
    ];

    /// Names and definitions of the tables that migrations create. Partitions are parts of a table.
    fn created(migrations: &Migrations) -> Vec<(&'static str, &'static str)> {
        let texts = migrations.list.iter().map(|migration| migration.up);
        let statements = texts.flat_map(|text| text.split("CREATE ").skip(1));
        let tables = statements.filter_map(|text| {
            let text = text.trim_start_matches("VIRTUAL ").trim_start_matches("UNLOGGED ").strip_prefix("TABLE ")?;
            let (name, definition) = text.split_once(' ')?;
            Some((name, definition.split_once(';')?.0))
        });
        tables.filter(|(_, definition)| !definition.starts_with("PARTITION OF")).collect()
    }

    fn position(name: &str) -> Option<usize> {
        TABLES.iter().position(|table| table.name == name)
    }

    #[test]
    fn every_table_of_the_migrations_is_copied_or_left_out() {
        let known: BTreeSet<_> = TABLES.iter().map(|table| table.name).chain(LEFT_OUT).collect();
        for migrations in [SQLITE, POSTGRES] {
            let names: BTreeSet<_> = created(&migrations).into_iter().map(|(name, _)| name).collect();
            let names: BTreeSet<_> = names.into_iter().chain(["schema_migrations"]).collect();
            assert_eq!(names, known);
        }
    }

    #[test]
    fn tables_come_after_those_they_refer_to() {
        let mut references = 0;
        let all = created(&POSTGRES).into_iter().chain(created(&SQLITE));
        for (name, definition) in all.filter(|(name, _)| !LEFT_OUT.contains(name)) {
            for referred in definition.split("REFERENCES ").skip(1) {
                let referred = referred.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap();
                assert!(position(referred).unwrap() < position(name).unwrap(), "{name} refers to {referred}");
                references += 1;
            }
        }
        assert!(references > 40, "{references}");
    }

    #[test]
    fn keys_are_those_of_the_tables() {
        for (name, definition) in created(&POSTGRES) {
            let Some(table) = TABLES.iter().find(|table| table.name == name) else { continue };
            let joined = format!("PRIMARY KEY ({})", table.key.join(", "));
            let is_column = |line: &str| line.trim().starts_with(table.key[0]) && line.contains("PRIMARY KEY");
            // The ends and starts of runs are read in their order.
            let is_position = matches!(table.key, ["rowid" | "sequence"]);
            assert!(definition.contains(&joined) || definition.lines().any(is_column) || is_position, "{name}");
        }
    }
}
