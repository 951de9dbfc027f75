//! Files: the data directory, writing that survives a power failure, and work off the threads of the runtime.

pub(crate) mod blocking;
pub(crate) mod data_dir;
pub(crate) mod durable;
pub(crate) mod private;
