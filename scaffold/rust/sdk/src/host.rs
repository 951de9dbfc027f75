//! The host's functions: those of the sandbox, or in an author's own tests what stands in for them.

#[cfg(target_family = "wasm")]
pub(crate) use real::{Exchange, cancel, finish, send_status_event, start, wait};

#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::testing::{Exchange, cancel, finish, send_status_event, start, wait};

#[cfg(target_family = "wasm")]
mod real {
    pub use crate::bindings::lathe::tool::http::{Exchange, cancel, finish, start, wait};

    use crate::StatusEvent;
    use crate::bindings::lathe::tool::status;

    pub fn send_status_event(event: &StatusEvent) {
        if let Ok(text) = serde_json::to_string(event) {
            // What the host does not take is counted in the run's record.
            drop(status::send(&text));
        }
    }
}
