//! Results of runs in the form of the protocol.

use agents::{library_failure, library_refusal};
use api_kit::error::Error;
use registry::{Outcome, Record, RunEnd, TreeUse, Trust};
use rmcp::model::{CallToolResult, ContentBlock, ProtocolVersion, Resource};
use runner::{Asked, EMPTY_OUTPUT, Refusal, RunResult, refusal_message};
use serde_json::{Value, json};

use super::listing::build_meta;

/// Keys of `_meta` in a result.
pub const INVOCATION: &str = "dev.lathe/invocationId";
pub const TRUSTED: &str = "dev.lathe/trusted";
pub const ERROR: &str = "dev.lathe/error";

/// Whether the structured output of a tool is described by a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    Described,
    Free,
    /// An object that tells success from failure.
    Envelope,
}

/// Renders the result of a run: the output as text, and as structured content when it is a JSON object.
pub fn render_run(result: RunResult, form: OutputForm) -> CallToolResult {
    let RunResult { invocation_id, outcome, trust, content, .. } = result;
    let mut fields = vec![(INVOCATION, json!(invocation_id)), (TRUSTED, json!(trust == Trust::Trusted))];
    let mut rendered = match outcome {
        Outcome::Succeeded { output } => render_success(output, form),
        Outcome::Failed { exception_type, exception_message, .. } if form == OutputForm::Envelope => {
            render_envelope(library_failure(&exception_type, &exception_message, None))
        }
        Outcome::Failed { exception_type, exception_message, .. } => {
            let text = format!("{exception_type}: {exception_message}");
            fields.push((ERROR, json!({"type": exception_type, "message": exception_message})));
            CallToolResult::error(vec![ContentBlock::text(text)])
        }
    };
    add_content(&mut rendered, content);
    rendered.meta = Some(build_meta(&fields));
    rendered
}

/// Renders the result of a run from its record. `None` for a run that goes on.
pub fn render_record(record: Record, form: OutputForm) -> Option<CallToolResult> {
    let Record { start, end } = record;
    let RunEnd { outcome, duration_ms, persisted, content, refused_at, .. } = end?;
    let result = RunResult {
        invocation_id: start.id,
        outcome,
        duration_ms,
        persisted,
        trust: Trust::Untrusted,
        content,
        version: start.tool_version,
        total: TreeUse::default(),
        asked: Asked::default(),
    };
    let mut rendered = render_run(result, form);
    let error = rendered.meta.as_mut().and_then(|meta| meta.get_mut(ERROR));
    if let (Some(step), Some(error)) = (refused_at, error) {
        error["refused_at"] = json!(step);
    }
    Some(rendered)
}

/// Adds the blocks of the tool. Beside them, an output without any text is left out.
fn add_content(rendered: &mut CallToolResult, content: Vec<registry::ContentBlock>) {
    let is_empty = |block: &ContentBlock| block.as_text().is_some_and(|text| text.text == EMPTY_OUTPUT);
    if !content.is_empty() {
        rendered.content.retain(|block| !is_empty(block));
    }
    // Both sides have the form of the protocol.
    let blocks = content.into_iter().filter_map(|block| serde_json::from_value(json!(block)).ok());
    rendered.content.extend::<Vec<ContentBlock>>(blocks.collect());
}

/// Replaces the blocks that an earlier version of the protocol does not have by texts: its clients refuse the whole result otherwise.
pub fn fit_version(blocks: &mut [ContentBlock], version: Option<&ProtocolVersion>) {
    let Some(version) = version else { return };
    for block in blocks {
        let text = match block {
            ContentBlock::ResourceLink(link) if *version < ProtocolVersion::V_2025_06_18 => write_link(link),
            ContentBlock::Audio(audio) if *version < ProtocolVersion::V_2025_03_26 => {
                format!("[audio of the type {}, which this version of the protocol cannot have]", audio.mime_type)
            }
            _ => continue,
        };
        *block = ContentBlock::text(text);
    }
}

fn write_link(link: &Resource) -> String {
    let about = link.description.as_ref().map(|description| format!(": {description}")).unwrap_or_default();
    format!("{} <{}>{about}", link.name, link.uri)
}

/// Renders a failure that the gateway itself found.
pub fn render_failure(code: &str, message: &str) -> CallToolResult {
    let mut rendered = CallToolResult::error(vec![ContentBlock::text(format!("{code}: {message}"))]);
    rendered.meta = Some(build_meta(&[(ERROR, json!({"type": code, "message": message}))]));
    rendered
}

fn render_envelope(failure: Value) -> CallToolResult {
    let mut rendered = CallToolResult::error(vec![ContentBlock::text(failure.to_string())]);
    rendered.structured_content = Some(failure);
    rendered
}

/// Renders a refused call as a failure of the tool, which models can read and mend.
pub fn render_refused_call(refusal: Refusal, form: OutputForm) -> CallToolResult {
    let Refusal { step, error, records } = refusal;
    let (mut rendered, code, message) = match form {
        OutputForm::Envelope => {
            let failure = describe_failure(error);
            let (code, message) = (failure["error"]["code"].clone(), failure["error"]["message"].clone());
            (render_envelope(failure), code, message)
        }
        OutputForm::Described | OutputForm::Free => {
            let (code, message) = (error.code(), refusal_message(&error));
            let text = ContentBlock::text(format!("{code}: {message}"));
            (CallToolResult::error(vec![text]), json!(code), json!(message))
        }
    };
    let error = json!({"type": code, "message": message, "refused_at": step});
    let mut fields = vec![(ERROR, error)];
    fields.extend(records.first().map(|record| (INVOCATION, json!(record))));
    rendered.meta = Some(build_meta(&fields));
    rendered
}

/// The failure of a refused call. The code and the status of an error of the registry are those of the HTTP API. The cause of a fault
/// is only logged.
fn describe_failure(error: runner::Error) -> Value {
    if let Some(failure) = library_refusal(&error) {
        return failure;
    }
    match Error::from(error).into_refusal() {
        Ok(refused) => {
            let mut failure = library_failure(refused.code, refused.detail.as_str().unwrap_or_default(), None);
            failure["error"]["status"] = json!(refused.status.as_u16());
            failure
        }
        Err(fault) => {
            fault.log("");
            library_failure("internal", "the server failed", None)
        }
    }
}

fn render_success(output: String, form: OutputForm) -> CallToolResult {
    let parsed: Option<Value> = serde_json::from_str(&output).ok();
    let structured = parsed.filter(|value| form != OutputForm::Free || value.is_object());
    let text = if output.trim().is_empty() { EMPTY_OUTPUT.to_owned() } else { output };
    let mut rendered = CallToolResult::success(vec![ContentBlock::text(text)]);
    rendered.structured_content = structured;
    rendered
}
