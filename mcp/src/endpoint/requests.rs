//! Serves the requests of MCP clients.

use std::sync::Arc;
use std::time::Duration;

use agents::{AgentReference, AgentStore};
use api_kit::auth::Rights;
use api_kit::call_depth::CallDepth;
use api_kit::caller_names;
use api_kit::error::Error;
use api_kit::extract::{expect_length, read};
use api_kit::in_progress::StreamAdmission;
use api_kit::public_url::PublicUrl;
use api_kit::server::StreamOwner;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use http_body_util::Full;
use registry::{Principal, do_heavy_work};
use rmcp::ServerHandler as _;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::gateway::Gateway;
use super::introduction::{Introduction, SharedIntroductions};
use super::plain_call::PlainCalls;
use crate::calls::{Calling, Scope};
use crate::messages::{MessageRefused, check_message, check_parameters, find_id, find_method};
use crate::sessions::{INITIALIZE, SESSION, Sessions};
use crate::transport::transport_refusal;
use crate::transport::{Accepted, build_settings, drop_empty_events, knows_empty_events, replace_stream};
use crate::watches::{Looks, WatchedResources};

/// Bytes of a request: the largest input of a tool, with the frame of the protocol.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Time that calls have to end when the server ends.
const CALLS_END_WITHIN: Duration = Duration::from_secs(5);
/// The header with the method of a request.
const METHOD: &str = "mcp-method";
/// The header with the version of the protocol, and the first version that has no sessions and no `ping`.
const VERSION: &str = "mcp-protocol-version";
const PRESENT: &[u8] = b"2026-07-28";
/// The method of a subscription, whose request lasts as long as it.
const LISTEN: &str = "subscriptions/listen";

/// The MCP clients of a server. Clones share the sessions.
#[derive(Clone)]
pub struct McpEndpoint {
    store: AgentStore,
    calling: Calling,
    sessions: Sessions,
    looks: Looks,
    introductions: SharedIntroductions,
    service: Arc<StreamableHttpService<Gateway, LocalSessionManager>>,
    plain_calls: PlainCalls,
    /// Ends subscriptions.
    stopping: CancellationToken,
    /// Ends sessions.
    ending: CancellationToken,
}

tokio::task_local! {
    /// The gateway of the request that a task serves. The SDK asks for it by a function without arguments.
    static GATEWAY: Gateway;
}

/// An authenticated request of a client.
pub struct McpRequest {
    pub principal: Principal,
    pub agent: AgentReference,
    pub request: Request,
}

impl McpEndpoint {
    pub fn new(store: AgentStore, calling: Calling, public: Option<&PublicUrl>) -> Self {
        let (sessions, ending) = (Sessions::default(), CancellationToken::new());
        let config = build_settings(public).with_max_request_body_bytes(BODY_BYTES_MAX);
        let config = config.with_cancellation_token(ending.clone());
        let gateway = || GATEWAY.try_with(Gateway::clone).map_err(std::io::Error::other);
        let service = Arc::new(StreamableHttpService::new(gateway, sessions.manager.clone(), config));
        let plain_calls = PlainCalls::new(&service.config.allowed_hosts, ending.clone());
        let looks = Looks::new(store.clone(), calling.agents.catalogues.clone());
        let (introductions, stopping) = (SharedIntroductions::default(), CancellationToken::new());
        Self { store, calling, sessions, looks, introductions, service, plain_calls, stopping, ending }
    }

    /// Ends the subscriptions after a delay, and all sessions some seconds later, so that calls can end before.
    pub fn stop(&self, delay: Duration) {
        let (subscriptions, sessions) = (self.stopping.clone(), self.ending.clone());
        tokio::spawn(async move {
            sleep(delay).await;
            subscriptions.cancel();
            sleep(CALLS_END_WITHIN).await;
            sessions.cancel();
        });
    }

    /// Answers one request. An agent that the user does not see, or that was never deployed, does not exist.
    pub async fn serve(&self, request: McpRequest) -> Result<Response, Error> {
        let McpRequest { principal, agent, request } = request;
        let running = self.store.agents().running_agent(&principal, &agent).await?.ok_or(Error::NotFound)?;
        if !principal.may_act_at(&running.agent.id) {
            return Err(Error::Unauthenticated);
        }
        let rights = request.extensions().get::<Rights>().cloned();
        let rights = rights.ok_or_else(|| Error::Internal { detail: "an MCP route without a guard".into() })?;
        let CallDepth(depth) = CallDepth::of(request.headers());
        let names = caller_names::read(request.headers())?;
        let scope = Arc::new(Scope { principal, running, rights, depth, names, catalogue: None });
        let (mut parts, body) = request.into_parts();
        if parts.headers.contains_key(CONTENT_ENCODING) {
            return Ok(transport_refusal::refuse_encoded_body());
        }
        expect_length(&parts.headers)?;
        let body = Bytes::from(read(body).await?);
        // A client whose session has ended begins the next one, and may name the one that it had.
        if parts.headers.contains_key(SESSION) && find_method(&body).is_some_and(|method| method == INITIALIZE) {
            parts.headers.remove(SESSION);
        }
        let session = self.sessions.begin_use(&parts.headers, &scope);
        if parts.headers.contains_key(SESSION) && session.is_none() {
            return Ok(transport_refusal::refuse_unknown_session(find_id(&body).as_deref()));
        }
        // The stream of a session is open for as long as its client is there, and does not keep the session from its end.
        let session = session.filter(|_| parts.method != Method::GET);
        let is_end = parts.method == Method::DELETE;
        let response = self.answer(parts, body, scope).await?;
        match session {
            Some(session) if is_end && response.status().is_success() => {
                session.forget();
                // The SDK answers 202, which clients report as a failure: nothing is left to do.
                Ok(StatusCode::NO_CONTENT.into_response())
            }
            Some(session) => Ok(session.keep_until_end_of(response)),
            None => Ok(response),
        }
    }

    /// Answers a request whose session is that of its user and agent.
    async fn answer(&self, mut parts: Parts, body: Bytes, scope: Arc<Scope>) -> Result<Response, Error> {
        let is_post = parts.method == Method::POST;
        let may_begin = is_post && may_begin_session(&parts.headers);
        let listens = parts.headers.get(METHOD).is_some_and(|method| method == LISTEN);
        let stream_owner = if listens || parts.method == Method::GET { begin_stream(&parts)? } else { None };
        let in_session = parts.headers.contains_key(SESSION);
        let lives_long = may_begin || listens && !in_session;
        let with_tools = self.with_catalogue(&scope).await?;
        let mut gateway = self.build_gateway(&with_tools, &parts.headers);
        let scope = if lives_long { scope } else { with_tools };
        let wanted = parts.headers.get(ACCEPT).cloned();
        let accepted = Accepted::read(&mut parts.headers);
        if let (Accepted::Json, true, Some(wanted)) = (accepted, listens || !is_post, wanted) {
            // A stream cannot be an object.
            parts.headers.insert(ACCEPT, wanted);
        }
        let is_json = is_json(&parts.headers);
        if may_begin {
            gateway.place = self.sessions.begin(&body, &scope)?;
        }
        if is_json && let Err(refused) = check(&body, check_message).await? {
            return Ok(refused.into_response());
        }
        let schema = |name: &str| gateway.get_tool(name).map(|tool| tool.input_schema);
        if let Some(call) = self.plain_calls.read(&parts, &body, schema) {
            drop(body);
            return self.plain_calls.answer(call, gateway, scope).await;
        }
        if is_json && let Err(refused) = check(&body, check_parameters).await? {
            return Ok(refused.into_response());
        }
        let (id, is_batch) = (find_id(&body), body.trim_ascii_start().starts_with(b"["));
        let takes_empty_events = knows_empty_events(parts.headers.get(VERSION), may_begin.then_some(&body[..]));
        if may_begin && id.is_some() && is_early_ping(&parts.headers, &body) {
            return Ok(transport_refusal::answer_empty_result(id.as_deref()));
        }
        parts.extensions.insert(scope);
        let (request, place) = (Request::from_parts(parts, Full::new(body)), gateway.place.clone());
        let response = GATEWAY.scope(gateway, Box::pin(self.service.handle(request))).await;
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return Ok(transport_refusal::refuse_unreadable(is_batch, id.as_deref()));
        }
        match place {
            Some(place) => place.bind(response.headers()),
            None if !in_session && self.sessions.refuse(response.headers()) => {
                return Ok(transport_refusal::refuse_unreadable(is_batch, id.as_deref()));
            }
            None => {}
        }
        let mut response = transport_refusal::convert_to_json_rpc(response, id.as_deref()).await;
        if !takes_empty_events {
            response = drop_empty_events(response);
        }
        if accepted == Accepted::Json && is_post && response.status().is_success() {
            response = replace_stream(response, id.as_deref()).await;
        }
        if let Some(owner) = stream_owner.filter(|_| response.status().is_success()) {
            response.extensions_mut().insert(owner);
        }
        Ok(response)
    }

    async fn with_catalogue(&self, scope: &Scope) -> Result<Arc<Scope>, Error> {
        let catalogue = self.calling.agents.catalogues.catalogue(&scope.principal, scope.running.clone()).await?;
        Ok(Arc::new(Scope { catalogue: Some(catalogue), ..scope.clone() }))
    }

    fn build_gateway(&self, scope: &Scope, headers: &HeaderMap) -> Gateway {
        // The other headers of a call are compared with the tool's schema.
        let is_call = headers.get(METHOD).is_some_and(|method| method == "tools/call");
        let introduction = Introduction::of(&scope.running, scope.catalogue.as_deref(), is_call);
        Gateway {
            store: self.store.clone(),
            calling: self.calling.clone(),
            looks: self.looks.clone(),
            introduction: match may_begin_session(headers) {
                true => self.introductions.share(introduction),
                false => Arc::new(introduction),
            },
            catalogue: scope.catalogue.clone().filter(|_| is_call),
            level: Arc::default(),
            watched_resources: WatchedResources::default(),
            place: None,
            stopping: self.stopping.clone(),
        }
    }
}

/// Whether a body is JSON, as the SDK tells: the letters of the type may be capitals.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether a message is a ping without a session, which earlier versions of the protocol allow before `initialize`, and probes send.
fn is_early_ping(headers: &HeaderMap, body: &[u8]) -> bool {
    let version = headers.get(VERSION).map_or(&b""[..], HeaderValue::as_bytes);
    version < PRESENT && find_method(body).is_some_and(|method| method == "ping")
}

/// Counts a request as a listening stream of its user.
fn begin_stream(parts: &Parts) -> Result<Option<StreamOwner>, Error> {
    parts.extensions.get::<StreamAdmission>().map(StreamAdmission::begin).transpose()
}

/// Checks a message, a large one away from the threads that serve requests. Streams and ends of sessions have no message.
async fn check(
    body: &Bytes,
    check: fn(&[u8]) -> Result<(), MessageRefused>,
) -> Result<Result<(), MessageRefused>, Error> {
    if body.is_empty() {
        return Ok(Ok(()));
    }
    let body = body.clone();
    let checked = do_heavy_work(body.len(), move || check(&body)).await;
    checked.map_err(|error| Error::Internal { detail: error.to_string() })
}

/// Whether a message may be the first one of a session: it names no session, and no method but `initialize`.
fn may_begin_session(headers: &HeaderMap) -> bool {
    !headers.contains_key(SESSION) && headers.get(METHOD).is_none_or(|method| method == INITIALIZE)
}
