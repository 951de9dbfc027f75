//! A model that is a table: each token has a vector, and the vector of a text is the mean of those of its tokens. The directory of
//! such a model, as model2vec writes it, has `tokenizer.json` and `model.safetensors`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use futures_util::future::{BoxFuture, ready};

use super::embedder::{EmbedFailure, Embedder};
use super::token_table::TokenTable;
use super::unusable::unusable;
use super::vector::Vector;
use super::word_pieces::WordPieces;
use crate::error::Result;
use crate::kit::digest::Digest;

/// Bytes of a file of a model, which is read into memory.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Tokens of a text that count.
const TOKENS_MAX: usize = 512;
/// Below the cosines of related texts with such models.
const SIMILARITY_MIN: f32 = 0.3;

/// A table of vectors, with its tokenizer.
pub struct StaticEmbedder {
    model_id: String,
    tokenizer: WordPieces,
    table: TokenTable,
}

impl StaticEmbedder {
    /// Reads a model from its directory.
    ///
    /// # Errors
    /// When a file is missing, or of another form than is supported.
    pub fn load(directory: &Path) -> Result<Self> {
        let tokenizer = read(&directory.join("tokenizer.json"))?;
        let table = read(&directory.join("model.safetensors"))?;
        let digests = [&tokenizer, &table].map(|file| Digest::of(file).to_hex());
        let model_id = format!("static:{}", &Digest::of(digests.concat().as_bytes()).to_hex()[..16]);
        Ok(Self { model_id, tokenizer: WordPieces::parse(&tokenizer)?, table: TokenTable::parse(&table)? })
    }

    fn vector(&self, text: &str) -> Option<Vector> {
        let tokens = self.tokenizer.tokens(text, TOKENS_MAX);
        Vector::of(self.table.sum(&tokens))
    }
}

impl Embedder for StaticEmbedder {
    fn kind(&self) -> &'static str {
        "static"
    }

    fn model_id(&self) -> String {
        self.model_id.clone()
    }

    fn similarity_min(&self) -> f32 {
        SIMILARITY_MIN
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Option<Vector>>, EmbedFailure>> {
        Box::pin(ready(Ok(texts.iter().map(|text| self.vector(text)).collect())))
    }
}

impl std::fmt::Debug for StaticEmbedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StaticEmbedder").field("model_id", &self.model_id).finish_non_exhaustive()
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| unusable(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(unusable(format!("{}: larger than {FILE_BYTES_MAX} bytes", path.display())));
    }
    Ok(bytes)
}
