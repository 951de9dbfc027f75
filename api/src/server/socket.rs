//! A client's socket with the times of [`ConnectionLimits`]: for the headers, between requests, and for taking the
//! answer. The times of a body are kept by [`super::body`].

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::limits::ConnectionLimits;
use super::seats::Seat;
use super::taking::Taking;
use super::timer::Timer;

/// Where a client was too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slow {
    /// It began a request and did not finish its headers.
    Headers,
    /// It sent nothing.
    Idle,
    /// It took nothing of its answer, or too little.
    Answer,
}

pub(super) struct Socket {
    tcp: TcpStream,
    seat: Arc<Seat>,
    header_time_max: Duration,
    idle_time_max: Duration,
    reading: Timer,
    writing: Taking,
    /// The time of waiting that `reading` measures.
    waiting_since: Option<u64>,
    /// Some bytes of the next request are there.
    has_begun: bool,
    slow: Option<Slow>,
    /// The status with which hyper wanted to refuse what is no request.
    refused: Option<u16>,
}

impl Socket {
    pub(super) fn new(tcp: TcpStream, seat: Arc<Seat>, limits: &ConnectionLimits) -> Self {
        let mut reading = Timer::default();
        // A new connection is made for a request, which should come at once.
        reading.start(limits.header_time_max);
        Self {
            tcp,
            waiting_since: seat.waiting_since(),
            seat,
            header_time_max: limits.header_time_max,
            idle_time_max: limits.idle_time_max,
            reading,
            writing: Taking::new(limits.answer_silence_max, limits.answer_bytes_per_second_min),
            has_begun: false,
            slow: None,
            refused: None,
        }
    }

    /// Why reading or writing has ended, if time was the reason.
    pub(super) fn slow(&self) -> Option<Slow> {
        self.slow
    }

    /// What hyper found wrong with bytes that never became a request. Its own answer, without a body and an id, was not
    /// sent.
    pub(super) fn refused(&self) -> Option<u16> {
        self.refused
    }

    /// Keeps back what is written while nobody is answered, which is a refusal of hyper's own.
    fn keep_back(&mut self, bytes: &[u8]) -> bool {
        if self.refused.is_none() && self.seat.waiting_since().is_none() {
            return false;
        }
        let status = bytes.get(9..12).and_then(|status| std::str::from_utf8(status).ok()?.parse().ok());
        self.refused = self.refused.or(status).or(Some(400));
        true
    }

    pub(super) fn into_tcp(self) -> TcpStream {
        self.tcp
    }

    /// Notes whether a new time of waiting has begun; false while a request is answered.
    fn is_waiting(&mut self, since: Option<u64>) -> bool {
        if since.is_some() && since != self.waiting_since {
            self.waiting_since = since;
            self.has_begun = false;
            self.reading.start(self.idle_time_max);
        }
        since.is_some()
    }

    fn note_bytes(&mut self) {
        if self.is_waiting(self.seat.waiting_since()) && !self.has_begun {
            self.has_begun = true;
            self.reading.start(self.header_time_max);
        }
    }

    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_waiting(self.seat.waiting_since()) {
            return Poll::Pending;
        }
        ready!(self.reading.poll(context));
        self.slow = Some(if self.has_begun { Slow::Headers } else { Slow::Idle });
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Passes on what a write gave, unless the client has kept it waiting for too long.
    fn poll_written(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            self.writing.note(*written.as_ref().unwrap_or(&0));
            return Poll::Ready(written);
        }
        ready!(self.writing.poll_patience(context));
        self.slow = Some(Slow::Answer);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.tcp).poll_read(context, buffer);
        if read.is_pending() {
            return self.poll_patience(context);
        }
        if buffer.filled().len() > before {
            self.note_bytes();
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.keep_back(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.tcp).poll_write(context, bytes);
        self.poll_written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.keep_back(slices.first().map_or(&[][..], |slice| slice)) {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let written = Pin::new(&mut self.tcp).poll_write_vectored(context, slices);
        self.poll_written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.tcp).poll_flush(context));
        // Only a buffer without a rest is flushed by hyper, so that all of an answer that is over has been sent.
        self.seat.flushed();
        // From here on the next request may be waited for, and who reads has looked before.
        match self.poll_patience(context) {
            Poll::Ready(late) => Poll::Ready(late),
            Poll::Pending => Poll::Ready(flushed),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
