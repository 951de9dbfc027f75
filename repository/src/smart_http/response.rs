//! The response of `git http-backend`: CGI headers, then a streamed body.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};
use tokio::process::ChildStdout;
use tokio::sync::oneshot;

use super::push_advice::PushAdvice;
use crate::error::Error;

/// Bytes of all header lines; git sends five short ones.
const HEADER_BYTES_MAX: usize = 8 * 1024;

/// The answer to one request.
#[derive(Debug)]
pub struct GitResponse {
    /// The HTTP status.
    pub status: u16,
    /// Header names and values as git sent them.
    pub headers: Vec<(String, String)>,
    pub body: GitBody,
}

/// The streamed body. Dropping it before its end stops git.
#[derive(Debug)]
pub struct GitBody {
    output: Output,
    /// Dropped with the body; the supervising task then stops git.
    client: Option<oneshot::Sender<()>>,
    stopped: Arc<AtomicBool>,
    /// Present in the answer to a push.
    advice: Option<PushAdvice>,
    /// Bytes that have passed the advice, and were not read yet.
    passed: Vec<u8>,
}

/// The source of a body.
#[derive(Debug)]
enum Output {
    Git(BufReader<ChildStdout>),
    /// An answer that was read to its end.
    Complete(Cursor<Vec<u8>>),
}

/// The status and the headers of a response.
pub(super) struct Head {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

impl GitResponse {
    /// The answer to a push, with a text for what git itself refuses.
    pub(super) fn with_advice(mut self, organization: &str) -> Self {
        self.body.advice = Some(PushAdvice::new(organization));
        self
    }
}

impl GitBody {
    pub(super) fn new(output: BufReader<ChildStdout>, client: oneshot::Sender<()>, stopped: Arc<AtomicBool>) -> Self {
        let output = Output::Git(output);
        Self { output, client: Some(client), stopped, advice: None, passed: Vec::new() }
    }

    /// Reads the answer to its end, and keeps at most `bytes_max` bytes.
    pub(super) async fn complete(mut self, bytes_max: u64) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let mut limited = tokio::io::AsyncReadExt::take(&mut self, bytes_max + 1);
        tokio::io::AsyncReadExt::read_to_end(&mut limited, &mut bytes).await.map_err(Error::io("read git's answer"))?;
        if bytes.len() as u64 > bytes_max {
            return Err(Error::BackendReply { detail: "its answer to a push is too long" });
        }
        self.output = Output::Complete(Cursor::new(bytes));
        Ok(self)
    }

    /// Reads bytes that have passed the advice.
    fn poll_advised(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while self.passed.is_empty() && buffer.remaining() > 0 {
            let (Output::Git(output), Some(advice)) = (&mut self.output, &mut self.advice) else { break };
            let read = ready!(Pin::new(&mut *output).poll_fill_buf(context))?;
            let bytes = read.len();
            if bytes == 0 {
                advice.finish(&mut self.passed);
                if self.passed.is_empty() {
                    return Poll::Ready(self.finish());
                }
            }
            advice.pass(read, &mut self.passed);
            Pin::new(output).consume(bytes);
        }
        let taken = self.passed.len().min(buffer.remaining());
        buffer.put_slice(&self.passed[..taken]);
        self.passed.drain(..taken);
        Poll::Ready(Ok(()))
    }

    /// Ends the body. If git was stopped, that is an error, so that the client does not take a part for the whole.
    fn finish(&mut self) -> io::Result<()> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "git was stopped before the end of its answer"));
        }
        // Tells the supervising task that git may end by itself.
        if let Some(client) = self.client.take() {
            client.send(()).unwrap_or_default();
        }
        Ok(())
    }
}

impl AsyncRead for GitBody {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.advice.is_some() && matches!(self.output, Output::Git(_)) {
            return self.poll_advised(context, buffer);
        }
        let before = buffer.filled().len();
        let polled = match &mut self.output {
            Output::Git(output) => Pin::new(output).poll_read(context, buffer),
            Output::Complete(bytes) => return Pin::new(bytes).poll_read(context, buffer),
        };
        match polled {
            Poll::Ready(Ok(())) if buffer.filled().len() == before && buffer.remaining() > 0 => {
                Poll::Ready(self.finish())
            }
            other => other,
        }
    }
}

/// Reads the headers up to the empty line.
pub(super) async fn read_head(output: &mut BufReader<ChildStdout>) -> Result<Head, Error> {
    let mut head = Head { status: 200, headers: Vec::new() };
    let mut bytes = 0;
    loop {
        let line = read_line(output, HEADER_BYTES_MAX - bytes).await?;
        bytes += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            return Ok(head);
        }
        head.add(line)?;
    }
}

async fn read_line(output: &mut BufReader<ChildStdout>, bytes_max: usize) -> Result<String, Error> {
    let mut line = Vec::new();
    let mut limited = tokio::io::AsyncReadExt::take(output, bytes_max as u64);
    limited.read_until(b'\n', &mut line).await.map_err(Error::io("read git's answer"))?;
    if line.last() != Some(&b'\n') {
        return Err(Error::BackendReply { detail: "its headers are incomplete or too long" });
    }
    String::from_utf8(line).map_err(|_| Error::BackendReply { detail: "a header is not UTF-8" })
}

impl Head {
    fn add(&mut self, line: &str) -> Result<(), Error> {
        let malformed = || Error::BackendReply { detail: "a header has no colon" };
        let (name, value) = line.split_once(':').ok_or_else(malformed)?;
        let value = value.trim();
        if !name.eq_ignore_ascii_case("status") {
            self.headers.push((name.to_owned(), value.to_owned()));
            return Ok(());
        }
        let status = value.split(' ').next().and_then(|number| number.parse().ok());
        self.status = status.ok_or(Error::BackendReply { detail: "its status is not a number" })?;
        Ok(())
    }
}
