//! `POST`, `GET` and `DELETE /v1/{organization}/mcp/{gateway}`: the tools of an agent for MCP clients.

use agents::AgentReference;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::{Request, State};
use axum::response::Response;
use mcp::{McpEndpoint, McpRequest};

use crate::sections;

pub(crate) fn post_operation() -> OperationDoc {
    OperationDoc::new("post-mcp", sections::AGENTS, "Send a message of the Model Context Protocol")
        .description(
            "One JSON-RPC request or notification of an MCP client. The tools are those of the agent's running revision \
            that the user may invoke. Protocol version 2026-07-28 needs no session; earlier versions begin one with \
            `initialize`. An API key is accepted as bearer, too.",
        )
        .binary_body(&["application/json"])
        .returns_bytes(200, "A JSON-RPC response, or a stream that ends with it.", &[
            "application/json",
            "text/event-stream",
        ])
        .returns_nothing(202, "The notification was accepted.")
        .errors(429, &["too_many_streams"])
        .json_rpc_errors(&[400, 403, 404, 406, 413, 415])
}

pub(crate) fn get_operation() -> OperationDoc {
    OperationDoc::new("get-mcp", sections::AGENTS, "Listen to a session of the Model Context Protocol")
        .description("The stream of a session of an earlier protocol version. 405 without a session.")
        .returns_bytes(200, "The messages of the server.", &["text/event-stream"])
        .errors(429, &["too_many_streams"])
        .json_rpc_errors(&[400, 403, 404, 405, 406])
}

pub(crate) fn delete_operation() -> OperationDoc {
    OperationDoc::new("delete-mcp", sections::AGENTS, "End a session of the Model Context Protocol")
        .description("Ends a session of an earlier protocol version. 405 without a session.")
        .returns_nothing(204, "The session has ended.")
        .json_rpc_errors(&[400, 403, 404, 405])
}

pub(crate) async fn handle(
    State(endpoint): State<McpEndpoint>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentReference>,
    request: Request,
) -> Result<Response, Error> {
    // Boxed here, so that the router moves a pointer and not some kilobytes.
    Box::pin(endpoint.serve(McpRequest { principal, agent, request })).await
}
