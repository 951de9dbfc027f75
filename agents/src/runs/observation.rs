//! The result of a call of a tool, as the model and the trace have it.

use registry::{ContentBlock, EmbeddedResource, ResourceContents, RunId};
use runner::{EMPTY_OUTPUT, Outcome, QuestionKind, Refusal, RunResult, refusal_message};

use crate::catalogue::ListedTool;
use crate::library::{library_failure, library_refusal};

/// The result of a call.
pub(super) struct ToolObservation {
    pub text: String,
    pub is_error: bool,
    pub invocation: Option<RunId>,
    /// Questions that nobody can answer, without which the call failed.
    pub lacks: Vec<QuestionKind>,
}

impl ToolObservation {
    pub const fn success(text: String) -> Self {
        Self { text, is_error: false, invocation: None, lacks: Vec::new() }
    }

    pub const fn failure(text: String) -> Self {
        Self { text, is_error: true, invocation: None, lacks: Vec::new() }
    }

    /// The result of a run of a tool, with its content blocks.
    pub fn of_run(result: RunResult, listed: &ListedTool) -> Self {
        let lacks = result.asked.lacked(&result.outcome).to_vec();
        let (text, is_error) = match result.outcome {
            Outcome::Succeeded { output } => (output, false),
            Outcome::Failed { exception_type, exception_message, .. } if listed.has_envelope() => {
                (library_failure(&exception_type, &exception_message, None).to_string(), true)
            }
            Outcome::Failed { exception_type, exception_message, .. } => {
                (format!("{exception_type}: {exception_message}"), true)
            }
        };
        let text = with_content(text, &result.content);
        Self { text, is_error, invocation: Some(result.invocation_id), lacks }
    }

    /// The result of a refused call.
    pub fn of_refusal(refusal: Refusal, listed: &ListedTool) -> Self {
        let Refusal { error, records, .. } = refusal;
        let envelope = listed.has_envelope().then(|| library_refusal(&error)).flatten();
        let text = match envelope {
            Some(envelope) => envelope.to_string(),
            None => format!("{}: {}", error.code(), refusal_message(&error)),
        };
        Self { invocation: records.into_iter().next(), ..Self::failure(text) }
    }
}

/// Adds the content blocks to a text, each on a line of its own.
fn with_content(text: String, content: &[ContentBlock]) -> String {
    let parts = std::iter::once(text).chain(content.iter().map(show_block));
    let parts: Vec<_> = parts.filter(|part| !part.trim().is_empty()).collect();
    if parts.is_empty() { EMPTY_OUTPUT.to_owned() } else { parts.join("\n") }
}

/// The text of a content block. Of bytes, such as those of an image, it has the media type only.
fn show_block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text { text } => text.clone(),
        ContentBlock::Image { mime_type, .. } => format!("[image {mime_type}]"),
        ContentBlock::Audio { mime_type, .. } => format!("[audio {mime_type}]"),
        ContentBlock::ResourceLink { uri, name, .. } => format!("[link {name} {uri}]"),
        ContentBlock::Resource { resource: EmbeddedResource { uri, mime_type, contents } } => {
            let mime_type = mime_type.as_ref().map(|mime_type| format!(" {mime_type}")).unwrap_or_default();
            let head = format!("[resource {uri}{mime_type}]");
            match contents {
                ResourceContents::Text { text } => format!("{head}\n{text}"),
                ResourceContents::Blob { .. } => head,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(output: &str, content: Value, expected: &str) {
        let content: Vec<ContentBlock> = serde_json::from_value(content).unwrap();
        assert_eq!(with_content(output.to_owned(), &content), expected);
    }

    #[test]
    fn content_blocks_are_text_or_named() {
        check("", json!([]), "(empty)");
        check(" ", json!([{"type": "text", "text": ""}]), "(empty)");
        check("done", json!([]), "done");
        let image = json!({"type": "image", "data": "AAEC", "mimeType": "image/png"});
        check("", json!([image]), "[image image/png]");
        let resource = |contents: Value| json!({"type": "resource", "resource": contents});
        let blocks = json!([
            {"type": "text", "text": "a note"},
            {"type": "audio", "data": "", "mimeType": "audio/wav"},
            resource(json!({"uri": "a:b", "mimeType": "text/csv", "text": "1,2"})),
            resource(json!({"uri": "a:c", "blob": "AA=="})),
            {"type": "resource_link", "uri": "https://example.com/a", "name": "report"},
        ]);
        let lines = [
            "done",
            "a note",
            "[audio audio/wav]",
            "[resource a:b text/csv]\n1,2",
            "[resource a:c]",
            "[link report https://example.com/a]",
        ];
        check("done", blocks, &lines.join("\n"));
    }
}
