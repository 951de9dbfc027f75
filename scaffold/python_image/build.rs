//! Makes the Python image: the interpreter with the shim already imported,
//! as one WebAssembly component with one core module. This happens once per
//! release, here, so that running Lathe needs no Python and every node runs the same image.

#[path = "build/heap.rs"]
mod heap;
#[path = "build/immortal.rs"]
mod immortal;
#[path = "build/word.rs"]
mod word;

use std::path::{Path, PathBuf};
use std::{collections::HashMap, env, fs};

use anyhow::{Context, Result};
use componentize_py::ComponentGenerator;

/// Fast to unpack at start-up, and a third of the component's size.
const ZSTD_LEVEL: i32 = 9;

fn main() -> Result<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let scaffold = here.parent().context("the image lies inside scaffold")?;
    let sources = [here.join("shim"), scaffold.join("python/amigo_tool_scaffold"), scaffold.join("wit")];
    for source in &sources {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");

    // The generator mounts its directories writable: give it a copy.
    let scratch = tempfile::tempdir()?;
    let path = scratch.path().join("path");
    copy(&sources[0], &path)?;
    copy(&sources[1], &path.join("amigo_tool_scaffold"))?;
    let image = scratch.path().join("image.wasm");
    generate(&sources[2], &path, &image)?;

    let out = PathBuf::from(env::var("OUT_DIR")?);
    let image = flatten::flatten(&fs::read(&image)?, |memory| {
        immortal::make(memory)?;
        heap::seal(memory)
    })?;
    let packed = zstd::encode_all(image.as_slice(), ZSTD_LEVEL)?;
    fs::write(out.join("image.wasm.zst"), packed)?;
    Ok(())
}

fn generate(wit: &Path, path: &Path, output: &Path) -> Result<()> {
    let path = path.to_str().context("a path in UTF-8")?;
    let none = HashMap::new();
    let generator = ComponentGenerator {
        wit_paths: &[wit],
        worlds: &["image"],
        features: &[],
        all_features: false,
        world_module: None,
        python_path: &[path],
        module_worlds: &[],
        // A name that authors do not give to their own modules.
        app_name: "lathe_app",
        output_path: output,
        add_to_linker: None,
        stub_wasi: false,
        import_interface_names: &none,
        export_interface_names: &none,
        full_names: false,
        intersect_world: None,
    };
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(generator.generate())
}

/// Copies the Python files of a directory, caches left out.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
