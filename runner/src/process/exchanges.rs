//! HTTP in a runner: requests leave as messages, and whoever waits is found again by number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::frames::Mailbox;
use super::messages::{ExchangeNumber, FromRunner, RunNumber};
use crate::{HttpAnswer, HttpError, HttpErrorCode, HttpSender};

type Key = (RunNumber, ExchangeNumber);
type Waiting = HashMap<Key, oneshot::Sender<HttpAnswer>>;

/// The exchanges of all runs of a process.
#[derive(Clone)]
pub struct Exchanges {
    mailbox: Mailbox,
    waiting: Arc<Mutex<Waiting>>,
}

impl Exchanges {
    pub fn new(mailbox: Mailbox) -> Self {
        Self { mailbox, waiting: Arc::default() }
    }

    /// What sends the requests of a run.
    pub fn of(&self, run: RunNumber) -> HttpSender {
        let (exchanges, next) = (self.clone(), AtomicU32::new(0));
        Arc::new(move |request| {
            let key = (run, next.fetch_add(1, Ordering::Relaxed));
            let (answer, answered) = oneshot::channel();
            exchanges.waiting().insert(key, answer);
            let posted = exchanges.mailbox.post(&FromRunner::HttpRequest { run, exchange: key.1, request });
            let exchange = Exchange { exchanges: exchanges.clone(), key };
            Box::pin(async move {
                let _given_up_when_dropped = exchange;
                if let Err(error) = posted {
                    return Err(HttpError::new(HttpErrorCode::RequestTooLarge, error.to_string()));
                }
                answered.await.unwrap_or_else(|_| Err(HttpError::new(HttpErrorCode::Unreachable, "the run has ended")))
            })
        })
    }

    /// Gives an answer to who waits for it, if somebody still does.
    pub fn answer(&self, run: RunNumber, exchange: ExchangeNumber, answer: HttpAnswer) {
        if let Some(waiting) = self.waiting().remove(&(run, exchange)) {
            drop(waiting.send(answer));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // A panic while the lock was held cannot have left the map half written.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One exchange under way. Dropping it unanswered gives it up.
struct Exchange {
    exchanges: Exchanges,
    key: Key,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let Self { exchanges, key: (run, exchange) } = self;
        let unanswered = exchanges.waiting().remove(&(*run, *exchange));
        if unanswered.is_some() {
            drop(exchanges.mailbox.post(&FromRunner::GiveUp { run: *run, exchange: *exchange }));
        }
    }
}
