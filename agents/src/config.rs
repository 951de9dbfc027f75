//! Settings of agents.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `model` | model of runs of agents; without it, none is started | none |
//! | `runs_due_tasks` | whether a due task that an agent created starts a run of this agent | no |

use std::sync::Arc;

use crate::model::Model;

#[derive(Debug, Clone, Default)]
pub struct Config {
    pub model: Option<Arc<Model>>,
    pub runs_due_tasks: bool,
}
