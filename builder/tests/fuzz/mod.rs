//! The fuzz targets of the builder's parsers.

mod archives;
#[path = "../../../tests/harness/fuzz/mod.rs"]
mod harness;
mod messages;
mod packages;
mod targets;

use std::time::Duration;

pub use archives::{crate_archive, npm_archive};
use harness::{Target, require_rows};

/// Half the stack of a child process, which has 8 MiB.
const CHILD_STACK_BYTES: usize = 4 << 20;
/// Memory for each byte of TOML. The parser uses about 250 bytes for each byte of a text of brackets.
const CHILD_MEMORY_FACTOR: usize = 400;
/// Computing time of a child for an input, which its own limit ends.
const CHILD_CPU_MAX: Duration = Duration::from_secs(60);

impl Target {
    /// A parser that runs in a child.
    fn in_child(self) -> Self {
        let (stack_bytes, cpu_max) = (CHILD_STACK_BYTES, CHILD_CPU_MAX);
        Self { stack_bytes, cpu_max, memory_factor: CHILD_MEMORY_FACTOR, ..self }
    }
}

#[test]
fn every_target_has_a_row() {
    require_rows(&[include_str!("messages.rs"), include_str!("packages.rs"), include_str!("targets.rs")]);
}
