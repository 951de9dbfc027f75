//! A call of the host: counted where it begins, and measured until it ends.

use std::ops::{Deref, DerefMut};

use wasmtime::component::HasData;

use super::Host;

/// The host for as long as one call of it takes.
pub struct Called<'a> {
    host: &'a mut Host,
    began: u64,
}

/// For the linker: what the host's own functions work on.
pub struct Calls;

impl HasData for Calls {
    type Data<'a> = Called<'a>;
}

impl Host {
    /// Every function of the host's own begins here.
    pub(super) fn called(&mut self) -> Called<'_> {
        let began = self.counted().times.active();
        Called { host: self, began }
    }
}

impl Deref for Called<'_> {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.host
    }
}

impl DerefMut for Called<'_> {
    fn deref_mut(&mut self) -> &mut Host {
        self.host
    }
}

impl Drop for Called<'_> {
    fn drop(&mut self) {
        self.host.times.called(self.began);
    }
}
