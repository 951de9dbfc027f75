//! Requests to the endpoint of a model.

use std::time::Duration;

use registry::{InvalidValue, SecretValue};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Body, Client, RequestBuilder, Response, StatusCode, Url};
use runner::{Redactor, begin_text, trim_secret};
use tokio::time::sleep;

use super::request_body::RequestBody;
use super::settings::{ModelApi, ModelBounds, ModelSettings};
use super::transcript::{ModelRequest, Reply};
use super::{anthropic, openai, text_step};

/// Time for an answer. Models think for minutes.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(300);
const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Pauses before a request is sent again.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];
/// The longest pause that an endpoint may ask for.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);
/// Bytes of an endpoint's text that are told.
const TOLD_BYTES_MAX: usize = 500;
/// Bytes of an endpoint's text that are searched for the key.
const SEARCHED_BYTES_MAX: usize = 16 << 10;

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

/// A request that failed.
struct Failed {
    failure: ModelFailure,
    /// The pause that the endpoint asks for.
    pause: Option<Duration>,
}

impl From<ModelFailure> for Failed {
    fn from(failure: ModelFailure) -> Self {
        Self { failure, pause: None }
    }
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
        let url = url.ok_or_else(refused)?;
        let client = Client::builder().timeout(ANSWER_TIME_MAX).redirect(Policy::none()).no_proxy();
        let client = client.build().map_err(|_| refused())?;
        Ok(Self { client, url, settings })
    }

    /// The models and the tokens that runs of agents may use.
    pub const fn bounds(&self) -> &ModelBounds {
        &self.settings.bounds
    }

    /// Asks the model. A request that fails because of the endpoint is sent four times at most.
    ///
    /// # Errors
    /// When the model does not answer.
    pub async fn ask(&self, request: &ModelRequest<'_>) -> Result<Reply, ModelFailure> {
        let body = self.build_body(request);
        for pause in PAUSES {
            match self.try_ask(&body).await {
                Err(Failed { failure: ModelFailure::Unavailable(reason), pause: asked }) => {
                    tracing::warn!(reason, "a model does not answer; asking again");
                    sleep(asked.unwrap_or(pause)).await;
                }
                answered => return answered.map_err(|failed| failed.failure),
            }
        }
        self.try_ask(&body).await.map_err(|failed| failed.failure)
    }

    async fn try_ask(&self, body: &RequestBody) -> Result<Reply, Failed> {
        let sent = self.authorize(self.client.post(self.url.clone())).header(CONTENT_TYPE, "application/json");
        let sent = sent.body(Body::wrap(body.clone()));
        let response = sent.send().await.map_err(|error| unavailable(&error.without_url()))?;
        let status = response.status();
        let pause = read_asked_pause(status, response.headers());
        let answer = read_bytes(response).await?;
        if !status.is_success() {
            return Err(Failed { failure: classify_failure(self.settings.key.as_ref(), status, &answer), pause });
        }
        Ok(self.parse_reply(&answer)?)
    }

    fn build_body(&self, request: &ModelRequest<'_>) -> RequestBody {
        let model = request.model.unwrap_or(&self.settings.model);
        match self.settings.api {
            ModelApi::OpenAi => openai::build_body(model, request),
            ModelApi::Anthropic => anthropic::build_body(model, request),
        }
    }

    fn parse_reply(&self, answer: &[u8]) -> Result<Reply, ModelFailure> {
        let reply = match self.settings.api {
            ModelApi::OpenAi => openai::parse_reply(answer),
            ModelApi::Anthropic => anthropic::parse_reply(answer),
        };
        reply.map(text_step::read).map_err(|reason| {
            // The reason may quote the answer.
            let reason = quote_answer(self.settings.key.as_ref(), &reason);
            ModelFailure::Unavailable(format!("the answer is not that of a model: {reason}"))
        })
    }

    fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
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
async fn read_bytes(mut response: Response) -> Result<Vec<u8>, ModelFailure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unavailable(&error.without_url()))? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(ModelFailure::Unavailable("the answer is too large".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Statuses with which an endpoint asks to be asked later; with others it refuses the request. What it says about a key
/// that it does not accept is not told.
fn classify_failure(key: Option<&SecretValue>, status: StatusCode, answer: &[u8]) -> ModelFailure {
    let reason = format!("status {status}");
    let is_for_now = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if is_for_now || status.is_server_error() {
        return ModelFailure::Unavailable(reason);
    }
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return ModelFailure::Refused(reason);
    }
    ModelFailure::Refused(format!("{reason}: {}", quote_answer(key, &String::from_utf8_lossy(answer))))
}

/// The beginning of what an endpoint said, without the key.
fn quote_answer(key: Option<&SecretValue>, text: &str) -> String {
    let trimmed = key.map(|key| trim_secret(key.expose())).filter(|key| !key.is_empty());
    let text = trimmed.map_or_else(|| text.to_owned(), |key| text.replace(key, "[key]"));
    // Searched beyond what is told, so that no beginning of the key in another form remains.
    let searched = begin_text(text, SEARCHED_BYTES_MAX);
    let redacted = Redactor::of(key.map(SecretValue::expose).into_iter()).text(searched);
    begin_text(redacted, TOLD_BYTES_MAX)
}

/// The pause of a `Retry-After` in seconds. One of zero says nothing.
fn read_asked_pause(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let is_asked = matches!(status.as_u16(), 429 | 503 | 529);
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (is_asked && seconds > 0).then(|| Duration::from_secs(seconds).min(ASKED_PAUSE_MAX))
}

fn unavailable(error: &reqwest::Error) -> ModelFailure {
    ModelFailure::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn told_with(status: u16) -> String {
        let key = SecretValue::new("sesame".to_owned());
        let text = "no sesame".to_owned() + &" sesame".repeat(100);
        classify_failure(Some(&key), StatusCode::from_u16(status).unwrap(), text.as_bytes()).to_string()
    }

    #[test]
    fn the_key_is_not_told() {
        let refused = told_with(422);
        assert!(refused.contains("no [key] [key]") && refused.len() < 600, "{refused}");
        for status in [401, 403, 422, 429, 500, 503, 529] {
            let told = told_with(status);
            assert!(told.contains(&status.to_string()) && !told.contains("sesame"), "{told}");
            assert_eq!(told.contains("[key]"), status == 422, "{told}");
        }
    }

    #[test]
    fn an_endpoint_asks_for_a_pause_within_a_bound() {
        let asked = |status: u16, value: &'static str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            read_asked_pause(StatusCode::from_u16(status).unwrap(), &headers).map(|pause| pause.as_secs())
        };
        assert_eq!([429, 503, 529, 500].map(|status| asked(status, "7")), [Some(7), Some(7), Some(7), None]);
        assert_eq!(["0", "3600", "soon", "-1"].map(|value| asked(429, value)), [None, Some(60), None, None]);
        assert_eq!(read_asked_pause(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new()), None);
    }
}
