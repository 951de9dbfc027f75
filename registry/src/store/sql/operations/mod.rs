//! Statements about asynchronous operations, cancellations, and answered attempts of calls.

mod answered_attempts;
mod cancellations;
pub(super) mod operation;

pub use cancellations::RequestedCancellation;
