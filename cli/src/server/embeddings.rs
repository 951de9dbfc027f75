//! What makes vectors of memories: an endpoint, or a model that learns from the memories themselves.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{Embedder, HttpEmbedder, HttpEmbedderOptions};
use clap::Args;
use serde::Deserialize;

use super::endpoint_key::read_key;
use crate::failure::Failure;

#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct EmbeddingSettings {
    /// Endpoint for vectors of memories, which speaks OpenAI's API: https://models.example.com/v1/embeddings [default: none; a model learns from the memories]
    ///
    /// It receives the texts of all memories and the queries; see [searches](library.md#searches).
    #[arg(long, env = "LATHE_EMBEDDINGS_URL", value_name = "URL")]
    pub embeddings_url: Option<String>,
    /// Model of the endpoint
    ///
    /// After a change, new vectors are made in the background.
    #[arg(long, env = "LATHE_EMBEDDINGS_MODEL", value_name = "MODEL")]
    pub embeddings_model: Option<String>,
    /// File with the key of the endpoint [default: the variable LATHE_EMBEDDINGS_KEY, or no key]
    ///
    /// The key is sent as bearer token.
    #[arg(long, env = "LATHE_EMBEDDINGS_KEY_FILE", value_name = "FILE")]
    pub embeddings_key_file: Option<PathBuf>,
}

/// The variable with the key of the endpoint.
const KEY_VARIABLE: &str = "LATHE_EMBEDDINGS_KEY";

impl EmbeddingSettings {
    /// The configured embedder.
    ///
    /// # Errors
    /// When a setting is missing or invalid, or the file with the key cannot be read.
    pub fn build_embedder(&self) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
        match &self.embeddings_url {
            Some(url) => Ok(Some(Arc::new(self.build_endpoint(url)?))),
            None if self.embeddings_model.is_some() || self.embeddings_key_file.is_some() => Err(Failure::usage(
                "a model or a key for embeddings is given without an endpoint",
                "give `--embeddings-url`",
            )),
            None => Ok(None),
        }
    }

    fn build_endpoint(&self, url: &str) -> anyhow::Result<HttpEmbedder> {
        let Some(model) = self.embeddings_model.clone() else {
            let message = "an endpoint for embeddings is given without a model";
            return Err(Failure::usage(message, "give `--embeddings-model`"));
        };
        let options = HttpEmbedderOptions {
            url: url.to_owned(),
            model,
            key: read_key(self.embeddings_key_file.as_deref(), KEY_VARIABLE)?,
        };
        HttpEmbedder::new(options).map_err(|error| Failure::usage(error.to_string(), "correct `--embeddings-url`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_settings(url: Option<&str>, model: Option<&str>) -> EmbeddingSettings {
        let text = |text: Option<&str>| text.map(ToOwned::to_owned);
        EmbeddingSettings { embeddings_url: text(url), embeddings_model: text(model), ..EmbeddingSettings::default() }
    }

    #[test]
    fn an_endpoint_needs_a_model_and_a_model_an_endpoint() {
        assert!(build_settings(None, None).build_embedder().expect("no endpoint").is_none());
        for (url, model, wrong) in [
            (Some("https://models.example.com/v1/embeddings"), None, "without a model"),
            (None, Some("small"), "without an endpoint"),
            (Some("file:///etc/passwd"), Some("small"), "https://models.example.com/v1/embeddings"),
        ] {
            let error = build_settings(url, model).build_embedder().expect_err("refused").to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
