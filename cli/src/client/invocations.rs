//! Records of runs: list, search, show, replay.
//!
//! The server decodes requests by hand, so the type of a request is the client's own.

use api::wire::{Replayed, ToolInvocation};
use registry::Ledger;
use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::decoded_response::{DecodedResponse, read};
use super::request::{Call, Client};
use super::stream::Event;

/// A filter on records, with the names of the API contract.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    pub tool_id: Option<String>,
    pub version: Option<String>,
    pub source_types: Vec<String>,
    pub conversation_ids: Vec<String>,
    pub succeeded: Option<bool>,
    pub hosts: Vec<String>,
    pub secrets: Vec<String>,
    pub refusals: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SearchField {
    Output,
    Message,
    Type,
    StackTrace,
}

impl SearchField {
    pub const ALL: [Self; 4] = [Self::Output, Self::Message, Self::Type, Self::StackTrace];

    fn wire_name(self) -> &'static str {
        match self {
            Self::Output => "invocation_status.output",
            Self::Message => "invocation_status.exception_message",
            Self::Type => "invocation_status.exception_type",
            Self::StackTrace => "invocation_status.exception_stack_trace",
        }
    }
}

/// The code that a replay runs: a version, or a branch. Neither means the recorded version.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplayRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_path: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Invocations {
    pub tool_invocations: Vec<ToolInvocation>,
}

impl Client {
    /// Lists records, newest first, at most `limit` (the contract allows 100).
    pub async fn list_invocations(
        &self,
        filter: &HistoryFilter,
        limit: u32,
    ) -> anyhow::Result<DecodedResponse<Invocations>> {
        let call = filtered(Call::new(Method::GET, &["tool", "invocation"]), filter)
            .query_all("version", &filter.version)
            .query("sort_by", "-created_at")
            .query("limit", limit);
        self.get(call).await
    }

    pub async fn search_invocations(
        &self,
        text: &str,
        fields: &[SearchField],
        filter: &HistoryFilter,
    ) -> anyhow::Result<DecodedResponse<Invocations>> {
        let call = filtered(Call::new(Method::GET, &["tool", "invocation", "search"]), filter)
            .query("query", text)
            .query_all("query_against", fields.iter().map(|field| field.wire_name()));
        self.get(call).await
    }

    /// Returns a record and its ledger. Serde cannot flatten the record, because it contains unparsed JSON.
    pub async fn show_invocation(&self, id: &str) -> anyhow::Result<(DecodedResponse<ToolInvocation>, Option<Ledger>)> {
        let record: DecodedResponse<ToolInvocation> =
            self.get(Call::new(Method::GET, &["tool", "invocation", id])).await?;
        let ledger = read(&record.document["ledger"])?;
        Ok((record, ledger))
    }

    pub async fn replay(
        &self,
        id: &str,
        request: &ReplayRequest,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<Replayed>> {
        let path = ["tool", "invocation", id, "replay"];
        let call = Call::new(Method::POST, &path).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }
}

fn filtered<'call>(call: Call<'call>, filter: &HistoryFilter) -> Call<'call> {
    call.query_all("tool_id", &filter.tool_id)
        .query_all("invocation_source_type", &filter.source_types)
        .query_all("conversation_id", &filter.conversation_ids)
        .query_all("succeeded", filter.succeeded)
        .query_all("host", &filter.hosts)
        .query_all("secret", &filter.secrets)
        .query_all("refusal", &filter.refusals)
}
