//! Vectors from an endpoint that speaks the embeddings API of OpenAI, which most servers of models speak.

use std::time::Duration;

use futures_util::future::BoxFuture;
use registry::{InvalidValue, SecretValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};

use super::embedder::{EmbedFailure, Embedder};
use super::vector::Vector;

/// Time for a request. A search waits less.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);
/// Bytes of a response: 128 vectors of 4,096 numbers take seven megabytes.
const RESPONSE_BYTES_MAX: usize = 16 << 20;
/// Below the cosines of related texts with the models in use.
const SIMILARITY_MIN: f32 = 0.3;

/// The endpoint, the model and the key.
#[derive(Clone, Debug)]
pub struct HttpEmbedderOptions {
    /// Such as `https://models.example.com/v1/embeddings`.
    pub url: String,
    pub model: String,
    /// Sent as bearer token.
    pub key: Option<SecretValue>,
}

/// An endpoint for vectors.
#[derive(Debug)]
pub struct HttpEmbedder {
    client: Client,
    url: Url,
    model: String,
    key: Option<SecretValue>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

impl HttpEmbedder {
    /// Prepares requests. Nothing is sent.
    ///
    /// # Errors
    /// When the URL is none of HTTP.
    pub fn new(options: HttpEmbedderOptions) -> Result<Self, InvalidValue> {
        let HttpEmbedderOptions { url, model, key } = options;
        let refused =
            || InvalidValue::new("URL for embeddings", "must be like https://models.example.com/v1/embeddings");
        let url = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(refused)?;
        let client = Client::builder().timeout(REQUEST_TIME_MAX).redirect(Policy::none()).no_proxy();
        let client = client.build().map_err(|_| refused())?;
        Ok(Self { client, url, model, key })
    }

    async fn request_vectors(&self, texts: Vec<String>) -> Result<Vec<Option<Vector>>, EmbedFailure> {
        let input = texts.iter().map(String::as_str).collect();
        let request = Request { model: &self.model, input, encoding_format: "float" };
        let mut sent = self.client.post(self.url.clone()).json(&request);
        if let Some(key) = &self.key {
            sent = sent.bearer_auth(key.expose());
        }
        let response = sent.send().await.map_err(unavailable)?;
        let status = response.status();
        if !status.is_success() {
            return Err(classify_status(status));
        }
        let answer: EmbeddingResponse =
            serde_json::from_slice(&read_body(response).await?).map_err(|error| EmbedFailure::Unavailable {
                reason: format!("the answer is not that of an endpoint for embeddings: {error}"),
            })?;
        let mut vectors = vec![None; texts.len()];
        for Embedding { index, embedding } in answer.data {
            if let Some(vector) = vectors.get_mut(index) {
                *vector = Vector::of(embedding);
            }
        }
        Ok(vectors)
    }
}

impl Embedder for HttpEmbedder {
    fn kind(&self) -> &'static str {
        "http"
    }

    fn model_id(&self) -> String {
        format!("http:{}", self.model)
    }

    fn similarity_min(&self) -> f32 {
        SIMILARITY_MIN
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Option<Vector>>, EmbedFailure>> {
        Box::pin(self.request_vectors(texts))
    }
}

/// Reads a body of bounded size.
async fn read_body(mut response: Response) -> Result<Vec<u8>, EmbedFailure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        if body.len() + chunk.len() > RESPONSE_BYTES_MAX {
            return Err(EmbedFailure::Unavailable { reason: "the answer is too large".to_owned() });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Statuses with which a server refuses the texts; with others it refuses every request.
fn classify_status(status: StatusCode) -> EmbedFailure {
    let reason = format!("status {status}");
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            EmbedFailure::Refused { reason }
        }
        _ => EmbedFailure::Unavailable { reason },
    }
}

fn unavailable(error: reqwest::Error) -> EmbedFailure {
    EmbedFailure::Unavailable { reason: error.without_url().to_string() }
}
