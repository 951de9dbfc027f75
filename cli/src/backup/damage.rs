//! The refusal of a damaged backup.

use crate::failure::Failure;

/// A backup whose files are not what its manifest says.
pub fn explain_damage(what: &str) -> anyhow::Error {
    let hint = "restore another backup; nothing was changed";
    Failure::coded("backup_damaged", format!("the backup is damaged: {what}"), hint)
}
