//! The caches of this crate in the server's memory, with their bounds.

use registry::CacheBound;

use crate::catalogue::CATALOGUES;
use crate::memory_search::MEMORY_INDICES;
use crate::rules::RULES;
use crate::store::{AGENT_REFERENCES, CORPUS_MODELS, RUNNING_AGENTS};

pub const CACHES: &[CacheBound] = &[CATALOGUES, RULES, AGENT_REFERENCES, RUNNING_AGENTS, MEMORY_INDICES, CORPUS_MODELS];
