//! The rows of the table of bounds, without those of native tools, whose outputs and work have one bound.

use ResponseBound::{Bytes, Stream};
use api_kit::in_progress::Work::{
    self, AgentRuns, Builds, ClientDocuments, Git, Lists, McpMessage, Memory, Reads, Runs, Stream as Lasting, Writes,
};

/// The body of a successful response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseBound {
    /// Bytes of the body.
    Bytes(u64),
    /// A stream, of which the server keeps no more than its client has not read yet.
    Stream,
}

/// One row of the table: the id of an operation, the body of its response, and the kind of its work.
type Row = (&'static str, ResponseBound, Work);

/// A few fields, or a page with none of a client's texts but short ones.
const SMALL: ResponseBound = Bytes(256 << 10);
/// One object, whose longest text has 64 KiB, or a page of 100 short ones. JSON makes up to six bytes of one.
const OBJECT: ResponseBound = Bytes(2 << 20);
/// A document that the server or a build made.
const DOCUMENT: ResponseBound = Bytes(4 << 20);
/// A page of objects, or an agent with its assignments and states, which have at most 1 MiB each.
const PAGE: ResponseBound = Bytes(8 << 20);
/// A page of schemas or of steps: 8 MiB as they are stored, with what JSON and the form of a model API add.
const LARGE_PAGE: ResponseBound = Bytes(16 << 20);
/// The results of ten inputs, each with 1 MiB of content, an output, a stack trace and printed text; or one record.
const RESULTS: ResponseBound = Bytes(32 << 20);
/// A page of records: 8 MiB as they are stored, in JSON with escapes, and one record that is larger.
const RECORDS: ResponseBound = Bytes(64 << 20);

/// In the order of the route table.
pub(super) const ROWS: &[Row] = &[
    ("get-root", SMALL, Memory),
    ("is-live", SMALL, Memory),
    ("is-ready", SMALL, Reads),
    ("get-openapi-document", DOCUMENT, Memory),
    ("download-artifact", DOCUMENT, Reads),
    ("get-reference", DOCUMENT, Memory),
    ("get-error-reference", DOCUMENT, Memory),
    ("get-reference-asset", DOCUMENT, Memory),
    ("get-protected-resource", SMALL, Memory),
    ("get-authorization-server", SMALL, Memory),
    ("get-oauth-authorization", SMALL, ClientDocuments),
    ("post-oauth-authorization", SMALL, ClientDocuments),
    ("create-oauth-token", SMALL, Writes),
    ("revoke-oauth-token", SMALL, Writes),
    ("register-oauth-client", SMALL, Writes),
    ("sign-in-with-api-key", SMALL, Writes),
    ("get-organization", SMALL, Reads),
    ("get-me", OBJECT, Reads),
    ("get-own-api-keys", OBJECT, Reads),
    ("create-own-api-key", SMALL, Writes),
    ("revoke-own-api-key", SMALL, Writes),
    ("get-own-variables", OBJECT, Reads),
    ("set-own-variable", SMALL, Writes),
    ("remove-own-variable", SMALL, Writes),
    ("get-users", OBJECT, Reads),
    ("create-user", OBJECT, Writes),
    ("get-user", OBJECT, Reads),
    ("modify-user", OBJECT, Writes),
    ("remove-user", SMALL, Writes),
    ("get-user-variables", OBJECT, Reads),
    ("set-user-variable", SMALL, Writes),
    ("remove-user-variable", SMALL, Writes),
    ("get-roles", PAGE, Reads),
    ("create-role", OBJECT, Writes),
    ("get-role", OBJECT, Reads),
    ("modify-role", OBJECT, Writes),
    ("delete-role", SMALL, Writes),
    ("get-api-keys", OBJECT, Reads),
    ("create-api-key", SMALL, Writes),
    ("revoke-api-key", SMALL, Writes),
    ("create-tool", SMALL, Writes),
    ("get-tools", PAGE, Lists),
    ("modify-tool", SMALL, Writes),
    ("deprecate-tool", SMALL, Writes),
    ("modify-tool-envvars", SMALL, Writes),
    ("publish-tool-version", OBJECT, Builds),
    ("get-tool-versions", LARGE_PAGE, Lists),
    ("get-tool-version", DOCUMENT, Lists),
    ("deprecate-tool-version", SMALL, Writes),
    ("invoke-tool-version", RESULTS, Runs),
    ("invoke-tool-version-by-name", RESULTS, Runs),
    ("get-tool-version-provenance", DOCUMENT, Reads),
    ("get-tool-version-sbom", DOCUMENT, Reads),
    ("verify-tool-version", OBJECT, Builds),
    ("list-signing-keys", OBJECT, Reads),
    ("get-tool-build", OBJECT, Reads),
    ("test-tool", RESULTS, Builds),
    ("get-tool-invocations", RECORDS, Lists),
    ("search-tool-invocations", RECORDS, Lists),
    ("roll-back-tool-invocations", SMALL, Writes),
    ("get-tool-invocation", RESULTS, Reads),
    ("replay-tool-invocation", RESULTS, Runs),
    ("cancel-tool-invocation", SMALL, Writes),
    ("get-history-holds", OBJECT, Lists),
    ("place-history-hold", SMALL, Writes),
    ("release-history-hold", SMALL, Writes),
    ("get-operation", RESULTS, Reads),
    ("get-tool-scaffold-release", DOCUMENT, Memory),
    ("access-git-interface", Stream, Git),
    ("post-git-interface", Stream, Git),
    ("create-agent", OBJECT, Writes),
    ("get-agents", OBJECT, Lists),
    ("get-agent", PAGE, Reads),
    ("modify-agent", PAGE, Writes),
    ("delete-agent", SMALL, Writes),
    ("get-agent-assignments", PAGE, Reads),
    ("assign-tool", OBJECT, Writes),
    ("unassign-tool", SMALL, Writes),
    ("get-agent-states", OBJECT, Reads),
    ("set-agent-state", OBJECT, Writes),
    ("remove-agent-state", SMALL, Writes),
    ("deploy-agent", PAGE, Writes),
    ("get-agent-revisions", OBJECT, Lists),
    ("get-agent-revision", PAGE, Reads),
    ("get-agent-tools", LARGE_PAGE, Reads),
    ("start-conversation", SMALL, Writes),
    ("get-conversations", OBJECT, Lists),
    ("get-conversation", OBJECT, Reads),
    ("end-conversation", SMALL, Writes),
    ("get-conversation-log", RECORDS, Lists),
    ("begin-turn", LARGE_PAGE, Writes),
    ("get-turn", LARGE_PAGE, Reads),
    ("invoke-in-turn", RESULTS, Runs),
    ("execute-agent", OBJECT, AgentRuns),
    ("get-agent-run", LARGE_PAGE, Reads),
    ("get-agent-run-trace", LARGE_PAGE, Reads),
    ("resume-agent-run", OBJECT, AgentRuns),
    ("get-agent-runs", OBJECT, Lists),
    ("get-human-requests", RECORDS, Lists),
    ("get-human-request", OBJECT, Reads),
    ("answer-human-request", OBJECT, AgentRuns),
    ("cancel-agent-run", OBJECT, Writes),
    ("post-mcp", RECORDS, McpMessage),
    ("get-mcp", Stream, Lasting),
    ("delete-mcp", SMALL, Memory),
];
