//! An API over a fresh data directory with the organisation `acme` and its user `ada`.
//!
//! A [`TestApp`] asks as one administrator; [`TestApp::add_organization`] is the same API in the hands of another organisation's.

use std::sync::Arc;

use agents::AgentStore;
use api::{App, Config, build_router};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, request};
use http_body_util::BodyExt;
use registry::{Clock, IssuedKey, Principal, Store};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

use crate::document::{self, Answered};
use crate::fixtures;
use crate::parts::build_parts;

pub struct TestApp {
    pub router: Router,
    pub app: App,
    pub agent_store: AgentStore,
    pub store: Store,
    pub key: IssuedKey,
    pub token: String,
    pub principal: Principal,
    _directory: Arc<TempDir>,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

pub struct RequestBuilder<'a> {
    app: &'a TestApp,
    request: request::Builder,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::start_configured(Config::default(), Clock::system()).await
    }

    pub async fn start_configured(config: Config, clock: Clock) -> Self {
        let directory = Arc::new(TempDir::new().unwrap());
        let parts = build_parts(directory.path(), config, clock).await;
        let agent_store = parts.agents.store().clone();
        let store = agent_store.registry().clone();
        let app = App::new(parts);
        let router = build_router(app.clone()).unwrap();
        let (key, token) = fixtures::create_organization(&store, "acme", "ada").await;
        let principal = store.access().authenticate(&token).await.unwrap().unwrap();
        Self { router, app, agent_store, store, key, token, principal, _directory: directory }
    }

    /// Another organisation on the same server, with the user who administers it.
    pub async fn add_organization(&self, organization: &str, user: &str) -> Self {
        let (key, token) = fixtures::create_organization(&self.store, organization, user).await;
        let principal = self.store.access().authenticate(&token).await.unwrap().unwrap();
        let (router, app, store) = (self.router.clone(), self.app.clone(), self.store.clone());
        let agent_store = self.agent_store.clone();
        Self { router, app, agent_store, store, key, token, principal, _directory: self._directory.clone() }
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder<'_> {
        RequestBuilder { app: self, request: Request::builder().method(method).uri(path) }
    }

    /// A request of the administrator; `path` is below the organisation.
    pub fn request_signed(&self, method: &str, path: &str) -> RequestBuilder<'_> {
        self.request_signed_as(&self.token, method, path)
    }

    /// A request of the token's user.
    pub fn request_signed_as(&self, token: &str, method: &str, path: &str) -> RequestBuilder<'_> {
        let request = self.request(method, &format!("/v1/{}{path}", self.principal.organization));
        request.header("authorization", &format!("Bearer {token}"))
    }

    /// A request of the administrator; `path` is the whole path.
    pub fn as_user(&self, method: &str, path: &str) -> RequestBuilder<'_> {
        self.request(method, path).header("authorization", &format!("Bearer {}", self.token))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.request_signed("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.request_signed("POST", path).json(body).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.request_signed("DELETE", path).send().await
    }
}

impl RequestBuilder<'_> {
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub async fn send(self) -> Answer {
        self.body("").await
    }

    pub async fn json(self, body: &Value) -> Answer {
        self.header("content-type", "application/json").body(body.to_string()).await
    }

    /// Sends the request; its answer must be one that the OpenAPI document describes.
    pub async fn body(self, body: impl Into<Body>) -> Answer {
        let request = self.request.body(body.into()).unwrap();
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let response = self.app.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        let content_type = parts.headers.get("content-type").map_or("", |value| value.to_str().unwrap());
        let answered = Answered { status: parts.status.as_u16(), content_type, body: &body };
        document::check(&method, &path, &answered);
        Answer { status: parts.status, headers: parts.headers, body }
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    /// The body, which must be of the contract's schema `name`.
    pub fn check_shape(&self, name: &str) -> Value {
        let body = self.json();
        fixtures::assert_shape(name, &body);
        body
    }

    /// Status and code, for refusals.
    pub fn refusal(&self) -> (u16, String) {
        (self.status.as_u16(), self.json()["code"].as_str().unwrap_or_default().to_owned())
    }
}
