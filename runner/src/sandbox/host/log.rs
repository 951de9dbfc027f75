//! Text that a tool prints, up to a bound. The rest is dropped, and a mark says so.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use super::times::Times;
use crate::limits::Limits;
use crate::sandbox::executed::Printed;
use crate::sandbox::outcome::LOOKAHEAD_BYTES;

/// Bytes accepted in one write: the longest log that is kept. Python drops the part of a write that is not accepted,
/// and a secret across that place would not be found.
const PERMIT_BYTES: usize = Limits::MAX.stdio_bytes + LOOKAHEAD_BYTES;

/// stdout and stderr of one run, interleaved as they were written.
#[derive(Debug, Clone)]
pub struct Log {
    kept: Arc<Mutex<Kept>>,
    times: Times,
}

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    written: u64,
    /// Whether the next byte begins a line.
    begins_line: bool,
}

impl Log {
    pub fn new(bytes_max: usize, times: Times) -> Self {
        let kept = Kept { bytes: Vec::new(), bytes_max, written: 0, begins_line: true };
        Self { kept: Arc::new(Mutex::new(kept)), times }
    }

    /// Bytes that were printed, dropped ones included.
    pub fn bytes(&self) -> u64 {
        self.kept.lock().written
    }

    /// The text within the bound, with a mark when there is more.
    pub fn read_text(&self) -> String {
        let kept = self.kept.lock();
        let shown = kept.bytes.get(..kept.bytes_max).unwrap_or(&kept.bytes);
        let mark = if kept.is_cut() { Printed::CUT } else { "" };
        String::from_utf8_lossy(shown).into_owned() + mark
    }

    /// The text with some bytes beyond the bound.
    pub fn build_printed(&self, refusals: String) -> Printed {
        let kept = self.kept.lock();
        let (shown, rest) = kept.bytes.split_at(kept.measure_shown());
        let shown = String::from_utf8_lossy(shown);
        let text = shown.to_string() + &String::from_utf8_lossy(rest);
        Printed { text, shown: shown.len(), refusals }
    }

    /// Adds a line, after the end of a line that the tool has begun.
    pub fn write_line(&self, line: &str) {
        let begins_line = self.kept.lock().begins_line;
        let start = if begins_line { "" } else { "\n" };
        self.write(format!("{start}{line}\n").as_bytes());
    }

    fn write(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock();
        kept.begins_line = bytes.last().map_or(kept.begins_line, |last| *last == b'\n');
        let room = (kept.bytes_max + LOOKAHEAD_BYTES).saturating_sub(kept.bytes.len());
        kept.written += bytes.len() as u64;
        kept.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Kept {
    fn is_cut(&self) -> bool {
        self.bytes.len() > self.bytes_max
    }

    /// Bytes within the bound, up to the end of a character.
    fn measure_shown(&self) -> usize {
        let is_within = |at: &usize| self.bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        if !self.is_cut() {
            return self.bytes.len();
        }
        let begun = (1..4).map_while(|back| self.bytes_max.checked_sub(back - 1)).find(|at| !is_within(at));
        begun.unwrap_or(self.bytes_max)
    }
}

impl IsTerminal for Log {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Log {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink()) // only used by WASI 0.3, which is not linked
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Log {
    async fn ready(&mut self) {}
}

impl OutputStream for Log {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        let began = self.times.read_active();
        Log::write(self, &bytes);
        self.times.end_host_call(began);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT_BYTES)
    }
}
