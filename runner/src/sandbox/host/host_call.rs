//! A call of a host function. It is counted at its start and timed until its end.

use std::ops::{Deref, DerefMut};

use wasmtime::component::HasData;

use super::state::Host;

/// The host for the duration of one call.
pub struct HostCall<'a> {
    host: &'a mut Host,
    /// Active time of the run at the start of the call, in nanoseconds.
    began: u64,
}

/// Names the data of our own host functions for the linker.
pub struct HostCallData;

impl HasData for HostCallData {
    type Data<'a> = HostCall<'a>;
}

/// Counts a call, and starts its time.
pub fn begin(host: &mut Host) -> HostCall<'_> {
    let began = host.count_call().times.read_active();
    HostCall { host, began }
}

impl Deref for HostCall<'_> {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.host
    }
}

impl DerefMut for HostCall<'_> {
    fn deref_mut(&mut self) -> &mut Host {
        self.host
    }
}

impl Drop for HostCall<'_> {
    fn drop(&mut self) {
        self.host.times.end_host_call(self.began);
    }
}
