//! The migrations of the database, embedded in the binary.
//!
//! Migrations come in pairs, up and down, and are never edited after a release: a database stores their checksums. A change that
//! old code cannot read takes two releases: the first adds, the second removes.

/// One migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Number of the migration, from 1 without gaps.
    pub number: u32,
    pub name: &'static str,
    /// Statements that apply the migration.
    pub up: &'static str,
    /// Statements that revert the migration. They are only run by hand.
    pub down: &'static str,
}

/// Embeds both files of a migration.
macro_rules! migration {
    ($number:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            up: include_str!(concat!("../sqlite/", $name, ".up.sql")),
            down: include_str!(concat!("../sqlite/", $name, ".down.sql")),
        }
    };
}

/// The migrations for SQLite, in order.
pub const SQLITE: &[Migration] = &[
    migration!(1, "0001_accounts"),
    migration!(2, "0002_tools"),
    migration!(3, "0003_history"),
    migration!(4, "0004_identity"),
    migration!(5, "0005_tool_sequence"),
    migration!(6, "0006_operations"),
    migration!(7, "0007_positions"),
    migration!(8, "0008_history_order"),
    migration!(9, "0009_redaction"),
    migration!(10, "0010_ledger"),
    migration!(11, "0011_effects"),
    migration!(12, "0012_tapes"),
    migration!(13, "0013_recorded_answers"),
    migration!(14, "0014_attestations"),
    migration!(15, "0015_simulations"),
    migration!(16, "0016_failed_builds"),
    migration!(17, "0017_search"),
    migration!(18, "0018_caller"),
];

#[cfg(test)]
mod tests {
    use super::SQLITE;

    #[test]
    fn migrations_are_numbered_without_gaps_and_named_by_their_number() {
        for (number, migration) in (1..).zip(SQLITE) {
            assert_eq!(migration.number, number);
            assert!(migration.name.starts_with(&format!("{number:04}_")), "{}", migration.name);
            assert!(!migration.up.trim().is_empty() && !migration.down.trim().is_empty());
        }
    }
}
