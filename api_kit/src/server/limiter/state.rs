//! The state of one connection, and the time that the connection may stay in it.

use tokio::time::Instant;

use super::write_timeout::WriteTimeout;
use crate::server::limits::ConnectionLimits;
use crate::server::stream_owner::StreamOwner;

/// An event that a part of a connection reports.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) enum Event {
    /// Bytes arrived.
    Received,
    /// A head is complete, and its request is being answered.
    RequestBegan,
    /// The response is a listening stream.
    Listens(StreamOwner),
    /// The body of a response has ended. Its last bytes may be unsent.
    ResponseEnded,
    /// All bytes so far are sent.
    Flushed,
    /// The socket takes no more bytes.
    WriteBlocked,
    /// The socket took this many bytes.
    Written(usize),
    /// Whether the server waits for bytes of a body.
    BodyAwaited(bool),
    /// Whether the client has yet to send bytes of a body.
    BodyOwed(bool),
}

/// Why the limiter ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum EndReason {
    /// Another connection takes its place.
    Evicted { is_stalled: bool },
    /// The client began a request and did not finish its headers.
    SlowHeaders,
    /// The client sent nothing.
    Idle,
    /// The client read nothing of its response, or too little.
    SlowResponse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Phase {
    /// No byte has arrived on the connection.
    New,
    /// No byte of the next request has arrived.
    Idle,
    /// Part of a head has arrived.
    Head,
    /// A request is being answered.
    Responding,
    /// The response has ended, and its last bytes may be unsent.
    Flushing,
}

/// The state of one connection.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct ConnectionState {
    pub(in crate::server) phase: Phase,
    /// The beginning of the phase, or the last write after the end of a response.
    since: Instant,
    writing: WriteTimeout,
    body_awaited_since: Option<Instant>,
    pub(in crate::server) owes_body: bool,
    /// The owner of the listening stream that is the response.
    listens: Option<StreamOwner>,
}

impl ConnectionState {
    pub(super) fn new(now: Instant) -> Self {
        let writing = WriteTimeout::default();
        Self { phase: Phase::New, since: now, writing, body_awaited_since: None, owes_body: false, listens: None }
    }

    pub(super) fn apply(&mut self, event: Event, now: Instant, limits: &ConnectionLimits) {
        match event {
            Event::Received => match self.phase {
                Phase::New | Phase::Idle => self.enter(Phase::Head, now),
                Phase::Flushing if !self.is_write_blocked() => self.enter(Phase::Head, now),
                Phase::Head | Phase::Responding | Phase::Flushing => {}
            },
            Event::RequestBegan => self.enter(Phase::Responding, now),
            Event::Listens(owner) => self.listens = Some(owner),
            Event::ResponseEnded => {
                self.listens = None;
                self.enter(Phase::Flushing, now);
            }
            Event::Flushed if self.phase == Phase::Flushing => self.enter(Phase::Idle, now),
            Event::Flushed => {}
            Event::WriteBlocked => self.writing.note_blocked(now),
            Event::Written(bytes) => {
                self.writing.note_written(bytes, now, limits);
                if self.phase == Phase::Flushing {
                    self.since = now;
                }
            }
            Event::BodyAwaited(awaited) => self.body_awaited_since = awaited.then_some(now),
            Event::BodyOwed(owed) => self.owes_body = owed,
        }
    }

    const fn enter(&mut self, phase: Phase, now: Instant) {
        (self.phase, self.since) = (phase, now);
    }

    pub(in crate::server) const fn is_write_blocked(&self) -> bool {
        self.writing.blocked_since.is_some()
    }

    /// The moment since which the server waits for its client to read bytes of a response or send bytes of a body.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        self.writing.blocked_since.into_iter().chain(self.body_awaited_since).min()
    }

    /// The owner of a listening stream, and the moment since which it goes on.
    pub(super) fn listening(&self) -> Option<(StreamOwner, Instant)> {
        self.listens.map(|owner| (owner, self.since))
    }

    /// The moment since which the server waits for the next request.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        (self.phase != Phase::Responding).then_some(self.since)
    }

    /// The moment since which no byte of a request has arrived, unless a request is being answered.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        matches!(self.phase, Phase::New | Phase::Idle).then_some(self.since)
    }

    /// Why the connection has to end now, if it has to. A slow body ends its request instead ([`crate::server::body`]).
    /// `stalled` connections share the time of a crowded address.
    pub(super) fn find_end_reason(&self, now: Instant, limits: &ConnectionLimits, stalled: usize) -> Option<EndReason> {
        if self.is_write_blocked() {
            return self.writing.is_over(now, limits, stalled).then_some(EndReason::SlowResponse);
        }
        let (time_max, reason) = match self.phase {
            Phase::New => (limits.header_time_max, EndReason::Idle),
            Phase::Head => (limits.header_time_max, EndReason::SlowHeaders),
            Phase::Idle | Phase::Flushing => (limits.idle_time_max, EndReason::Idle),
            Phase::Responding => return None,
        };
        (now.duration_since(self.since) >= time_max).then_some(reason)
    }
}
