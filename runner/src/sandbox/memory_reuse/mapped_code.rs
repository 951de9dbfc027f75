//! Compiled code, executed where its file is mapped, so that all processes that run it share its pages.

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

use super::code_file::{self, CodePositions};
use super::memory_image::MemoryImage;
use crate::Error;

/// Page size assumed when the system does not tell it.
const PAGE_BYTES: usize = 4 << 10;

/// Configures an engine to execute code where it is mapped.
pub fn configure(config: &mut Config) {
    config.with_custom_code_memory(Some(Arc::new(MappedCodeMemory)));
}

/// A file of compiled code. The mapping is permanent, since instances may outlive their component. It costs addresses only:
/// the server holds sealed memory for as long as it lives, and the kernel reclaims clean pages of files.
pub struct MappedCode {
    bytes: &'static [u8],
    parts: CodePositions,
    image: Option<MemoryImage>,
}

impl MappedCode {
    /// Maps an open file. Runner processes may not open files, so this takes no path.
    ///
    /// # Errors
    /// `Internal` when the file cannot be mapped, or does not have the format of compiled code.
    ///
    /// # Safety
    /// This release's compiler must have made the file, and the file must never change: its code is executed.
    pub unsafe fn map(code: &File, bytes: u64) -> Result<Self, Error> {
        // SAFETY: the caller's promise.
        let mapped = unsafe { Self::try_map(code, bytes) };
        mapped.map_err(|error| Error::internal(format!("compiled code cannot be mapped: {error}")))
    }

    unsafe fn try_map(code: &File, bytes: u64) -> io::Result<Self> {
        let mapping = map(code, bytes)?;
        // SAFETY: the mapping is never removed, and the file never changes.
        let bytes: &'static [u8] = unsafe { mapping.as_ref() };
        let parts = code_file::split_parts(bytes)?;
        let initial = &bytes[parts.image.clone()];
        let image = match initial {
            [] => None,
            // SAFETY: the file has these bytes at this offset.
            _ => Some(unsafe { MemoryImage::new(code.try_clone()?, parts.image.start as u64, initial) }),
        };
        Ok(Self { bytes, image, parts })
    }

    /// Takes the initial memory; `None` when the code contains it, or when it was taken before.
    pub const fn take_image(&mut self) -> Option<MemoryImage> {
        self.image.take()
    }

    /// Returns the component. With an image, the engine's memories must begin with that image.
    ///
    /// # Errors
    /// `Rejected` when the component does not fit into the engine's pool. `Internal` when the system refuses memory, which passes.
    pub fn load_component(&self, engine: &Engine) -> Result<Component, Error> {
        // SAFETY: the caller of `map` promised code of this release, and the mapping is never removed.
        let loaded = unsafe { Component::deserialize_raw(engine, NonNull::from(&self.bytes[self.parts.code.clone()])) };
        loaded.map_err(|error| match error.chain().any(|cause| cause.is::<io::Error>() || cause.is::<nix::Error>()) {
            true => Error::internal(format!("{error:#}")),
            // This node made the code with this release, so the component is at fault.
            false => Error::rejected(error.root_cause().to_string()),
        })
    }
}

fn map(code: &File, bytes: u64) -> io::Result<NonNull<[u8]>> {
    let length = usize::try_from(bytes).ok().and_then(NonZeroUsize::new);
    let length = length.ok_or_else(|| io::Error::other("the file is empty"))?;
    // SAFETY: a new mapping, to which there is no reference.
    let start = unsafe { mmap(None, length, ProtFlags::PROT_READ, MapFlags::MAP_PRIVATE, code.as_fd(), 0) }?;
    Ok(NonNull::slice_from_raw_parts(start.cast(), length.get()))
}

/// Makes the code within a mapping executable. The mapping is never writable.
struct MappedCodeMemory;

impl CustomCodeMemory for MappedCodeMemory {
    fn required_alignment(&self) -> usize {
        let bytes = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
        bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(PAGE_BYTES)
    }

    fn publish_executable(&self, start: *const u8, bytes: usize) -> wasmtime::Result<()> {
        // On processors with separate instruction caches, Linux updates them when pages become executable.
        protect(start, bytes, ProtFlags::PROT_READ | ProtFlags::PROT_EXEC)
    }

    fn unpublish_executable(&self, start: *const u8, bytes: usize) -> wasmtime::Result<()> {
        protect(start, bytes, ProtFlags::PROT_READ)
    }
}

fn protect(start: *const u8, bytes: usize, protection: ProtFlags) -> wasmtime::Result<()> {
    let start = NonNull::new(start.cast_mut().cast::<c_void>());
    let start = start.ok_or_else(|| wasmtime::Error::msg("the address of the code is null"))?;
    // SAFETY: the engine passes the part of a `MappedCode` that holds code; its pages hold nothing else.
    Ok(unsafe { mprotect(start, bytes, protection) }?)
}
