//! The admission of calls from outside, and of calls that runs make.
//!
//! A run that calls a tool waits for that tool's run, and keeps its own slot meanwhile. If both took slots of one pool, runs that
//! wait for each other could take all of them. So each level of nesting has slots of its own: a run waits only for runs of the
//! next level, and those of the last level wait for none. Invokes over HTTP are calls from outside; runs that make such invokes
//! can wait for each other until their time limits.

use std::sync::Arc;

use registry::{Admission, AdmissionBounds};

use crate::calls::input_bytes::InputBytes;

use crate::calls::call::CallOrigin;
use crate::config::{Config, NESTED_PARALLEL_MAX};
use crate::depth::{DEPTH_MAX, Depth};

/// Waiting runs of each level: all that some callers start at once.
const QUEUED_MAX: usize = 256;
/// Bytes of the inputs of calls that runs make, at all levels. Calls from outside have bytes of their own, so that a queue of them does not
/// refuse the calls that its runs make.
const NESTED_INPUT_BYTES_MAX: usize = 64 << 20;

/// The admissions of a server. Clones share them.
#[derive(Clone)]
pub(super) struct Admissions {
    /// Calls from outside.
    pub clients: Admission,
    /// Calls that runs make, by their depth.
    nested: Arc<[Admission]>,
    /// Bytes of the inputs of calls from outside.
    pub client_inputs: InputBytes,
    /// Bytes of the inputs of calls that runs make.
    nested_inputs: InputBytes,
}

impl Admissions {
    pub fn new(config: &Config) -> Self {
        let level = |_| Admission::new("nested runs", AdmissionBounds::shared(NESTED_PARALLEL_MAX, QUEUED_MAX));
        Self {
            clients: Admission::new("runs", config.runs),
            nested: (0..DEPTH_MAX).map(level).collect(),
            client_inputs: InputBytes::new(config.input_bytes_max),
            nested_inputs: InputBytes::new(NESTED_INPUT_BYTES_MAX),
        }
    }

    /// The bound of the inputs of a call.
    pub const fn inputs_of(&self, origin: &CallOrigin) -> &InputBytes {
        match origin {
            CallOrigin::Client | CallOrigin::Checkpointed => &self.client_inputs,
            CallOrigin::Run(_) => &self.nested_inputs,
        }
    }

    /// The admission of a call. A call that is nested too deeply was refused before.
    pub fn of(&self, origin: &CallOrigin, depth: Depth) -> &Admission {
        match origin {
            CallOrigin::Client | CallOrigin::Checkpointed => &self.clients,
            CallOrigin::Run(_) => self.nested.get(depth.level().saturating_sub(1)).unwrap_or(&self.clients),
        }
    }
}
