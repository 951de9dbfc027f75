//! Turns of conversations. A turn is inserted once and never changed; turns with the same tools share the row of these.

use registry::statements::{
    Connection, Query, Row, damaged, get, parse_column, parse_optional_column, read_json, read_timestamp,
    require_within, to_json,
};
use registry::{ConversationId, Digest, InteractionId, Principal, Result, Timestamp, TurnId};

use super::conversation::{self, bind_own, is_own};
use super::handle::Conversations;
use crate::domain::agents::TurnState;
use crate::domain::conversations::{NewTurn, PresentedTool, Turn, TurnPlace};
use crate::error::Error;
use crate::store::agents::agent::parse_revision_number;
use crate::store::agents::states::require_bytes;

const FIND: &str = concat!(
    "SELECT c.*, t.turn, t.interaction, t.agent_slug, t.agent_revision, t.state, t.state_type, t.spec_list,
        t.state_transition_index, t.tool_call_round_index, t.began_at, p.tools
    FROM turns t
    JOIN conversations c ON c.organization = t.organization AND c.conversation = t.conversation
    JOIN agents a ON a.organization = c.organization AND a.agent = c.agent
    JOIN presented_tools p ON p.organization = t.organization AND p.digest = t.presented
    WHERE ",
    is_own!(),
    " AND t.turn = $4"
);

const LAST: &str = "SELECT number, interaction, state, state_transition_index, tool_call_round_index FROM turns
    WHERE organization = $1 AND conversation = $2 ORDER BY number DESC LIMIT 1";

const PRESENT: &str = "INSERT INTO presented_tools (organization, digest, tools) VALUES ($1, $2, $3)
    ON CONFLICT (organization, digest) DO NOTHING";

const INSERT: &str =
    "INSERT INTO turns (organization, turn, conversation, number, interaction, agent_slug, agent_revision,
        state, state_type, spec_list, state_transition_index, tool_call_round_index, presented, began_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

impl Conversations {
    /// Begins a turn in a conversation of the user, with the tools that it presents. [`Error::ConversationEnded`] after the end.
    pub async fn begin_turn(&self, principal: &Principal, new: NewTurn) -> Result<Turn, Error> {
        let (principal, id, now) = (principal.clone(), TurnId::new(self.store.clock()), self.store.clock().now());
        let interaction = InteractionId::new(self.store.clock());
        let tools = to_json(&new.tools)?;
        require_bytes(PresentedTool::BYTES_MAX, tools.len() as u64, "bytes of the tools of a turn")?;
        let beginning = Beginning { id, interaction, now, tools };
        self.store
            .write_or_refuse(move |connection| {
                Box::pin(async move { begin(connection, &principal, new, beginning).await })
            })
            .await
    }

    /// Finds a turn of a conversation of the user.
    pub async fn get_turn(&self, principal: &Principal, turn: &TurnId) -> Result<Option<Turn>> {
        let query = bind_own(FIND, principal).bind(turn.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }
}

/// The ids, the time and the tools of a turn that begins.
struct Beginning {
    id: TurnId,
    /// The new interaction, if none goes on.
    interaction: InteractionId,
    now: Timestamp,
    /// The presented tools as JSON.
    tools: String,
}

/// The turn before.
struct LastTurn {
    number: i64,
    interaction: InteractionId,
    state: Option<String>,
    state_transition_index: u32,
    tool_call_round_index: u32,
}

async fn begin(
    connection: &mut Connection,
    principal: &Principal,
    new: NewTurn,
    beginning: Beginning,
) -> Result<Turn, Error> {
    let conversation = conversation::require(connection, principal, &new.conversation).await?;
    if conversation.ended_at.is_some() {
        return Err(Error::ConversationEnded);
    }
    let last = find_last(connection, principal, &new.conversation).await?;
    let number = last.as_ref().map_or(0, |last| last.number) + 1;
    require_within(Turn::COUNT_MAX.into(), number, "turns of a conversation")?;
    let Beginning { id, interaction, now, tools } = beginning;
    let name = new.state.as_ref().map(|state| state.name.as_str());
    let (state_transition_index, tool_call_round_index) = count_indexes(&new.place, name, last.as_ref());
    let turn = Turn {
        id,
        conversation,
        interaction: new.place.interaction.unwrap_or(interaction),
        agent_slug: new.agent_slug,
        revision: new.revision,
        state: new.state,
        state_transition_index,
        tool_call_round_index,
        tools: new.tools,
        began_at: now,
    };
    insert(connection, &turn, number, tools).await?;
    Ok(turn)
}

async fn find_last(
    connection: &mut Connection,
    principal: &Principal,
    conversation: &ConversationId,
) -> Result<Option<LastTurn>> {
    let query = Query::new(LAST).bind(principal.organization.as_str()).bind(conversation.as_str());
    let Some(row) = query.fetch_optional(connection).await? else { return Ok(None) };
    Ok(Some(LastTurn {
        number: get(&row, "number")?,
        interaction: parse_column(&row, "interaction")?,
        state: get(&row, "state")?,
        state_transition_index: index(&row, "state_transition_index")?,
        tool_call_round_index: index(&row, "tool_call_round_index")?,
    }))
}

/// Returns the indexes of a turn: how often the state has changed, and how many turns of the interaction the state had before.
fn count_indexes(place: &TurnPlace, state: Option<&str>, last: Option<&LastTurn>) -> (u32, u32) {
    let (transition, round) = match last {
        None => (0, 0),
        Some(last) => {
            let is_same_state = last.state.as_deref() == state;
            let is_same_interaction = place.interaction.as_ref() == Some(&last.interaction);
            let round =
                if is_same_state && is_same_interaction { last.tool_call_round_index.saturating_add(1) } else { 0 };
            (last.state_transition_index.saturating_add(u32::from(!is_same_state)), round)
        }
    };
    (place.state_transition_index.unwrap_or(transition), place.tool_call_round_index.unwrap_or(round))
}

async fn insert(connection: &mut Connection, turn: &Turn, number: i64, tools: String) -> Result<()> {
    let (organization, digest) = (turn.conversation.organization.as_str(), Digest::of(tools.as_bytes()).to_string());
    let query = Query::new(PRESENT).bind(organization).bind(digest.clone()).bind(tools);
    query.execute(&mut *connection).await?;
    let state = turn.state.as_ref();
    let query = Query::new(INSERT).bind(organization).bind(turn.id.as_str()).bind(turn.conversation.id.as_str());
    let query = query.bind(number).bind(turn.interaction.as_str()).bind(turn.agent_slug.as_str());
    let query = query.bind(turn.revision.get()).bind(state.map(|state| state.name.as_str()));
    let query = query.bind(state.map(|state| state.state_type.as_str()));
    let query = query.bind(state.and_then(|state| state.list).map(|list| list.as_str()));
    let query = query.bind(turn.state_transition_index).bind(turn.tool_call_round_index);
    query.bind(digest).bind(turn.began_at.as_milliseconds()).execute(connection).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Turn> {
    let state = match parse_optional_column(row, "state")? {
        None => None,
        Some(name) => Some(TurnState {
            name,
            state_type: parse_column(row, "state_type")?,
            list: parse_optional_column(row, "spec_list")?,
        }),
    };
    Ok(Turn {
        id: parse_column(row, "turn")?,
        conversation: conversation::read(row)?,
        interaction: parse_column(row, "interaction")?,
        agent_slug: parse_column(row, "agent_slug")?,
        revision: parse_revision_number(get(row, "agent_revision")?)?,
        state,
        state_transition_index: index(row, "state_transition_index")?,
        tool_call_round_index: index(row, "tool_call_round_index")?,
        tools: read_json(row, "tools")?,
        began_at: read_timestamp(row, "began_at")?,
    })
}

fn index(row: &Row, column: &'static str) -> Result<u32> {
    u32::try_from(get::<i64>(row, column)?).map_err(|error| damaged(column, &error))
}
