//! The start of a run in the database: the row, the statements that insert it, and how it is read.

use std::net::IpAddr;

use serde::Serialize;

use super::effect_rows::{INSERT_EFFECTS, build_effect_rows};
use crate::access::ApiKeyId;
use crate::error::{Error, Result};
use crate::history::{AgentCall, ClientName, InvocationMode, InvocationSource, RecordedInput, RunStart};
use crate::kit::ids::{BootId, OperationId, ToolId, TurnId};
use crate::kit::revision_number::RevisionNumber;
use crate::store::database::Row;
use crate::store::sql::kit::batch::Batch;
use crate::store::sql::kit::row::{
    damaged, get, parse_column, parse_optional_column, read_json, read_timestamp, read_version, to_json, to_signed,
};
use crate::tools::NativeToolName;

/// The source of a simulation has no conversation; its column has that of the turn.
const INSERT_STARTS: &str = "INSERT INTO inv_started (invocation, organization, tool, major, minor, patch, source_kind,
        source, conversation_id, interaction_id, simulation_run_id, mode, input, started_at, boot, api_key_id,
        caller_address, agent, agent_revision, protocol, client, turn, native_tool, account)
    SELECT invocation, organization, tool, major, minor, patch, source_kind, source,
        coalesce(conversation_id, (SELECT t.conversation FROM turns t
            WHERE t.organization = starts.organization AND t.turn = starts.turn)),
        coalesce(interaction_id, (SELECT t.interaction FROM turns t
            WHERE t.organization = starts.organization AND t.turn = starts.turn)),
        simulation_run_id, mode, input, started_at, boot, api_key_id, caller_address, agent,
        agent_revision, protocol, client, turn, native_tool, account
    FROM {records $1 invocation TEXT, organization TEXT, tool TEXT, major INTEGER, minor INTEGER, patch INTEGER, \
        source_kind TEXT, source TEXT, conversation_id TEXT, interaction_id TEXT, simulation_run_id TEXT, mode TEXT, \
        input TEXT, started_at INTEGER, boot TEXT, api_key_id TEXT, caller_address TEXT, agent TEXT, agent_revision INTEGER, protocol TEXT, \
        client TEXT, turn TEXT, native_tool TEXT, account TEXT} starts
    WHERE true ON CONFLICT (invocation) DO NOTHING";

/// A run that has ended already stays ended, when its start is written again.
const OPEN: &str = "INSERT INTO inv_open (invocation, organization, boot)
    SELECT invocation, organization, boot FROM {records $1 invocation TEXT, organization TEXT, boot TEXT} starts
    WHERE NOT EXISTS (SELECT 1 FROM inv_finished f WHERE f.invocation = starts.invocation)
    ON CONFLICT (invocation) DO NOTHING";

const LINK: &str = "INSERT INTO operation_runs (organization, operation, input_index, invocation)
    SELECT organization, operation, input_index, invocation
    FROM {records $1 organization TEXT, operation TEXT, input_index INTEGER, invocation TEXT} starts
    WHERE true ON CONFLICT DO NOTHING";

/// The row of a run that starts, encoded.
pub(crate) struct StartRow {
    encoded: String,
    effects: Vec<String>,
    has_operation: bool,
}

/// The operation that a run belongs to, and the index of its input.
pub(crate) type InOperation = Option<(OperationId, i64)>;

#[derive(Serialize)]
struct Columns<'a> {
    invocation: &'a str,
    organization: &'a str,
    tool: Option<&'a str>,
    major: Option<i64>,
    minor: Option<i64>,
    patch: Option<i64>,
    source_kind: &'static str,
    source: String,
    conversation_id: Option<&'a str>,
    interaction_id: Option<&'a str>,
    simulation_run_id: Option<&'a str>,
    mode: &'static str,
    input: String,
    started_at: i64,
    boot: &'a str,
    api_key_id: Option<&'a str>,
    caller_address: Option<IpAddr>,
    agent: Option<&'a str>,
    agent_revision: Option<u32>,
    protocol: Option<&'static str>,
    client: Option<&'a str>,
    turn: Option<&'a str>,
    native_tool: Option<&'a str>,
    account: &'a str,
    operation: Option<&'a str>,
    input_index: Option<i64>,
}

impl StartRow {
    pub fn of(record: &RunStart, boot: &BootId, operation: &InOperation) -> Result<Self> {
        let version = record.tool_version.map(|version| [version.major, version.minor, version.patch].map(to_signed));
        let [major, minor, patch] = version.map_or([None; 3], |numbers| numbers.map(Some));
        let call = record.via.agent_call();
        let encoded = to_json(&Columns {
            invocation: record.id.as_str(),
            organization: record.organization.as_str(),
            tool: record.tool.as_ref().map(ToolId::as_str),
            major,
            minor,
            patch,
            source_kind: record.source.kind().as_str(),
            source: to_json(&record.source)?,
            conversation_id: record.source.conversation_id(),
            interaction_id: record.source.interaction_id(),
            simulation_run_id: record.source.simulation_run_id(),
            mode: record.mode.as_str(),
            input: to_json(&record.input)?,
            started_at: record.started_at.as_milliseconds(),
            boot: boot.as_str(),
            api_key_id: record.api_key_id.as_ref().map(ApiKeyId::as_str),
            caller_address: record.caller_address,
            agent: call.map(|call| call.agent.as_str()),
            agent_revision: call.map(|call| call.revision.get()),
            protocol: call.map(|call| call.protocol.as_str()),
            client: call.and_then(|call| call.client.as_ref()).map(ClientName::as_str),
            turn: call.and_then(|call| call.turn.as_ref()).map(TurnId::as_str),
            native_tool: record.native_tool.as_ref().map(NativeToolName::as_str),
            account: record.account.as_str(),
            operation: operation.as_ref().map(|(operation, _)| operation.as_str()),
            input_index: operation.as_ref().map(|(_, index)| *index),
        });
        let effects = build_effect_rows(&record.id, record.effects())?;
        Ok(Self { encoded: encoded?, effects, has_operation: operation.is_some() })
    }

    /// Size of the row, for the bound of a group.
    pub fn bytes(&self) -> usize {
        self.encoded.len() + self.effects.iter().map(String::len).sum::<usize>()
    }
}

/// Adds the statements that insert the starts of runs.
pub(super) fn insert_starts(batch: &mut Batch, rows: &[&StartRow]) {
    let list = |is_in: fn(&StartRow) -> bool| rows.iter().filter(|row| is_in(row)).map(|row| &row.encoded).collect();
    batch.insert(INSERT_STARTS, list(|_| true));
    batch.insert(OPEN, list(|_| true));
    batch.insert(LINK, list(|row| row.has_operation));
    batch.insert(INSERT_EFFECTS, rows.iter().flat_map(|row| &row.effects).collect());
}

/// Reads the start of a run. `unlinked` tells whether it was taken out of its conversation.
pub(super) fn read_start(row: &Row) -> Result<RunStart> {
    let tool_version = if get::<Option<i64>>(row, "major")?.is_some() { Some(read_version(row)?) } else { None };
    let source: InvocationSource = read_json(row, "source")?;
    Ok(RunStart {
        id: parse_column(row, "invocation")?,
        organization: parse_column(row, "organization")?,
        tool: parse_optional_column(row, "tool")?,
        tool_version,
        source: if get(row, "unlinked")? { source.unlinked() } else { source },
        account: parse_column(row, "account")?,
        api_key_id: parse_optional_column(row, "api_key_id")?,
        caller_address: parse_optional_column(row, "caller_address")?,
        mode: read_mode(row)?,
        input: read_input(row)?,
        started_at: read_timestamp(row, "started_at")?,
        via: read_agent_call(row)?.into(),
        native_tool: parse_optional_column(row, "native_tool")?,
    })
}

fn read_agent_call(row: &Row) -> Result<Option<AgentCall>> {
    let Some(agent) = parse_optional_column(row, "agent")? else { return Ok(None) };
    let revision = u32::try_from(get::<i64>(row, "agent_revision")?).unwrap_or(0);
    Ok(Some(AgentCall {
        agent,
        revision: RevisionNumber::try_from(revision).map_err(|error| damaged("agent_revision", &error))?,
        protocol: parse_column(row, "protocol")?,
        client: parse_optional_column(row, "client")?,
        turn: parse_optional_column(row, "turn")?,
    }))
}

fn read_mode(row: &Row) -> Result<InvocationMode> {
    match get::<&str>(row, "mode")? {
        "regular" => Ok(InvocationMode::Regular),
        "conversation-simulation" => Ok(InvocationMode::ConversationSimulation),
        other => Err(Error::Corrupt { what: "invocation", detail: format!("mode {other}") }),
    }
}

/// Reads the input as unparsed JSON, and checks that it is an object.
fn read_input(row: &Row) -> Result<RecordedInput> {
    let input: RecordedInput = read_json(row, "input")?;
    if input.input_parameters.is_object() {
        return Ok(input);
    }
    Err(Error::Corrupt { what: "invocation", detail: "the input is not an object".to_owned() })
}
