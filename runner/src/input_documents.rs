//! The input of a run in the form in which it waits for a slot.

use registry::{InvocationMode, RecordedInput, SecretValue};

use crate::call::Input;
use crate::error::Error;
use crate::run_documents;

/// An input as JSON texts. A parsed document takes up to twenty times the memory of its text, and many runs may wait.
pub(crate) struct InputDocuments {
    pub(crate) mode: InvocationMode,
    pub(crate) tool_input: String,
    pub(crate) user_variables: String,
    /// Sensitive values, which must not be stored.
    pub(crate) sensitive: Vec<SecretValue>,
}

impl InputDocuments {
    /// # Errors
    /// When the input cannot be written as JSON, which no request can cause.
    pub(crate) fn of(input: &Input) -> Result<Self, Error> {
        let tool_input =
            serde_json::to_string(&input.input_parameters).map_err(|error| Error::internal(error.to_string()))?;
        let sensitive = input.sensitive_user_variables.values().cloned().map(SecretValue::new).collect();
        Ok(Self {
            mode: input.invocation_mode,
            tool_input,
            user_variables: run_documents::user_variables(input),
            sensitive,
        })
    }
}

/// The part of an input that its record keeps.
pub(crate) fn recorded(input: Input) -> RecordedInput {
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
            input_parameters: parameters.as_object().unwrap().clone(),
            invocation_mode: InvocationMode::Regular,
            nonsensitive_user_variables: [("region".to_owned(), "north".to_owned())].into(),
            sensitive_user_variables: [("pin".to_owned(), "1234".to_owned())].into(),
        };
        let documents = InputDocuments::of(&input).unwrap();
        assert_eq!(documents.tool_input, parameters.to_string());
        assert_eq!(documents.user_variables, r#"{"nonsensitive":{"region":"north"},"sensitive":{"pin":"1234"}}"#);
        let recorded = recorded(input);
        assert_eq!(serde_json::Value::Object(recorded.input_parameters.clone()), parameters);
        assert!(!serde_json::to_string(&recorded).unwrap().contains("1234"));
    }
}
