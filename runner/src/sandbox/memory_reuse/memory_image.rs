//! Initial memory of a component, in a file that never changes.

use std::fs::File;

/// Mapped bytes of an open file, with their offset in the file.
#[derive(Debug)]
pub struct MemoryImage {
    file: File,
    offset: u64,
    bytes: &'static [u8],
}

impl MemoryImage {
    /// Describes the part of `file` at `offset`, which is mapped at `bytes`.
    ///
    /// # Safety
    /// The bytes must be those of the file, and neither may ever change.
    pub const unsafe fn new(file: File, offset: u64, bytes: &'static [u8]) -> Self {
        Self { file, offset, bytes }
    }

    pub const fn file(&self) -> &File {
        &self.file
    }

    pub const fn offset(&self) -> u64 {
        self.offset
    }

    pub const fn bytes(&self) -> &'static [u8] {
        self.bytes
    }
}
