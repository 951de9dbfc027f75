//! The interface `lathe:tool/status`.

use crate::sandbox::bindings::tool::lathe::tool::status;
use crate::sandbox::engine::TICK;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::tape::{Body, Effect};

/// Refused events after which each further one delays the guest.
const REFUSED_MAX: u32 = 1_000;

impl status::Host for HostCall<'_> {
    async fn send(&mut self, event: String) -> wasmtime::Result<Result<(), String>> {
        let sent = self.status.send(&event);
        let is_accepted = sent.is_ok();
        // A refused event may have any size, and a run may send any number of them.
        let body = if is_accepted { Body::whole } else { Body::digest };
        self.record_effect(|_| Effect::StatusSent { event: body(event.as_bytes()), is_accepted })?;
        if !is_accepted && self.status.refuse() > REFUSED_MAX && self.environment.is_live() {
            // Waiting uses the guest's wall time and no processor.
            tokio::time::sleep(TICK).await;
        }
        Ok(sent)
    }
}
