//! Step 7 of a call: a person confirms it, when the tool or the side of the caller asks for that.

use registry::{Digest, Intervention, RawJson, do_heavy_work, visible, visible_json};
use serde_json::{Map, Value, json};

use super::compiled_rules::CompiledRules;
use super::target::Target;
use crate::calls::call::Call;
use crate::error::Error;
use crate::interaction::{Answer, ConfirmedCall, Interaction, Question, QuestionKind};

/// The key of the question. Keys of tools have no `/`.
pub const CONFIRMATION: &str = "lathe/confirmation";
/// The field of the form.
const CONFIRMED: &str = "confirmed";
/// Bytes of arguments that a person can confirm. All of them are shown, since the confirmation counts for all.
const SHOWN_BYTES_MAX: usize = 16 << 10;

/// Refuses a call that needs the confirmation of a person and has none. `required` counts for autonomous calls: about
/// others, a person or the author of a program has decided. `always` counts for every call.
pub(super) async fn intervene(rules: &CompiledRules, target: &Target, call: &Call) -> Result<(), Error> {
    let is_needed = match find_strictest(rules, target, call).await? {
        Intervention::Never => false,
        Intervention::Required => call.caller.via.is_autonomous(),
        Intervention::Always => true,
    };
    // Whoever confirmed another version of the tool decides about this one, too, even if it asks for no confirmation.
    let was_asked =
        call.interaction.answers.iter().any(|answer| answer.key == CONFIRMATION && answer.question.is_some());
    if !is_needed && !was_asked {
        return Ok(());
    }
    match call.inputs.as_slice() {
        [input] => {
            let arguments = input.input_parameters.as_str();
            if arguments.len() > SHOWN_BYTES_MAX {
                return Err(Error::ConfirmationMissing { tool_name: target.name().to_owned() });
            }
            let arguments = write_anew(arguments);
            check_confirmation(&call.interaction, &arguments, describe_call(target, call, &arguments))
        }
        _ => Err(Error::ConfirmationMissing { tool_name: target.name().to_owned() }),
    }
}

/// The arguments of a call, written anew: a client may escape letters that need no escape, and put white space between the values.
fn write_anew(arguments: &str) -> String {
    serde_json::from_str::<Value>(arguments).map_or_else(|_| arguments.to_owned(), |value| value.to_string())
}

/// The call as the person confirms it.
fn describe_call(target: &Target, call: &Call, arguments: &str) -> ConfirmedCall {
    ConfirmedCall {
        tool: target.name().to_owned(),
        tool_id: target.tool_id().cloned(),
        version: target.version(),
        component_digest: target.component_digest(),
        arguments_digest: Digest::of(arguments.as_bytes()),
        user: call.caller.principal.user(),
        decider: call.caller.via.decider(),
    }
}

/// The strictest of everything that asks for a confirmation of the call: the declaration of the version, its rules that match the
/// arguments, and the same of the call.
async fn find_strictest(rules: &CompiledRules, target: &Target, call: &Call) -> Result<Intervention, Error> {
    let asked = &call.human_intervention;
    let rules = rules.of(&asked.rules).await?;
    if !target.intervention_depends_on_inputs() && asked.rules.is_empty() && asked.apis.is_empty() {
        return Ok(target.find_intervention(&[Map::new()]).max(asked.policy));
    }
    let inputs = parse_inputs(call).await?;
    let of_rules = rules.find_strictest(inputs.iter());
    let of_call = inputs.iter().map(|input| asked.of_input(input)).max().unwrap_or_default();
    Ok(target.find_intervention(&inputs).max(of_call).max(of_rules))
}

/// The inputs of a call, as the rules read them.
async fn parse_inputs(call: &Call) -> Result<Vec<Map<String, Value>>, Error> {
    let inputs: Vec<_> = call.inputs.iter().map(|input| input.input_parameters.clone()).collect();
    let bytes = inputs.iter().map(RawJson::bytes).sum();
    let parse = move || inputs.iter().map(RawJson::members).collect::<Result<Vec<_>, _>>();
    let parsed = do_heavy_work(bytes, parse).await.map_err(|error| Error::internal(error.to_string()))?;
    // The schema of the tool was matched with the same text.
    parsed.map_err(|error| Error::internal(error.to_string()))
}

fn check_confirmation(interaction: &Interaction, arguments: &str, call: ConfirmedCall) -> Result<(), Error> {
    let tool_name = call.tool.clone();
    if arguments.len() > SHOWN_BYTES_MAX {
        return Err(Error::ConfirmationMissing { tool_name });
    }
    let question = build_question(arguments, call).map_err(Error::internal)?;
    match interaction.answer(&question).map(is_confirmed) {
        Some(true) => Ok(()),
        Some(false) => Err(Error::ConfirmationRefused { tool_name }),
        None if interaction.can_ask(QuestionKind::Form) => Err(Error::ConfirmationAsked(Box::new(question))),
        None => Err(Error::ConfirmationMissing { tool_name }),
    }
}

fn build_question(arguments: &str, call: ConfirmedCall) -> Result<Question, String> {
    let message = format!("Run {} with {}?", visible(&call.tool), visible_json(arguments));
    let field = json!({"type": "boolean", "title": "Run it", "default": false});
    let schema = json!({"type": "object", "properties": {CONFIRMED: field}, "required": [CONFIRMED]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    let body = json!({"method": "elicitation/create", "params": params}).to_string();
    Question::parse(CONFIRMATION.to_owned(), body)?.about(call)
}

/// Returns the answer of a person who confirms the call.
#[must_use]
pub fn confirm(question: &Question) -> Answer {
    Answer::to(question, json!({"action": "accept", "content": {CONFIRMED: true}}).to_string())
}

/// Whether the result of a confirmation says that the person confirms the call.
#[must_use]
pub fn is_confirmed(result: &str) -> bool {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    result["action"] == "accept" && result["content"][CONFIRMED] == true
}

#[cfg(test)]
mod tests {
    use registry::{AgentId, CallDecider, RevisionNumber, UserId, Version};

    use super::*;

    fn arguments(amount: u32) -> String {
        json!({"amount": amount}).to_string()
    }

    fn decider(revision: RevisionNumber) -> CallDecider {
        CallDecider { agent: AgentId::parse("6ab13d50a3c20f6f6e5d4c3b").unwrap(), revision }
    }

    fn call(amount: u32) -> ConfirmedCall {
        ConfirmedCall {
            tool: "pay".into(),
            tool_id: None,
            version: Version::parse("1.0.0").ok(),
            component_digest: Some(Digest::of(b"the code")),
            arguments_digest: Digest::of(arguments(amount).as_bytes()),
            user: UserId::parse("ada").unwrap(),
            decider: Some(decider(RevisionNumber::FIRST)),
        }
    }

    fn code_of(interaction: &Interaction, amount: u32, call: ConfirmedCall) -> &'static str {
        check_confirmation(interaction, &arguments(amount), call).err().map_or("ok", |error| error.code())
    }

    fn code(interaction: &Interaction, amount: u32) -> &'static str {
        code_of(interaction, amount, call(amount))
    }

    #[test]
    fn only_an_accepted_form_about_the_same_arguments_confirms() {
        let asking = Interaction { kinds: vec![QuestionKind::Form], ..Interaction::default() };
        assert_eq!(code(&Interaction::default(), 5), "confirmation_missing");
        assert_eq!(code(&asking, 5), "input_required");
        let asked = build_question(&arguments(5), call(5)).unwrap();
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
    fn a_confirmation_is_of_the_version_the_code_the_user_and_the_revision_that_were_shown() {
        let asked = build_question(&arguments(5), call(5)).unwrap();
        let answers = vec![confirm(&asked)];
        let answered = Interaction { answers, kinds: vec![QuestionKind::Form], ..Interaction::default() };
        assert_eq!(code(&answered, 5), "ok");
        let tool_id = registry::ToolId::parse("6ab13d50a3c20f6f6e5d4c3c").ok();
        for changed in [
            ConfirmedCall { tool_id, ..call(5) },
            ConfirmedCall { version: Version::parse("1.0.1").ok(), ..call(5) },
            ConfirmedCall { component_digest: Some(Digest::of(b"other code")), ..call(5) },
            ConfirmedCall { user: UserId::parse("bob").unwrap(), ..call(5) },
            ConfirmedCall { decider: RevisionNumber::FIRST.next().map(decider), ..call(5) },
            ConfirmedCall { decider: None, ..call(5) },
        ] {
            assert_eq!(code_of(&answered, 5, changed.clone()), "input_required", "{changed:?}");
        }
    }

    #[test]
    fn letters_that_need_no_escape_are_shown() {
        let asked = build_question(&write_anew("{ \n\"to\" :\t\"\\u0061da\\u202e\" }"), call(5)).unwrap();
        let message = serde_json::from_str::<Value>(&asked.body).unwrap()["params"]["message"].clone();
        assert_eq!(message, r#"Run pay with {"to":"ada\u202e"}?"#);
    }

    #[test]
    fn arguments_are_seen_as_they_are() {
        let arguments = json!({"to": "Zoë \u{202e}dab\u{200b}\u{e0041}\u{3164}"}).to_string();
        let asked = build_question(&arguments, call(5)).unwrap();
        let message = serde_json::from_str::<Value>(&asked.body).unwrap()["params"]["message"].clone();
        assert_eq!(message, r#"Run pay with {"to":"Zoë \u202edab\u200b\udb40\udc41\u3164"}?"#);
    }

    #[test]
    fn nobody_confirms_arguments_that_are_not_shown() {
        let asking = Interaction { kinds: vec![QuestionKind::Form], ..Interaction::default() };
        let long = json!({"note": "x".repeat(SHOWN_BYTES_MAX), "amount": 1}).to_string();
        let refused = check_confirmation(&asking, &long, call(1)).unwrap_err();
        assert_eq!(refused.code(), "confirmation_missing");
    }
}
