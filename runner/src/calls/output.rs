//! Checks of a successful output: its schema and its length.

use registry::OrganizationId;
use serde_json::Value;

use crate::calls::call::{PERSISTED_CHARACTERS_MAX, ResultPersistence};
use crate::calls::schema::{InputSchema, SchemaMatcher};
use crate::error::SchemaViolation;
use crate::sandbox::outcome::{Outcome, failed};

/// Schema violations of an output that its failure lists.
const VIOLATIONS_LISTED_MAX: usize = 3;

/// Checks outputs against the output schema of a version, if it has one.
pub struct OutputCheck<'a> {
    pub schemas: &'a SchemaMatcher,
    pub organization: &'a OrganizationId,
    pub schema: Option<&'a InputSchema>,
}

impl OutputCheck<'_> {
    /// Returns the outcome, or a failure when the output violates the schema. The output may match as JSON or as text,
    /// since a tool may mean text that happens to be JSON.
    pub async fn apply(&self, outcome: Outcome) -> Outcome {
        let (Some(schema), Outcome::Succeeded { output }) = (self.schema, &outcome) else { return outcome };
        let text = Value::String(output.clone());
        let violations = match serde_json::from_str(output) {
            Ok(value) => self.find_violations(schema, value).await,
            Err(_) => self.find_violations(schema, text.clone()).await,
        };
        if violations.is_empty() || self.find_violations(schema, text).await.is_empty() {
            return outcome;
        }
        let listed = violations.iter().take(VIOLATIONS_LISTED_MAX);
        let listed = listed.map(|violation| format!("{}: {}", show_place(&violation.pointer), violation.message));
        let mut listed = listed.collect::<Vec<_>>().join("; ");
        if violations.len() > VIOLATIONS_LISTED_MAX {
            listed.push_str("; further violations are left out");
        }
        let message = format!("the output does not match the output schema: {listed}");
        failed("output_schema", message)
    }

    /// Lists the violations. An output that cannot be checked counts as a violation, since the run has ended and its
    /// record needs the reason.
    async fn find_violations(&self, schema: &InputSchema, value: Value) -> Vec<SchemaViolation> {
        let matching = self.schemas.find_output_violations(self.organization, schema, value);
        matching.await.unwrap_or_else(|error| {
            let message = format!("could not be checked: {error}");
            vec![SchemaViolation { input_index: 0, pointer: String::new(), message }]
        })
    }
}

fn show_place(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole output" } else { pointer }
}

/// Applies the output limit and the result persistence. Returns the outcome, and whether it belongs in the
/// log of the caller: neither a long output nor a failure with a long message or trace does.
pub fn apply_limits(outcome: Outcome, persistence: ResultPersistence, output_characters_max: usize) -> (Outcome, bool) {
    let output = match &outcome {
        Outcome::Succeeded { output } => output,
        Outcome::Failed { exception_message, exception_stack_trace, .. } => {
            let trace: usize = exception_stack_trace.iter().map(|line| line.chars().count()).sum();
            let fits = exception_message.chars().count().max(trace) <= PERSISTED_CHARACTERS_MAX;
            return (outcome, fits && persistence != ResultPersistence::Ephemeral);
        }
    };
    let characters = output.chars().count();
    if characters > output_characters_max {
        return (refuse_too_large("output_too_large", characters, output_characters_max), false);
    }
    let fits = characters <= PERSISTED_CHARACTERS_MAX;
    match persistence {
        ResultPersistence::Ephemeral => (outcome, false),
        ResultPersistence::Persisted if !fits => {
            (refuse_too_large("output_not_persistable", characters, PERSISTED_CHARACTERS_MAX), false)
        }
        ResultPersistence::PersistedPreferred | ResultPersistence::Persisted => (outcome, fits),
    }
}

fn refuse_too_large(kind: &str, characters: usize, characters_max: usize) -> Outcome {
    failed(kind, format!("the output has {characters} characters; the limit is {characters_max}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::limits::Limits;
    use ResultPersistence::{Ephemeral, Persisted, PersistedPreferred};

    fn check(characters: usize, persistence: ResultPersistence, expected: Result<bool, &str>) {
        let output = "😀".repeat(characters);
        let (outcome, persisted) =
            apply_limits(Outcome::Succeeded { output }, persistence, Limits::DEFAULT.output_characters);
        match (outcome, expected) {
            (Outcome::Succeeded { .. }, Ok(expected)) => assert_eq!(persisted, expected),
            (Outcome::Failed { exception_type, .. }, Err(kind)) => {
                assert_eq!((exception_type.as_str(), persisted), (kind, false));
            }
            (outcome, expected) => panic!("{characters} {persistence:?}: {outcome:?} {expected:?}"),
        }
    }

    #[tokio::test]
    async fn an_output_matches_its_schema_as_json_or_as_text() {
        let checked = async |schema: Value, output: &str| {
            let schema = InputSchema::compile(&schema).unwrap();
            let schemas = SchemaMatcher::start(&Config::new("unused".into(), [0; 32], "unused")).unwrap();
            let organization = OrganizationId::parse("acme").unwrap();
            let check = OutputCheck { schemas: &schemas, organization: &organization, schema: Some(&schema) };
            match check.apply(Outcome::Succeeded { output: output.into() }).await {
                Outcome::Succeeded { .. } => String::new(),
                Outcome::Failed { exception_type, exception_message, .. } => {
                    format!("{exception_type}: {exception_message}")
                }
            }
        };
        use serde_json::json;
        let object = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}});
        assert_eq!(checked(object.clone(), "{\"a\": 1}").await, "");
        let missed = checked(object.clone(), "{\"a\": \"1\"}").await;
        assert!(missed.starts_with("output_schema: the output does not match the output schema: /a: "), "{missed}");
        assert!(checked(object, "plain").await.contains("the whole output: "));
        for text in ["plain", "5", "null", "\"quoted\""] {
            assert_eq!(checked(json!({"type": "string"}), text).await, "", "{text}");
        }
        assert_eq!(checked(json!({"type": "integer"}), "5").await, "");
        assert_ne!(checked(json!({"type": "integer"}), "five").await, "");
    }

    #[test]
    fn a_failure_with_a_long_message_or_trace_is_not_persisted() {
        let persisted = |message: usize, trace: &[usize], persistence| {
            let outcome = Outcome::Failed {
                exception_type: "E".into(),
                exception_message: "😀".repeat(message),
                exception_stack_trace: trace.iter().map(|characters| "é".repeat(*characters)).collect(),
            };
            apply_limits(outcome, persistence, Limits::DEFAULT.output_characters).1
        };
        assert!(persisted(5_000, &[2_000, 3_000], PersistedPreferred) && persisted(5_000, &[], Persisted));
        assert!(!persisted(5_001, &[], PersistedPreferred) && !persisted(1, &[2_000, 3_001], Persisted));
        assert!(!persisted(1, &[], Ephemeral));
    }

    #[test]
    fn the_boundaries_are_inclusive_and_count_characters() {
        check(5_000, PersistedPreferred, Ok(true));
        check(5_001, PersistedPreferred, Ok(false));
        check(5_000, Persisted, Ok(true));
        check(5_001, Persisted, Err("output_not_persistable"));
        check(5_000, Ephemeral, Ok(false));
        check(20_000, Ephemeral, Ok(false));
        check(20_000, PersistedPreferred, Ok(false));
        check(20_001, Ephemeral, Err("output_too_large"));
        check(20_001, PersistedPreferred, Err("output_too_large"));
    }
}
