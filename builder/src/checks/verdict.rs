//! Compares the result of a run with the result that its check expects.

use registry::OrganizationId;
use runner::{InputSchema, Outcome, SchemaMatcher, SchemaViolation, TrialResult};
use serde_json::Value;

use super::difference::{find_differences, show_value};
use super::file::{Expected, ExpectedError};
use crate::error::Error;

/// Lines shown from each end of a stack trace. The failing line is last in Python and first in JavaScript.
const TRACE_ENDS_MAX: usize = 10;

/// The schema matcher, and the organisation on whose behalf it works.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub schemas: &'a SchemaMatcher,
    pub organization: &'a OrganizationId,
}

impl Judge<'_> {
    /// Returns the reason why a check failed, or `None` when it passed. Secrets are redacted before values are
    /// truncated, since half a secret would not be recognised.
    ///
    /// # Errors
    /// When the host has no process for matching schemas.
    pub async fn find_failure(self, expected: &Expected, tried: &TrialResult) -> Result<Option<String>, Error> {
        // An unanswered request fails the check even if the tool handles the error.
        if !tried.unanswered.is_empty() {
            let requests = tried.unanswered.join(", ");
            return Ok(Some(format!(
                "no mock matches {requests} (simulated); add one to the check, or for a request to mocks/"
            )));
        }
        Ok(match (expected, &tried.outcome) {
            (Expected::Output(expected), Outcome::Succeeded { output }) if is_expected(expected, output) => None,
            (Expected::Output(expected), Outcome::Succeeded { output }) => {
                let got = if expected.is_string() { output.as_str().into() } else { parse_value(output) };
                Some(show_difference(&tried.redacted_value(expected.clone()), &tried.redacted_value(got)))
            }
            (Expected::Schema(schema), Outcome::Succeeded { output }) => {
                let got = parse_value(output);
                let violations = self.find_violations(schema, got.clone()).await?;
                (!violations.is_empty()).then(|| list_violations(&violations, &tried.redacted_value(got)))
            }
            (Expected::Error(expected), Outcome::Succeeded { output }) => {
                let output = show_value(&tried.redacted_value(parse_value(output)));
                Some(format!("expected the error {}, and the tool returned {output}", expected.exception_type))
            }
            (Expected::Error(expected), failed) if is_expected_error(expected, failed) => None,
            (Expected::Error(expected), _) => Some(explain_wrong_error(expected, &tried.redacted_outcome)),
            (_, _) => {
                Some(format!("expected an output, and the tool failed: {}", describe_failure(&tried.redacted_outcome)))
            }
        })
    }

    /// The violations of a schema. An expensive schema is compiled here for the first time, and a schema that does not
    /// compile is reported as a violation.
    async fn find_violations(self, schema: &InputSchema, got: Value) -> Result<Vec<SchemaViolation>, Error> {
        match self.schemas.compile_expensive(self.organization, schema).await? {
            Ok(()) => Ok(self.schemas.violations_of(self.organization, schema, got).await?),
            Err(problem) => {
                let message = format!("expected_schema is not a JSON Schema: {problem}");
                Ok(vec![SchemaViolation { input_index: 0, pointer: String::new(), message }])
            }
        }
    }
}

/// Whether the output is the expected value. A string is compared with the output as plain text and as JSON, any other
/// value as JSON.
fn is_expected(expected: &Value, output: &str) -> bool {
    expected.as_str() == Some(output)
        || serde_json::from_str(output).is_ok_and(|got| find_differences(expected, &got).is_empty())
}

fn show_difference(expected: &Value, got: &Value) -> String {
    let lines = find_differences(expected, got);
    let redacted = || vec!["in redacted values".to_owned()];
    list_lines("the output differs", &if lines.is_empty() { redacted() } else { lines })
}

fn list_violations(violations: &[SchemaViolation], got: &Value) -> String {
    let line = |violation: &SchemaViolation| {
        let place = if violation.pointer.is_empty() { "the whole" } else { &violation.pointer };
        let found = got.pointer(&violation.pointer).map(|found| format!(", got {}", show_value(found)));
        format!("{place}: {}{}", violation.message, found.unwrap_or_default())
    };
    list_lines("the output does not match the schema", &violations.iter().map(line).collect::<Vec<_>>())
}

fn is_expected_error(expected: &ExpectedError, failed: &Outcome) -> bool {
    let Outcome::Failed { exception_type, exception_message, .. } = failed else { return false };
    let has_part = |part: &String| exception_message.contains(part.as_str());
    *exception_type == expected.exception_type && expected.message_contains.as_ref().is_none_or(has_part)
}

fn explain_wrong_error(expected: &ExpectedError, failed: &Outcome) -> String {
    let wanted = &expected.exception_type;
    match (failed, &expected.message_contains) {
        (Outcome::Failed { exception_type, exception_message, .. }, Some(part)) if exception_type == wanted => {
            let (part, got) = (show_value(&part.as_str().into()), show_value(&exception_message.as_str().into()));
            format!("expected a message of {wanted} with {part}, got {got}")
        }
        _ => format!("expected the error {wanted}, got {}", describe_failure(failed)),
    }
}

/// A tool's output: its JSON value, or a string if it is not JSON.
fn parse_value(output: &str) -> Value {
    serde_json::from_str(output).unwrap_or_else(|_| Value::String(output.to_owned()))
}

/// The type and message of a failure, and both ends of its stack trace.
fn describe_failure(failed: &Outcome) -> String {
    let Outcome::Failed { exception_type, exception_message, exception_stack_trace } = failed else {
        return String::new();
    };
    let lines = exception_stack_trace.iter().flat_map(|line| line.lines());
    let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).map(|line| format!("\n  {line}")).collect();
    format!("{exception_type}: {exception_message}{}", show_ends(&lines))
}

fn show_ends(lines: &[String]) -> String {
    let left_out = lines.len().saturating_sub(2 * TRACE_ENDS_MAX);
    if left_out == 0 {
        return lines.concat();
    }
    let (first, last) = (&lines[..TRACE_ENDS_MAX], &lines[lines.len() - TRACE_ENDS_MAX..]);
    format!("{}\n  … {left_out} more lines …{}", first.concat(), last.concat())
}

fn list_lines(what: &str, lines: &[String]) -> String {
    lines.iter().fold(format!("{what}:"), |text, line| format!("{text}\n  {line}"))
}

#[cfg(test)]
mod tests {
    use runner::Config;
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
        assert_eq!(show_difference(&json!({"a": 1}), &json!({"a": 2})), "the output differs:\n  /a: expected 1, got 2");
        assert_eq!(
            show_difference(&json!("[redacted]"), &json!("[redacted]")),
            "the output differs:\n  in redacted values"
        );
    }

    #[tokio::test]
    async fn a_violation_names_the_pointer_and_the_value() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let schema = InputSchema::compile(&schema).unwrap();
        let schemas = SchemaMatcher::start(&Config::new("unused".into(), [0; 32], "unused")).unwrap();
        let organization = OrganizationId::parse("acme").unwrap();
        let judge = Judge { schemas: &schemas, organization: &organization };
        let violations =
            async |got: Value| list_violations(&judge.find_violations(&schema, got.clone()).await.unwrap(), &got);
        let text = violations(json!({"n": "one"})).await;
        assert!(text.contains("/n: ") && text.contains("got \"one\""), "{text}");
        assert!(violations(json!("no object")).await.contains("the whole: "));
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
        assert_eq!(explain_wrong_error(&wrong, &failed), text);
        let wrong = expected("TypeError", None);
        assert!(!is_expected_error(&wrong, &failed));
        let text = explain_wrong_error(&wrong, &failed);
        assert!(text.starts_with("expected the error TypeError, got ValueError: times"), "{text}");
        assert!(text.contains("\n    File \"tool.py\", line 3"), "{text}");
    }

    #[test]
    fn both_ends_of_a_long_trace_are_shown() {
        let lines = |count: usize| (0..count).map(|number| format!("\n  {number}")).collect::<Vec<_>>();
        assert_eq!(show_ends(&lines(20)), lines(20).concat());
        let described = show_ends(&lines(25));
        assert!(
            described.starts_with("\n  0\n  1")
                && described.contains("\n  9\n  … 5 more lines …\n  15")
                && described.ends_with("24")
        );
    }
}
