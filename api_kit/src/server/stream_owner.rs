//! Responses that are listening streams, and to whom they belong.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The organisation of a listening stream. As an extension of a response, it tells that the connection may be evicted while
/// the response goes on: nothing is lost but the time in which its client begins the stream again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamOwner(u64);

impl StreamOwner {
    /// The owner with this name. Owners are compared only to find the one with most streams.
    pub fn of(name: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self(hasher.finish())
    }
}
