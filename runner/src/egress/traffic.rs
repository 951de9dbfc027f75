//! A connection whose bytes are counted and bounded, whatever they say.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connect::Stream;
use super::trip::Wire;

/// Beside an answer's body: its head, the framing of its parts, and interim answers, of which there may be a few.
const BESIDE_BODY_BYTES_MAX: u64 = 256 << 10;

pub struct Traffic {
    stream: Box<dyn Stream>,
    wire: Arc<Wire>,
    received_max: u64,
}

impl Traffic {
    pub fn count(stream: Box<dyn Stream>, wire: Arc<Wire>, body_bytes_max: u64) -> Self {
        Self { stream, wire, received_max: body_bytes_max.saturating_add(BESIDE_BODY_BYTES_MAX) }
    }
}

impl AsyncRead for Traffic {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let more = (buffer.filled().len() - before) as u64;
        let received = self.wire.received.fetch_add(more, Ordering::Relaxed) + more;
        let fits = received <= self.received_max;
        Poll::Ready(if fits { Ok(()) } else { Err(io::Error::other("the answer does not end")) })
    }
}

impl AsyncWrite for Traffic {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, buffer))?;
        self.wire.sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
