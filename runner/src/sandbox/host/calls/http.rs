//! The interface `lathe:tool/http`.

use std::time::Duration;

use wasmtime::Result;

use crate::sandbox::bindings::tool::lathe::tool::http as wire;
use crate::sandbox::host::environment::Environment;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::host::state::Host;
use crate::sandbox::ports::{HttpAnswer, HttpError, HttpErrorCode, HttpRequest};
use crate::sandbox::tape::Effect;

impl wire::Host for HostCall<'_> {
    async fn start(&mut self, request: wire::Request) -> Result<u32> {
        let wire::Request { method, url, headers, body } = request;
        self.start_exchange(HttpRequest { method, url, headers, body })
    }

    async fn wait(&mut self, exchanges: Vec<u32>, timeout_ms: Option<u64>) -> Result<Vec<u32>> {
        let answered = match &mut self.environment {
            Environment::Live(_) => self.http.wait(&exchanges, timeout_ms.map(Duration::from_millis)).await,
            Environment::Strict(strict) => match strict.next() {
                Some(Effect::ResponsesAwaited { answered, .. }) => answered.to_vec(),
                _ => Vec::new(), // differs from the tape, which stops the replay
            },
            Environment::Lenient(_) => exchanges.clone(), // the tape has all answers
        };
        let recorded = answered.as_slice().into();
        self.record_effect(|_| Effect::ResponsesAwaited { exchanges: exchanges.into(), answered: recorded })?;
        Ok(answered)
    }

    async fn finish(&mut self, exchange: u32) -> Result<Result<wire::Response, wire::HttpError>> {
        let answer = self.finish_exchange(exchange).await?;
        let answer =
            answer.map(|found| wire::Response { status: found.status, headers: found.headers, body: found.body });
        Ok(answer.map_err(|error| wire::HttpError { code: error.code.into(), message: error.message }))
    }

    async fn cancel(&mut self, exchange: u32) -> Result<()> {
        if self.environment.is_live() {
            self.http.cancel(exchange);
        }
        self.record_effect(|_| Effect::RequestCancelled { exchange })
    }
}

impl HostCall<'_> {
    /// Sends a request, or finds its answer on the tape of a replay.
    pub(super) fn start_exchange(&mut self, request: HttpRequest) -> Result<u32> {
        self.record_effect(|_| Effect::RequestStarted { request: Box::new((&request).into()) })?;
        let Host { environment, http, .. } = &mut **self;
        Ok(match environment {
            Environment::Live(_) => http.start(request),
            Environment::Strict(_) => http.take_number(),
            Environment::Lenient(lenient) => {
                let exchange = http.take_number();
                lenient.request(exchange, &(&request).into());
                exchange
            }
        })
    }

    /// Waits for the answer to a request, or takes it from the tape of a replay.
    pub(super) async fn finish_exchange(&mut self, exchange: u32) -> Result<HttpAnswer> {
        let answer = match &mut self.environment {
            Environment::Live(_) => self.http.finish(exchange).await,
            Environment::Strict(strict) => match strict.answer(exchange) {
                Some(answer) => answer,
                None => Err(HttpError::new(
                    HttpErrorCode::Protocol,
                    "this is a replay, and its tape has no such response here",
                )),
            },
            Environment::Lenient(lenient) => lenient.finish(exchange),
        };
        self.record_effect(|bodies| Effect::ResponseTaken { exchange, answer: Box::new(bodies.keep(&answer)) })?;
        Ok(answer)
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
