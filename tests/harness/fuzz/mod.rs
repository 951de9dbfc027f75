//! Fuzzes the parsers of an author's bytes with mutated and grown inputs.
//!
//! A target runs on a thread with half the stack of the server's threads, or of a child process if a child parses. Its
//! memory may be a multiple of the input, and so may the sum of its allocations; its computing time has a bound far above
//! what a linear parser needs. Unbounded recursion overflows the stack; unbounded memory and cost beyond the length of the
//! input fail the test.
//! `LATHE_FUZZ_SECONDS` is the time of each target, `LATHE_FUZZ_SEED` repeats a run.

mod archives;
mod memory;
mod messages;
mod mutate;
mod packages;
mod repositories;
mod targets;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

pub use archives::{crate_archive, npm_archive};

/// Half the stack of the server's threads, which have 2 MiB.
const STACK_BYTES: usize = 1 << 20;
/// Half the stack of a child process, which has 8 MiB.
const CHILD_STACK_BYTES: usize = 4 << 20;
/// Memory for each byte of TOML. The parser uses about 250 bytes for each byte of a text of brackets.
const CHILD_MEMORY_FACTOR: usize = 400;
/// Bytes that a parser may use for any input, such as a decompressor's tables and first buffers.
const MEMORY_BYTES_MIN: usize = 4 << 20;

/// Allocations of a parser one after the other, as a multiple of the memory that it may use at a time. Parsers that read
/// their input again for each of its parts exceed it a thousandfold.
const TOTAL_FACTOR: usize = 16;
/// Computing time for an input, of up to 256 KiB. In a debug build, parsers need a tenth of it.
const CPU_MAX: Duration = Duration::from_secs(10);
/// The same for a child, which its own limit ends.
const CHILD_CPU_MAX: Duration = Duration::from_secs(60);

/// A parser and its bounds.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    /// Bytes of memory for each byte of input.
    memory_factor: usize,
    stack_bytes: usize,
    cpu_max: Duration,
    parse: fn(&[u8]),
}

impl Target {
    fn new(name: &'static str, seeds: &[&str], parse: fn(&[u8])) -> Self {
        let seeds = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
        Self { name, seeds, memory_factor: 200, stack_bytes: STACK_BYTES, cpu_max: CPU_MAX, parse }
    }

    /// A parser that runs in a child.
    fn in_child(self) -> Self {
        let (stack_bytes, cpu_max) = (CHILD_STACK_BYTES, CHILD_CPU_MAX);
        Self { stack_bytes, cpu_max, memory_factor: CHILD_MEMORY_FACTOR, ..self }
    }

    /// Tries inputs until the time is up.
    fn run(self) {
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

#[test]
fn every_target_is_in_the_documents() {
    let documents = include_str!("../../../docs/explanation/parsers.md");
    let files = [
        include_str!("messages.rs"),
        include_str!("packages.rs"),
        include_str!("repositories.rs"),
        include_str!("targets.rs"),
    ];
    let names =
        files.iter().flat_map(|file| file.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next()));
    let missing: Vec<_> = names.filter(|name| !documents.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/explanation/parsers.md lacks {missing:?}");
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
