//! Authors' mistakes in Rust projects, and the messages about them.

use super::machine;
use super::project::Project;
use crate::harness::{Bump, Options, Server, Team, failed_builds};

/// A crate without dependencies that is not a tool.
pub const ALONE: &str = "[package]\nname = \"alone\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\n\
                     crate-type = [\"cdylib\"]\n\n[workspace]\n";
pub const LOCKED_ALONE: &str = "version = 4\n\n[[package]]\nname = \"alone\"\nversion = \"0.1.0\"\n";

#[track_caller]
pub fn refused(tool: &Project<'_>, words: &[&str]) {
    let answer = tool.publish(Bump::Minor);
    answer.expect(400);
    for word in words {
        assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
    }
}

#[test]
fn sources_outside_of_the_registry_and_the_project_are_refused_before_the_build() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let dependency =
        |line: &str| Project::new(&team).changed("Cargo.toml", "schemars = ", &format!("{line}\nschemars = "));
    let locked = |from: &str, to: &str| Project::new(&team).changed("Cargo.lock", from, to);
    refused(
        &Project::new(&team).without("Cargo.lock"),
        &["dependencies failed (lock-file): Cargo.lock: ", "generate-lockfile"],
    );
    let git = dependency("itoa = { git = \"https://example.com/itoa\" }");
    refused(&git, &["manifest failed (source): Cargo.toml:15: itoa comes from git"]);
    refused(&dependency("itoa = { path = \"../itoa\" }"), &["Cargo.toml:15: itoa is outside of the project"]);
    refused(
        &dependency("itoa = { version = \"1\", registry = \"mine\" }"),
        &["Cargo.toml:15: itoa comes from registry"],
    );
    let index = "registry+https://github.com/rust-lang/crates.io-index";
    refused(&locked(index, "git+https://example.com/x#0"), &["(source)", "Cargo.lock:8: dyn-clone comes from"]);
    let changed = locked("d0881ea181b1df73", "0000000000000000");
    refused(&changed, &["(checksum): Cargo.lock:6: dyn-clone 1.0.20 has another checksum"]);
    refused(&locked("1.0.20", "0.0.0"), &["(crate): Cargo.lock:6: dyn-clone 0.0.0 is refused: it contains the path"]);
    let renamed = Project::new(&team).changed("Cargo.toml", "crate-type = [\"cdylib\"]", "");
    refused(&renamed, &["(crate-type)", "[lib] needs crate-type"]);
    let entry_point = Project::new(&team).lathe("entry_point = \"run\"\n");
    refused(&entry_point, &["package.metadata.lathe.entry_point is not set in Rust"]);
}

#[test]
fn a_member_of_a_workspace_is_refused_with_what_it_inherits() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let member = Project::new(&team).changed("Cargo.toml", "version = \"0.1.0\"", "version.workspace = true");
    let member = member.changed("Cargo.toml", "schemars = ", "itoa.workspace = true\nschemars = ");
    let member = member.changed("Cargo.toml", "[workspace]", "");
    refused(
        &member,
        &[
            "manifest failed (workspace): Cargo.toml:",
            "package.version, dependencies.itoa are inherited",
            "[workspace]",
        ],
    );
    refused(
        &Project::new(&team).without("Cargo.lock"),
        &["Inside of a workspace, cargo writes Cargo.lock at its root"],
    );
}

#[test]
fn a_lock_file_that_lacks_a_package_is_told_with_the_command() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let added = Project::new(&team).changed("Cargo.toml", "schemars = ", "uuid = \"1\"\nschemars = ");
    refused(&added, &["Cargo.lock: ", "uuid", "`cargo generate-lockfile`"]);
}

#[test]
fn compile_errors_name_file_and_line() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let alone = || Project::new(&team).with("Cargo.toml", ALONE).with("Cargo.lock", LOCKED_ALONE);
    let source = "//! Nothing.\n\npub fn one() -> u8 {\n    \"one\"\n}\n";
    refused(&alone().with("src/lib.rs", source), &["compile failed (E0308): src/lib.rs:4: mismatched types"]);
    let without_schema = "#[derive(Deserialize)]\nstruct Input {}\n\n\
                          fn run_tool(_: Input, _: &Context) -> Result<u8, Error> {\n    Ok(1)\n}\n";
    let tool = Project::new(&team).source(without_schema);
    refused(&tool, &["compile failed (E0277): src/lib.rs:7: ", "`Input: JsonSchema` is not satisfied"]);
    refused(&alone().with("src/lib.rs", "//! Nothing.\n"), &["inspect failed (exports)", "run-tool"]);
    let unlocked = alone().changed("Cargo.lock", "0.1.0", "0.2.0").with("src/lib.rs", "//! Nothing.\n");
    refused(
        &unlocked,
        &["compile failed (lock-file): Cargo.lock: does not fit Cargo.toml", "`cargo generate-lockfile`"],
    );
}

/// Settings that make Cargo run programs before it compiles, or use another compiler.
#[test]
fn settings_of_the_project_are_not_read() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).with("Cargo.toml", ALONE).with("Cargo.lock", LOCKED_ALONE);
    let tool =
        tool.with("src/lib.rs", "//! Nothing.\n").with(".cargo/config.toml", "[build]\nrustc-wrapper = \"/src/own\"\n");
    let tool = tool.with("rust-toolchain.toml", "[toolchain]\npath = \"/src/own\"\n");
    refused(&tool, &["inspect failed (exports)"]);
    let log = &failed_builds(server.data(), tool.id())[0].log;
    assert!(log.contains(".cargo/config.toml is ignored") && log.contains("rust-toolchain.toml is ignored"), "{log}");
}

#[test]
fn a_server_that_builds_no_rust_says_what_it_lacks() {
    let with = |arguments: &[&str]| Options {
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        ..Options::default()
    };
    let check = |options: Options, words: &[&str]| {
        let team = Team::on(&Server::private(&options));
        refused(&Project::new(&team), words);
    };
    let Some(toolchain) = machine::toolchain() else { return };
    let toolchain = toolchain.to_str().expect("UTF-8");
    check(
        with(&["--bubblewrap", "/nowhere", "--rust-toolchain", toolchain]),
        &["toolchain failed (sandbox): this server cannot build Rust", "bubblewrap"],
    );
    check(
        with(&["--rust-toolchain", "/nowhere"]),
        &["toolchain failed (rust): ", "/nowhere has no bin/cargo", "rustup target add"],
    );
    let other = format!("sha256:{}", "0".repeat(64));
    let pinned = ["--rust-toolchain", toolchain, "--rust-toolchain-digest", &other];
    check(with(&pinned), &["toolchain failed (digest): rust ", &other, "rust_toolchain_digest"]);
    let without_index = Options { has_own_cache: true, ..with(&["--rust-toolchain", toolchain]) };
    check(without_index, &["dependencies failed (index): Cargo.lock:6: dyn-clone 1.0.20 ", "LATHE_CRATE_INDEX"]);
}
