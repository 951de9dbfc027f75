//! The effects of a run on its environment, and the answers that the run receives.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::body::Body;
use super::exchange::{TapedAnswer, TapedRequest, answer_bytes};
use crate::interaction::Reply;

/// Effects that are kept as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub wall_reads: u64,
    pub monotonic_reads: u64,
    pub random_bytes: u64,
    pub printed_bytes: u64,
}

/// One action of a run, with the answer that the run received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// The run waited for several pollables.
    Polled { of: u32, ready: Box<[u32]> },
    /// The run waited for one pollable.
    Blocked,
    /// The run asked whether a pollable is ready.
    ReadinessChecked { is_ready: bool },
    /// The run sent a status event.
    StatusSent { event: Body, is_accepted: bool },
    /// The run started an HTTP request. Requests are numbered from zero.
    RequestStarted { request: Box<TapedRequest> },
    /// The run waited for responses.
    ResponsesAwaited { exchanges: Box<[u32]>, answered: Box<[u32]> },
    /// The run took a response.
    ResponseTaken { exchange: u32, answer: Box<TapedAnswer> },
    /// The run cancelled a request.
    RequestCancelled { exchange: u32 },
    /// The run added a content block, which is kept as JSON.
    ContentAdded { block: Body, is_accepted: bool },
    /// The run asked questions, which are kept as JSON.
    InputRequested { questions: Body, reply: Box<Reply> },
}

impl Counts {
    /// Returns what was counted after the earlier reading.
    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self {
            wall_reads: self.wall_reads.saturating_sub(earlier.wall_reads),
            monotonic_reads: self.monotonic_reads.saturating_sub(earlier.monotonic_reads),
            random_bytes: self.random_bytes.saturating_sub(earlier.random_bytes),
            printed_bytes: self.printed_bytes.saturating_sub(earlier.printed_bytes),
        }
    }
}

impl Effect {
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::Polled { ready, .. } => size_of_val::<[u32]>(ready),
            Self::RequestStarted { request } => request.heap_bytes(),
            Self::ResponsesAwaited { exchanges, answered } => {
                size_of_val::<[u32]>(exchanges) + size_of_val::<[u32]>(answered)
            }
            Self::ResponseTaken { answer, .. } => answer_bytes(answer),
            Self::Blocked | Self::ReadinessChecked { .. } | Self::RequestCancelled { .. } => 0,
            Self::StatusSent { event, .. } => event.heap_bytes(),
            Self::ContentAdded { block, .. } => block.heap_bytes(),
            Self::InputRequested { questions, reply } => questions.heap_bytes() + reply_bytes(reply),
        }
    }
}

fn reply_bytes(reply: &Reply) -> usize {
    match reply {
        Reply::Answered(results) => results.iter().map(|result| size_of::<String>() + result.len()).sum(),
        Reply::Refused(refused) => refused.message.len(),
        Reply::Open => 0,
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Polled { of, ready } => write!(formatter, "waited for {of} pollables; ready: {ready:?}"),
            Self::Blocked => formatter.write_str("waited for one pollable"),
            Self::ReadinessChecked { is_ready: true } => formatter.write_str("asked whether a pollable is ready: yes"),
            Self::ReadinessChecked { is_ready: false } => formatter.write_str("asked whether a pollable is ready: no"),
            Self::StatusSent { event, is_accepted: true } => write!(formatter, "sent the status event {event}"),
            Self::StatusSent { event, is_accepted: false } => {
                write!(formatter, "sent the status event {event}, which was refused")
            }
            Self::RequestStarted { request } => write!(formatter, "requested {request}"),
            Self::ResponsesAwaited { exchanges, answered } => {
                write!(formatter, "waited for the responses to requests {exchanges:?}; received: {answered:?}")
            }
            Self::ResponseTaken { exchange, answer } => match answer.as_ref() {
                Ok(response) => {
                    let (status, length) = (response.status, response.body.length());
                    write!(formatter, "received status {status} and {length} bytes for request {exchange}")
                }
                Err(error) => write!(
                    formatter,
                    "received the error {} for request {exchange}: {}",
                    error.code.as_str(),
                    error.message
                ),
            },
            Self::RequestCancelled { exchange } => write!(formatter, "cancelled request {exchange}"),
            Self::ContentAdded { block, is_accepted: true } => write!(formatter, "added the content block {block}"),
            Self::ContentAdded { block, is_accepted: false } => {
                write!(formatter, "added the content block {block}, which was refused")
            }
            Self::InputRequested { questions, reply } => {
                write!(formatter, "asked {questions}; ")?;
                match &**reply {
                    Reply::Answered(results) => write!(formatter, "received {}", results.join(", ")),
                    Reply::Refused(refused) => write!(formatter, "was refused: {}", refused.message),
                    Reply::Open => formatter.write_str("ended without an answer"),
                }
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wall_reads, monotonic_reads, random_bytes, printed_bytes } = self;
        write!(
            formatter,
            "read the wall clock {wall_reads} times and the monotonic clock {monotonic_reads} times, took {random_bytes} \
             random bytes, printed {printed_bytes} bytes"
        )
    }
}
