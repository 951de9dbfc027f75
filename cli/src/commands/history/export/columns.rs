//! The columns of a Parquet export. Each may be null.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::Result;
use parquet::schema::types::{Type, TypePtr};

use self::Values::{Boolean, Integer, Text, Time};
use super::record::{Record, render_json};

/// A column: its name, and how it is read from a record.
pub struct Column {
    name: &'static str,
    pub values: Values,
}

/// The type of a column, with the function that reads a value.
#[derive(Clone, Copy)]
pub enum Values {
    Text(fn(&Record) -> Option<String>),
    Integer(fn(&Record) -> Option<i64>),
    /// Milliseconds since 1970, UTC.
    Time(fn(&Record) -> Option<i64>),
    Boolean(fn(&Record) -> Option<bool>),
}

/// The columns in their order. Names and types are part of the interface: `docs/how-to/export-the-history.md` lists them.
pub const COLUMNS: [Column; 36] = [
    build_column("id", Text(|record| Some(record.run.id.clone()))),
    build_column("org_id", Text(|record| Some(record.run.org_id.clone()))),
    // A branch test and a native tool have no id and no version.
    build_column("tool_id", Text(|record| record.run.published_version().map(|_| record.run.tool_id.clone()))),
    build_column("tool_version", Text(|record| record.run.published_version().map(|version| version.to_string()))),
    build_column("source_type", Text(|record| record.source_text("type"))),
    build_column("origin", Text(|record| Some(record.run.origin.as_str().to_owned()))),
    build_column("conversation_id", Text(|record| record.source_text("conversation_id"))),
    build_column("interaction_id", Text(|record| record.source_text("interaction_id"))),
    build_column("user_id", Text(|record| record.run.user_id.clone())),
    build_column("api_key_id", Text(|record| record.run.api_key_id.clone())),
    build_column("caller_address", Text(|record| record.run.caller_address.clone())),
    build_column(
        "commit_branch",
        Text(|record| record.run.tested_branch.as_ref().map(|branch| branch.commit_branch.clone())),
    ),
    build_column("commit", Text(|record| record.run.tested_branch.as_ref().map(|branch| branch.commit.clone()))),
    build_column("mode", Text(|record| Some(record.run.invocation_mode.clone()))),
    build_column("started_at", Time(|record| Some(record.started_at))),
    build_column("finished_at", Time(|record| record.finished_at)),
    build_column("duration_ms", Integer(|record| record.finished_at.and(i64::try_from(record.run.duration_ms).ok()))),
    build_column("succeeded", Boolean(Record::is_succeeded)),
    build_column("output", Text(Record::output)),
    build_column("output_bytes", Integer(|record| record.run.output_bytes.and_then(|bytes| i64::try_from(bytes).ok()))),
    build_column("exception_type", Text(|record| record.exception(|kind, _, _| kind.to_owned()))),
    build_column("exception_message", Text(|record| record.exception(|_, message, _| message.to_owned()))),
    build_column("exception_stack_trace", Text(|record| record.exception(|_, _, frames| render_json(&frames)))),
    build_column("inputs", Text(|record| Some(record.run.inputs.as_str().to_owned()))),
    build_column("user_variables", Text(|record| Some(render_json(&record.run.nonsensitive_user_variables)))),
    build_column("persisted", Boolean(|record| record.finished_at.map(|_| record.run.persisted))),
    build_column("status_events", Text(|record| Some(render_json(&record.run.status_events)))),
    build_column("logs", Text(|record| Some(record.run.logs.clone()))),
    build_column("invocation_source", Text(|record| Some(render_json(&record.source)))),
    build_column("agent_id", Text(|record| record.agent_call(|call| Some(call.agent_id.to_string())))),
    build_column("agent_revision", Integer(|record| record.agent_call(|call| Some(i64::from(call.revision))))),
    build_column("agent_protocol", Text(|record| record.agent_call(|call| Some(call.protocol.clone())))),
    build_column("client", Text(|record| record.agent_call(|call| call.client.clone()))),
    build_column("turn_id", Text(|record| record.agent_call(|call| call.turn_id.as_ref().map(ToString::to_string)))),
    build_column("native_tool", Text(|record| record.run.native_tool.clone())),
    build_column("refused_at", Text(|record| record.run.refused_at.clone())),
];

pub fn build_schema() -> Result<TypePtr> {
    let fields = COLUMNS.iter().map(|column| column.field().map(Arc::new)).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("run").with_fields(fields).build()?))
}

const fn build_column(name: &'static str, values: Values) -> Column {
    Column { name, values }
}

impl Column {
    fn field(&self) -> Result<Type> {
        let (physical, logical) = match self.values {
            Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Integer(_) => (PhysicalType::INT64, None),
            Time(_) => (PhysicalType::INT64, Some(utc_milliseconds())),
            Boolean(_) => (PhysicalType::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(self.name, physical).with_logical_type(logical);
        field.with_repetition(Repetition::OPTIONAL).build()
    }
}

fn utc_milliseconds() -> LogicalType {
    LogicalType::timestamp(true, TimeUnit::MILLIS)
}
