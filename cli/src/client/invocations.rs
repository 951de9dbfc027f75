//! Records of runs: list, search, show, replay.

use api::wire::{InvocationList, ListPage as _, ReplayToolInvocation, Replayed, ToolInvocation, name_search_field};
use registry::{Ledger, SearchField};
use reqwest::Method;
use serde_json::{Value, json};

use super::decoded_response::{DecodedResponse, read};
use super::request::{Call, Client};
use super::stream::Event;

/// Records of a page, at most, as the contract has it.
pub(super) const PAGE_LIMIT_MAX: usize = 100;

/// A filter on records, with the names of the API contract.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    pub tool_id: Option<String>,
    pub version: Option<String>,
    pub origins: Vec<String>,
    pub user_ids: Vec<String>,
    pub created_after: Option<String>,
    pub created_before: Option<String>,
    pub states: Vec<String>,
    pub conversation_ids: Vec<String>,
    pub succeeded: Option<bool>,
    pub hosts: Vec<String>,
    pub secrets: Vec<String>,
    pub refusals: Vec<String>,
    pub agent_ids: Vec<String>,
    pub clients: Vec<String>,
    pub turn_ids: Vec<String>,
    pub refusing_steps: Vec<String>,
    pub native_tools: Vec<String>,
}

/// A search of records.
pub struct Search<'a> {
    pub text: &'a str,
    pub fields: &'a [SearchField],
    pub filter: HistoryFilter,
}

impl Client {
    /// Lists records, newest first, at most `limit`; all of them without a limit.
    pub async fn list_invocations(
        &self,
        filter: &HistoryFilter,
        limit: Option<u32>,
    ) -> anyhow::Result<DecodedResponse<InvocationList>> {
        self.read_invocations(build_list_call(filter), limit).await
    }

    /// Searches records, latest end first, at most `limit`; all of them without a limit.
    pub async fn search_invocations(
        &self,
        search: &Search<'_>,
        limit: Option<u32>,
    ) -> anyhow::Result<DecodedResponse<InvocationList>> {
        let Search { text, fields, filter } = search;
        let call = add_filter(Call::new(Method::GET, &["tool", "invocation", "search"]), filter)
            .query("query", *text)
            .query_all("query_against", fields.iter().copied().filter_map(name_search_field));
        self.read_invocations(call, limit).await
    }

    /// Reads pages of records up to a limit. The document is that of one page with all of them.
    async fn read_invocations(
        &self,
        call: Call<'_>,
        limit: Option<u32>,
    ) -> anyhow::Result<DecodedResponse<InvocationList>> {
        let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let (mut records, mut token) = (Vec::new(), Some(0));
        while let Some(next) = token.filter(|_| records.len() < limit) {
            let page_limit = PAGE_LIMIT_MAX.min(limit - records.len());
            let call = call.clone().query("limit", page_limit).query("continuation_token", next);
            let page: DecodedResponse<Value> = self.get(call).await?;
            records.extend(read::<Vec<Value>>(&page.body[InvocationList::ITEMS])?);
            token = page.body["continuation_token"].as_u64();
        }
        let document = json!({
            "tool_invocations": records, "has_more": token.is_some(), "continuation_token": token,
        });
        Ok(DecodedResponse { body: read(&document)?, document })
    }

    /// Cancels a run that is in progress.
    pub async fn cancel_invocation(&self, id: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["tool", "invocation", id, "cancel"])).await
    }

    /// Takes records out of a conversation or of a simulation.
    pub async fn roll_back(&self, from: Value) -> anyhow::Result<DecodedResponse<Value>> {
        self.get(Call::new(Method::POST, &["tool", "invocation", "rollback"]).body(from)).await
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
        request: &ReplayToolInvocation,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<Replayed>> {
        let path = ["tool", "invocation", id, "replay"];
        let call = Call::new(Method::POST, &path).body(serde_json::to_value(request)?);
        self.stream(call).await?.follow(show).await
    }
}

/// The call that lists records, newest first.
pub(super) fn build_list_call(filter: &HistoryFilter) -> Call<'static> {
    add_filter(Call::new(Method::GET, &["tool", "invocation"]), filter)
        .query_all("version", &filter.version)
        .query_all("state", &filter.states)
        .query("sort_by", "-created_at")
}

fn add_filter<'call>(call: Call<'call>, filter: &HistoryFilter) -> Call<'call> {
    call.query_all("tool_id", &filter.tool_id)
        .query_all("origin", &filter.origins)
        .query_all("user_id", &filter.user_ids)
        .query_all("created_after", &filter.created_after)
        .query_all("created_before", &filter.created_before)
        .query_all("conversation_id", &filter.conversation_ids)
        .query_all("succeeded", filter.succeeded)
        .query_all("host", &filter.hosts)
        .query_all("secret", &filter.secrets)
        .query_all("refusal", &filter.refusals)
        .query_all("agent_id", &filter.agent_ids)
        .query_all("client", &filter.clients)
        .query_all("turn_id", &filter.turn_ids)
        .query_all("refused_at", &filter.refusing_steps)
        .query_all("native_tool", &filter.native_tools)
}
