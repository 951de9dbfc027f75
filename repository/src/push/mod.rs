//! The inspection of a push by the `pre-receive` hook, before any branch moves.

mod hook;
mod objects;
mod refusal;

pub use hook::{HookEnvironment, check_push};
pub(crate) use hook::{ORGANIZATION_VARIABLE, REPOSITORY_BYTES_VARIABLE};
pub use objects::ObjectRefusal;
pub use refusal::PushRefusal;
pub(crate) use refusal::advise_without_history;
