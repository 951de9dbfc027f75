//! The tokens of a text, by the vocabulary of a WordPiece tokenizer: each word is cut into the longest pieces that the vocabulary has.

use std::collections::HashMap;

use serde::Deserialize;

use super::unusable::unusable;
use crate::error::Result;
use crate::text::words::words;

/// Bytes of a word that is cut into pieces. Longer words have no tokens.
const WORD_BYTES_MAX: usize = 100;

pub(super) struct WordPieces {
    vocabulary: HashMap<String, usize>,
    /// The beginning of pieces that continue a word.
    prefix: String,
}

#[derive(Deserialize)]
struct Document {
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    vocab: serde_json::Value,
    #[serde(default = "default_prefix")]
    continuing_subword_prefix: String,
}

fn default_prefix() -> String {
    "##".to_owned()
}

impl WordPieces {
    /// Reads `tokenizer.json`.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let Document { model } =
            serde_json::from_slice(file).map_err(|error| unusable(format!("tokenizer.json: {error}")))?;
        let kind = model.kind.unwrap_or_default();
        if kind != "WordPiece" {
            return Err(unusable(format!("tokenizer.json: the type {kind:?} is not supported, only WordPiece")));
        }
        let vocabulary =
            HashMap::deserialize(model.vocab).map_err(|error| unusable(format!("tokenizer.json: vocab: {error}")))?;
        Ok(Self { vocabulary, prefix: model.continuing_subword_prefix })
    }

    /// Returns the tokens of a text, at most `tokens_max`. A word without tokens is left out.
    pub fn tokens(&self, text: &str, tokens_max: usize) -> Vec<usize> {
        let mut tokens = Vec::new();
        for word in words(text).split_whitespace() {
            if tokens.len() >= tokens_max {
                break;
            }
            tokens.extend(self.pieces(word).unwrap_or_default());
        }
        tokens.truncate(tokens_max);
        tokens
    }

    fn pieces(&self, word: &str) -> Option<Vec<usize>> {
        let (mut rest, mut pieces) = (word, Vec::new());
        if word.len() > WORD_BYTES_MAX {
            return None;
        }
        while !rest.is_empty() {
            let prefix = if pieces.is_empty() { "" } else { self.prefix.as_str() };
            let ends = rest.char_indices().map(|(start, character)| start + character.len_utf8()).rev();
            let (end, token) = ends
                .filter_map(|end| Some((end, *self.vocabulary.get(&format!("{prefix}{}", &rest[..end]))?)))
                .next()?;
            pieces.push(token);
            rest = &rest[end..];
        }
        Some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tokenizer(vocab: &Value) -> WordPieces {
        let document = json!({"model": {"type": "WordPiece", "vocab": vocab, "continuing_subword_prefix": "##"}});
        WordPieces::parse(document.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn words_are_cut_into_the_longest_pieces() {
        let tokenizer = tokenizer(&json!({"car": 1, "auto": 2, "##mobile": 3, "##mob": 4, "##s": 5, "東": 6}));
        for (text, expected) in
            [("Car, cars!", &[1, 1, 5][..]), ("the AUTOMOBILE", &[2, 3]), ("automobx", &[]), ("東京", &[6]), ("", &[])]
        {
            assert_eq!(tokenizer.tokens(text, 10), expected, "{text}");
        }
        assert_eq!(tokenizer.tokens("car car car", 2), [1, 1]);
        assert_eq!(tokenizer.tokens(&"s".repeat(1_000), 10), [0_usize; 0]);
    }

    #[test]
    fn other_tokenizers_are_refused() {
        for (document, wrong) in [
            (json!({"model": {"type": "Unigram", "vocab": [["a", -1.0]]}}), "Unigram"),
            (json!({"model": {"type": "WordPiece", "vocab": []}}), "vocab"),
            (json!({}), "model"),
        ] {
            let refused = WordPieces::parse(document.to_string().as_bytes()).err().expect("refused").to_string();
            assert!(refused.contains(wrong), "{refused}");
        }
    }
}
