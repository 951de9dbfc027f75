//! A publication in progress.

use registry::{Lease, Principal};

use super::builder::Builder;
use crate::progress::BuildProgress;

/// A publication that holds its tool's lease.
pub(super) struct PublishContext<'a> {
    pub builder: &'a Builder,
    pub principal: &'a Principal,
    pub lease: &'a Lease,
    pub progress: &'a BuildProgress,
}
