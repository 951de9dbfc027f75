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

/// The endpoint, the model that it runs unless a request names another one, and the key.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub api: ModelApi,
    /// Such as `https://models.example.com/v1/chat/completions`.
    pub url: String,
    pub model: String,
    pub key: Option<SecretValue>,
}
