//! Compares the runs of the ledger with the records in the database.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{Outcome, RunEnd, What};
use super::database::{Database, Record};
use super::findings::Findings;
use super::ledger::{Entries, Entry};
use super::versions::Marks;

/// Types of failures of runs that were cut off.
const ORPHANED: &str = "orphaned";
/// The disk refused the end of the run, and its record was closed without its outcome.
const RECORD_FAILED: &str = "record_failed";

/// The records that were read so far, by the number of their action.
#[derive(Default)]
pub struct Records {
    by_number: BTreeMap<u64, Vec<Record>>,
    position: i64,
    /// Whether runs that were cut off may lack an end, because another server has not closed them yet.
    pub may_lack_ends: bool,
}

impl Records {
    /// Reads all records again at the next call.
    pub fn forget(&mut self) {
        (self.by_number, self.position) = (BTreeMap::new(), 0);
    }

    /// Reads the records that were added since the last call.
    pub fn update(&mut self, database: &mut Database) {
        for record in database.records(self.position) {
            self.position = record.position;
            self.by_number.entry(record.number).or_default().push(record);
        }
    }

    /// The number of runs that were closed because their server had stopped.
    pub fn orphans(&self) -> usize {
        let all = self.by_number.values().flatten();
        all.filter(|record| record.end == Some(Err(ORPHANED.to_owned()))).count()
    }

    /// Compares the entries, and asserts that each record belongs to an entry.
    pub fn compare(&self, entries: &Entries, is_deep: bool, findings: &mut Findings) {
        for (number, entry) in entries.selected(is_deep) {
            if let What::Invoke { inputs, .. } = &entry.action.what {
                let records = self.by_number.get(&number).map_or(&[][..], Vec::as_slice);
                let call = Call { number, entry, inputs: *inputs, may_lack_ends: self.may_lack_ends };
                call.compare(records, findings);
            }
        }
        let is_known = |number: &u64| {
            entries.all.get(number).is_some_and(|entry| matches!(entry.action.what, What::Invoke { .. }))
        };
        let unknown = self.by_number.iter().filter(|(number, _)| !is_known(number));
        findings.doubled.extend(unknown.map(|(_, records)| format!("runs that no client asked for: {records:?}")));
    }
}

/// A call of the ledger.
struct Call<'a> {
    number: u64,
    entry: &'a Entry,
    inputs: usize,
    may_lack_ends: bool,
}

impl Call<'_> {
    fn compare(&self, records: &[Record], findings: &mut Findings) {
        let Self { number, entry, inputs, may_lack_ends } = *self;
        let ids: BTreeSet<_> = records.iter().map(|record| &record.id).collect();
        if records.len() > inputs || ids.len() != records.len() {
            findings.doubled.push(format!("call {number} of {inputs} inputs: {records:?}"));
        }
        for record in records {
            match &record.end {
                None if may_lack_ends && entry.is_open() => {}
                None => findings.other.push(format!("call {number} has no end: {record:?}")),
                Some(Ok(output)) if output.starts_with(&format!("{number}|")) => {}
                Some(Err(kind)) if entry.is_open() && [ORPHANED, RECORD_FAILED].contains(&kind.as_str()) => {}
                Some(_) if is_acknowledged(entry, record) => {}
                Some(_) => findings.other.push(format!("call {number} ended otherwise than {entry:?}: {record:?}")),
            }
        }
        match &entry.outcome {
            Some(Outcome::Acknowledged { runs, .. }) => {
                let is_kept = |run: &RunEnd| {
                    records.iter().any(|record| record.id == run.id && record.end.as_ref() == Some(&run.end))
                };
                let lost = runs.iter().filter(|run| !is_kept(run));
                findings.lost.extend(lost.map(|run| format!("run {run:?} of call {number}: {records:?}")));
                if runs.len() != inputs {
                    findings.other.push(format!("call {number} of {inputs} inputs has the results {runs:?}"));
                }
            }
            _ if entry.is_open() && [0, inputs].contains(&records.len()) => {}
            _ if records.is_empty() => {}
            _ => findings.other.push(format!("call {number} of {inputs} inputs, {entry:?}: {records:?}")),
        }
    }
}

/// Whether the caller was told about this end.
fn is_acknowledged(entry: &Entry, record: &Record) -> bool {
    let Some(Outcome::Acknowledged { runs, .. }) = &entry.outcome else { return false };
    runs.iter().any(|run| run.id == record.id && Some(&run.end) == record.end.as_ref())
}

/// Compares the outputs of calls of exact versions with the sources of these versions.
pub fn compare_marks(entries: &Entries, is_deep: bool, findings: &mut Findings) {
    let marks = Marks::of(entries);
    for (number, entry) in entries.selected(is_deep) {
        let (What::Invoke { version, .. }, Some(Outcome::Acknowledged { runs, .. })) =
            (&entry.action.what, &entry.outcome)
        else {
            continue;
        };
        let Some(mark) = marks.of_version(&entry.action.tool, version) else { continue };
        let is_other = |run: &&RunEnd| run.end.as_ref().is_ok_and(|output| output.split('|').nth(1) != Some(mark));
        let wrong = runs.iter().filter(is_other);
        findings
            .lost
            .extend(wrong.map(|run| format!("call {number} of {version} ran other code than {mark}: {run:?}")));
    }
}
