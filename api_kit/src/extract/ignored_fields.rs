//! The fields of a body that its operation does not have, for the response, which names them.

use std::sync::{Arc, OnceLock};

use axum::extract::Request;

/// An extension of each request, which the reader of its body fills. Clones share the contents.
#[derive(Clone, Debug, Default)]
pub struct IgnoredFields(Arc<OnceLock<Vec<String>>>);

impl IgnoredFields {
    /// Returns the extension of a request.
    pub(super) fn of(request: &Request) -> Self {
        request.extensions().get::<Self>().cloned().unwrap_or_default()
    }

    pub(super) fn set(&self, names: Vec<String>) {
        self.0.get_or_init(|| names);
    }

    pub fn names(&self) -> &[String] {
        self.0.get().map_or(&[], Vec::as_slice)
    }
}
