//! Makes one core module of the image that lies here, so that an instance is there at once.

use std::path::PathBuf;
use std::{env, fs};

use anyhow::Result;

const IMAGE: &str = "image.wasm.zst";
/// Fast to unpack at start-up, and a third of the component's size.
const ZSTD_LEVEL: i32 = 9;

fn main() -> Result<()> {
    println!("cargo:rerun-if-changed={IMAGE}");
    println!("cargo:rerun-if-changed=build.rs");
    let component = zstd::decode_all(fs::read(IMAGE)?.as_slice())?;
    let image = flatten::flatten(&component, |_| Ok(()))?;
    let out = PathBuf::from(env::var("OUT_DIR")?).join(IMAGE);
    fs::write(out, zstd::encode_all(image.as_slice(), ZSTD_LEVEL)?)?;
    Ok(())
}
