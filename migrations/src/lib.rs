//! The database schema as numbered steps, embedded in the binary.
//!
//! Steps come in pairs, up and down, and are never edited after a release: a database remembers their checksums.
//! A change that old code cannot read is made in two releases, first by adding, then by removing.

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Counts from 1 without gaps.
    pub number: u32,
    pub name: &'static str,
    /// Statements that take the step.
    pub up: &'static str,
    /// Statements that take it back, for an operator's hand; nothing runs them by itself.
    pub down: &'static str,
}

/// Reads both files of a step.
macro_rules! step {
    ($number:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            up: include_str!(concat!("../sqlite/", $name, ".up.sql")),
            down: include_str!(concat!("../sqlite/", $name, ".down.sql")),
        }
    };
}

/// The steps for SQLite, in order.
pub const SQLITE: &[Migration] = &[
    step!(1, "0001_accounts"),
    step!(2, "0002_tools"),
    step!(3, "0003_history"),
    step!(4, "0004_identity"),
    step!(5, "0005_tool_sequence"),
    step!(6, "0006_operations"),
    step!(7, "0007_positions"),
    step!(8, "0008_history_order"),
    step!(9, "0009_redaction"),
    step!(10, "0010_ledger"),
    step!(11, "0011_effects"),
    step!(12, "0012_tapes"),
    step!(13, "0013_recorded_answers"),
    step!(14, "0014_attestations"),
];

#[cfg(test)]
mod tests {
    use super::SQLITE;

    #[test]
    fn steps_are_numbered_without_gaps_and_named_by_their_number() {
        for (number, step) in (1..).zip(SQLITE) {
            assert_eq!(step.number, number);
            assert!(step.name.starts_with(&format!("{number:04}_")), "{}", step.name);
            assert!(!step.up.trim().is_empty() && !step.down.trim().is_empty());
        }
    }
}
