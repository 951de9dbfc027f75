//! Whether a run ended as its check expects, and if not, how.

use runner::{Misfit, Outcome, Tried};
use serde_json::Value;

use super::difference::{differences, shown};
use super::file::{Expected, ExpectedError};
use crate::error::Error;

/// Of either end of a stack trace: where it broke stands last in Python, and first in JavaScript.
const TRACE_ENDS_MAX: usize = 10;

/// Why a check failed; none when it passed. Values are shown without secrets, which are taken out before they are cut:
/// half a secret would not be found.
///
/// # Errors
/// When the host has no thread to give.
pub async fn failure(expected: &Expected, tried: &Tried) -> Result<Option<String>, Error> {
    // Its author should know, whatever the tool makes of it.
    if !tried.unanswered.is_empty() {
        let requests = tried.unanswered.join(", ");
        return Ok(Some(format!("no mock stands for {requests} (simulated); add one to the check or to mocks/")));
    }
    Ok(match (expected, &tried.outcome) {
        (Expected::Output(expected), Outcome::Succeeded { output }) if is_expected(expected, output) => None,
        (Expected::Output(expected), Outcome::Succeeded { output }) => {
            let got = if expected.is_string() { output.as_str().into() } else { value(output) };
            Some(difference(&tried.redacted_value(expected.clone()), &tried.redacted_value(got)))
        }
        (Expected::Schema(schema), Outcome::Succeeded { output }) => {
            let got = value(output);
            let misfits = schema.misfits_of(got.clone()).await?;
            (!misfits.is_empty()).then(|| listed_misfits(&misfits, &tried.redacted_value(got)))
        }
        (Expected::Error(expected), Outcome::Succeeded { output }) => {
            let output = shown(&tried.redacted_value(value(output)));
            Some(format!("expected the error {}, and the tool returned {output}", expected.exception_type))
        }
        (Expected::Error(expected), failed) if is_expected_error(expected, failed) => None,
        (Expected::Error(expected), _) => Some(wrong_error(expected, &tried.redacted_outcome())),
        (_, _) => Some(format!("expected an output, and the tool failed: {}", told(&tried.redacted_outcome()))),
    })
}

/// A text is the output as it is, or as JSON; everything else is JSON.
fn is_expected(expected: &Value, output: &str) -> bool {
    expected.as_str() == Some(output)
        || serde_json::from_str(output).is_ok_and(|got| differences(expected, &got).is_empty())
}

fn difference(expected: &Value, got: &Value) -> String {
    let lines = differences(expected, got);
    let redacted = || vec!["in what is not shown".to_owned()];
    listed("the output differs", &if lines.is_empty() { redacted() } else { lines })
}

fn listed_misfits(misfits: &[Misfit], got: &Value) -> String {
    let line = |misfit: &Misfit| {
        let place = if misfit.pointer.is_empty() { "the whole" } else { &misfit.pointer };
        let found = got.pointer(&misfit.pointer).map(|found| format!(", got {}", shown(found)));
        format!("{place}: {}{}", misfit.message, found.unwrap_or_default())
    };
    listed("the output misses the schema", &misfits.iter().map(line).collect::<Vec<_>>())
}

fn is_expected_error(expected: &ExpectedError, failed: &Outcome) -> bool {
    let Outcome::Failed { exception_type, exception_message, .. } = failed else { return false };
    let has_part = |part: &String| exception_message.contains(part.as_str());
    *exception_type == expected.exception_type && expected.message_contains.as_ref().is_none_or(has_part)
}

fn wrong_error(expected: &ExpectedError, failed: &Outcome) -> String {
    let wanted = &expected.exception_type;
    match (failed, &expected.message_contains) {
        (Outcome::Failed { exception_type, exception_message, .. }, Some(part)) if exception_type == wanted => {
            let (part, got) = (shown(&part.as_str().into()), shown(&exception_message.as_str().into()));
            format!("expected a message of {wanted} with {part}, got {got}")
        }
        _ => format!("expected the error {wanted}, got {}", told(failed)),
    }
}

/// What a tool returned: JSON, or a text that is none.
fn value(output: &str) -> Value {
    serde_json::from_str(output).unwrap_or_else(|_| Value::String(output.to_owned()))
}

/// Type, message and both ends of the trace.
fn told(failed: &Outcome) -> String {
    let Outcome::Failed { exception_type, exception_message, exception_stack_trace } = failed else {
        return String::new();
    };
    let lines = exception_stack_trace.iter().flat_map(|line| line.lines());
    let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).map(|line| format!("\n  {line}")).collect();
    format!("{exception_type}: {exception_message}{}", ends(&lines))
}

fn ends(lines: &[String]) -> String {
    let left_out = lines.len().saturating_sub(2 * TRACE_ENDS_MAX);
    if left_out == 0 {
        return lines.concat();
    }
    let (first, last) = (&lines[..TRACE_ENDS_MAX], &lines[lines.len() - TRACE_ENDS_MAX..]);
    format!("{}\n  … {left_out} more lines …{}", first.concat(), last.concat())
}

fn listed(what: &str, lines: &[String]) -> String {
    lines.iter().fold(format!("{what}:"), |text, line| format!("{text}\n  {line}"))
}

#[cfg(test)]
mod tests {
    use runner::InputSchema;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_compared_as_it_is_and_everything_else_as_json() {
        for (expected, output) in [
            (json!("Hello"), "Hello"),
            (json!("Hello"), "\"Hello\""),
            (json!("7"), "7"),
            (json!({"a": 1, "b": [2]}), r#"{"b":[2.0],"a":1}"#),
        ] {
            assert!(is_expected(&expected, output), "{expected} {output}");
        }
        for (expected, output) in [(json!("Hello"), "Hallo"), (json!({"a": 1}), r#"{"a":2}"#), (json!({}), "{")] {
            assert!(!is_expected(&expected, output), "{expected} {output}");
        }
        assert_eq!(difference(&json!({"a": 1}), &json!({"a": 2})), "the output differs:\n  /a: expected 1, got 2");
        assert_eq!(
            difference(&json!("[redacted]"), &json!("[redacted]")),
            "the output differs:\n  in what is not shown"
        );
    }

    #[tokio::test]
    async fn a_misfit_names_the_place_and_what_is_there() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let schema = InputSchema::compile(&schema).unwrap();
        let misfits = |got: Value| {
            let schema = schema.clone();
            async move { listed_misfits(&schema.misfits_of(got.clone()).await.unwrap(), &got) }
        };
        let text = misfits(json!({"n": "one"})).await;
        assert!(text.contains("/n: ") && text.contains("got \"one\""), "{text}");
        assert!(misfits(json!("no object")).await.contains("the whole: "));
    }

    #[test]
    fn an_error_is_known_by_its_type_and_a_part_of_its_message() {
        let failed = Outcome::Failed {
            exception_type: "ValueError".into(),
            exception_message: "times must be at least 1".into(),
            exception_stack_trace: vec!["Traceback:\n".into(), "  File \"tool.py\", line 3\n".into()],
        };
        let expected = |exception_type: &str, part: Option<&str>| ExpectedError {
            exception_type: exception_type.into(),
            message_contains: part.map(str::to_owned),
        };
        assert!(is_expected_error(&expected("ValueError", None), &failed));
        assert!(is_expected_error(&expected("ValueError", Some("at least")), &failed));
        let wrong = expected("ValueError", Some("at most"));
        assert!(!is_expected_error(&wrong, &failed));
        let text = "expected a message of ValueError with \"at most\", got \"times must be at least 1\"";
        assert_eq!(wrong_error(&wrong, &failed), text);
        let wrong = expected("TypeError", None);
        assert!(!is_expected_error(&wrong, &failed));
        let text = wrong_error(&wrong, &failed);
        assert!(text.starts_with("expected the error TypeError, got ValueError: times"), "{text}");
        assert!(text.contains("\n    File \"tool.py\", line 3"), "{text}");
    }

    #[test]
    fn of_a_long_trace_both_ends_are_told() {
        let lines = |count: usize| (0..count).map(|number| format!("\n  {number}")).collect::<Vec<_>>();
        assert_eq!(ends(&lines(20)), lines(20).concat());
        let told = ends(&lines(25));
        assert!(
            told.starts_with("\n  0\n  1") && told.contains("\n  9\n  … 5 more lines …\n  15") && told.ends_with("24")
        );
    }
}
