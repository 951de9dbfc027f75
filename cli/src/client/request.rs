//! One call: address, credentials, refusal or answer.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;

use super::session::{Credentials, Token, TokenCache, sign_in};
use super::stream::EventStream;
use super::wire::Answer;
use crate::failure::Failure;

/// Calls that only read or write a few rows; a server that is busy beyond this is in trouble.
pub const PLAIN_TIMEOUT: Duration = Duration::from_secs(60);

pub struct Client {
    http: reqwest::Client,
    credentials: Credentials,
    cache: Option<TokenCache>,
    token: Mutex<Option<Token>>,
}

/// What to call, below `/v1/{organization}`.
pub struct Call<'call> {
    pub method: Method,
    pub path: &'call [&'call str],
    pub query: Vec<(&'static str, String)>,
    pub body: Option<Value>,
}

impl<'call> Call<'call> {
    pub fn new(method: Method, path: &'call [&'call str]) -> Self {
        Self { method, path, query: Vec::new(), body: None }
    }

    pub fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub fn query_all(mut self, name: &'static str, values: impl IntoIterator<Item = impl ToString>) -> Self {
        self.query.extend(values.into_iter().map(|value| (name, value.to_string())));
        self
    }

    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

impl Client {
    pub fn new(credentials: Credentials, cache: Option<TokenCache>) -> anyhow::Result<Self> {
        let http = super::http_client(&credentials.url()?)?;
        let token = cache.as_ref().and_then(|cache| cache.load(&credentials));
        Ok(Self { http, credentials, cache, token: Mutex::new(token) })
    }

    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The token in hand, or a new one.
    pub async fn token(&self) -> anyhow::Result<Token> {
        let mut held = self.token.lock().await;
        if let Some(token) = held.as_ref() {
            return Ok(token.clone());
        }
        let token = sign_in(&self.http, &self.credentials).await?;
        if let Some(cache) = &self.cache {
            cache.save(&self.credentials, &token);
        }
        *held = Some(token.clone());
        Ok(token)
    }

    /// Whether the server answers and accepts the key, whatever was cached.
    pub async fn check(&self) -> anyhow::Result<()> {
        self.forget_token().await;
        self.token().await.map(drop)
    }

    async fn forget_token(&self) {
        *self.token.lock().await = None;
        if let Some(cache) = &self.cache {
            cache.forget();
        }
    }

    pub async fn get<T: DeserializeOwned>(&self, call: Call<'_>) -> anyhow::Result<Answer<T>> {
        let response = self.send(&call, Wanted::Document).await?;
        let url = response.url().to_string();
        let document: Value = response.json().await.map_err(|error| strange(&url, &error))?;
        Answer::read(document, &url)
    }

    /// The answer as it came.
    pub async fn text(&self, call: Call<'_>) -> anyhow::Result<String> {
        let response = self.send(&call, Wanted::Document).await?;
        let url = response.url().to_string();
        Ok(response.text().await.map_err(|error| strange(&url, &error))?)
    }

    /// A call whose answer has no body.
    pub async fn execute(&self, call: Call<'_>) -> anyhow::Result<()> {
        self.send(&call, Wanted::Document).await.map(drop)
    }

    pub async fn stream(&self, call: Call<'_>) -> anyhow::Result<EventStream> {
        Ok(EventStream::new(self.send(&call, Wanted::Events).await?))
    }

    async fn send(&self, call: &Call<'_>, wanted: Wanted) -> anyhow::Result<Response> {
        let response = self.send_once(call, wanted).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return accepted(response).await;
        }
        self.forget_token().await;
        accepted(self.send_once(call, wanted).await?).await
    }

    async fn send_once(&self, call: &Call<'_>, wanted: Wanted) -> anyhow::Result<Response> {
        let url = endpoint(&self.credentials.url()?, &self.credentials.organization, call.path)?;
        let token = self.token().await?;
        let mut request = self
            .http
            .request(call.method.clone(), url)
            .header(AUTHORIZATION, format!("Bearer {}", token.id_token.reveal()))
            .query(&call.query);
        request = match wanted {
            Wanted::Document => request.timeout(PLAIN_TIMEOUT),
            Wanted::Events => request.header(ACCEPT, "text/event-stream, application/json"),
        };
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let sent = request.send().await;
        Ok(sent.map_err(|error| unreachable(&self.credentials.url, &error))?)
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    Document,
    Events,
}

/// The address of a path, each segment escaped.
pub fn endpoint(base: &Url, organization: &str, path: &[&str]) -> anyhow::Result<Url> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| {
            Failure::usage(format!("{base} cannot have a path"), "give an address such as http://127.0.0.1:8080")
        })?
        .pop_if_empty()
        .extend(["v1", organization])
        .extend(path);
    Ok(url)
}

async fn accepted(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    if status.is_redirection() {
        let reason = format!("it redirects to {:?}", response.headers().get("location"));
        return Err(Failure::Strange { url: response.url().to_string(), reason }.into());
    }
    Err(refusal(response).await.into())
}

/// Reads a refusal; one without the service's own body keeps its status line.
pub async fn refusal(response: Response) -> Failure {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    Failure::Server {
        status: status.as_u16(),
        code: body.get("code").and_then(Value::as_str).unwrap_or_default().to_owned(),
        detail: detail_text(body.get("detail")).unwrap_or_else(|| format!("the server answered {status}")),
        build_id: body.get("build_id").and_then(Value::as_str).map(str::to_owned),
    }
}

/// `detail` is a text, or a list of `{loc, msg}` when the request's shape was wrong.
pub fn detail_text(detail: Option<&Value>) -> Option<String> {
    match detail? {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().map(item_text).collect::<Vec<_>>().join("; ")),
        other => Some(other.to_string()),
    }
}

fn item_text(item: &Value) -> String {
    let place = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
    let location = item["loc"].as_array().into_iter().flatten().map(place).collect::<Vec<_>>().join(".");
    format!("{location}: {}", item["msg"].as_str().unwrap_or("not accepted"))
}

pub fn unreachable(url: &str, error: &reqwest::Error) -> Failure {
    Failure::Unreachable { url: url.to_owned(), reason: root_cause(error) }
}

pub fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

pub fn strange(url: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::Strange { url: url.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_constraint_travels_in_the_path() {
        let base = Url::parse("http://h:1/prefix/").expect("a URL");
        let url = endpoint(&base, "acme", &["tool", "x", "version", ">=1.0,<2/3", "invoke"]).expect("a URL");
        assert_eq!(url.as_str(), "http://h:1/prefix/v1/acme/tool/x/version/%3E=1.0,%3C2%2F3/invoke");
        assert_eq!(endpoint(&base, "acme", &["tool", ""]).expect("a URL").path(), "/prefix/v1/acme/tool/");
    }

    #[test]
    fn both_forms_of_detail_are_read() {
        assert_eq!(detail_text(Some(&json!("no"))).as_deref(), Some("no"));
        let list = json!([{"loc": ["body", "inputs", 0], "msg": "missing", "type": "missing"}]);
        assert_eq!(detail_text(Some(&list)).as_deref(), Some("body.inputs.0: missing"));
    }
}
