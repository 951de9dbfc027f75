//! The model of runs of agents.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use registry::SecretValue;
use runner::Model;
use serde::Deserialize;

use crate::failure::Failure;

#[derive(Clone, Debug, Default, Args)]
pub struct ModelArguments {
    /// Endpoint of the model that runs agents, such as https://models.example.com/v1/chat/completions [default: none; no agent is run]
    #[arg(long, env = "LATHE_MODEL_URL", value_name = "URL")]
    pub model_url: Option<String>,
    /// API of the endpoint: chat completions of OpenAI, or messages of Anthropic [default: openai]
    #[arg(long, env = "LATHE_MODEL_API", value_name = "API")]
    pub model_api: Option<ModelApi>,
    /// Model of the endpoint, unless a request names another one
    #[arg(long, env = "LATHE_MODEL", value_name = "MODEL")]
    pub model: Option<String>,
    /// File with the key of the endpoint [default: the variable LATHE_MODEL_KEY, or no key]
    #[arg(long, env = "LATHE_MODEL_KEY_FILE", value_name = "FILE")]
    pub model_key_file: Option<PathBuf>,
    /// Whether a due task that an agent created starts a run of this agent, with the rights of its user [default: false]
    #[arg(long, env = "LATHE_RUN_DUE_TASKS", num_args = 0..=1, default_missing_value = "true", value_name = "BOOLEAN")]
    pub run_due_tasks: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelApi {
    #[value(name = "openai")]
    OpenAi,
    Anthropic,
}

/// The variable with the key of the endpoint. It is no flag, since others can read the arguments of a process.
const KEY_VARIABLE: &str = "LATHE_MODEL_KEY";

impl ModelArguments {
    /// Fills settings that are not given from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            model_url: self.model_url.or(other.model_url),
            model_api: self.model_api.or(other.model_api),
            model: self.model.or(other.model),
            model_key_file: self.model_key_file.or(other.model_key_file),
            run_due_tasks: self.run_due_tasks.or(other.run_due_tasks),
        }
    }

    /// The configured model.
    ///
    /// # Errors
    /// When a setting is missing or invalid, or the file with the key cannot be read.
    pub fn model(&self) -> anyhow::Result<Option<Arc<Model>>> {
        let Some(url) = self.model_url.clone() else {
            return match self.is_any_given() {
                true => Err(Failure::usage("a model is given without its endpoint", "give `--model-url`")),
                false => Ok(None),
            };
        };
        let Some(model) = self.model.clone() else {
            return Err(Failure::usage("the endpoint of a model is given without the model", "give `--model`"));
        };
        let api = match self.model_api {
            Some(ModelApi::Anthropic) => runner::ModelApi::Anthropic,
            Some(ModelApi::OpenAi) | None => runner::ModelApi::OpenAi,
        };
        let settings = runner::ModelSettings { api, url, model, key: self.key()? };
        let model = Model::new(settings).map_err(|error| Failure::usage(error.to_string(), "correct `--model-url`"))?;
        Ok(Some(Arc::new(model)))
    }

    fn is_any_given(&self) -> bool {
        let has_model = self.model.is_some() || self.model_api.is_some() || self.model_key_file.is_some();
        has_model || self.run_due_tasks == Some(true)
    }

    fn key(&self) -> anyhow::Result<Option<SecretValue>> {
        let key = match &self.model_key_file {
            Some(path) => Some(std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?),
            None => std::env::var(KEY_VARIABLE).ok(),
        };
        Ok(key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()).map(SecretValue::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: Option<&str>, model: Option<&str>) -> ModelArguments {
        let text = |text: Option<&str>| text.map(ToOwned::to_owned);
        ModelArguments { model_url: text(url), model: text(model), ..ModelArguments::default() }
    }

    #[test]
    fn an_endpoint_needs_a_model_and_a_model_an_endpoint() {
        assert!(settings(None, None).model().expect("no endpoint").is_none());
        for (url, model, wrong) in [
            (Some("https://models.example.com/v1/chat/completions"), None, "without the model"),
            (None, Some("small"), "without its endpoint"),
            (Some("file:///etc/passwd"), Some("small"), "https://models.example.com/v1/chat/completions"),
        ] {
            let error = settings(url, model).model().expect_err("refused").to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_key_is_read_from_a_file_without_its_line_end() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "secret\n").expect("written");
        let settings = ModelArguments { model_key_file: Some(file.path().to_owned()), ..settings(None, None) };
        assert_eq!(settings.key().expect("a key").expect("a key").expose(), "secret");
    }
}
