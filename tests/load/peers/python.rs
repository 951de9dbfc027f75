//! The same echo tool as one CPython process per call.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::time::Instant;

use super::sources;
use crate::load::client::Caller;

const INPUT: &[u8] = br#"{"text":"hello"}"#;

#[derive(Clone)]
pub struct Python {
    interpreter: PathBuf,
    script: PathBuf,
}

impl Python {
    /// The interpreter itself, since the program in `PATH` may be a wrapper script.
    pub fn find() -> Self {
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable, end='')"]).output();
        let said = String::from_utf8(asked.expect("python3 is on the path").stdout).expect("a path in UTF-8");
        Self { interpreter: said.into(), script: sources().join("tool.py") }
    }
}

impl Caller for Python {
    fn answered(&mut self) -> (Duration, String) {
        let started = Instant::now();
        let mut command = Command::new(&self.interpreter);
        command.arg("-I").arg(&self.script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        child.stdin.take().expect("a pipe").write_all(INPUT).expect("an input is taken");
        let output = child.wait_with_output().expect("an end");
        let time = started.elapsed();
        assert!(output.status.success(), "{output:?}");
        (time, String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
