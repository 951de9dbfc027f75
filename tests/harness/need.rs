//! Programs and services that tests need besides Cargo, git and a C compiler.
//!
//! A test without a program that it needs is recorded and skipped. At its end, the test binary lists each missing
//! program with the command that installs it and the skipped tests. In CI such a test fails.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Once;

use parking_lot::Mutex;

/// Skipped tests, by what is missing.
static MISSING: Mutex<BTreeMap<Need, BTreeSet<String>>> = Mutex::new(BTreeMap::new());
static AT_EXIT: Once = Once::new();

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// What is needed, as a noun phrase.
    pub what: &'static str,
    /// How to install it.
    pub command: &'static str,
}

impl Need {
    /// Returns what was found. Otherwise records the current test as skipped.
    ///
    /// # Panics
    /// In CI, when nothing was found.
    #[track_caller]
    pub fn require<T>(self, found: Option<T>) -> Option<T> {
        if found.is_none() {
            assert!(std::env::var_os("CI").is_none(), "this machine lacks {}: {}", self.what, self.command);
            AT_EXIT.call_once(|| assert_eq!(atexit(list), 0, "the list of what is missing is not registered"));
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            MISSING.lock().entry(self).or_default().insert(test);
        }
        found
    }
}

unsafe extern "C" {
    /// A function of the C library, since Rust's test harness has no hook at its end.
    safe fn atexit(function: extern "C" fn()) -> i32;
}

/// Writes to stderr directly, since the harness captures the output of tests.
extern "C" fn list() {
    let missing = MISSING.lock();
    let lines = missing.iter().map(|(Need { what, command }, tests)| {
        let tests = tests.iter().map(String::as_str).collect::<Vec<_>>().join("\n    ");
        format!("\n  {what}. To get it: {command}\n    {tests}\n")
    });
    let text =
        format!("\nThese tests did nothing, since this machine lacks what they need:\n{}", lines.collect::<String>());
    let _ = std::io::stderr().write_all(text.as_bytes());
}
