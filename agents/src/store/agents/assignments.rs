//! The assignments of drafts.

use registry::statements::{
    Connection, Row, damaged, get, parse_column, parse_optional_column, read_json, require_changed, require_within,
    to_json,
};
use registry::{AgentId, Principal, Result, ResultPersistence, ToolId};

use super::edit::AgentEdit;
use super::handle::Agents;
use super::states::require_bytes;
use crate::domain::agents::{AgentDraft, Assignment, FillerDelay};

const LIST: &str = "SELECT * FROM agent_assignments WHERE organization = $1 AND agent = $2 ORDER BY tool";

const ASSIGN: &str =
    "INSERT INTO agent_assignments (organization, agent, tool, version_constraint, additional_instruction,
        audio_fillers, audio_filler_after_ms, result_persistence, component_digest, human_intervention)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    ON CONFLICT (organization, agent, tool) DO UPDATE SET version_constraint = excluded.version_constraint,
        additional_instruction = excluded.additional_instruction, audio_fillers = excluded.audio_fillers,
        audio_filler_after_ms = excluded.audio_filler_after_ms, result_persistence = excluded.result_persistence,
        component_digest = excluded.component_digest, human_intervention = excluded.human_intervention";

const COUNT: &str = "SELECT count(*) AS assignments FROM agent_assignments WHERE organization = $1 AND agent = $2";

const BYTES: &str = "SELECT CAST(coalesce(sum(octet_length(version_constraint) + octet_length(additional_instruction)
        + octet_length(audio_fillers) + octet_length(human_intervention)), 0) AS BIGINT) AS bytes
    FROM agent_assignments WHERE organization = $1 AND agent = $2";

const UNASSIGN: &str = "DELETE FROM agent_assignments WHERE organization = $1 AND agent = $2 AND tool = $3";

impl Agents {
    /// Assigns a tool in the draft of an agent, in place of an earlier assignment of this tool. The tool is not checked: a
    /// deployment checks it.
    pub async fn assign_tool(&self, principal: &Principal, agent: &AgentId, assignment: Assignment) -> Result<()> {
        let edit = self.build_edit(principal, agent);
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    insert(connection, &edit, &assignment).await?;
                    let assignments = edit.of(COUNT).fetch_column("assignments", &mut *connection).await?;
                    require_within(Assignment::COUNT_MAX.into(), assignments, "assignments of an agent")?;
                    let bytes: i64 = edit.of(BYTES).fetch_column("bytes", connection).await?;
                    let what = "bytes of the assignments of an agent";
                    require_bytes(AgentDraft::ASSIGNMENTS_BYTES_MAX, bytes.unsigned_abs(), what)
                })
            })
            .await
    }

    /// Removes the assignment of a tool from the draft of an agent.
    pub async fn unassign_tool(&self, principal: &Principal, agent: &AgentId, tool: &ToolId) -> Result<()> {
        let (edit, tool) = (self.build_edit(principal, agent), tool.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    edit.touch(connection).await?;
                    let removed = edit.of(UNASSIGN).bind(tool.as_str()).execute(connection).await?;
                    require_changed(removed, "assignment")
                })
            })
            .await
    }
}

/// Returns the assignments of a draft, in the order of the tools' ids.
pub(super) async fn of(connection: &mut Connection, edit: &AgentEdit) -> Result<Vec<Assignment>> {
    edit.of(LIST).fetch_all(connection).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Assignment> {
    Ok(Assignment {
        tool_id: parse_column(row, "tool")?,
        version_constraint: parse_column(row, "version_constraint")?,
        additional_instruction: parse_column(row, "additional_instruction")?,
        audio_fillers: read_json(row, "audio_fillers")?,
        audio_filler_triggered_after: parse_delay(get(row, "audio_filler_after_ms")?)?,
        result_persistence: parse_persistence(get(row, "result_persistence")?)?,
        component_digest: parse_optional_column(row, "component_digest")?,
        human_intervention: read_json(row, "human_intervention")?,
    })
}

fn parse_delay(milliseconds: i64) -> Result<FillerDelay> {
    let delay = u32::try_from(milliseconds).ok().and_then(|milliseconds| FillerDelay::try_from(milliseconds).ok());
    delay.ok_or_else(|| damaged("audio_filler_after_ms", &"the time is out of range"))
}

fn parse_persistence(name: &str) -> Result<ResultPersistence> {
    let found = ResultPersistence::ALL.into_iter().find(|persistence| persistence.as_str() == name);
    found.ok_or_else(|| damaged("result_persistence", &"the name is unknown"))
}

async fn insert(connection: &mut Connection, edit: &AgentEdit, assignment: &Assignment) -> Result<()> {
    let query = edit.of(ASSIGN).bind(assignment.tool_id.as_str()).bind(assignment.version_constraint.to_string());
    let query = query.bind(assignment.additional_instruction.as_str()).bind(to_json(&assignment.audio_fillers)?);
    let query = query.bind(assignment.audio_filler_triggered_after.as_milliseconds());
    let query = query.bind(assignment.result_persistence.as_str());
    let query = query.bind(assignment.component_digest.map(String::from));
    query.bind(to_json(&assignment.human_intervention)?).execute(connection).await?;
    Ok(())
}
