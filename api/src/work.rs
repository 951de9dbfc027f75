//! Work that outlives its request: builds and runs happen in a task of their own, so that a client that goes away
//! loses its answer and nothing else.
//!
//! The answer is one JSON body, or, for `Accept: text/event-stream`, the events on the way and then the same body.

mod answer;
mod events;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;

pub(crate) use answer::Answer;
pub(crate) use events::{Event, Events};

use crate::app::App;
use crate::error::Error;
use crate::openapi::{Inputs, Reads};
use crate::request_id::RequestId;

/// How the client wants its answer.
pub(crate) struct Reply {
    stream: bool,
    request: RequestId,
}

impl<S: Send + Sync> FromRequestParts<S> for Reply {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let request = RequestId::from_request_parts(parts, state).await?;
        Ok(Self { stream: wants_stream(&parts.headers), request })
    }
}

impl Reads for Reply {
    fn reads(inputs: &mut Inputs) {
        inputs.streams = true;
    }
}

impl Reply {
    /// Runs `work` apart from the request and answers with its outcome.
    pub(crate) async fn with<W, F>(self, app: &App, work: W) -> Result<Response, Error>
    where
        W: FnOnce(Events) -> F,
        F: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        if self.stream { self.streamed(app, work) } else { self.plain(app, work).await }
    }

    async fn plain<W, F>(self, app: &App, work: W) -> Result<Response, Error>
    where
        W: FnOnce(Events) -> F,
        F: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        let done = app.spawn(work(Events::none()))?.await;
        let answer = done.map_err(|error| Error::Internal { detail: format!("the work ended early: {error}") })??;
        Ok(answer.into_response())
    }

    fn streamed<W, F>(self, app: &App, work: W) -> Result<Response, Error>
    where
        W: FnOnce(Events) -> F,
        F: Future<Output = Result<Answer, Error>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(events::BUFFERED_MAX);
        let events = Events::to(sender);
        let work = app.spawn(work(events.clone()))?;
        app.spawn(async move {
            let outcome = work.await;
            let outcome = outcome.map_err(|error| Error::Internal { detail: format!("the work ended early: {error}") });
            events.end(outcome.flatten(), &self.request).await;
        })?;
        Ok(events::response(receiver))
    }
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|entry| {
        let media_type = entry.split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case("text/event-stream")
    })
}
