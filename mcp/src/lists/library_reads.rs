//! Reads of single items of the Library: calls of its tools, with the same steps and a record in the history.

use agents::{ListedSource, ListedTool};
use registry::{LibraryItemId, Outcome, RawJson, Trust};
use rmcp::model::{JsonObject, MetaObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use runner::{Interaction, RunResult, refusal_message};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::calls::{
    BoundCall, Calling, CallingClient, EventRelay, INVOCATION, Scope, TRUSTED, build_call, build_meta, is_fault,
    log_fault,
};

/// Reads items for a request.
pub struct ItemReader<'a> {
    pub calling: &'a Calling,
    pub context: &'a RequestContext<RoleServer>,
}

/// A tool that returns an item.
pub struct ReadTool {
    pub name: &'static str,
    /// The argument with the id of the item.
    pub id: &'static str,
}

/// An item, and the `_meta` of the result that shows it.
pub struct ReadItem {
    pub data: Value,
    pub meta: MetaObject,
}

impl ItemReader<'_> {
    /// Calls the tool. `None` for an item that the user does not see.
    pub async fn read(&self, tool: &ReadTool, id: &LibraryItemId) -> Result<Option<ReadItem>, ErrorData> {
        let Self { calling, context } = *self;
        let listed = self.list_tool(tool)?;
        let arguments = RawJson::from(JsonObject::from_iter([(tool.id.to_owned(), json!(id))]));
        let scope = Scope::of(&context.extensions)?;
        let bound = BoundCall { scope, listed: &listed, arguments: &arguments };
        let (principal, cancelled) = (scope.principal.clone(), CancellationToken::new());
        let client = CallingClient { context, principal, cancelled, interaction: Interaction::default() };
        let mut relay = EventRelay::of(context, None)?;
        match calling.attempt(build_call(&bound, client)?, context, &mut relay).await? {
            Ok(result) => parse_item(result),
            Err(refusal) if is_fault(refusal.error.kind()) => Err(log_fault(&refusal.error)),
            Err(refusal) => Err(explain_failure(refusal.error.code(), &refusal_message(&refusal.error))),
        }
    }

    fn list_tool(&self, tool: &ReadTool) -> Result<ListedTool, ErrorData> {
        let native = self.calling.invoker.native_tools().iter().find(|native| native.name == tool.name);
        let native = native.ok_or_else(|| explain_failure("internal", "the server lacks a tool"))?;
        Ok(ListedTool::new(tool.name.to_owned(), ListedSource::Native(native.clone())))
    }
}

fn parse_item(result: RunResult) -> Result<Option<ReadItem>, ErrorData> {
    let RunResult { invocation_id, outcome, trust, .. } = result;
    match outcome {
        Outcome::Succeeded { output } => {
            let mut envelope: Value = serde_json::from_str(&output).unwrap_or_default();
            let fields = [(INVOCATION, json!(invocation_id)), (TRUSTED, json!(trust == Trust::Trusted))];
            Ok(Some(ReadItem { data: envelope["data"].take(), meta: build_meta(&fields) }))
        }
        Outcome::Failed { exception_type, .. } if exception_type == "not_found" => Ok(None),
        Outcome::Failed { exception_type, exception_message, .. } => {
            Err(explain_failure(&exception_type, &exception_message))
        }
    }
}

/// The error of a read that did not end with an item, such as one that took too long.
fn explain_failure(code: &str, message: &str) -> ErrorData {
    ErrorData::internal_error(format!("{code}: {message}"), None)
}
