//! The model of runs of agents.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{Model, ModelBounds};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::endpoint_key::read_key;
use crate::failure::Failure;

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct AgentModelSettings {
    /// Endpoint of the model that runs agents, such as https://models.example.com/v1/chat/completions [default: none; no agent is run]
    ///
    /// It receives objectives, arguments and results of tools; see [runs of agents](agent-runs.md).
    #[arg(long, env = "LATHE_MODEL_URL", value_name = "URL")]
    pub model_url: Option<String>,
    /// API of the endpoint: chat completions of OpenAI, or messages of Anthropic [default: openai]
    ///
    /// `openai` or `anthropic`.
    #[arg(long, env = "LATHE_MODEL_API", value_name = "API")]
    pub model_api: Option<ModelApi>,
    /// Model of the endpoint, unless a request names another one
    #[arg(long, env = "LATHE_MODEL", value_name = "MODEL")]
    pub model: Option<String>,
    /// Models of the endpoint that runs of agents may name, besides that of --model [default: any]
    ///
    /// See [bounds of the operator](agent-runs.md#bounds-of-the-operator).
    #[arg(long, env = "LATHE_ALLOWED_MODELS", value_name = "MODEL,…", value_delimiter = ',')]
    pub allowed_models: Option<Vec<String>>,
    /// Tokens of one run of an agent: greater bounds are refused [default: 100000000]
    ///
    /// 1 to 100,000,000.
    #[arg(long, env = "LATHE_AGENT_RUN_TOKENS", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=ModelBounds::TOKENS_MAX))]
    pub agent_run_tokens: Option<u64>,
    /// File with the key of the endpoint [default: the variable LATHE_MODEL_KEY, or no key]
    #[arg(long, env = "LATHE_MODEL_KEY_FILE", value_name = "FILE")]
    pub model_key_file: Option<PathBuf>,
    /// Whether a due task that an agent created starts a run of this agent, with the rights of its user [default: false]
    ///
    /// See [tasks](agent-runs.md#tasks).
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

/// The variable with the key of the endpoint.
const KEY_VARIABLE: &str = "LATHE_MODEL_KEY";

impl AgentModelSettings {
    /// The configured model.
    ///
    /// # Errors
    /// When a setting is missing or invalid, or the file with the key cannot be read.
    pub fn build_model(&self) -> anyhow::Result<Option<Arc<Model>>> {
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
            Some(ModelApi::Anthropic) => agents::ModelApi::Anthropic,
            Some(ModelApi::OpenAi) | None => agents::ModelApi::OpenAi,
        };
        let bounds = self.build_bounds(&model)?;
        let key = read_key(self.model_key_file.as_deref(), KEY_VARIABLE)?;
        let settings = agents::ModelSettings { api, url, model, key, bounds };
        let model = Model::new(settings).map_err(|error| Failure::usage(error.to_string(), "correct `--model-url`"))?;
        Ok(Some(Arc::new(model)))
    }

    fn is_any_given(&self) -> bool {
        let has_model = self.model.is_some() || self.model_api.is_some() || self.model_key_file.is_some();
        let has_bounds = self.allowed_models.is_some() || self.agent_run_tokens.is_some();
        has_model || has_bounds || self.run_due_tasks == Some(true)
    }

    /// The bounds of runs. The model of the settings is always allowed.
    fn build_bounds(&self, model: &str) -> anyhow::Result<ModelBounds> {
        let mut models = self.allowed_models.clone();
        if let Some(models) = &mut models {
            if models.iter().any(String::is_empty) {
                return Err(Failure::usage("an allowed model has an empty name", "correct `--allowed-models`"));
            }
            if !models.iter().any(|allowed| allowed == model) {
                models.insert(0, model.to_owned());
            }
        }
        let tokens_max = self.agent_run_tokens.unwrap_or(ModelBounds::TOKENS_MAX);
        if !(1..=ModelBounds::TOKENS_MAX).contains(&tokens_max) {
            let message = format!("a run of an agent has 1 to {} tokens, not {tokens_max}", ModelBounds::TOKENS_MAX);
            return Err(Failure::usage(message, "correct `agent_run_tokens` in the settings file"));
        }
        Ok(ModelBounds { models, tokens_max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_settings(url: Option<&str>, model: Option<&str>) -> AgentModelSettings {
        let text = |text: Option<&str>| text.map(ToOwned::to_owned);
        AgentModelSettings { model_url: text(url), model: text(model), ..AgentModelSettings::default() }
    }

    #[test]
    fn an_endpoint_needs_a_model_and_a_model_an_endpoint() {
        assert!(build_settings(None, None).build_model().expect("no endpoint").is_none());
        for (url, model, wrong) in [
            (Some("https://models.example.com/v1/chat/completions"), None, "without the model"),
            (None, Some("small"), "without its endpoint"),
            (Some("file:///etc/passwd"), Some("small"), "https://models.example.com/v1/chat/completions"),
        ] {
            let error = build_settings(url, model).build_model().expect_err("refused").to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn the_model_of_the_settings_is_always_allowed() {
        let allowed = |names: &[&str]| {
            let allowed_models = Some(names.iter().map(|name| (*name).to_owned()).collect());
            AgentModelSettings { allowed_models, ..build_settings(None, None) }
                .build_bounds("small")
                .map(|bounds| bounds.models)
        };
        assert_eq!(allowed(&["large"]).expect("a list"), Some(vec!["small".to_owned(), "large".to_owned()]));
        assert_eq!(allowed(&["small"]).expect("a list"), Some(vec!["small".to_owned()]));
        assert!(allowed(&[""]).expect_err("refused").to_string().contains("empty name"));
        assert_eq!(build_settings(None, None).build_bounds("small").expect("bounds").models, None);
    }

    #[test]
    fn the_bound_of_tokens_has_a_range() {
        let bound = |tokens| {
            AgentModelSettings { agent_run_tokens: Some(tokens), ..build_settings(None, None) }.build_bounds("small")
        };
        assert_eq!(bound(7).expect("bounds").tokens_max, 7);
        for tokens in [0, ModelBounds::TOKENS_MAX + 1] {
            assert!(bound(tokens).expect_err("refused").to_string().contains("1 to 100000000"), "{tokens}");
        }
    }
}
