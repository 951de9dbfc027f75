//! A connection that counts its bytes and bounds those received.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::byte_counts::ByteCounts;
use super::connect::Stream;

/// Bytes of a response besides its body: its head, chunk framing, and a few interim responses.
const OVERHEAD_BYTES_MAX: u64 = 256 << 10;

pub struct CountedStream {
    stream: Box<dyn Stream>,
    bytes: Arc<ByteCounts>,
    received_max: u64,
}

impl CountedStream {
    pub fn new(stream: Box<dyn Stream>, bytes: Arc<ByteCounts>, body_bytes_max: u64) -> Self {
        Self { stream, bytes, received_max: body_bytes_max.saturating_add(OVERHEAD_BYTES_MAX) }
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let more = (buffer.filled().len() - before) as u64;
        let received = self.bytes.received.fetch_add(more, Ordering::Relaxed) + more;
        let fits = received <= self.received_max;
        Poll::Ready(if fits { Ok(()) } else { Err(io::Error::other("the response exceeds its size limit")) })
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, buffer))?;
        self.bytes.sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
