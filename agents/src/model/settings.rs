//! The endpoint of a model.

use registry::SecretValue;

/// The API that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelApi {
    /// Chat completions of OpenAI.
    OpenAi,
    /// Messages of Anthropic.
    Anthropic,
}

/// The models and the tokens that runs of agents may use.
#[derive(Debug, Clone)]
pub struct ModelBounds {
    /// The models of the endpoint that a run may name. `None` for any.
    pub models: Option<Vec<String>>,
    /// Tokens of one run.
    pub tokens_max: u64,
}

/// The endpoint, the model that it runs unless a request names another one, the key, and the bounds of runs.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub api: ModelApi,
    /// Such as `https://models.example.com/v1/chat/completions`.
    pub url: String,
    pub model: String,
    pub key: Option<SecretValue>,
    pub bounds: ModelBounds,
}

impl ModelBounds {
    /// The greatest bound of tokens that can be set.
    pub const TOKENS_MAX: u64 = 100_000_000;
}

impl Default for ModelBounds {
    fn default() -> Self {
        Self { models: None, tokens_max: Self::TOKENS_MAX }
    }
}
