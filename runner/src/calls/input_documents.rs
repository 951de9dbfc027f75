//! The input of a run in the form in which it waits for a slot.

use registry::{InvocationMode, RecordedInput, SecretValue};

use crate::calls::call::Input;
use crate::calls::run_documents;

/// An input as JSON texts. A parsed document takes up to eighty times the memory of its text, and many runs may wait.
pub(crate) struct InputDocuments {
    pub(crate) mode: InvocationMode,
    pub(crate) tool_input: String,
    pub(crate) user_variables: String,
    /// Sensitive values, which must not be stored.
    pub(crate) sensitive: Vec<SecretValue>,
}

impl InputDocuments {
    pub(crate) fn of(input: &Input) -> Self {
        let sensitive = input.sensitive_user_variables.values().cloned().map(SecretValue::new).collect();
        Self {
            mode: input.invocation_mode,
            tool_input: input.input_parameters.as_str().to_owned(),
            user_variables: run_documents::write_user_variables(input),
            sensitive,
        }
    }
}

/// The part of an input that its record keeps.
pub(crate) fn record_input(input: Input) -> RecordedInput {
    let Input { input_parameters, nonsensitive_user_variables, sensitive_user_variables, .. } = input;
    RecordedInput::redacting(input_parameters, nonsensitive_user_variables, sensitive_user_variables.keys())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_input_becomes_documents_and_a_record_without_sensitive_values() {
        let parameters = json!({"b": vec![0; 1_000], "a": {"é\n": [null, 1.5, "x"]}});
        let input = Input {
            input_parameters: parameters.as_object().unwrap().into(),
            invocation_mode: InvocationMode::Regular,
            nonsensitive_user_variables: [("region".to_owned(), "north".to_owned())].into(),
            sensitive_user_variables: [("pin".to_owned(), "1234".to_owned())].into(),
        };
        let documents = InputDocuments::of(&input);
        assert_eq!(documents.tool_input, parameters.to_string());
        assert_eq!(documents.user_variables, r#"{"nonsensitive":{"region":"north"},"sensitive":{"pin":"1234"}}"#);
        let recorded = record_input(input);
        assert_eq!(recorded.input_parameters.as_str(), parameters.to_string());
        assert!(!serde_json::to_string(&recorded).unwrap().contains("1234"));
    }
}
