//! The JavaScript image: StarlingMonkey and the shim that runs an author's `runTool`, as one WebAssembly component of the
//! `image` world (`scaffold/wit`).
//!
//! Making it takes Node.js and npm, which building Lathe must not: the component lies beside its recipe, and `just
//! javascript-image` makes it anew.

#![forbid(unsafe_code)]

/// The component is about four times as large.
static PACKED: &[u8] = include_bytes!("../image.wasm.zst");

/// The name of this image in version records and logs.
pub const NAME: &str = concat!("javascript-", env!("CARGO_PKG_VERSION"));

/// Unpacks the component.
///
/// # Errors
/// Only when the embedded bytes are damaged.
pub fn component() -> std::io::Result<Vec<u8>> {
    zstd::decode_all(PACKED)
}
