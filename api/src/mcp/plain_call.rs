//! Plain calls: requests of the present version for `tools/call` that have one message as their answer, which most calls are.
//!
//! For each request, the SDK makes the queues and tasks of a connection, on which notifications and questions may come before
//! the answer. A plain call asks for none of them, so that its handler runs in one task. Whatever differs from a plain call,
//! also by a mistake, is left to the SDK, which reads it anew.

use std::sync::Arc;

use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, ORIGIN};
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

use super::accept::BOTH;
use super::gateway::Gateway;
use super::scope::Scope;
use super::sessions::SESSION;
use crate::error::Error;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PRESENT: ProtocolVersion = ProtocolVersion::V_2026_07_28;
/// The key of a property that a header of a call repeats.
const REPEATED: &str = "x-mcp-header";

/// A plain call.
pub(super) struct PlainCall {
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

/// Answers plain calls.
#[derive(Clone)]
pub(super) struct PlainCalls {
    /// A client that cannot be reached.
    nobody: Peer<RoleServer>,
    /// Cancels all calls.
    ending: CancellationToken,
}

impl PlainCall {
    /// Reads a plain call; `None` for any other request.
    pub fn read((method, headers): (&Method, &HeaderMap), body: &[u8], gateway: &Gateway) -> Option<Self> {
        if method != Method::POST || !has_plain_headers(headers) {
            return None;
        }
        let Message { id, mut params, .. } = serde_json::from_slice(body).ok()?;
        let meta = params.meta.take().filter(has_one_message)?;
        let is_named = headers.get("mcp-name").is_some_and(|name| name.as_bytes() == params.name.as_bytes());
        let schema = gateway.get_tool(&params.name).filter(|_| is_named)?.input_schema;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        (!has_repeated_properties(&schema)).then_some(Self { id, meta, request })
    }
}

impl PlainCalls {
    pub fn new(ending: CancellationToken) -> Self {
        /// Serves nothing.
        struct Nothing;
        impl ServerHandler for Nothing {}
        let closed = (sink::drain(), stream::empty());
        Self { nobody: serve_directly(Nothing, closed, None).peer().clone(), ending }
    }

    /// Answers a call. When the client goes away, the call is cancelled and goes on to its end.
    pub async fn answer(&self, call: PlainCall, (gateway, scope): (Gateway, Arc<Scope>)) -> Result<Response, Error> {
        let PlainCall { id, meta, request } = call;
        let mut context = RequestContext::new(id.clone(), self.nobody.clone());
        context.ct = self.ending.child_token();
        context.meta = meta;
        context.extensions.insert(scope);
        let _until_answered = context.ct.clone().drop_guard();
        let tasks = gateway.calling.tasks.clone();
        let answering = tasks.spawn(async move { Box::pin(gateway.handle_request(request, context)).await })?;
        let answer = answering.await.map_err(|error| Error::Internal { detail: error.to_string() })?;
        rendered(answer, id)
    }
}

/// Whether headers are those of a plain call, as the SDKs of clients write them. Pages of browsers name their origin.
fn has_plain_headers(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
    headers.get(ACCEPT) == Some(&BOTH)
        && headers.get(CONTENT_TYPE) == Some(&JSON)
        && is("mcp-protocol-version", PRESENT.as_str())
        && is("mcp-method", "tools/call")
        && !headers.contains_key(ORIGIN)
        && !headers.contains_key(SESSION)
}

/// Whether a request has all that the present version requires, and asks for no notifications.
fn has_one_message(meta: &RequestMetaObject) -> bool {
    meta.protocol_version() == Some(PRESENT)
        && meta.missing_required_keys(&PRESENT).is_empty()
        && meta.get_progress_token().is_none()
        && meta.log_level().is_none()
}

fn has_repeated_properties(schema: &JsonObject) -> bool {
    let properties = schema.get("properties").and_then(|properties| properties.as_object());
    let mut schemas =
        properties.into_iter().flat_map(|properties| properties.values()).filter_map(|one| one.as_object());
    schemas.any(|schema| schema.contains_key(REPEATED) || has_repeated_properties(schema))
}

fn rendered(answer: Result<ServerResult, ErrorData>, id: RequestId) -> Result<Response, Error> {
    let (status, message): (_, ServerJsonRpcMessage) = match answer {
        Ok(result) => (StatusCode::OK, JsonRpcMessage::response(result, id)),
        Err(error) => (status(error.code), JsonRpcMessage::error(error, Some(id))),
    };
    let body = serde_json::to_vec(&message).map_err(|error| Error::Internal { detail: error.to_string() })?;
    Ok((status, [(CONTENT_TYPE, JSON)], body).into_response())
}

/// Errors of calls have the status 200, unless the protocol gives them another one.
const fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
