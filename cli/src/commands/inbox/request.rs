//! A request on the command line: the error for an unknown one, and the answers that it takes.

use api::wire::HumanRequest;

use super::field::list_fields;
use crate::commands::not_found;
use crate::failure::Failure;

const APPROVAL: &str = "approval";
const FORM: &str = "form";

/// Names the request that a 404 is about.
pub fn name_missing<T>(answer: anyhow::Result<T>, id: &str) -> anyhow::Result<T> {
    not_found::name_missing(answer, &format!("request `{id}`"), "`lathe inbox` lists the open requests")
}

pub fn is_form(request: &HumanRequest) -> bool {
    request.kind == FORM
}

/// The commands that answer a request.
pub fn list_answers(request: &HumanRequest) -> Vec<String> {
    let arguments = match request.kind.as_str() {
        APPROVAL => vec!["--approve".to_owned(), "--decline".to_owned()],
        FORM => vec![fill_in(request), "--decline".to_owned()],
        _ => vec!["TEXT".to_owned(), "--approve".to_owned(), "--decline".to_owned()],
    };
    let id = &request.human_request_id;
    arguments.into_iter().map(|arguments| format!("lathe inbox answer {id} {arguments}")).collect()
}

/// An error that names the answers that a request takes.
pub fn refuse_unfit(problem: &str, request: &HumanRequest) -> anyhow::Error {
    let taken = match request.kind.as_str() {
        APPROVAL => "an approval takes --approve or --decline",
        FORM => "a form takes --field NAME=VALUE or --decline",
        _ => "a question takes TEXT, --approve or --decline",
    };
    let commands: Vec<_> = list_answers(request).iter().map(|command| format!("`{command}`")).collect();
    Failure::usage(format!("{problem}: {taken}"), format!("use {}", commands.join(" or ")))
}

/// The fields that forms need. A form that needs none is accepted as it is.
fn fill_in(request: &HumanRequest) -> String {
    let fields = list_fields(&request.forms);
    let needed = fields.iter().filter(|field| field.is_required && field.find_default().is_none());
    let needed: Vec<_> =
        needed.map(|field| format!("--field {}", quote_for_shell(&format!("{}=VALUE", field.argument)))).collect();
    if needed.is_empty() { "--approve".to_owned() } else { needed.join(" ") }
}

/// Quotes a text for a shell. Authors of tools choose the names of fields.
fn quote_for_shell(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-.=".contains(character);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "691f3d1a5c1e4d7f8a9b0c22";

    fn build_request(properties: Value) -> HumanRequest {
        let schema = json!({"type": "object", "properties": properties, "required": ["name", "it's"]});
        serde_json::from_value(json!({
            "human_request_id": ID, "agent_run_id": ID, "agent_id": ID, "user_id": "ada", "kind": "form",
            "urgency": "low", "status": "open", "question": "Name?", "options": [],
            "forms": [{"key": "who", "message": "Name?", "schema": schema}], "created_at": "x", "expires_at": "y",
        }))
        .expect("a request")
    }

    #[test]
    fn the_command_has_the_fields_that_a_form_needs() {
        let command = |properties: Value| list_answers(&build_request(properties)).first().cloned().expect("a command");
        let text = json!({"type": "string"});
        assert_eq!(command(json!({"name": text, "age": {}})), format!("lathe inbox answer {ID} --field name=VALUE"));
        assert_eq!(command(json!({"it's": text})), format!(r"lathe inbox answer {ID} --field 'it'\''s=VALUE'"));
        assert_eq!(command(json!({"name": {"default": "Ada"}})), format!("lathe inbox answer {ID} --approve"));
    }
}
