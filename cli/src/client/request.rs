//! One call to the server: URL, credentials, and the response or its refusal.

use api::wire::{SecretText, Token};
use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Method, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Mutex;

use super::connection::{PLAIN_TIMEOUT, build_endpoint, build_http_client, build_server_endpoint};
use super::decoded_response::DecodedResponse;
use super::refusal::{explain_unexpected, explain_unreachable, read_refusal};
use super::session::{Credentials, TokenCache, sign_in};
use super::stream::EventStream;
use crate::failure::Failure;

/// A client of one organisation on one server, with one user's credentials.
pub struct Client {
    http: reqwest::Client,
    credentials: Credentials,
    access: Access,
}

/// The secret that the requests of a client carry.
enum Access {
    /// The token of a sign-in, which a file may keep.
    Token { cache: Option<TokenCache>, held: Mutex<Option<Token>> },
    /// The key itself, which leaves nothing on this machine.
    Key,
}

/// A call to a path below `/v1/{organization}`, or to another path of the server.
#[derive(Clone)]
pub struct Call<'call> {
    pub method: Method,
    base: Base,
    pub path: &'call [&'call str],
    pub query: Vec<(&'static str, String)>,
    pub body: Option<Value>,
    headers: Vec<(&'static str, String)>,
}

/// The URL that the path of a call begins at.
#[derive(Clone, Copy)]
enum Base {
    Organization,
    Server,
}

impl<'call> Call<'call> {
    pub fn new(method: Method, path: &'call [&'call str]) -> Self {
        Self { method, base: Base::Organization, path, query: Vec::new(), body: None, headers: Vec::new() }
    }

    /// A call to a path without an organisation, which is that of the token.
    pub fn to_server(method: Method, path: &'call [&'call str]) -> Self {
        Self { base: Base::Server, ..Self::new(method, path) }
    }

    pub fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub fn query_all(mut self, name: &'static str, values: impl IntoIterator<Item = impl ToString>) -> Self {
        self.query.extend(values.into_iter().map(|value| (name, value.to_string())));
        self
    }

    pub fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

impl Client {
    pub fn new(credentials: Credentials, cache: Option<TokenCache>) -> anyhow::Result<Self> {
        let http = build_http_client(&credentials.parse_url()?)?;
        let token = cache.as_ref().and_then(|cache| cache.load(&credentials));
        Ok(Self { http, credentials, access: Access::Token { cache, held: Mutex::new(token) } })
    }

    /// A client whose requests carry the key, without a sign-in.
    pub fn with_key(credentials: Credentials) -> anyhow::Result<Self> {
        let http = build_http_client(&credentials.parse_url()?)?;
        Ok(Self { http, credentials, access: Access::Key })
    }

    /// Whether requests carry the key, and not a token of a saved login.
    pub const fn has_key(&self) -> bool {
        matches!(self.access, Access::Key)
    }

    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Returns the user of the key, whom the server names if the login does not.
    pub async fn find_user_id(&self) -> anyhow::Result<String> {
        match &self.credentials.user_id {
            Some(user) => Ok(user.clone()),
            None => Ok(self.get_me().await?.body.user_id),
        }
    }

    /// Returns the credentials with their user.
    pub async fn identify_credentials(&self) -> anyhow::Result<Credentials> {
        Ok(Credentials { user_id: Some(self.find_user_id().await?), ..self.credentials.clone() })
    }

    /// Returns the current token, or signs in for a new one.
    pub async fn get_token(&self) -> anyhow::Result<Token> {
        let Access::Token { cache, held } = &self.access else {
            // Naming the user needs the key alone, and no token.
            let credentials = Box::pin(self.identify_credentials()).await?;
            return sign_in(&self.http, &credentials).await;
        };
        let mut held = held.lock().await;
        if let Some(token) = held.as_ref() {
            return Ok(token.clone());
        }
        let token = sign_in(&self.http, &self.credentials).await?;
        if let Some(cache) = cache {
            cache.save(&self.credentials, &token);
        }
        *held = Some(token.clone());
        Ok(token)
    }

    async fn build_bearer(&self) -> anyhow::Result<SecretText> {
        match &self.access {
            Access::Token { .. } => Ok(self.get_token().await?.id_token),
            Access::Key => Ok(self.credentials.api_key.clone()),
        }
    }

    /// Checks that the server answers and accepts the key, without the cached token.
    pub async fn check(&self) -> anyhow::Result<()> {
        match &self.access {
            Access::Token { .. } => {
                self.forget_token().await;
                self.get_token().await.map(drop)
            }
            Access::Key => self.get_me().await.map(drop),
        }
    }

    /// Forgets the token. Returns whether there is a way to get another one.
    async fn forget_token(&self) -> bool {
        let Access::Token { cache, held } = &self.access else { return false };
        *held.lock().await = None;
        if let Some(cache) = cache {
            cache.forget();
        }
        true
    }

    pub async fn get<T: DeserializeOwned>(&self, call: Call<'_>) -> anyhow::Result<DecodedResponse<T>> {
        let response = self.send(&call, Accept::Document).await?;
        let url = response.url().to_string();
        let document: Value = response.json().await.map_err(|error| explain_unexpected(&url, error))?;
        DecodedResponse::read(document, &url)
    }

    /// Returns the response body as text, byte for byte.
    pub async fn get_text(&self, call: Call<'_>) -> anyhow::Result<String> {
        let response = self.send(&call, Accept::Document).await?;
        let url = response.url().to_string();
        Ok(response.text().await.map_err(|error| explain_unexpected(&url, error))?)
    }

    /// Returns the response body as it is.
    pub async fn get_bytes(&self, call: Call<'_>) -> anyhow::Result<Bytes> {
        let response = self.send(&call, Accept::Document).await?;
        let url = response.url().to_string();
        Ok(response.bytes().await.map_err(|error| explain_unexpected(&url, error))?)
    }

    /// Sends a call whose response body is not needed.
    pub async fn execute(&self, call: Call<'_>) -> anyhow::Result<()> {
        self.send(&call, Accept::Document).await.map(drop)
    }

    /// Sends a call whose response is a stream of events.
    pub async fn stream(&self, call: Call<'_>) -> anyhow::Result<EventStream> {
        Ok(EventStream::new(self.send(&call, Accept::Events).await?))
    }

    /// Sends a call, once more with a new token if the token is refused.
    async fn send(&self, call: &Call<'_>, accept: Accept) -> anyhow::Result<Response> {
        let response = self.send_once(call, accept).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return require_accepted(response).await;
        }
        if self.forget_token().await {
            return require_accepted(self.send_once(call, accept).await?).await;
        }
        let advice =
            "the key is that of LATHE_API_KEY; without this variable, or with --profile, a saved login is used";
        require_accepted(response).await.map_err(|error| Failure::add_hint(error, advice.to_owned()))
    }

    /// Sends a message of the Model Context Protocol to an agent, or opens its stream when there is no message. Returns the response
    /// whatever its status.
    pub async fn exchange(&self, agent: &str, headers: &HeaderMap, message: Option<&str>) -> anyhow::Result<Response> {
        let response = self.exchange_once(agent, headers, message).await?;
        if response.status() != StatusCode::UNAUTHORIZED || !self.forget_token().await {
            return Ok(response);
        }
        self.exchange_once(agent, headers, message).await
    }

    async fn exchange_once(&self, agent: &str, headers: &HeaderMap, message: Option<&str>) -> anyhow::Result<Response> {
        let url = build_endpoint(&self.credentials.parse_url()?, &self.credentials.organization, &["mcp", agent])?;
        let bearer = self.build_bearer().await?;
        let method = if message.is_some() { Method::POST } else { Method::GET };
        let mut request = self.http.request(method, url).headers(headers.clone()).bearer_auth(bearer.reveal());
        if let Some(message) = message {
            request = request.header(CONTENT_TYPE, "application/json").body(message.to_owned());
        }
        let sent = request.send().await;
        Ok(sent.map_err(|error| explain_unreachable(&self.credentials.url, &error))?)
    }

    /// The URL of an agent for MCP clients.
    pub fn build_mcp_url(&self, agent: &str) -> anyhow::Result<Url> {
        build_endpoint(&self.credentials.parse_url()?, &self.credentials.organization, &["mcp", agent])
    }

    fn build_url(&self, call: &Call<'_>) -> anyhow::Result<Url> {
        let server = self.credentials.parse_url()?;
        match call.base {
            Base::Organization => build_endpoint(&server, &self.credentials.organization, call.path),
            Base::Server => build_server_endpoint(&server, call.path),
        }
    }

    async fn send_once(&self, call: &Call<'_>, accept: Accept) -> anyhow::Result<Response> {
        let url = self.build_url(call)?;
        let bearer = self.build_bearer().await?;
        let mut request = self
            .http
            .request(call.method.clone(), url)
            .header(AUTHORIZATION, format!("Bearer {}", bearer.reveal()))
            .query(&call.query);
        request = match accept {
            Accept::Document => request.timeout(PLAIN_TIMEOUT),
            Accept::Events => request.header(ACCEPT, "text/event-stream, application/json"),
        };
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let sent = request.send().await;
        Ok(sent.map_err(|error| explain_unreachable(&self.credentials.url, &error))?)
    }
}

/// The kind of response that a call asks for.
#[derive(Clone, Copy)]
enum Accept {
    Document,
    Events,
}

async fn require_accepted(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    if status.is_redirection() {
        let location = response.headers().get("location");
        return Err(explain_unexpected(response.url().as_str(), format!("it redirects to {location:?}")).into());
    }
    Err(read_refusal(response).await.into())
}
