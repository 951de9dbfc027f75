//! A client's socket as hyper sees it: reports to the connection limiter what happens on it, and keeps two things from
//! hyper and from the client: heads that a proxy could read differently ([`super::heads`]), and hyper's own refusals.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::heads::Heads;
use super::limiter::{Activity, Event, Phase};

pub(super) struct Socket {
    tcp: TcpStream,
    activity: Activity,
    heads: Heads,
    /// The status with which bytes that are no request are refused.
    refused: Option<u16>,
    /// Whether hyper was polled after a head was refused, so that earlier responses are written.
    has_yielded: bool,
}

impl Socket {
    pub(super) fn new(tcp: TcpStream, activity: Activity) -> Self {
        Self { tcp, activity, heads: Heads::default(), refused: None, has_yielded: false }
    }

    /// The status with which bytes that are no request are refused. Hyper's own refusal, which has neither a body nor an
    /// id, was not sent.
    pub(super) const fn refused_status(&self) -> Option<u16> {
        self.refused
    }

    pub(super) fn into_tcp(self) -> TcpStream {
        self.tcp
    }

    /// Closes the connection with a reset. Bytes that the client has not read are discarded instead of staying in the
    /// kernel until the client reads them.
    pub(super) fn reset(self) {
        if let Err(error) = SockRef::from(&self.tcp).set_linger(Some(Duration::ZERO)) {
            tracing::debug!(%error, "cannot set an option of the socket");
        }
    }

    /// Withholds bytes that are written while no request is answered, which are a refusal of hyper's own.
    fn withhold(&mut self, bytes: &[u8]) -> bool {
        if self.refused.is_none()
            && self.activity.state().is_none_or(|state| matches!(state.phase, Phase::Responding | Phase::Flushing))
        {
            return false;
        }
        let status = bytes.get(9..12).and_then(|status| std::str::from_utf8(status).ok()?.parse().ok());
        self.refused = self.refused.or(status).or(Some(400));
        true
    }

    /// Ends the reading of a connection with a refused head, after the responses to the requests before it are sent. Hyper
    /// asks for more bytes only when it has read all bytes before that head.
    fn poll_refused(&mut self, context: &Context<'_>) -> Poll<io::Result<()>> {
        let Some(state) = self.activity.state() else { return Poll::Pending };
        if state.phase == Phase::Flushing && !self.has_yielded {
            // Hyper writes after it has read. The next poll finds either nothing left to be sent or a blocked write.
            self.has_yielded = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if state.is_write_blocked() || state.phase == Phase::Responding {
            return Poll::Pending;
        }
        self.refused = self.heads.refusal();
        Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
    }

    fn report_write(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(Ok(bytes)) => self.activity.report(Event::Written(*bytes)),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.report(Event::WriteBlocked),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.heads.are_refused() {
            return self.poll_refused(context);
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.tcp).poll_read(context, buffer))?;
        let received = buffer.filled().len() - before;
        let passed = self.heads.pass(&buffer.filled()[before..]);
        buffer.set_filled(before + passed);
        if passed > 0 {
            self.activity.report(Event::Received);
        }
        // No bytes at all would be the end of the connection.
        if passed == 0 && received > 0 { self.poll_refused(context) } else { Poll::Ready(Ok(())) }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.withhold(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.tcp).poll_write(context, bytes);
        self.report_write(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.withhold(slices.first().map_or(&[][..], |slice| slice)) {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        let written = Pin::new(&mut self.tcp).poll_write_vectored(context, slices);
        self.report_write(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.tcp).poll_flush(context))?;
        // Hyper flushes the socket only when it has written all that it has.
        self.activity.report(Event::Flushed);
        if self.heads.are_refused() {
            // The next read may end the connection.
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    /// Leaves the connection open: a refusal may follow, and the client has to be able to read it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
