//! What the clients of a run share: the ledger, and whether the server was killed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ledger::Ledger;

pub struct Stage {
    pub ledger: Ledger,
    /// Whether files fail on purpose, so that the server may end or refuse work.
    pub is_faulty: bool,
    killed: AtomicBool,
}

impl Stage {
    pub fn new(directory: &Path, is_faulty: bool) -> Self {
        Self { ledger: Ledger::create(directory), is_faulty, killed: AtomicBool::new(false) }
    }

    pub fn set_killed(&self, killed: bool) {
        self.killed.store(killed, Ordering::SeqCst);
    }

    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::SeqCst)
    }
}
