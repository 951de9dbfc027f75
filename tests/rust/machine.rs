//! What builds of Rust need of a machine. Where it is missing, tests say so and pass, but not in CI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::harness::{Options, Server};

const TARGET: &str = "wasm32-wasip2";

/// A server that builds Rust, or nothing on a machine that cannot.
pub fn server() -> Option<Arc<Server>> {
    server_with(Options::default())
}

pub fn server_with(options: Options) -> Option<Arc<Server>> {
    match toolchain() {
        Ok(toolchain) => Some(Server::private(&building(options, &toolchain))),
        Err(reason) => {
            assert!(std::env::var_os("CI").is_none(), "{reason}");
            println!("not tried: {reason}");
            None
        }
    }
}

fn building(mut options: Options, toolchain: &Path) -> Options {
    let index = crate_index();
    let toolchain = toolchain.to_str().expect("UTF-8").to_owned();
    options.arguments.extend(["--rust-toolchain".to_owned(), toolchain, "--crate-index".to_owned(), index]);
    options
}

pub fn crate_index() -> String {
    std::env::var("LATHE_TEST_CRATE_INDEX").unwrap_or_else(|_| "crates.io".to_owned())
}

/// The one that is named, that of rustup, or one that the recipe has made below the build's directory.
pub fn toolchain() -> Result<PathBuf, String> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|said| said.status.success());
    if let Some(lacked) = ["bwrap", "cc"].iter().find(|program| !runs(program)) {
        return Err(format!("there is no {lacked}: apt-get install bubblewrap gcc"));
    }
    if let Some(named) = std::env::var_os("LATHE_TEST_RUST_TOOLCHAIN") {
        return Ok(PathBuf::from(named));
    }
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("wasm-toolchain");
    let found = installed().into_iter().chain([made]).find(|toolchain| has_target(toolchain));
    found.ok_or_else(|| {
        format!("no Rust compiles for {TARGET}: rustup target add {TARGET}, or tests/rust/wasm-toolchain.sh target/wasm-toolchain")
    })
}

fn installed() -> Option<PathBuf> {
    let said = Command::new("rustc").args(["--print", "sysroot"]).current_dir("/").output().ok()?;
    Some(PathBuf::from(String::from_utf8(said.stdout).ok()?.trim_end()))
}

fn has_target(toolchain: &Path) -> bool {
    toolchain.join("lib/rustlib").join(TARGET).join("lib").is_dir()
}
