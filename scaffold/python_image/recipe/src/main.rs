//! Builds the Python image: the interpreter with the shim imported, as a WebAssembly component with one core module.
//! `just python-image` runs this program. The image is checked in, so that the build of Lathe needs no second WebAssembly
//! engine, and every node runs the same image.
//!
//! Two images from the same sources differ in about 500 of 28 million bytes: timestamps, which the interpreter reads from
//! the clock and from files, and the state of the C library's random number generator. The interpreter's hash seed and the
//! order of all hash tables are the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use componentize_py::ComponentGenerator;

fn main() -> Result<()> {
    let output = env::args_os().nth(1).context("usage: python_image_recipe OUTPUT")?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));

    // A copy, since the generator mounts its directories as writable.
    let scratch = tempfile::tempdir()?;
    let path = scratch.path().join("path");
    copy(&here.join("../shim"), &path)?;
    copy(&here.join("../../python/amigo_tool_scaffold"), &path.join("amigo_tool_scaffold"))?;
    let linked = scratch.path().join("image.wasm");
    generate(&here.join("../../wit"), &path, &linked)?;

    let image = flatten::flatten(&fs::read(&linked)?, |memory| {
        flatten::immortal::make(memory)?;
        flatten::heap::seal(memory)
    })?;
    fs::write(output, flatten::pack(&image)?)?;
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
        // A name that authors are unlikely to use for a module.
        app_name: "lathe_app",
        output_path: output,
        add_to_linker: None,
        stub_wasi: false,
        import_interface_names: &none,
        export_interface_names: &none,
        full_names: false,
        intersect_world: None,
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(generator.generate())
}

/// Copies a directory without `__pycache__`, in the order of the file names.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).with_context(|| from.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    for path in paths {
        let target = to.join(path.file_name().context("an entry has a name")?);
        if !path.is_dir() {
            fs::copy(path, target)?;
        } else if !path.ends_with("__pycache__") {
            copy(&path, &target)?;
        }
    }
    Ok(())
}

/// Replaces the C library's function in this program. Constant numbers make the interpreter's hash seed and the order of
/// hash tables the same in each build of the image.
#[unsafe(no_mangle)]
extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    for index in 0..length {
        let byte = (index as u8).wrapping_mul(151).wrapping_add(89);
        // SAFETY: the caller gives a buffer of this length.
        unsafe { buffer.add(index).write(byte) };
    }
    length as isize
}
