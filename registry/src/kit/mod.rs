//! Types and functions that every district uses and that know none of them: ids, time, digests, caches, files and pages.

pub(crate) mod blocking;
pub(crate) mod byte_cache;
pub(crate) mod clock;
pub(crate) mod data_dir;
pub(crate) mod digest;
pub(crate) mod durable;
pub(crate) mod heavy_work;
pub(crate) mod ids;
pub(crate) mod invalid_value;
pub(crate) mod metrics;
pub(crate) mod named_values;
pub(crate) mod page;
pub(crate) mod private;
pub(crate) mod random;
