//! The ledger: a file outside the server's data with each action that a client is about to send, and each outcome.
//!
//! A client counts an action as acknowledged only after the line of its outcome is flushed. An action without an outcome
//! was cut off: it may have happened or not, but wholly.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::action::{Action, Outcome};

pub struct Ledger {
    path: PathBuf,
    file: Mutex<File>,
    actions: AtomicU64,
    acknowledged: AtomicU64,
}

#[derive(Serialize, Deserialize)]
struct Line {
    number: u64,
    action: Action,
    outcome: Option<Outcome>,
}

impl Ledger {
    pub fn create(directory: &Path) -> Self {
        let path = directory.join("ledger");
        let file = File::options().append(true).create_new(true).open(&path).expect("a ledger");
        Self { path, file: Mutex::new(file), actions: AtomicU64::new(0), acknowledged: AtomicU64::new(0) }
    }

    /// Notes a new action before it is sent, and returns its number.
    pub fn intend(&self, action: &Action) -> u64 {
        let number = self.actions.fetch_add(1, Ordering::SeqCst) + 1;
        self.repeat(number, action);
        number
    }

    /// Notes that an action is sent again.
    pub fn repeat(&self, number: u64, action: &Action) {
        self.write(&Line { number, action: action.clone(), outcome: None });
    }

    /// Notes an outcome durably.
    pub fn settle(&self, number: u64, action: &Action, outcome: &Outcome) {
        self.write(&Line { number, action: action.clone(), outcome: Some(outcome.clone()) });
        self.file.lock().sync_data().expect("a durable line");
        self.acknowledged.fetch_add(u64::from(outcome.is_acknowledged()), Ordering::SeqCst);
    }

    /// The number of acknowledged actions.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    fn write(&self, line: &Line) {
        let text = serde_json::to_string(line).expect("JSON") + "\n";
        self.file.lock().write_all(text.as_bytes()).expect("a line");
    }
}

/// An action with its outcome, if there is one.
#[derive(Clone, Debug)]
pub struct Entry {
    pub action: Action,
    pub outcome: Option<Outcome>,
    /// How often it was sent.
    pub attempts: u64,
}

impl Entry {
    pub fn is_acknowledged(&self) -> bool {
        self.outcome.as_ref().is_some_and(Outcome::is_acknowledged)
    }

    /// Whether the action may have happened or not: its last attempt is open, or an earlier one was.
    pub fn is_open(&self) -> bool {
        self.outcome
            .as_ref()
            .is_none_or(|outcome| outcome.is_open() || (self.attempts > 1 && !outcome.is_acknowledged()))
    }
}

/// The contents of a ledger.
#[derive(Default)]
pub struct Entries {
    pub all: BTreeMap<u64, Entry>,
    /// The actions of the lines that were read last.
    pub recent: BTreeSet<u64>,
    offset: u64,
}

impl Entries {
    /// Reads the lines that were added since the last call.
    pub fn update(&mut self, ledger: &Ledger) {
        let mut file = File::open(&ledger.path).expect("a ledger");
        file.seek(SeekFrom::Start(self.offset)).expect("a position");
        let mut text = String::new();
        self.offset += file.read_to_string(&mut text).expect("lines") as u64;
        self.recent.clear();
        for line in text.lines() {
            let Line { number, action, outcome } = serde_json::from_str(line).expect("a line of the ledger");
            self.recent.insert(number);
            let entry = self.all.entry(number).or_insert(Entry { action, outcome: None, attempts: 0 });
            match outcome {
                Some(outcome) => entry.outcome = Some(outcome),
                None => entry.attempts += 1,
            }
        }
    }

    /// All entries, or those of the last lines.
    pub fn selected(&self, is_deep: bool) -> impl Iterator<Item = (u64, &Entry)> {
        let is_selected = move |number: &u64| is_deep || self.recent.contains(number);
        self.all.iter().map(|(number, entry)| (*number, entry)).filter(move |(number, _)| is_selected(number))
    }
}
