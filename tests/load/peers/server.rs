//! Servers of other projects that run the same echo tool.

use std::io::{BufRead, BufReader, PipeReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};

use super::sources;
use crate::harness::{Process, clean_environment};

/// A server on a free port of loopback, stopped when dropped.
pub struct PeerServer {
    pub address: SocketAddr,
    _process: Process,
    /// Kept open, since the server may write to it.
    _output: BufReader<PipeReader>,
}

impl PeerServer {
    /// `wasmtime serve` with its defaults: pooled memory, and a new instance per request. The cache in the home
    /// directory is off, which only affects the start. The tool uses Rust's standard library, which needs all of
    /// `wasi:cli`.
    pub fn wasmtime(folder: &Path) -> Self {
        let mut command = Command::new(folder.join("bin/wasmtime"));
        command.args(["serve", "-Scli", "-Ccache=n", "--addr", "127.0.0.1:0"]).arg(sources().join("serve.wasm"));
        Self::start(command, "Serving HTTP on http://127.0.0.1:")
    }

    /// workerd with its defaults: all requests share one isolate.
    pub fn workerd(folder: &Path) -> Self {
        let mut command = Command::new(folder.join("bin/workerd"));
        command.args(["serve", "--control-fd=1"]).arg(sources().join("worker.capnp"));
        Self::start(command, "\"port\":")
    }

    /// Starts a server. `announced` is the text before the port in its output.
    fn start(mut command: Command, announced: &str) -> Self {
        clean_environment(&mut command);
        let (output, input) = std::io::pipe().expect("a pipe");
        command.stdin(Stdio::null()).stdout(input.try_clone().expect("a pipe")).stderr(input);
        let process = Process::start(command);
        let mut output = BufReader::new(output);
        let mut said = String::new();
        let port = loop {
            let start = said.len();
            assert!(output.read_line(&mut said).expect("a line") > 0, "it did not start: {said}");
            if let Some((_, rest)) = said[start..].split_once(announced) {
                break rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|port| port.parse().ok());
            }
        };
        let port: u16 = port.unwrap_or_else(|| panic!("no port: {said}"));
        Self { address: (Ipv4Addr::LOCALHOST, port).into(), _process: process, _output: output }
    }
}
