//! Requests to the endpoint of a model.

use std::time::Duration;

use registry::InvalidValue;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use tokio::time::sleep;

use super::settings::{ModelApi, ModelSettings};
use super::transcript::{ModelRequest, Reply};
use super::{anthropic, openai, text_step};

/// Time for an answer. Models think for minutes.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(300);
const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Pauses before a request is sent again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// Bytes of a refusal that are told.
const REFUSAL_BYTES_MAX: usize = 500;

/// Why a model did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelFailure {
    /// The request is refused, and would be again.
    #[error("the model refused the request: {0}")]
    Refused(String),
    /// The endpoint cannot be reached, or does not answer as such an endpoint does.
    #[error("the model is not available: {0}")]
    Unavailable(String),
}

/// The endpoint of a model.
#[derive(Debug)]
pub struct Model {
    client: Client,
    url: Url,
    settings: ModelSettings,
}

impl Model {
    /// Prepares requests. Nothing is sent.
    ///
    /// # Errors
    /// When the URL is none of HTTP.
    pub fn new(settings: ModelSettings) -> Result<Self, InvalidValue> {
        let refused =
            || InvalidValue::new("URL of a model", "must be like https://models.example.com/v1/chat/completions");
        let url = Url::parse(&settings.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let client =
            Client::builder().timeout(ANSWER_TIME_MAX).redirect(Policy::none()).build().map_err(|_| refused())?;
        Ok(Self { client, url: url.ok_or_else(refused)?, settings })
    }

    /// Asks the model. A request that fails because of the endpoint is sent three times at most.
    ///
    /// # Errors
    /// When the model does not answer.
    pub async fn ask(&self, request: &ModelRequest<'_>) -> Result<Reply, ModelFailure> {
        for pause in PAUSES {
            match self.try_ask(request).await {
                Err(ModelFailure::Unavailable(reason)) => {
                    tracing::warn!(reason, "a model does not answer; asking again")
                }
                answered => return answered,
            }
            sleep(pause).await;
        }
        self.try_ask(request).await
    }

    async fn try_ask(&self, request: &ModelRequest<'_>) -> Result<Reply, ModelFailure> {
        let model = request.model.unwrap_or(&self.settings.model);
        let body = match self.settings.api {
            ModelApi::OpenAi => openai::body(model, request),
            ModelApi::Anthropic => anthropic::body(model, request),
        };
        let sent = self.authorized(self.client.post(self.url.clone())).json(&body);
        let response = sent.send().await.map_err(|error| unavailable(&error.without_url()))?;
        let status = response.status();
        let answer = bytes(response).await?;
        if !status.is_success() {
            return Err(failure(status, answer));
        }
        let reply = match self.settings.api {
            ModelApi::OpenAi => openai::reply(&answer),
            ModelApi::Anthropic => anthropic::reply(&answer),
        };
        let wrong = |reason| ModelFailure::Unavailable(format!("the answer is not that of a model: {reason}"));
        reply.map(text_step::read).map_err(wrong)
    }

    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        let request = match self.settings.api {
            ModelApi::OpenAi => request,
            ModelApi::Anthropic => request.header("anthropic-version", anthropic::VERSION),
        };
        match (&self.settings.key, self.settings.api) {
            (None, _) => request,
            (Some(key), ModelApi::OpenAi) => request.bearer_auth(key.expose()),
            (Some(key), ModelApi::Anthropic) => request.header("x-api-key", key.expose()),
        }
    }
}

/// Reads a body of bounded size.
async fn bytes(mut response: Response) -> Result<Vec<u8>, ModelFailure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unavailable(&error.without_url()))? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(ModelFailure::Unavailable("the answer is too large".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Statuses with which an endpoint asks to be asked later; with others it refuses the request.
fn failure(status: StatusCode, answer: Vec<u8>) -> ModelFailure {
    let text = crate::text::begin(String::from_utf8_lossy(&answer).into_owned(), REFUSAL_BYTES_MAX);
    let reason = format!("status {status}: {text}");
    let is_for_now = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if is_for_now || status.is_server_error() {
        ModelFailure::Unavailable(reason)
    } else {
        ModelFailure::Refused(reason)
    }
}

fn unavailable(error: &reqwest::Error) -> ModelFailure {
    ModelFailure::Unavailable(error.to_string())
}
