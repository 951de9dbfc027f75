//! Filters by effects of runs: what their ledgers say, the agents and native tools of their calls, and the steps that refused them.
//! The table of effects has the runs of each effect in the order of the history.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::history::{Effect, EffectKind, RunFilter};
use crate::kit::clock::Timestamp;
use crate::store::database::Statement;
use crate::store::sql::kit::row::to_json;

const HAS_EFFECT: &str = " AND EXISTS (SELECT 1 FROM inv_effects o WHERE o.organization = $1 AND o.kind = ?";

/// A page needs a few of the runs with an effect, of which there may be millions.
const OF_RUN: &str = " AND o.started_at = s.started_at AND o.invocation = s.invocation {for each})";

/// Like [`OF_RUN`], before the run itself is read.
const OF_ROW: &str = " AND o.started_at = e.started_at AND o.invocation = e.invocation {for each})";

/// Names of effects by kind. One name of each kind suffices.
pub(super) type Wanted<'a> = BTreeMap<EffectKind, BTreeSet<&'a str>>;

/// Adds the conditions that a run `s` has at least one of the effects of each kind.
pub(super) fn add_effects(statement: &mut Statement, filter: &RunFilter) -> Result<()> {
    group_by_kind(&filter.effects).iter().try_for_each(|(kind, names)| add_condition(statement, kind, names, OF_RUN))
}

/// Adds the conditions that a run of the table `e` has one of each other kind of effects that has several names.
pub(super) fn add_other_effects(statement: &mut Statement, filter: &RunFilter, first: EffectKind) -> Result<()> {
    let wanted = group_by_kind(&filter.effects);
    let others = wanted.iter().filter(|(kind, names)| **kind != first && names.len() > 1);
    others.into_iter().try_for_each(|(kind, names)| add_condition(statement, kind, names, OF_ROW))
}

fn add_condition(statement: &mut Statement, kind: &EffectKind, names: &BTreeSet<&str>, of: &'static str) -> Result<()> {
    statement.bind(HAS_EFFECT, kind.as_str());
    add_names(statement, names)?;
    statement.push(of);
    Ok(())
}

/// Adds the table `e` of the runs with an effect of the first kind, and with those of the other kinds that have one name: rows
/// of two effects are in the same order, so that a planner may read them side by side.
pub(super) fn add_effect_table(statement: &mut Statement, filter: &RunFilter, first: EffectKind) -> Result<()> {
    let wanted = group_by_kind(&filter.effects);
    let Some(names) = wanted.get(&first) else { return Ok(()) };
    // A run may have several of the names.
    let distinct = if names.len() == 1 { "" } else { "DISTINCT " };
    let others = wanted.iter().filter(|(kind, names)| **kind != first && names.len() == 1);
    let others: Vec<_> = others.filter_map(|(kind, names)| Some((kind, *names.first()?))).collect();
    statement.push(&format!("(SELECT {distinct}o.started_at, o.invocation FROM inv_effects o"));
    for number in 0..others.len() {
        statement.push(&format!(" CROSS JOIN inv_effects o{number}"));
    }
    statement.bind(" WHERE o.organization = $1 AND o.kind = ?", first.as_str());
    add_names(statement, names)?;
    add_times(statement, filter, "o");
    for (number, (kind, name)) in others.into_iter().enumerate() {
        let other = format!("o{number}");
        statement.bind(&format!(" AND {other}.organization = $1 AND {other}.kind = ?"), kind.as_str());
        statement.bind(&format!(" AND {other}.name = ?"), name);
        // Planners do not conclude bounds of one table from those of another.
        add_times(statement, filter, &other);
        statement.push(&format!(" AND {other}.started_at = o.started_at AND {other}.invocation = o.invocation"));
    }
    // In the order of the list, so that only the runs of the page are read.
    statement.push(if distinct.is_empty() { "" } else { " ORDER BY o.started_at DESC, o.invocation DESC" });
    statement.push(") e");
    Ok(())
}

fn add_times(statement: &mut Statement, filter: &RunFilter, table: &str) {
    let RunFilter { created_after, created_before, .. } = filter;
    let since = created_after.map(Timestamp::as_milliseconds);
    statement.bind_some(&format!(" AND {table}.started_at >= ?"), since);
    let before = created_before.map(Timestamp::as_milliseconds);
    statement.bind_some(&format!(" AND {table}.started_at < ?"), before);
}

/// Returns the kind of effects with the fewest names.
pub(super) fn find_fewest_names(filter: &RunFilter) -> Option<EffectKind> {
    group_by_kind(&filter.effects).into_iter().min_by_key(|(_, names)| names.len()).map(|(kind, _)| kind)
}

fn add_names(statement: &mut Statement, names: &BTreeSet<&str>) -> Result<()> {
    match names.first() {
        Some(name) if names.len() == 1 => statement.bind(" AND o.name = ?", *name),
        _ => statement.bind(" AND o.name IN {members ?}", to_json(names)?),
    }
    Ok(())
}

/// Returns the names of effects by their kind.
pub(super) fn group_by_kind(effects: &[Effect]) -> Wanted<'_> {
    let mut wanted = Wanted::new();
    for Effect { kind, name } in effects {
        wanted.entry(*kind).or_default().insert(name);
    }
    wanted
}
