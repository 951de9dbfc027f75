//! Vectors from an endpoint.

use agents::{EmbedFailure, Embedder, HttpEmbedder, HttpEmbedderOptions, Vector};
use registry::SecretValue;
use serde_json::json;

use crate::embedding_endpoint::{Behaviour, EmbeddingEndpoint};

pub fn embedder(endpoint: &EmbeddingEndpoint, model: &str) -> HttpEmbedder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = Some(SecretValue::new("sesame".into()));
    HttpEmbedder::new(HttpEmbedderOptions { url: endpoint.url(), model: model.into(), key }).unwrap()
}

async fn embed(endpoint: &EmbeddingEndpoint, texts: &[&str]) -> Result<Vec<Option<Vector>>, EmbedFailure> {
    embedder(endpoint, "small").embed(texts.iter().map(|text| (*text).to_owned()).collect()).await
}

#[tokio::test]
async fn texts_get_their_vectors_in_their_order() {
    let endpoint = EmbeddingEndpoint::serve();
    let vectors = embed(&endpoint, &["a car", "an invoice", "the automobile"]).await.unwrap();
    let [car, invoice, automobile] = [0, 1, 2].map(|index: usize| vectors[index].clone().unwrap());
    assert!(car.cosine(&automobile) > 0.99 && car.cosine(&invoice) < 0.01);
}

#[tokio::test]
async fn a_request_names_the_model_and_has_the_key() {
    let endpoint = EmbeddingEndpoint::serve();
    embed(&endpoint, &["a car"]).await.unwrap();
    let received = endpoint.received().pop().unwrap();
    assert_eq!(received.header("authorization"), Some("Bearer sesame"));
    let expected = json!({"model": "small", "input": ["a car"], "encoding_format": "float"});
    assert_eq!(received.body, expected);
    assert!(!format!("{:?}", embedder(&endpoint, "small")).contains("sesame"));
}

#[tokio::test]
async fn refused_texts_and_a_broken_endpoint_are_different_failures() {
    let endpoint = EmbeddingEndpoint::serve();
    for (behaviour, is_refusal) in [
        (Behaviour::Refuses(400), true),
        (Behaviour::Refuses(413), true),
        (Behaviour::Refuses(401), false),
        (Behaviour::Refuses(302), false),
        (Behaviour::Refuses(429), false),
        (Behaviour::Refuses(500), false),
        (Behaviour::AnswersOtherJson, false),
        (Behaviour::AnswersWithoutEnd, false),
    ] {
        endpoint.behaves(behaviour);
        let failure = embed(&endpoint, &["a car"]).await.unwrap_err();
        assert_eq!(matches!(failure, EmbedFailure::Refused { .. }), is_refusal, "{behaviour:?}: {failure}");
        assert!(!failure.to_string().contains("127.0.0.1"), "{failure}");
    }
}

#[test]
fn only_urls_of_http_are_accepted() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    for url in ["", "models.example.com", "file:///etc/passwd"] {
        let options = HttpEmbedderOptions { url: url.into(), model: "small".into(), key: None };
        assert!(HttpEmbedder::new(options).is_err(), "{url}");
    }
}
