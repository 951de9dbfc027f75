//! Operations on the versions of a tool.

pub(crate) mod attestation;
mod claimed_source;
pub(crate) mod deprecate;
pub(crate) mod detail;
pub(crate) mod invoke;
pub(crate) mod list;
pub(crate) mod publish;
pub(crate) mod take_over;
pub(crate) mod verify;
