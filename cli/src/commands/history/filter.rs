//! Filters of records on the command line.

use clap::Args;
use jiff::Timestamp;
use registry::AgentId;

use crate::client::{Client, HistoryFilter};
use crate::commands::completion;
use crate::commands::constraint::Constraint;
use crate::commands::times::parse_past;

#[derive(Debug, Args)]
pub struct FilterArguments {
    /// Only runs of this tool (name or id)
    #[arg(long, add = completion::complete_tools())]
    tool: Option<String>,
    /// Only runs of this origin: conversation, direct, branch-test, mcp or agent; repeatable
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Only runs of this user: the conversation's, or the caller outside of one; repeatable
    #[arg(long = "user", value_name = "USER")]
    users: Vec<String>,
    /// Only runs since this time: a duration such as 2h or 7d, a date, or a time
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    since: Option<Timestamp>,
    /// Only runs before this time
    #[arg(long, value_name = "TIME", value_parser = parse_past)]
    before: Option<Timestamp>,
    /// Only runs of this conversation; repeatable
    #[arg(long = "conversation", value_name = "ID")]
    conversations: Vec<String>,
    /// Only runs that sent a request to this host; repeatable
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
    /// Only runs that had this secret; repeatable
    #[arg(long = "secret", value_name = "NAME")]
    secrets: Vec<String>,
    /// Only runs with a refusal of this code, such as denied, budget, simulated or status_events; repeatable
    #[arg(long = "refused", value_name = "CODE")]
    refusals: Vec<String>,
    #[command(flatten)]
    call: CallArguments,
    /// Only runs that succeeded
    #[arg(long, conflicts_with = "failed")]
    succeeded: bool,
    /// Only runs that failed
    #[arg(long)]
    failed: bool,
}

/// The filters by the agent, the native tool and the refusal of a call.
#[derive(Debug, Args)]
struct CallArguments {
    /// Only calls through this agent (slug or id); repeatable
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Only calls of this MCP client, such as 'claude-code 2.1'; repeatable
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// Only calls in this turn of a conversation with an agent; repeatable
    #[arg(long = "turn", value_name = "ID")]
    turns: Vec<String>,
    /// Only calls that were refused at this step, such as permit, validate or policy; repeatable
    #[arg(long = "refused-at", value_name = "STEP")]
    refusing_steps: Vec<String>,
    /// Only calls of this tool, which the server provides; repeatable
    #[arg(long = "native-tool", value_name = "NAME")]
    native_tools: Vec<String>,
}

/// The filters of a list, which searches do not have.
#[derive(Debug, Args)]
pub struct ListFilterArguments {
    #[command(flatten)]
    filter: FilterArguments,
    /// Only versions that match this constraint, such as 1, ^1.2 or '>=1.2,<2'; requires --tool
    #[arg(long, value_name = "CONSTRAINT", requires = "tool")]
    version: Option<Constraint>,
    /// Only runs in this state: finished or running; repeatable [default: finished]
    #[arg(long = "state", value_name = "STATE")]
    states: Vec<String>,
}

impl ListFilterArguments {
    pub async fn read(self, client: &Client) -> anyhow::Result<HistoryFilter> {
        let version = self.version.map(|constraint| constraint.to_string());
        Ok(HistoryFilter { version, states: self.states, ..self.filter.read(client).await? })
    }
}

impl FilterArguments {
    pub async fn read(self, client: &Client) -> anyhow::Result<HistoryFilter> {
        let tool_id = match &self.tool {
            Some(tool) => Some(client.find_tool_of_records(tool).await?.id),
            None => None,
        };
        let mut agent_ids = Vec::new();
        for agent in self.call.agents {
            agent_ids.push(find_agent_id(client, agent).await?);
        }
        Ok(HistoryFilter {
            tool_id,
            agent_ids,
            clients: self.call.clients,
            turn_ids: self.call.turns,
            refusing_steps: self.call.refusing_steps,
            native_tools: self.call.native_tools,
            origins: self.origins,
            user_ids: self.users,
            created_after: self.since.map(|time| time.to_string()),
            created_before: self.before.map(|time| time.to_string()),
            conversation_ids: self.conversations,
            hosts: self.hosts,
            secrets: self.secrets,
            refusals: self.refusals,
            succeeded: match (self.succeeded, self.failed) {
                (false, false) => None,
                (is_succeeded, _) => Some(is_succeeded),
            },
            ..HistoryFilter::default()
        })
    }
}

/// Returns the id of an agent. The history may have calls through an agent that was deleted, which only its id names.
async fn find_agent_id(client: &Client, slug_or_id: String) -> anyhow::Result<String> {
    match AgentId::parse(&slug_or_id) {
        Ok(_) => Ok(slug_or_id),
        Err(_) => Ok(client.find_agent(&slug_or_id).await?.id.into()),
    }
}
