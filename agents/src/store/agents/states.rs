//! The states of drafts.

use registry::statements::{Connection, read_json, require_changed, require_within, to_json};
use registry::{AgentId, Error, Principal, Result};

use super::edit::AgentEdit;
use super::handle::Agents;
use crate::domain::agents::{AgentState, StateName};

const LIST: &str = "SELECT state FROM agent_states WHERE organization = $1 AND agent = $2 ORDER BY name";

const SET: &str = "INSERT INTO agent_states (organization, agent, name, state) VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization, agent, name) DO UPDATE SET state = excluded.state";

const COUNT: &str = "SELECT count(*) AS states FROM agent_states WHERE organization = $1 AND agent = $2";

const BYTES: &str = "SELECT CAST(coalesce(sum(octet_length(state)), 0) AS BIGINT) AS bytes FROM agent_states
    WHERE organization = $1 AND agent = $2";

const REMOVE: &str = "DELETE FROM agent_states WHERE organization = $1 AND agent = $2 AND name = $3";

impl Agents {
    /// Sets a state of the draft of an agent, in place of an earlier state of this name. Its tools are not checked: a deployment
    /// checks them.
    pub async fn set_agent_state(&self, principal: &Principal, agent: &AgentId, state: AgentState) -> Result<()> {
        let edit = self.build_edit(principal, agent);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    edit.of(SET).bind(state.name.as_str()).bind(to_json(&state)?).execute(&mut *connection).await?;
                    let states = edit.of(COUNT).fetch_column("states", &mut *connection).await?;
                    require_within(AgentState::COUNT_MAX.into(), states, "states of an agent")?;
                    let bytes: i64 = edit.of(BYTES).fetch_column("bytes", connection).await?;
                    require_bytes(AgentState::BYTES_MAX, bytes.unsigned_abs(), "bytes of the states of an agent")
                })
            })
            .await
    }

    /// Removes a state from the draft of an agent.
    pub async fn remove_agent_state(&self, principal: &Principal, agent: &AgentId, state: &StateName) -> Result<()> {
        let (edit, state) = (self.build_edit(principal, agent), state.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    require_changed(edit.of(REMOVE).bind(state.as_str()).execute(connection).await?, "state")
                })
            })
            .await
    }
}

/// Returns the states of a draft, in the order of their names.
pub(super) async fn of(connection: &mut Connection, edit: &AgentEdit) -> Result<Vec<AgentState>> {
    edit.of(LIST).fetch_all(connection).await?.iter().map(|row| read_json(row, "state")).collect()
}

/// Fails when stored JSON has too many bytes.
pub(in crate::store) fn require_bytes(limit: usize, bytes: u64, what: &'static str) -> Result<()> {
    let limit = limit as u64;
    if bytes > limit { Err(Error::TooMany { what, limit }) } else { Ok(()) }
}
