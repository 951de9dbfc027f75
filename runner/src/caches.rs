//! The caches of the runner in the server's memory, with their bounds.

use registry::CacheBound;

use crate::calls::invoke::COMPILED_RULES;
use crate::calls::versions::VERSIONS;
use crate::sandbox::compile::REFUSALS;
use crate::sandbox::egress::{DOCUMENT_FAILURES, KNOWN_DOCUMENTS};

/// The caches of an invoker in memory.
pub const CACHES: &[CacheBound] = &[COMPILED_RULES, VERSIONS, REFUSALS, KNOWN_DOCUMENTS, DOCUMENT_FAILURES];
