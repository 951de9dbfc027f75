//! Types and functions that every district uses and that know none of them: ids, validated texts, time, digests, caches, pages and
//! the admission of work.

pub(crate) mod account;
pub(crate) mod admission;
pub(crate) mod byte_cache;
pub(crate) mod clock;
pub(crate) mod digest;
pub(crate) mod heavy_work;
pub(crate) mod ids;
pub(crate) mod invalid_value;
pub(crate) mod metrics;
pub(crate) mod named_values;
pub(crate) mod page;
pub(crate) mod public_key;
pub(crate) mod random;
pub(crate) mod revision_number;
pub(crate) mod text_type;
