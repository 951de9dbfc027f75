//! The migrations of the database, embedded in the binary.
//!
//! Migrations come in pairs, up and down, and are never edited after a release: a database stores their checksums. A change that
//! old code cannot read takes two releases: the first adds, the second removes.

/// One migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Number of the migration, without gaps.
    pub number: u32,
    pub name: &'static str,
    /// Statements that apply the migration.
    pub up: &'static str,
    /// Statements that revert the migration. They are only run by hand.
    pub down: &'static str,
}

/// The migrations of one kind of database.
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    /// Creates the table of applied migrations, unless it exists.
    pub table: &'static str,
    /// In order.
    pub list: &'static [Migration],
}

/// Embeds both files of a migration.
macro_rules! migration {
    ($folder:literal, $number:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            up: include_str!(concat!("../", $folder, "/", $name, ".up.sql")),
            down: include_str!(concat!("../", $folder, "/", $name, ".down.sql")),
        }
    };
}

pub const SQLITE: Migrations = Migrations {
    table: "CREATE TABLE IF NOT EXISTS schema_migrations (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
    ) STRICT",
    list: &[
        migration!("sqlite", 1, "0001_accounts"),
        migration!("sqlite", 2, "0002_tools"),
        migration!("sqlite", 3, "0003_history"),
        migration!("sqlite", 4, "0004_identity"),
        migration!("sqlite", 5, "0005_tool_sequence"),
        migration!("sqlite", 6, "0006_operations"),
        migration!("sqlite", 7, "0007_positions"),
        migration!("sqlite", 8, "0008_history_order"),
        migration!("sqlite", 9, "0009_redaction"),
        migration!("sqlite", 10, "0010_ledger"),
        migration!("sqlite", 11, "0011_effects"),
        migration!("sqlite", 12, "0012_tapes"),
        migration!("sqlite", 13, "0013_recorded_answers"),
        migration!("sqlite", 14, "0014_attestations"),
        migration!("sqlite", 15, "0015_simulations"),
        migration!("sqlite", 16, "0016_failed_builds"),
        migration!("sqlite", 17, "0017_search"),
        migration!("sqlite", 18, "0018_caller"),
        migration!("sqlite", 19, "0019_words"),
        migration!("sqlite", 20, "0020_nodes"),
        migration!("sqlite", 21, "0021_rate_limits"),
        migration!("sqlite", 22, "0022_repositories"),
        migration!("sqlite", 23, "0023_build_queue"),
        migration!("sqlite", 24, "0024_user_variables"),
        migration!("sqlite", 25, "0025_large_bodies"),
        migration!("sqlite", 26, "0026_history"),
        migration!("sqlite", 27, "0027_agents"),
        migration!("sqlite", 28, "0028_agent_calls"),
        migration!("sqlite", 29, "0029_agent_options"),
        migration!("sqlite", 30, "0030_turns"),
        migration!("sqlite", 31, "0031_answered_attempts"),
        migration!("sqlite", 32, "0032_search_facets"),
        migration!("sqlite", 33, "0033_oauth"),
        migration!("sqlite", 34, "0034_library"),
        migration!("sqlite", 35, "0035_library_search"),
        migration!("sqlite", 36, "0036_due_items"),
        migration!("sqlite", 37, "0037_agent_runs"),
        migration!("sqlite", 38, "0038_outcome_words"),
        migration!("sqlite", 39, "0039_item_revisions"),
        migration!("sqlite", 40, "0040_human_intervention"),
    ],
};

/// Begins with the tables that SQLite has after its nineteenth migration. From the twentieth on, both databases have the same
/// migrations.
pub const POSTGRES: Migrations = Migrations {
    table: "CREATE TABLE IF NOT EXISTS schema_migrations (
        number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL
    )",
    list: &[
        migration!("postgres", 19, "0019_tables"),
        migration!("postgres", 20, "0020_nodes"),
        migration!("postgres", 21, "0021_rate_limits"),
        migration!("postgres", 22, "0022_repositories"),
        migration!("postgres", 23, "0023_build_queue"),
        migration!("postgres", 24, "0024_user_variables"),
        migration!("postgres", 25, "0025_large_bodies"),
        migration!("postgres", 26, "0026_history"),
        migration!("postgres", 27, "0027_agents"),
        migration!("postgres", 28, "0028_agent_calls"),
        migration!("postgres", 29, "0029_agent_options"),
        migration!("postgres", 30, "0030_turns"),
        migration!("postgres", 31, "0031_answered_attempts"),
        migration!("postgres", 32, "0032_search_facets"),
        migration!("postgres", 33, "0033_oauth"),
        migration!("postgres", 34, "0034_library"),
        migration!("postgres", 35, "0035_library_search"),
        migration!("postgres", 36, "0036_due_items"),
        migration!("postgres", 37, "0037_agent_runs"),
        migration!("postgres", 38, "0038_outcome_words"),
        migration!("postgres", 39, "0039_item_revisions"),
        migration!("postgres", 40, "0040_human_intervention"),
    ],
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{Migration, POSTGRES, SQLITE};

    #[test]
    fn migrations_are_numbered_without_gaps_and_named_by_their_number() {
        let numbered = (1..).zip(SQLITE.list).chain((19..).zip(POSTGRES.list));
        for (number, migration) in numbered {
            assert_eq!(migration.number, number);
            assert!(migration.name.starts_with(&format!("{number:04}_")), "{}", migration.name);
            assert!(!migration.up.trim().is_empty() && !migration.down.trim().is_empty());
        }
    }

    /// Migrations of SQLite that the first one of Postgres contains.
    const TOGETHER: usize = 19;

    fn topic(migration: &Migration) -> &'static str {
        migration.name.split_once('_').map_or("", |(_, topic)| topic)
    }

    #[test]
    fn later_migrations_come_for_both_databases() {
        let sqlite: Vec<_> = SQLITE.list.iter().skip(TOGETHER).map(topic).collect();
        let postgres: Vec<_> = POSTGRES.list.iter().skip(1).map(topic).collect();
        assert_eq!(sqlite, postgres);
    }

    #[test]
    fn every_file_is_a_migration() {
        for (folder, migrations) in [("sqlite", SQLITE), ("postgres", POSTGRES)] {
            let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
            let files: BTreeSet<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            let pair = |migration: &Migration| ["up", "down"].map(|way| format!("{}.{way}.sql", migration.name));
            assert_eq!(files, migrations.list.iter().flat_map(pair).collect(), "{folder}");
        }
    }
}
