//! Statements about asynchronous operations, cancellations, and answered attempts of calls.

mod answered_attempts;
mod cancellations;
mod handle;
pub(super) mod operation;

pub use cancellations::RequestedCancellation;
pub use handle::Operations;
