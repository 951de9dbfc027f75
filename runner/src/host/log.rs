//! What a tool prints, up to a bound; the rest is dropped, and said so.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

const PERMIT_BYTES: usize = 64 << 10;
const CUT: &str = "\n[truncated]";

/// stdout and stderr of one run, interleaved as they were written.
#[derive(Debug, Clone)]
pub struct Log(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    cut: bool,
    written: u64,
}

impl Log {
    pub fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Mutex::new(Kept { bytes: Vec::new(), bytes_max, cut: false, written: 0 })))
    }

    /// All that was printed, also what was dropped.
    pub fn bytes(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).written
    }

    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from_utf8_lossy(&kept.bytes).into_owned();
        if kept.cut {
            text.push_str(CUT);
        }
        text
    }

    fn write(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        Log::write(self, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT_BYTES)
    }
}
