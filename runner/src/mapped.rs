//! Compiled code as it lies in memory or in its file: mapped, so that all processes that run it share its pages.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::Arc;

use nix::libc::c_void;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, mprotect};
use nix::unistd::{SysconfVar, sysconf};
use wasmtime::component::Component;
use wasmtime::{Config, CustomCodeMemory, Engine};

use crate::Error;
use crate::packed::{self, Parts};
use crate::slots::Image;

/// Where the system does not say.
const PAGE_BYTES: usize = 4 << 10;

/// Has an engine run code where it is mapped.
pub fn configure(config: &mut Config) {
    config.with_custom_code_memory(Some(Arc::new(Mapped)));
}

/// A file of compiled code, mapped for good: instances may outlive the component that they were made of. What it costs is
/// addresses: the server holds the memory as long as it lives, and clean pages of a file go when memory is short.
pub struct Native {
    bytes: &'static [u8],
    parts: Parts,
    image: Option<Image>,
}

impl Native {
    /// Maps an open file. It takes no path, since a runner process may open none.
    ///
    /// # Errors
    /// `Internal` when the file cannot be mapped, or is none of compiled code.
    ///
    /// # Safety
    /// The file must be code that this release's compiler made, and must never change: it is executed.
    pub unsafe fn map(code: &File, bytes: u64) -> Result<Self, Error> {
        // SAFETY: the caller's promise.
        let mapped = unsafe { Self::try_map(code, bytes) };
        mapped.map_err(|error| Error::internal(format!("compiled code cannot be mapped: {error}")))
    }

    unsafe fn try_map(code: &File, bytes: u64) -> io::Result<Self> {
        let mapping = map(code, bytes)?;
        // SAFETY: a mapping that is never taken away, of a file that never changes.
        let bytes: &'static [u8] = unsafe { mapping.as_ref() };
        let parts = packed::parts(bytes)?;
        let (offset, initial) = (parts.image.start as u64, &bytes[parts.image.clone()]);
        // SAFETY: the bytes are those of the file at that place.
        let image = || Ok(unsafe { Image::new(code.try_clone()?, offset, initial) });
        let image = (!initial.is_empty()).then(image).transpose();
        Ok(Self { bytes, image: image.map_err(|error: io::Error| error)?, parts })
    }

    /// What the component's memory begins with, if it does not bring that along. It is there once.
    pub const fn image(&mut self) -> Option<Image> {
        self.image.take()
    }

    /// The component, for an engine whose memories begin with the image.
    ///
    /// # Errors
    /// `Rejected` when the component does not fit into the engine's pool.
    pub fn component(&self, engine: &Engine) -> Result<Component, Error> {
        // SAFETY: whoever made this has promised that it is code of this release, and the mapping is never taken away.
        let loaded = unsafe { Component::deserialize_raw(engine, NonNull::from(&self.bytes[self.parts.code.clone()])) };
        // Code of this release that this node made, so it is the component that is at fault.
        loaded.map_err(|error| Error::rejected(error.root_cause().to_string()))
    }
}

fn map(code: &File, bytes: u64) -> io::Result<NonNull<[u8]>> {
    let length = usize::try_from(bytes).ok().and_then(NonZeroUsize::new);
    let length = length.ok_or_else(|| io::Error::other("it has no length"))?;
    // SAFETY: a new mapping, of which nobody knows yet.
    let start = unsafe { mmap(None, length, ProtFlags::PROT_READ, MapFlags::MAP_PRIVATE, code.as_fd(), 0) }?;
    Ok(NonNull::slice_from_raw_parts(start.cast(), length.get()))
}

/// Makes the code within a mapping executable. It never was writable.
struct Mapped;

impl CustomCodeMemory for Mapped {
    fn required_alignment(&self) -> usize {
        let bytes = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
        bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(PAGE_BYTES)
    }

    fn publish_executable(&self, start: *const u8, bytes: usize) -> wasmtime::Result<()> {
        // Where instructions have a cache of their own, Linux brings it up to date with pages that become executable.
        protect(start, bytes, ProtFlags::PROT_READ | ProtFlags::PROT_EXEC)
    }

    fn unpublish_executable(&self, start: *const u8, bytes: usize) -> wasmtime::Result<()> {
        protect(start, bytes, ProtFlags::PROT_READ)
    }
}

fn protect(start: *const u8, bytes: usize, protection: ProtFlags) -> wasmtime::Result<()> {
    let start = NonNull::new(start.cast_mut().cast::<c_void>());
    let start = start.ok_or_else(|| wasmtime::Error::msg("there is no code"))?;
    // SAFETY: the engine gives the part of a mapping of `Native` that holds code, whose pages hold nothing else.
    Ok(unsafe { mprotect(start, bytes, protection) }?)
}
