//! The values that a variable may have after a kill.

use std::collections::BTreeSet;

use super::action::{Action, Outcome, What};
use super::ledger::Entries;

/// The last acknowledged value of a tool's variable, or a later one whose change was cut off. A later output shows which, unless
/// it comes from another server, which may have had the value before.
pub fn possible_values(entries: &Entries, tool: &str, has_other_servers: bool) -> BTreeSet<String> {
    let mut values = BTreeSet::new();
    let own = entries.all.values().rev().filter(|entry| entry.action.tool == tool);
    for entry in own {
        match (&entry.action, &entry.outcome) {
            (Action { what: What::SetVariable { value }, .. }, outcome) => {
                if entry.is_acknowledged() || entry.is_open() {
                    values.insert(value.clone());
                }
                if outcome.as_ref().is_some_and(Outcome::is_acknowledged) {
                    return values;
                }
            }
            (Action { what: What::Invoke { .. }, .. }, Some(Outcome::Acknowledged { runs, .. }))
                if !has_other_servers =>
            {
                let seen = runs.iter().find_map(|run| value_of(run.end.as_ref().ok()?));
                if let Some(seen) = seen {
                    values.insert(seen.to_owned());
                    return values;
                }
            }
            _ => {}
        }
    }
    values
}

/// The value in an output.
pub fn value_of(output: &str) -> Option<&str> {
    output.split('|').nth(2)
}
