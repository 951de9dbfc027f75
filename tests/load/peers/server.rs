//! Servers of others, each with the equal of the echo tool.

use std::io::{BufRead, BufReader, PipeReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};

use super::sources;
use crate::harness::{Process, clean_environment};

/// One that listens on a free port of loopback, until it is dropped.
pub struct PeerServer {
    pub address: SocketAddr,
    _process: Process,
    /// Kept open, since it may write to it.
    _output: BufReader<PipeReader>,
}

impl PeerServer {
    /// As it comes: memory from a pool, and a fresh instance for each request. Nothing is cached in the home directory;
    /// that would only shorten its start. The tool is made with Rust's standard library, which wants all of `wasi:cli`.
    pub fn wasmtime(folder: &Path) -> Self {
        let mut command = Command::new(folder.join("bin/wasmtime"));
        command.args(["serve", "-Scli", "-Ccache=n", "--addr", "127.0.0.1:0"]).arg(sources().join("serve.wasm"));
        Self::start(command, "Serving HTTP on http://127.0.0.1:")
    }

    /// As it comes: one isolate, which all requests share.
    pub fn workerd(folder: &Path) -> Self {
        let mut command = Command::new(folder.join("bin/workerd"));
        command.args(["serve", "--control-fd=1"]).arg(sources().join("worker.capnp"));
        Self::start(command, "\"port\":")
    }

    /// `announced` stands before the port, in what it prints when it is ready.
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
