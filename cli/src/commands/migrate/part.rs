//! The result of a migration, as a document and as text.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// The result for one part of an installation.
pub struct Part {
    /// The key in the document.
    pub key: &'static str,
    pub document: Value,
    pub text: String,
}

/// The result for all parts.
pub struct Summary {
    pub data: PathBuf,
    pub is_dry_run: bool,
    pub parts: Vec<Part>,
}

impl Summary {
    /// Scripts rely on the keys.
    pub fn build_document(&self) -> Value {
        let parts = self.parts.iter().map(|part| (part.key.to_owned(), part.document.clone()));
        let mut document: Map<_, _> = parts.collect();
        document.insert("data".to_owned(), self.data.display().to_string().into());
        document.insert("dry_run".to_owned(), self.is_dry_run.into());
        document.into()
    }

    /// The texts of all parts and, after a migration, the next steps.
    pub fn render(&self, next_steps: &str) -> String {
        let mut texts: Vec<_> = self.parts.iter().map(|part| part.text.as_str()).collect();
        if !self.is_dry_run {
            texts.push(next_steps);
        }
        texts.join("\n\n")
    }
}
