//! Step 7 of a call: a person confirms it, when the tool or the agent asks for that.

use registry::Intervention;
use serde_json::{Map, Value, json};

use super::compiled_rules::CompiledRules;
use super::target::Target;
use crate::call::Call;
use crate::error::Error;
use crate::interaction::{Answer, Interaction, Question, QuestionKind};

/// The key of the question. Keys of tools have no `/`.
pub(super) const CONFIRMATION: &str = "lathe/confirmation";
/// The field of the form.
const CONFIRMED: &str = "confirmed";
/// Bytes of arguments that a person can confirm. All of them are shown, since the confirmation counts for all.
const SHOWN_BYTES_MAX: usize = 16 << 10;

/// Refuses a call that needs the confirmation of a person and has none. `required` counts for calls of agents: a caller without an
/// agent is a person, or a program whose author has decided. `always` counts for every call.
pub(super) async fn intervene(rules: &CompiledRules, target: &Target, call: &Call) -> Result<(), Error> {
    let is_needed = match strictest(rules, target, call).await? {
        Intervention::Never => false,
        Intervention::Required => call.agent_call.is_some(),
        Intervention::Always => true,
    };
    if !is_needed {
        return Ok(());
    }
    let tool_name = target.name().to_owned();
    match call.inputs.as_slice() {
        [input] => confirmed(&call.interaction, &tool_name, &input.input_parameters),
        _ => Err(Error::ConfirmationMissing { tool_name }),
    }
}

/// The strictest of everything that asks for a confirmation of the call: the declaration of the version, its rules that match the
/// arguments, and the same of the agent.
async fn strictest(rules: &CompiledRules, target: &Target, call: &Call) -> Result<Intervention, Error> {
    let (agent, inputs) = (&call.human_intervention, call.inputs.iter().map(|input| &input.input_parameters));
    let rules = rules.of(&agent.rules).await?.strictest(inputs.clone());
    let of_agent = inputs.map(|input| agent.of_input(input)).max().unwrap_or_default();
    Ok(target.intervention(&call.inputs).max(of_agent).max(rules))
}

fn confirmed(interaction: &Interaction, tool_name: &str, arguments: &Map<String, Value>) -> Result<(), Error> {
    let arguments = json!(arguments).to_string();
    if arguments.len() > SHOWN_BYTES_MAX {
        return Err(Error::ConfirmationMissing { tool_name: tool_name.to_owned() });
    }
    let question = question(tool_name, &arguments).map_err(Error::internal)?;
    match interaction.answer(&question).map(is_yes) {
        Some(true) => Ok(()),
        Some(false) => Err(Error::ConfirmationRefused { tool_name: tool_name.to_owned() }),
        None if interaction.can_ask(QuestionKind::Form) => Err(Error::ConfirmationAsked(Box::new(question))),
        None => Err(Error::ConfirmationMissing { tool_name: tool_name.to_owned() }),
    }
}

fn question(tool_name: &str, arguments: &str) -> Result<Question, String> {
    let message = format!("Run {tool_name} with {}?", visible(arguments));
    let field = json!({"type": "boolean", "title": "Run it", "default": false});
    let schema = json!({"type": "object", "properties": {CONFIRMED: field}, "required": [CONFIRMED]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    Question::parse(CONFIRMATION.to_owned(), json!({"method": "elicitation/create", "params": params}).to_string())
}

/// JSON in which every character is seen as it is: those that hide or reorder others are escaped.
fn visible(json: &str) -> String {
    let hides = |letter: char| {
        matches!(letter, '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}')
    };
    let shown = json.chars().map(|letter| match hides(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    });
    shown.collect()
}

/// The answer of a person who confirms the call.
pub(super) fn confirmation(question: &Question) -> Answer {
    Answer::to(question, json!({"action": "accept", "content": {CONFIRMED: true}}).to_string())
}

pub(super) fn is_yes(result: &str) -> bool {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    result["action"] == "accept" && result["content"][CONFIRMED] == true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(amount: u32) -> Map<String, Value> {
        json!({"amount": amount}).as_object().cloned().unwrap_or_default()
    }

    fn code(interaction: &Interaction, amount: u32) -> &'static str {
        confirmed(interaction, "pay", &arguments(amount)).err().map_or("ok", |error| error.code())
    }

    #[test]
    fn only_an_accepted_form_about_the_same_arguments_confirms() {
        let asking = Interaction { kinds: vec![QuestionKind::Form], ..Interaction::default() };
        assert_eq!(code(&Interaction::default(), 5), "confirmation_missing");
        assert_eq!(code(&asking, 5), "input_required");
        let asked = question("pay", &json!(arguments(5)).to_string()).unwrap();
        for (result, expected) in [
            (r#"{"action":"accept","content":{"confirmed":true}}"#, "ok"),
            (r#"{"action":"accept","content":{"confirmed":false}}"#, "confirmation_refused"),
            (r#"{"action":"accept","content":{}}"#, "input_required"),
            (r#"{"action":"accept","content":{"confirmed":"yes"}}"#, "input_required"),
            (r#"{"action":"decline"}"#, "confirmation_refused"),
            (r#"{"action":"cancel","content":{"confirmed":true}}"#, "confirmation_refused"),
        ] {
            let answered = Interaction { answers: vec![Answer::to(&asked, result.to_owned())], ..asking.clone() };
            assert_eq!(code(&answered, 5), expected, "{result}");
            assert_eq!(code(&answered, 6), "input_required", "of other arguments");
        }
    }

    #[test]
    fn arguments_are_seen_as_they_are() {
        assert_eq!(visible("{\"to\":\"Zoë \u{202e}dab\u{200b}\"}"), "{\"to\":\"Zoë \\u202edab\\u200b\"}");
    }

    #[test]
    fn nobody_confirms_arguments_that_are_not_shown() {
        let asking = Interaction { kinds: vec![QuestionKind::Form], ..Interaction::default() };
        let long = json!({"note": "x".repeat(SHOWN_BYTES_MAX), "amount": 1}).as_object().cloned().unwrap();
        let refused = confirmed(&asking, "pay", &long).unwrap_err();
        assert_eq!(refused.code(), "confirmation_missing");
    }
}
