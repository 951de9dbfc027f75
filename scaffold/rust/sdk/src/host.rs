//! The functions of the host. In an author's own tests, `testing` replaces them.

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
            // The record of the run counts events that the host refuses.
            drop(status::send(&text));
        }
    }
}
