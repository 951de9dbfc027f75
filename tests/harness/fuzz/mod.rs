//! Fuzzes the parsers of an author's bytes with mutated and grown inputs.
//!
//! A target runs on a thread with half the stack of the server's threads, or of a child process if a child parses. Its
//! memory may be a multiple of the input, and so may the sum of its allocations; its computing time has a bound far above
//! what a linear parser needs. Unbounded recursion overflows the stack; unbounded memory and cost beyond the length of the
//! input fail the test.
//! `LATHE_FUZZ_SECONDS` is the time of each target, `LATHE_FUZZ_SEED` repeats a run.

mod memory;
mod mutate;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

/// Half the stack of the server's threads, which have 2 MiB.
const STACK_BYTES: usize = 1 << 20;
/// Bytes that a parser may use for any input, such as a decompressor's tables and first buffers.
const MEMORY_BYTES_MIN: usize = 4 << 20;

/// Allocations of a parser one after the other, as a multiple of the memory that it may use at a time. Parsers that read
/// their input again for each of its parts exceed it a thousandfold.
const TOTAL_FACTOR: usize = 16;
/// Computing time for an input, of up to 256 KiB. In a debug build, parsers need a tenth of it.
const CPU_MAX: Duration = Duration::from_secs(10);

/// A parser and its bounds.
pub struct Target {
    pub name: &'static str,
    pub seeds: Vec<Vec<u8>>,
    /// Bytes of memory for each byte of input.
    pub memory_factor: usize,
    pub stack_bytes: usize,
    pub cpu_max: Duration,
    pub parse: fn(&[u8]),
}

impl Target {
    pub fn new(name: &'static str, seeds: &[&str], parse: fn(&[u8])) -> Self {
        let seeds = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
        Self { name, seeds, memory_factor: 200, stack_bytes: STACK_BYTES, cpu_max: CPU_MAX, parse }
    }

    /// Tries inputs until the time is up.
    pub fn run(self) {
        let thread = std::thread::Builder::new().name(self.name.into()).stack_size(self.stack_bytes);
        let trying = thread.spawn(move || self.try_inputs()).expect("a thread");
        if let Err(problem) = trying.join() {
            std::panic::resume_unwind(problem);
        }
    }

    fn try_inputs(&self) {
        let seed = setting("LATHE_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
        let time = Duration::from_secs(setting("LATHE_FUZZ_SECONDS").unwrap_or(1));
        // Bypasses the capture of a test's output, since a stack overflow ends the process immediately.
        drop(writeln!(std::io::stderr(), "{}: LATHE_FUZZ_SEED={seed}", self.name));
        let (mut rng, start, mut count) = (Rng::with_seed(seed), Instant::now(), 0_u64);
        while count < 100 || start.elapsed() < time {
            self.try_one(&mutate::input(&mut rng, &self.seeds), seed);
            count += 1;
        }
        println!("{}: {count} inputs, LATHE_FUZZ_SEED={seed}", self.name);
    }

    fn try_one(&self, input: &[u8], seed: u64) {
        let (ended, cost) = memory::cost_of(|| catch_unwind(AssertUnwindSafe(|| (self.parse)(input))));
        let start = String::from_utf8_lossy(&input[..input.len().min(300)]).into_owned();
        let about = || format!("{}, {} bytes, LATHE_FUZZ_SEED={seed}: {start:?}", self.name, input.len());
        assert!(ended.is_ok(), "it panics on {}", about());
        let allowed = MEMORY_BYTES_MIN + self.memory_factor * input.len();
        assert!(cost.peak <= allowed, "it takes {cost:?}, and {allowed} bytes are allowed, for {}", about());
        let is_linear = cost.total <= TOTAL_FACTOR * allowed && cost.cpu <= self.cpu_max;
        assert!(is_linear, "it costs {cost:?} for {}", about());
    }
}

/// The test of a crate that calls [`require_rows`].
const ROWS: &str = "every_target_has_a_row";

/// Requires that the documents have a row for each target of these files.
pub fn require_rows(files: &[&str]) {
    let documents = include_str!("../../../docs/explanation/parsers.md");
    let names =
        files.iter().flat_map(|file| file.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next()));
    let missing: Vec<_> = names.filter(|name| *name != ROWS && !documents.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/explanation/parsers.md lacks {missing:?}");
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
