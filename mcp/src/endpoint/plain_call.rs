//! Plain calls: requests of the present version for `tools/call` that have one message as their answer, which most calls are.
//!
//! For each request, the SDK makes the queues and tasks of a connection, on which notifications and questions may come before
//! the answer. A plain call asks for none of them, so that its handler runs in one task. Whatever differs from a plain call,
//! also by a mistake, is left to the SDK, which parses its body again.

use std::sync::Arc;

use api_kit::error::Error;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::{sink, stream};
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest, ErrorCode, JsonObject,
    JsonRpcMessage, JsonRpcVersion2_0, ProtocolVersion, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::{RequestContext, serve_directly};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, Service as _};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::gateway::Gateway;
use crate::calls::Scope;
use crate::sessions::SESSION;
use crate::transport::{BOTH, find_sole, is_literally_allowed};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PRESENT: ProtocolVersion = ProtocolVersion::V_2026_07_28;
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The key of a property that a header of a call repeats.
const REPEATED: &str = "x-mcp-header";

/// A plain call.
pub struct PlainCall {
    id: RequestId,
    meta: RequestMetaObject,
    request: ClientRequest,
}

/// The body of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: CallToolRequestParams,
}

/// Reads and answers plain calls.
#[derive(Clone)]
pub struct PlainCalls {
    hosts: Arc<[String]>,
    /// A client that cannot be reached.
    nobody: Peer<RoleServer>,
    /// Cancels all calls.
    ending: CancellationToken,
}

impl PlainCalls {
    /// `hosts` are those that clients may use.
    pub fn new(hosts: &[String], ending: CancellationToken) -> Self {
        /// Serves nothing.
        struct Nothing;
        impl ServerHandler for Nothing {}
        let closed = (sink::drain(), stream::empty());
        Self { hosts: hosts.into(), nobody: serve_directly(Nothing, closed, None).peer().clone(), ending }
    }

    /// Reads a plain call; `None` for any other request. The input schema of a tool is asked for by its name.
    pub fn read(
        &self,
        head: &Parts,
        body: &[u8],
        schema: impl FnOnce(&str) -> Option<Arc<JsonObject>>,
    ) -> Option<PlainCall> {
        let Parts { method, headers, .. } = head;
        let is_plain =
            method == Method::POST && has_plain_headers(headers) && is_literally_allowed(&self.hosts, headers);
        let message = is_plain.then(|| serde_json::from_slice(body).ok()).flatten();
        let Message { id, mut params, .. } = message?;
        let meta = params.meta.take().filter(has_one_message)?;
        let is_named = find_sole(headers, &NAME).is_some_and(|name| name.as_bytes() == params.name.as_bytes());
        let schema = schema(&params.name).filter(|_| is_named)?;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        (!has_repeated_properties(&schema)).then_some(PlainCall { id, meta, request })
    }

    /// Answers a call. When the client goes away, the call is cancelled and goes on to its end.
    pub async fn answer(&self, call: PlainCall, gateway: Gateway, scope: Arc<Scope>) -> Result<Response, Error> {
        let PlainCall { id, meta, request } = call;
        let mut context = RequestContext::new(id.clone(), self.nobody.clone());
        context.ct = self.ending.child_token();
        context.meta = meta;
        context.extensions.insert(scope);
        let _until_answered = context.ct.clone().drop_guard();
        let tasks = gateway.calling.tasks.clone();
        let answering = tasks.spawn(async move { Box::pin(gateway.handle_request(request, context)).await })?;
        let answer = answering.await.map_err(|error| Error::Internal { detail: error.to_string() })?;
        render_answer(answer, id)
    }
}

/// Whether headers are those of a plain call, as the SDKs of clients write them. Pages of browsers name their origin.
fn has_plain_headers(headers: &HeaderMap) -> bool {
    let is = |name: &HeaderName, value: &str| find_sole(headers, name).is_some_and(|given| given == value);
    find_sole(headers, &ACCEPT) == Some(&BOTH)
        && find_sole(headers, &CONTENT_TYPE) == Some(&JSON)
        && is(&VERSION, PRESENT.as_str())
        && is(&METHOD, "tools/call")
        && !headers.contains_key(ORIGIN)
        && !headers.contains_key(SESSION)
}

/// Whether a request has all that the present version requires, and asks for no notifications.
fn has_one_message(meta: &RequestMetaObject) -> bool {
    meta.protocol_version() == Some(PRESENT)
        && meta.missing_required_keys(&PRESENT).is_empty()
        && !meta.contains_key("progressToken")
        && !meta.contains_key("io.modelcontextprotocol/logLevel")
}

fn has_repeated_properties(schema: &JsonObject) -> bool {
    let properties = schema.get("properties").and_then(|properties| properties.as_object());
    let schemas = properties.into_iter().flat_map(|properties| properties.values());
    let mut schemas = schemas.filter_map(|one| one.as_object());
    schemas.any(|schema| schema.contains_key(REPEATED) || has_repeated_properties(schema))
}

fn render_answer(answer: Result<ServerResult, ErrorData>, id: RequestId) -> Result<Response, Error> {
    let (status, message): (_, ServerJsonRpcMessage) = match answer {
        Ok(result) => (StatusCode::OK, JsonRpcMessage::response(result, id)),
        Err(error) => (map_status(error.code), JsonRpcMessage::error(error, Some(id))),
    };
    let body = serde_json::to_vec(&message).map_err(|error| Error::Internal { detail: error.to_string() })?;
    Ok((status, [(CONTENT_TYPE, JSON)], body).into_response())
}

/// The status of an error of a handler, as the SDK has it.
const fn map_status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use serde_json::{Value, json};

    use super::*;

    const HEADERS: [(&str, &str); 6] = [
        ("host", "localhost:9000"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "shout"),
    ];

    fn build_body() -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "shout", "arguments": {"text": "hi"}, "_meta": meta},
        })
    }

    fn is_plain(method: Method, headers: &[(&str, &str)], body: &Value) -> bool {
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let schema = |name: &str| {
            let repeated = json!({"properties": {"where": {"properties": {"region": {"x-mcp-header": "Region"}}}}});
            let schema = if name == "repeats" { repeated } else { json!({"properties": {"text": {"type": "string"}}}) };
            (name != "unknown").then(|| Arc::new(schema.as_object().cloned().unwrap()))
        };
        let calls = PlainCalls::new(&["localhost".to_owned()], CancellationToken::new());
        calls.read(&head, body.to_string().as_bytes(), schema).is_some()
    }

    #[tokio::test]
    async fn a_call_of_an_sdk_is_plain() {
        assert!(is_plain(Method::POST, &HEADERS, &build_body()));
        assert!(!is_plain(Method::GET, &HEADERS, &build_body()));
    }

    #[tokio::test]
    async fn no_call_with_another_header_is_plain() {
        for (name, value) in [
            ("host", "evil.example"),
            ("accept", "application/json"),
            ("content-type", "text/plain"),
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-method", "tools/list"),
            ("mcp-name", "other"),
        ] {
            let others = HEADERS.iter().copied().filter(|(other, _)| *other != name);
            let missing: Vec<_> = others.clone().collect();
            assert!(!is_plain(Method::POST, &missing, &build_body()), "without {name}");
            let changed: Vec<_> = others.chain([(name, value)]).collect();
            assert!(!is_plain(Method::POST, &changed, &build_body()), "{name}: {value}");
            let twice = [&HEADERS[..], &[(name, value)]].concat();
            assert!(!is_plain(Method::POST, &twice, &build_body()), "a second {name}");
        }
        for more in [("origin", "http://localhost"), ("mcp-session-id", "a")] {
            assert!(!is_plain(Method::POST, &[&HEADERS[..], &[more]].concat(), &build_body()), "{more:?}");
        }
    }

    #[tokio::test]
    async fn no_call_with_another_body_is_plain() {
        let meta = |key: &str| format!("/params/_meta/io.modelcontextprotocol~1{key}");
        for (pointer, value) in [
            ("/jsonrpc".to_owned(), json!("1.0")),
            ("/id".to_owned(), Value::Null),
            ("/method".to_owned(), json!("tools/list")),
            ("/params/name".to_owned(), json!("unknown")),
            ("/params/name".to_owned(), json!("repeats")),
            ("/params/arguments".to_owned(), json!("hi")),
            (meta("protocolVersion"), json!("2025-11-25")),
            (meta("clientCapabilities"), json!(1)),
        ] {
            let mut changed = build_body();
            *changed.pointer_mut(&pointer).unwrap() = value.clone();
            let named = changed["params"]["name"].as_str().unwrap().to_owned();
            let headers = HEADERS.map(|(name, value)| (name, if name == "mcp-name" { named.as_str() } else { value }));
            assert!(!is_plain(Method::POST, &headers, &changed), "{pointer}: {value}");
        }
        for (key, value) in [("progressToken", json!(1)), ("io.modelcontextprotocol/logLevel", json!("info"))] {
            let mut asking = build_body();
            asking["params"]["_meta"][key] = value;
            assert!(!is_plain(Method::POST, &HEADERS, &asking), "{key}");
        }
        let mut more = build_body();
        more["result"] = json!({});
        assert!(!is_plain(Method::POST, &HEADERS, &more));
    }
}
