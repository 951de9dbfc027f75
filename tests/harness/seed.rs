//! Data that all servers of all test runs share: the directory of compiled code, and the master key that authenticates
//! it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Below the build's directory, so that `cargo clean` removes it.
pub static SHARED: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("it");
    fs::create_dir_all(&directory).expect("a directory below the build's");
    directory
});

static KEYS: LazyLock<PathBuf> = LazyLock::new(|| {
    let keys = SHARED.join("keys");
    if !keys.is_dir() {
        make_keys(&keys);
    }
    keys
});

pub fn cache() -> PathBuf {
    SHARED.join("cache")
}

/// Copies the compiled code of an image into a private cache. The file is named after the image's digest.
pub fn copy_code(image: &Path, own: &Path) {
    let image = image.file_name().expect("a digest");
    for (file, _) in files_below(&cache().join("compiled")) {
        if file.file_stem() == Some(image) {
            let copy = own.join(file.strip_prefix(cache()).expect("a file of the cache"));
            fs::create_dir_all(copy.parent().expect("a directory")).expect("a directory");
            fs::copy(&file, copy).expect("a copy");
        }
    }
}

/// Removes the compiled code of an image from the cache, for a test that alone uses this image.
pub fn forget_code(image: &str) {
    for (file, _) in files_below(&cache().join("compiled")) {
        if file.file_stem().is_some_and(|name| name == image) {
            fs::remove_file(file).expect("a file less");
        }
    }
}

/// Removes snapshots, so that the next build of every tool with packages makes its snapshot again.
pub fn forget_snapshots() {
    for (file, _) in files_below(&cache().join("snapshots/compiled")) {
        drop(fs::remove_file(file)); // another test may have been quicker
    }
}

/// The bundler that servers downloaded, if any.
pub fn bundler() -> Option<PathBuf> {
    let files = fs::read_dir(cache().join("esbuild")).into_iter().flatten().flatten();
    files.map(|file| file.path()).find(|path| path.is_file())
}

/// Removes the bundler that servers downloaded, for a test that alone uses it.
pub fn forget_bundler() {
    drop(fs::remove_dir_all(cache().join("esbuild"))); // it may never have been downloaded
}

/// Returns the files in the subdirectories of a directory, with their sizes.
pub fn files_below(directory: &Path) -> Vec<(PathBuf, u64)> {
    let entries = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries(directory).flat_map(|folder| entries(&folder.path()).collect::<Vec<_>>());
    files.filter_map(|file| Some((file.path(), file.metadata().ok().filter(fs::Metadata::is_file)?.len()))).collect()
}

/// Copies the shared master key into a data directory.
pub fn plant_keys(data: &Path) {
    let keys = data.join("keys");
    fs::create_dir_all(&keys).expect("a directory for keys");
    for entry in fs::read_dir(&*KEYS).expect("keys") {
        let entry = entry.expect("a key");
        // A copy keeps the mode, which must give access to the owner only.
        fs::copy(entry.path(), keys.join(entry.file_name())).expect("a copy");
    }
}

/// Makes the master key by running the program on a new data directory.
fn make_keys(keys: &Path) {
    let data = tempfile::tempdir_in(&*SHARED).expect("a data directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
    command.args(["org", "create", "seed", "--user", "seed", "--json", "--data"]).arg(data.path());
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // If another process does the same at the same time, the first one's key is kept.
    let renamed = fs::rename(data.path().join("keys"), keys);
    assert!(renamed.is_ok() || keys.is_dir(), "{renamed:?}");
}
