//! What a tool prints, up to a bound; the rest is dropped, and said so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use super::times::Times;

const PERMIT_BYTES: usize = 64 << 10;
const CUT: &str = "\n[truncated]";

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
    cut: bool,
    written: u64,
}

impl Log {
    pub fn new(bytes_max: usize, times: Times) -> Self {
        let kept = Kept { bytes: Vec::new(), bytes_max, cut: false, written: 0 };
        Self { kept: Arc::new(Mutex::new(kept)), times }
    }

    /// All that was printed, also what was dropped.
    pub fn bytes(&self) -> u64 {
        self.kept().written
    }

    pub fn text(&self) -> String {
        let kept = self.kept();
        let mut text = String::from_utf8_lossy(&kept.bytes).into_owned();
        if kept.cut {
            text.push_str(CUT);
        }
        text
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, bytes: &[u8]) {
        let mut kept = self.kept();
        let room = kept.bytes_max - kept.bytes.len();
        kept.cut |= bytes.len() > room;
        kept.written += bytes.len() as u64;
        kept.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl IsTerminal for Log {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Log {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink()) // only WASI 0.3 asks for it, which is not linked
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
        let began = self.times.active();
        Log::write(self, &bytes);
        self.times.called(began);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT_BYTES)
    }
}
