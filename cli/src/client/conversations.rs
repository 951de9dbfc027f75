//! States of agents, conversations with agents, and their turns.

use api::wire::{
    AgentStateList, AssignmentList, Conversation, ConversationList, InvocationList, InvocationResults, Turn,
};
use reqwest::Method;
use serde_json::Value;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};
use super::stream::Event;

/// Maximum calls per page of a log, and conversations per page.
const PAGE_CALLS_MAX: usize = 100;

impl Client {
    pub async fn list_agent_states(&self, agent: &str) -> anyhow::Result<DecodedResponse<AgentStateList>> {
        self.get(Call::new(Method::GET, &["agent", agent, "state"])).await
    }

    pub async fn set_agent_state(&self, agent: &str, state: &Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["agent", agent, "state"]).body(state.clone())).await
    }

    pub async fn remove_agent_state(&self, agent: &str, state: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["agent", agent, "state", state])).await
    }

    pub async fn list_assignments(&self, agent: &str) -> anyhow::Result<DecodedResponse<AssignmentList>> {
        self.get(Call::new(Method::GET, &["agent", agent, "assignment"])).await
    }

    /// Lists at most `conversations_max` conversations, newest first, and returns whether there are more.
    pub async fn list_conversations(
        &self,
        agent: &str,
        conversations_max: usize,
    ) -> anyhow::Result<(Vec<Value>, bool)> {
        let path = ["agent", agent, "conversation"];
        let call = Call::new(Method::GET, &path).query("limit", PAGE_CALLS_MAX.min(conversations_max));
        let pages = self.read_pages_while::<ConversationList>(call, |found| found.len() < conversations_max);
        let (mut conversations, has_more_pages) = pages.await?;
        let has_more = has_more_pages || conversations.len() > conversations_max;
        conversations.truncate(conversations_max);
        Ok((conversations, has_more))
    }

    pub async fn show_conversation(&self, conversation: &str) -> anyhow::Result<DecodedResponse<Conversation>> {
        self.get(Call::new(Method::GET, &["conversation", conversation])).await
    }

    pub async fn show_turn(&self, conversation: &str, turn: &str) -> anyhow::Result<DecodedResponse<Turn>> {
        self.get(Call::new(Method::GET, &["conversation", conversation, "turn", turn])).await
    }

    pub async fn start_conversation(
        &self,
        agent: &str,
        conversation: &Value,
    ) -> anyhow::Result<DecodedResponse<Conversation>> {
        self.get(Call::new(Method::POST, &["agent", agent, "conversation"]).body(conversation.clone())).await
    }

    pub async fn end_conversation(&self, conversation: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["conversation", conversation])).await
    }

    pub async fn begin_turn(&self, conversation: &str, turn: &Value) -> anyhow::Result<DecodedResponse<Turn>> {
        self.get(Call::new(Method::POST, &["conversation", conversation, "turn"]).body(turn.clone())).await
    }

    /// Runs a tool of a turn, once for each input, in parallel.
    pub async fn invoke_in_turn(
        &self,
        conversation: &str,
        turn: &str,
        request: &Value,
        show: impl FnMut(&Event),
    ) -> anyhow::Result<DecodedResponse<InvocationResults>> {
        let path = ["conversation", conversation, "turn", turn, "invoke"];
        self.stream(Call::new(Method::POST, &path).body(request.clone())).await?.follow(show).await
    }

    pub async fn read_conversation_log(
        &self,
        conversation: &str,
        interaction: Option<&str>,
    ) -> anyhow::Result<Vec<Value>> {
        let path = ["conversation", conversation, "log"];
        let call = Call::new(Method::GET, &path).query("limit", PAGE_CALLS_MAX);
        self.read_all_pages::<InvocationList>(call.query_all("interaction_id", interaction)).await
    }
}
