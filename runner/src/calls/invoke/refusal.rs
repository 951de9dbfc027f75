//! A call that a step refused.

use registry::{InvokeStep, RunId};

use crate::error::Error;

/// A refused call: no run of it began.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Refusal {
    pub step: InvokeStep,
    pub error: Error,
    /// The records of the refused inputs. Not every refused call has them.
    pub records: Vec<RunId>,
}

/// A refusal that is not recorded yet.
pub(super) struct Refused {
    pub step: InvokeStep,
    pub error: Error,
}

impl Refusal {
    pub(super) const fn unrecorded(step: InvokeStep, error: Error) -> Self {
        Self { step, error, records: Vec::new() }
    }
}

/// Adds the step to an error.
pub(super) const fn at(step: InvokeStep) -> impl FnOnce(Error) -> Refused {
    move |error| Refused { step, error }
}
