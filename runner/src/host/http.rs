//! Outbound HTTP: requests leave as messages, and their answers wait until the
//! guest takes them. Whether a request may leave is decided where the message
//! arrives.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::task::{AbortHandle, JoinSet};
use wasmtime::Result;

use super::source::Source;
use crate::bindings::tool::lathe::tool::http as wire;
use crate::tape::Effect;
use crate::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpSender};

/// Requests that one run may have under way or unread; each may hold an answer
/// of some megabytes.
const OPEN_MAX: usize = 64;
/// Answers that nobody took, with those of requests that were one too many.
const UNREAD_MAX: usize = 2 * OPEN_MAX;

/// The exchanges of one run. Dropping it gives up what is under way.
pub struct Http {
    sender: HttpSender,
    next: u32,
    running: JoinSet<(u32, HttpAnswer)>,
    handles: BTreeMap<u32, AbortHandle>,
    answered: BTreeMap<u32, HttpAnswer>,
}

impl Http {
    pub fn new(sender: HttpSender) -> Self {
        Self { sender, next: 0, running: JoinSet::new(), handles: BTreeMap::new(), answered: BTreeMap::new() }
    }

    fn number(&mut self) -> u32 {
        let exchange = self.next;
        self.next = self.next.wrapping_add(1);
        exchange
    }

    fn start(&mut self, request: HttpRequest) -> u32 {
        let exchange = self.number();
        self.take_in();
        if self.handles.len() + self.answered.len() >= OPEN_MAX {
            let message = format!("a run has at most {OPEN_MAX} requests under way or unread");
            self.answered.insert(exchange, Err(HttpError::new(HttpErrorCode::Budget, message)));
            if self.answered.len() > UNREAD_MAX {
                self.answered.pop_first(); // whoever starts so many reads none
            }
            return exchange;
        }
        let answer = (self.sender)(request);
        let handle = self.running.spawn(async move { (exchange, answer.await) });
        self.handles.insert(exchange, handle);
        exchange
    }

    /// Takes in the next answer; `false` when none is under way.
    async fn advance(&mut self) -> bool {
        match self.running.join_next().await {
            None => false,
            Some(Ok((exchange, answer))) => {
                self.keep(exchange, answer);
                true
            }
            Some(Err(_)) => true, // given up, or a fault that `finish` tells
        }
    }

    fn keep(&mut self, exchange: u32, answer: HttpAnswer) {
        if self.handles.remove(&exchange).is_some() {
            self.answered.insert(exchange, answer);
        }
    }

    /// Takes in what is there, and forgets what was given up.
    fn take_in(&mut self) {
        while let Some(ended) = self.running.try_join_next() {
            if let Ok((exchange, answer)) = ended {
                self.keep(exchange, answer);
            }
        }
    }

    async fn wait(&mut self, exchanges: &[u32], timeout: Option<Duration>) -> Vec<u32> {
        self.take_in();
        if exchanges.is_empty() {
            return Vec::new();
        }
        let one = async { while !exchanges.iter().any(|exchange| self.is_over(*exchange)) && self.advance().await {} };
        match timeout {
            None => one.await,
            // What is late is taken in by the next call.
            Some(timeout) => drop(tokio::time::timeout(timeout, one).await),
        }
        exchanges.iter().copied().filter(|exchange| self.is_over(*exchange)).collect()
    }

    /// An exchange that never was is over too, so that nobody waits for it.
    fn is_over(&self, exchange: u32) -> bool {
        !self.handles.contains_key(&exchange)
    }

    async fn finish(&mut self, exchange: u32) -> HttpAnswer {
        while self.handles.contains_key(&exchange) && self.advance().await {}
        let unknown = || HttpError::new(HttpErrorCode::InvalidRequest, "there is no such request under way");
        self.answered.remove(&exchange).unwrap_or_else(|| Err(unknown()))
    }

    fn cancel(&mut self, exchange: u32) {
        self.answered.remove(&exchange);
        if let Some(handle) = self.handles.remove(&exchange) {
            handle.abort();
        }
    }
}

impl wire::Host for super::Called<'_> {
    async fn start(&mut self, request: wire::Request) -> Result<u32> {
        let wire::Request { method, url, headers, body } = request;
        let request = HttpRequest { method, url, headers, body };
        self.effect(|_| Effect::Started { request: Box::new((&request).into()) })?;
        let super::Host { source, http, .. } = &mut **self;
        Ok(match source {
            Source::World(_) => http.start(request),
            Source::Strict(_) => http.number(),
            Source::Free(free) => {
                let exchange = http.number();
                free.request(exchange, &(&request).into());
                exchange
            }
        })
    }

    async fn wait(&mut self, exchanges: Vec<u32>, timeout_ms: Option<u64>) -> Result<Vec<u32>> {
        let answered = match &mut self.source {
            Source::World(_) => self.http.wait(&exchanges, timeout_ms.map(Duration::from_millis)).await,
            Source::Strict(strict) => match strict.next() {
                Some(Effect::Awaited { answered, .. }) => answered.to_vec(),
                _ => Vec::new(), // which is not what the tape has
            },
            Source::Free(_) => exchanges.clone(), // all answers are there at once
        };
        let told = answered.as_slice().into();
        self.effect(|_| Effect::Awaited { exchanges: exchanges.into(), answered: told })?;
        Ok(answered)
    }

    async fn finish(&mut self, exchange: u32) -> Result<Result<wire::Response, wire::HttpError>> {
        let answer = match &mut self.source {
            Source::World(_) => self.http.finish(exchange).await,
            Source::Strict(strict) => match strict.answer(exchange) {
                Some(answer) => answer,
                None => Err(HttpError::new(HttpErrorCode::Protocol, "the tape has no such answer here")),
            },
            Source::Free(free) => free.finish(exchange),
        };
        self.effect(|bodies| Effect::Finished { exchange, answer: Box::new(bodies.keep(&answer)) })?;
        let answer =
            answer.map(|found| wire::Response { status: found.status, headers: found.headers, body: found.body });
        Ok(answer.map_err(|error| wire::HttpError { code: error.code.into(), message: error.message }))
    }

    async fn cancel(&mut self, exchange: u32) -> Result<()> {
        if self.source.is_world() {
            self.http.cancel(exchange);
        }
        self.effect(|_| Effect::Cancelled { exchange })
    }
}

impl From<HttpErrorCode> for wire::ErrorCode {
    fn from(code: HttpErrorCode) -> Self {
        match code {
            HttpErrorCode::Denied => Self::Denied,
            HttpErrorCode::Budget => Self::Budget,
            HttpErrorCode::InvalidRequest => Self::InvalidRequest,
            HttpErrorCode::RequestTooLarge => Self::RequestTooLarge,
            HttpErrorCode::ResponseTooLarge => Self::ResponseTooLarge,
            HttpErrorCode::Timeout => Self::Timeout,
            HttpErrorCode::Unreachable => Self::Unreachable,
            HttpErrorCode::Tls => Self::Tls,
            HttpErrorCode::Protocol => Self::Protocol,
            HttpErrorCode::Simulated => Self::Simulated,
        }
    }
}
