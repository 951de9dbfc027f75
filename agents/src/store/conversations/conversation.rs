//! Conversations of users with agents. A user sees the own conversations with agents that the user sees.

use registry::statements::{
    Connection, Query, Row, damaged, get, parse_column, read_optional_timestamp, read_timestamp, read_unsigned,
    to_signed,
};
use registry::{AgentId, ConversationId, Error, InvocationMode, Page, Permission, Principal, Result, Slice, Timestamp};

use super::handle::Conversations;
use crate::domain::conversations::{Conversation, NewConversation, Simulation};
use crate::store::agents::edit::{bind_visible, is_visible};

/// The condition that a user sees the conversation `c` with the agent `a`. `$1` is the organisation, `$2` the user, and `$3` is 1
/// for an administrator.
macro_rules! is_own {
    () => {
        "c.organization = $1 AND c.account = $2 AND a.deleted_at IS NULL
            AND (a.scope = 'organization' OR a.author = $2 OR $3 = 1)"
    };
}
pub(super) use is_own;

const IS_AGENT_SEEN: &str = concat!("SELECT 1 FROM agents WHERE ", is_visible!("agents"));

const START: &str = "INSERT INTO conversations
        (organization, conversation, agent, account, mode, simulation_run_id, unit_test_id, run_index, started_at, sequence)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce(max(sequence), 0) + 1 FROM conversations WHERE organization = $1";

const FIND: &str = concat!(
    "SELECT c.* FROM conversations c JOIN agents a ON a.organization = c.organization AND a.agent = c.agent WHERE ",
    is_own!(),
    " AND c.conversation = $4"
);

const LIST: &str = concat!(
    "SELECT c.* FROM conversations c JOIN agents a ON a.organization = c.organization AND a.agent = c.agent WHERE ",
    is_own!(),
    " AND c.agent = $4 AND c.sequence < $5 ORDER BY c.sequence DESC LIMIT $6"
);

/// The highest position of a conversation in the organisation `$1`.
const MOST: &str = "SELECT coalesce(max(sequence), 0) AS most FROM conversations WHERE organization = $1";

const END: &str = "UPDATE conversations SET ended_at = $3
    WHERE organization = $1 AND conversation = $2 AND ended_at IS NULL";

impl Conversations {
    /// Starts a conversation of the user with an agent that the user sees.
    pub async fn start_conversation(&self, principal: &Principal, new: NewConversation) -> Result<Conversation> {
        let conversation = Conversation {
            id: ConversationId::new(self.store.clock()),
            organization: principal.organization.clone(),
            agent: new.agent,
            account: principal.account.clone(),
            mode: new.mode,
            simulation: new.simulation,
            started_at: self.store.clock().now(),
            ended_at: None,
        };
        let (principal, started) = (principal.clone(), conversation.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    let query = bind_visible(IS_AGENT_SEEN, &principal, &conversation.agent);
                    let found = query.fetch_optional(&mut *connection).await?;
                    found.ok_or(Error::NotFound { what: "agent" })?;
                    insert(connection, &conversation).await
                })
            })
            .await?;
        Ok(started)
    }

    /// Finds a conversation of the user.
    pub async fn get_conversation(
        &self,
        principal: &Principal,
        conversation: &ConversationId,
    ) -> Result<Option<Conversation>> {
        let query = bind_own(FIND, principal).bind(conversation.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Lists the user's conversations with an agent, newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_conversations(
        &self,
        principal: &Principal,
        agent: &AgentId,
        page: Page,
    ) -> Result<Slice<Conversation>> {
        if self.store.agents().get_agent(principal, agent).await?.is_none() {
            return Err(Error::NotFound { what: "agent" });
        }
        let list = ["conversations", principal.organization.as_str(), principal.account.as_str(), agent.as_str()];
        let last = self.store.registry().find_last_shown(&principal.organization, &list, page, MOST).await?;
        let before = last.map_or(i64::MAX, to_signed);
        let query = bind_own(LIST, principal).bind(agent.as_str()).bind(before).bind(i64::from(page.limit) + 1);
        let rows = self.store.open_listing(&principal.organization).await?.rows(query).await?;
        let found = rows.iter().map(|row| Ok((read(row)?, read_unsigned(row, "sequence")?))).collect::<Result<_>>()?;
        let token = |(_, sequence): &(Conversation, u64)| self.store.registry().seal_position(&list, *sequence);
        Ok(Slice::cut(found, page, token).map(|(conversation, _)| conversation))
    }

    /// Ends a conversation of the user. One that has ended stays as it is.
    pub async fn end_conversation(&self, principal: &Principal, conversation: &ConversationId) -> Result<()> {
        let (principal, conversation, now) = (principal.clone(), conversation.clone(), self.store.clock().now());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require(connection, &principal, &conversation).await?;
                    end(connection, &principal, &conversation, now).await
                })
            })
            .await
    }
}

async fn end(
    connection: &mut Connection,
    principal: &Principal,
    conversation: &ConversationId,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(END).bind(principal.organization.as_str()).bind(conversation.as_str());
    query.bind(now.as_milliseconds()).execute(connection).await?;
    Ok(())
}

/// Finds a conversation of the user, within a transaction.
pub(super) async fn require(
    connection: &mut Connection,
    principal: &Principal,
    conversation: &ConversationId,
) -> Result<Conversation> {
    let row = bind_own(FIND, principal).bind(conversation.as_str()).fetch_optional(connection).await?;
    read(&row.ok_or(Error::NotFound { what: "conversation" })?)
}

/// Binds what [`is_own`] needs.
pub(super) fn bind_own(statement: &'static str, principal: &Principal) -> Query {
    let query = Query::new(statement).bind(principal.organization.as_str()).bind(principal.account.as_str());
    query.bind(principal.may(Permission::Administer))
}

async fn insert(connection: &mut Connection, conversation: &Conversation) -> Result<()> {
    let Conversation { id, organization, agent, account, mode, simulation, started_at, .. } = conversation;
    let query = Query::new(START).bind(organization.as_str()).bind(id.as_str()).bind(agent.as_str());
    let query = query.bind(account.as_str()).bind(mode.as_str());
    let query = query.bind(simulation.unit_test_set_run_id.clone()).bind(simulation.unit_test_id.clone());
    query.bind(simulation.run_index).bind(started_at.as_milliseconds()).execute(connection).await?;
    Ok(())
}

pub(super) fn read(row: &Row) -> Result<Conversation> {
    let mode: &str = get(row, "mode")?;
    let mode = InvocationMode::ALL.into_iter().find(|known| known.as_str() == mode);
    Ok(Conversation {
        id: parse_column(row, "conversation")?,
        organization: parse_column(row, "organization")?,
        agent: parse_column(row, "agent")?,
        account: parse_column(row, "account")?,
        mode: mode.ok_or_else(|| damaged("mode", &"the name is unknown"))?,
        simulation: Simulation {
            unit_test_set_run_id: get(row, "simulation_run_id")?,
            unit_test_id: get(row, "unit_test_id")?,
            run_index: get(row, "run_index")?,
        },
        started_at: read_timestamp(row, "started_at")?,
        ended_at: read_optional_timestamp(row, "ended_at")?,
    })
}
