//! What becomes of an output: whether it is what its version promises, and what its length means.

use serde_json::Value;

use crate::call::{PERSISTED_CHARACTERS_MAX, ResultPersistence};
use crate::{Error, InputSchema, Outcome};

/// Ways in which an output misses its schema that are told.
const MISFITS_TOLD_MAX: usize = 3;

/// The outcome, or its failure when the version has a schema for outputs that this one misses. What a tool returned as
/// text may be meant as text although it reads as JSON, so either will do.
///
/// # Errors
/// When the host has no thread to give.
pub async fn promised(outcome: Outcome, schema: Option<&InputSchema>) -> Result<Outcome, Error> {
    let (Some(schema), Outcome::Succeeded { output }) = (schema, &outcome) else { return Ok(outcome) };
    let text = Value::String(output.clone());
    let misfits = match serde_json::from_str(output) {
        Ok(value) => schema.misfits_of(value).await?,
        Err(_) => schema.misfits_of(text.clone()).await?,
    };
    if misfits.is_empty() || schema.misfits_of(text).await?.is_empty() {
        return Ok(outcome);
    }
    let told =
        misfits.iter().take(MISFITS_TOLD_MAX).map(|misfit| format!("{}: {}", place(&misfit.pointer), misfit.message));
    let message = format!("the output misses the output schema: {}", told.collect::<Vec<_>>().join("; "));
    Ok(Outcome::failed("output_schema", message))
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole" } else { pointer }
}

/// The outcome after the rule of result persistence, and whether it belongs in the conversation's log. A longer output than
/// `output_characters_max` fails.
pub fn shape(outcome: Outcome, persistence: ResultPersistence, output_characters_max: usize) -> (Outcome, bool) {
    let Outcome::Succeeded { output } = &outcome else {
        return (outcome, persistence != ResultPersistence::Ephemeral);
    };
    let characters = output.chars().count();
    if characters > output_characters_max {
        return (too_large("output_too_large", characters, output_characters_max), false);
    }
    let fits = characters <= PERSISTED_CHARACTERS_MAX;
    match persistence {
        ResultPersistence::Ephemeral => (outcome, false),
        ResultPersistence::Persisted if !fits => {
            (too_large("output_not_persistable", characters, PERSISTED_CHARACTERS_MAX), false)
        }
        ResultPersistence::PersistedPreferred | ResultPersistence::Persisted => (outcome, fits),
    }
}

fn too_large(kind: &str, characters: usize, characters_max: usize) -> Outcome {
    Outcome::failed(kind, format!("the output has {characters} characters; {characters_max} are the limit"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use ResultPersistence::{Ephemeral, Persisted, PersistedPreferred};

    fn check(characters: usize, persistence: ResultPersistence, expected: Result<bool, &str>) {
        let output = "😀".repeat(characters);
        let (outcome, persisted) = shape(Outcome::Succeeded { output }, persistence, Limits::DEFAULT.output_characters);
        match (outcome, expected) {
            (Outcome::Succeeded { .. }, Ok(expected)) => assert_eq!(persisted, expected),
            (Outcome::Failed { exception_type, .. }, Err(kind)) => {
                assert_eq!((exception_type.as_str(), persisted), (kind, false));
            }
            (outcome, expected) => panic!("{characters} {persistence:?}: {outcome:?} {expected:?}"),
        }
    }

    #[tokio::test]
    async fn an_output_is_what_its_schema_says_as_json_or_as_text() {
        let promised = async |schema: Value, output: &str| {
            let schema = InputSchema::compile(&schema).unwrap();
            match promised(Outcome::Succeeded { output: output.into() }, Some(&schema)).await.unwrap() {
                Outcome::Succeeded { .. } => String::new(),
                Outcome::Failed { exception_type, exception_message, .. } => {
                    format!("{exception_type}: {exception_message}")
                }
            }
        };
        use serde_json::json;
        let object = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}});
        assert_eq!(promised(object.clone(), "{\"a\": 1}").await, "");
        let missed = promised(object.clone(), "{\"a\": \"1\"}").await;
        assert!(missed.starts_with("output_schema: the output misses the output schema: /a: "), "{missed}");
        assert!(promised(object, "plain").await.contains("the whole: "));
        for text in ["plain", "5", "null", "\"quoted\""] {
            assert_eq!(promised(json!({"type": "string"}), text).await, "", "{text}");
        }
        assert_eq!(promised(json!({"type": "integer"}), "5").await, "");
        assert_ne!(promised(json!({"type": "integer"}), "five").await, "");
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
