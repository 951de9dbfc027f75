//! The Python image: CPython and the shim that runs an author's `run_tool`,
//! as one WebAssembly component of the `image` world (`scaffold/wit`).

/// About 11 MB; the component itself is about three times as large.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.wasm.zst"));

/// The name of this image in version records and logs.
pub const NAME: &str = concat!("python-", env!("CARGO_PKG_VERSION"));

/// Unpacks the component.
///
/// # Errors
/// Only when the embedded bytes are damaged.
pub fn component() -> std::io::Result<Vec<u8>> {
    zstd::decode_all(PACKED)
}
