//! HTTP exchanges of a runner's guests: requests are sent as messages, and answers are matched by number.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::mailbox::Mailbox;
use super::messages::{ExchangeNumber, FromRunner, RunNumber};
use crate::{HttpAnswer, HttpError, HttpErrorCode, HttpSender};

type Key = (RunNumber, ExchangeNumber);
type Waiting = HashMap<Key, oneshot::Sender<HttpAnswer>>;

/// Exchanges of all runs of a process. Clones share them.
#[derive(Clone)]
pub struct HttpExchanges {
    mailbox: Mailbox,
    waiting: Arc<Mutex<Waiting>>,
}

impl HttpExchanges {
    pub fn new(mailbox: Mailbox) -> Self {
        Self { mailbox, waiting: Arc::default() }
    }

    /// Makes the sender of a run's requests.
    pub fn of(&self, run: RunNumber) -> HttpSender {
        let (exchanges, next) = (self.clone(), AtomicU32::new(0));
        Arc::new(move |request| {
            let key = (run, next.fetch_add(1, Ordering::Relaxed));
            let (answer, answered) = oneshot::channel();
            exchanges.waiting.lock().insert(key, answer);
            let posted = exchanges.mailbox.post(&FromRunner::HttpRequest { run, exchange: key.1, request });
            let exchange = HttpExchange { exchanges: exchanges.clone(), key };
            Box::pin(async move {
                let _cancelled_when_dropped = exchange;
                if let Err(error) = posted {
                    return Err(HttpError::new(HttpErrorCode::RequestTooLarge, error.to_string()));
                }
                answered.await.unwrap_or_else(|_| Err(HttpError::new(HttpErrorCode::Unreachable, "the run has ended")))
            })
        })
    }

    /// Passes an answer to the guest that waits for it, if any.
    pub fn answer(&self, run: RunNumber, exchange: ExchangeNumber, answer: HttpAnswer) {
        if let Some(waiting) = self.waiting.lock().remove(&(run, exchange)) {
            drop(waiting.send(answer));
        }
    }
}

/// One exchange. Dropping it before the answer cancels it.
struct HttpExchange {
    exchanges: HttpExchanges,
    key: Key,
}

impl Drop for HttpExchange {
    fn drop(&mut self) {
        let Self { exchanges, key: (run, exchange) } = self;
        let unanswered = exchanges.waiting.lock().remove(&(*run, *exchange));
        if unanswered.is_some() {
            drop(exchanges.mailbox.post(&FromRunner::GiveUp { run: *run, exchange: *exchange }));
        }
    }
}
