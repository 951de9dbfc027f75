//! Settings of agents, and those of their tables.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `model` | model of runs of agents; without it, none is started | none |
//! | `runs_due_tasks` | whether a due task that an agent created starts a run of this agent | no |

use std::sync::Arc;

use crate::embeddings::Embedder;
use crate::model::Model;

#[derive(Debug, Clone, Default)]
pub struct Config {
    pub model: Option<Arc<Model>>,
    pub runs_due_tasks: bool,
}

/// Settings of the tables of agents.
///
/// | field | meaning | default |
/// |---|---|---|
/// | `agents_max` | agents of one organisation | 1,000 |
/// | `library_items_max` | items in the Library of one organisation, with those that were deleted in the last 30 days | 1,000,000 |
/// | `library_user_items_max` | the same of one user | 200,000 |
/// | `library_bytes_max` | bytes in the Library of one organisation, with earlier revisions | 4 GiB |
/// | `library_user_bytes_max` | the same of one user | 256 MiB |
/// | `embedder` | makes vectors of memories | a model that learns from them |
#[derive(Debug, Clone)]
pub struct StoreConfig {
    pub agents_max: u32,
    pub library_items_max: u64,
    pub library_user_items_max: u64,
    pub library_bytes_max: u64,
    pub library_user_bytes_max: u64,
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            agents_max: 1_000,
            library_items_max: 1_000_000,
            library_user_items_max: 200_000,
            library_bytes_max: 4 << 30,
            library_user_bytes_max: 256 << 20,
            embedder: None,
        }
    }
}

impl StoreConfig {
    /// Small bounds, so that tests reach them.
    #[must_use]
    pub const fn for_tests() -> Self {
        Self {
            agents_max: 20,
            library_items_max: 60,
            library_user_items_max: 60,
            library_bytes_max: 1536 << 10,
            library_user_bytes_max: 1 << 20,
            embedder: None,
        }
    }
}
