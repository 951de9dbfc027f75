//! The caches of the runner in the server's memory, with their bounds.

use registry::CacheBound;

use crate::compile::REFUSALS;
use crate::egress::{DOCUMENT_FAILURES, KNOWN_DOCUMENTS};
use crate::invoke::COMPILED_RULES;
use crate::versions::VERSIONS;

/// The caches of an invoker in memory.
pub const CACHES: &[CacheBound] = &[COMPILED_RULES, VERSIONS, REFUSALS, KNOWN_DOCUMENTS, DOCUMENT_FAILURES];
