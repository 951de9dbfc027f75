//! The toolchain and the crates that builds of Rust need.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::harness::{Options, Server, needs};

const TARGET: &str = "wasm32-wasip2";

/// A server that builds Rust; `None` on a machine without a toolchain.
pub fn server() -> Option<Arc<Server>> {
    server_with(Options::default())
}

pub fn server_with(options: Options) -> Option<Arc<Server>> {
    server_on(&crate_index(), options)
}

/// A server with this index of crates.
pub fn server_on(index: &str, options: Options) -> Option<Arc<Server>> {
    Some(Server::private(&building(options, index, &toolchain()?)))
}

fn building(mut options: Options, index: &str, toolchain: &Path) -> Options {
    let toolchain = toolchain.to_str().expect("UTF-8").to_owned();
    options.arguments.extend(["--rust-toolchain".to_owned(), toolchain, "--crate-index".to_owned(), index.to_owned()]);
    options
}

pub fn crate_index() -> String {
    std::env::var("LATHE_TEST_CRATE_INDEX").unwrap_or_else(|_| "crates.io".to_owned())
}

/// Finds the toolchain: the configured one, rustup's, or one that the recipe made below the build's directory.
pub fn toolchain() -> Option<PathBuf> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success());
    let named = || std::env::var_os("LATHE_TEST_RUST_TOOLCHAIN").map(PathBuf::from);
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("wasm-toolchain");
    let found = || named().or_else(|| installed().into_iter().chain([made]).find(|toolchain| has_target(toolchain)));
    needs::RUST_TOOLCHAIN.require(["bwrap", "cc"].into_iter().all(runs).then(found).flatten())
}

fn installed() -> Option<PathBuf> {
    let said = Command::new("rustc").args(["--print", "sysroot"]).current_dir("/").output().ok()?;
    Some(PathBuf::from(String::from_utf8(said.stdout).ok()?.trim_end()))
}

fn has_target(toolchain: &Path) -> bool {
    toolchain.join("lib/rustlib").join(TARGET).join("lib").is_dir()
}
