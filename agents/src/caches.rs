//! The caches of this crate in the server's memory, with their bounds.

use registry::CacheBound;

use crate::catalogue::CATALOGUES;
use crate::rules::RULES;

pub const CACHES: &[CacheBound] = &[CATALOGUES, RULES];
