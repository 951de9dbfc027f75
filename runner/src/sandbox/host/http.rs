//! Outbound HTTP of one run. Requests leave the sandbox as messages, and responses are kept until the guest takes them.
//! The server decides whether a request may be sent.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::task::{AbortHandle, JoinSet};

use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest, HttpSender};

/// Requests of one run that are in flight or whose responses are not taken. Each response may have some megabytes.
const OPEN_MAX: usize = 64;
/// Answers that the guest has not taken, refusals of requests beyond [`OPEN_MAX`] included.
const UNREAD_MAX: usize = 2 * OPEN_MAX;

/// The HTTP exchanges of one run. Dropping it cancels requests in flight.
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

    /// The number of the next request.
    pub fn take_number(&mut self) -> u32 {
        let exchange = self.next;
        self.next = self.next.wrapping_add(1);
        exchange
    }

    pub fn start(&mut self, request: HttpRequest) -> u32 {
        let exchange = self.take_number();
        self.collect();
        if self.handles.len() + self.answered.len() >= OPEN_MAX {
            let message =
                format!("a run may have {OPEN_MAX} requests in flight or with responses that it has not taken");
            self.answered.insert(exchange, Err(HttpError::new(HttpErrorCode::Budget, message)));
            if self.answered.len() > UNREAD_MAX {
                self.answered.pop_first(); // a guest that starts this many does not read answers
            }
            return exchange;
        }
        let answer = (self.sender)(request);
        let handle = self.running.spawn(async move { (exchange, answer.await) });
        self.handles.insert(exchange, handle);
        exchange
    }

    /// Waits for the next answer; `false` when no request is in flight.
    async fn advance(&mut self) -> bool {
        match self.running.join_next().await {
            None => false,
            Some(Ok((exchange, answer))) => {
                self.keep(exchange, answer);
                true
            }
            Some(Err(_)) => true, // cancelled, or a fault that `finish` reports
        }
    }

    fn keep(&mut self, exchange: u32, answer: HttpAnswer) {
        if self.handles.remove(&exchange).is_some() {
            self.answered.insert(exchange, answer);
        }
    }

    /// Keeps the answers that have arrived.
    fn collect(&mut self) {
        while let Some(ended) = self.running.try_join_next() {
            if let Ok((exchange, answer)) = ended {
                self.keep(exchange, answer);
            }
        }
    }

    /// Waits until one of the exchanges has ended, and returns those that have.
    pub async fn wait(&mut self, exchanges: &[u32], timeout: Option<Duration>) -> Vec<u32> {
        self.collect();
        if exchanges.is_empty() {
            return Vec::new();
        }
        let one = async { while !exchanges.iter().any(|exchange| self.is_over(*exchange)) && self.advance().await {} };
        match timeout {
            None => one.await,
            // The next call collects later answers.
            Some(timeout) => drop(tokio::time::timeout(timeout, one).await),
        }
        exchanges.iter().copied().filter(|exchange| self.is_over(*exchange)).collect()
    }

    /// Whether an exchange has ended. An unknown exchange counts as ended, so that no call waits for it.
    fn is_over(&self, exchange: u32) -> bool {
        !self.handles.contains_key(&exchange)
    }

    pub async fn finish(&mut self, exchange: u32) -> HttpAnswer {
        while self.handles.contains_key(&exchange) && self.advance().await {}
        let unknown = || HttpError::new(HttpErrorCode::InvalidRequest, "no request with this number is in flight");
        self.answered.remove(&exchange).unwrap_or_else(|| Err(unknown()))
    }

    pub fn cancel(&mut self, exchange: u32) {
        self.answered.remove(&exchange);
        if let Some(handle) = self.handles.remove(&exchange) {
            handle.abort();
        }
    }
}
