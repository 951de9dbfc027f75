//! Work that outlives its request: builds and runs go on in a task of their own when their client goes away, which
//! loses its answer and nothing else.
//!
//! The answer is one JSON body; or, for `Accept: text/event-stream`, the events on the way and then the same body; or,
//! for `Prefer: respond-async`, 202 and the address at which the same body can be asked for. What is to be done once,
//! or asked for later, is an operation ([`tracked`]).

mod answer;
mod carried;
mod events;
mod manner;
mod operation;
mod tracked;

use std::panic::AssertUnwindSafe;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use registry::OperationId;
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinHandle;

pub(crate) use answer::Answer;
pub(crate) use carried::Carried;
pub(crate) use events::{Event, Events};
pub(crate) use operation::{OperationInstance, remembered};
pub(crate) use tracked::Task;

use crate::app::App;
use crate::error::Error;
use crate::openapi::{Inputs, Reads};
use crate::request_id::RequestId;
use manner::Manner;

/// How the client wants its answer.
pub(crate) struct Reply {
    manner: Manner,
    request: RequestId,
}

/// What the work is told of its surroundings.
pub(crate) struct Job {
    /// Where it says how it goes.
    pub(crate) events: Events,
    /// What its runs and builds are to be remembered as.
    pub(crate) operation: Option<OperationId>,
}

impl<S: Send + Sync> FromRequestParts<S> for Reply {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let request = RequestId::from_request_parts(parts, state).await?;
        Ok(Self { manner: Manner::of(&parts.headers), request })
    }
}

impl Reads for Reply {
    fn reads(inputs: &mut Inputs) {
        inputs.streams = true;
    }
}

impl Reply {
    /// Runs `work` apart from the request and answers with its outcome, now.
    pub(crate) async fn with<W, F>(self, app: &App, work: W) -> Result<Response, Error>
    where
        W: FnOnce(Job) -> F,
        F: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        let (events, receiver) = self.events();
        // In a box, because it is moved from hand to hand.
        let work = Box::pin(work(Job { events: events.clone(), operation: None }));
        let work = async move {
            let answer = to_its_end(work, &self.request).await;
            events.end(&answer).await;
            answer
        };
        match receiver {
            Some(receiver) => {
                app.spawn(work)?;
                Ok(events::response(receiver))
            }
            None => {
                let answer = app.carry(work)?.await;
                Ok(answer.ok_or_else(|| ended_early(&"it panicked"))?.into_response())
            }
        }
    }

    /// Where events go, and where they come out when the client wants them.
    fn events(&self) -> (Events, Option<Receiver<Event>>) {
        if self.manner != Manner::Stream {
            return (Events::none(), None);
        }
        let (sender, receiver) = mpsc::channel(events::BUFFERED_MAX);
        (Events::to(sender), Some(receiver))
    }
}

/// A panic is an outcome, too.
async fn to_its_end(work: impl Future<Output = Result<Answer, Error>>, request: &RequestId) -> Answer {
    let outcome = AssertUnwindSafe(work).catch_unwind().await;
    Answer::of(outcome.unwrap_or_else(|_| Err(ended_early(&"it panicked"))), request)
}

/// The stream at once, or the whole answer once it is there.
async fn first_of<T>(
    receiver: Option<Receiver<Event>>,
    done: JoinHandle<T>,
    answer: impl FnOnce(T) -> Result<Answer, Error>,
) -> Result<Response, Error> {
    match receiver {
        Some(receiver) => Ok(events::response(receiver)),
        None => Ok(answer(done.await.map_err(|error| ended_early(&error))?)?.into_response()),
    }
}

fn ended_early(reason: &dyn std::fmt::Display) -> Error {
    Error::Internal { detail: format!("the work ended early: {reason}") }
}

/// For the tests of what is done here.
#[cfg(test)]
pub(crate) use events::streamed;
