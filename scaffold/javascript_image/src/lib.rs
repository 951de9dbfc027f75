//! The JavaScript image: StarlingMonkey and the shim that runs an author's `runTool`, as one WebAssembly component of the
//! `image` world (`scaffold/wit`).
//!
//! Making it takes Node.js and npm, which building Lathe must not: the component lies beside its recipe, and `just
//! javascript-image` makes it anew.

/// About 4 MB; the component itself is about three times as large.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/image.wasm.zst"));

/// The name of this image in version records and logs.
pub const NAME: &str = concat!("javascript-", env!("CARGO_PKG_VERSION"));

/// Unpacks the component.
///
/// # Errors
/// Only when the embedded bytes are damaged.
pub fn component() -> std::io::Result<Vec<u8>> {
    zstd::decode_all(PACKED)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use sha2::{Digest, Sha256};

    fn below(here: &Path, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(here.join(directory)).unwrap();
        entries.map(|entry| format!("{directory}/{}", entry.unwrap().file_name().to_str().unwrap())).collect()
    }

    /// As `build.mjs` does it.
    #[test]
    fn the_image_was_made_from_what_lies_beside_it() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = ["build.mjs", "package-lock.json", "package.json"].map(String::from).to_vec();
        files.extend(below(here, "shim").into_iter().chain(below(here, "../wit")));
        files.sort();
        let mut hash = Sha256::new();
        for file in files {
            let contents = fs::read(here.join(&file)).unwrap();
            hash.update(format!("{file}\0{}\0", contents.len()));
            hash.update(contents);
        }
        let made: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let recorded = fs::read_to_string(here.join("recipe.sha256")).unwrap();
        assert_eq!(recorded.trim(), made, "the image is older than its sources: `just javascript-image`");
    }
}
