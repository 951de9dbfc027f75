//! Crates of an index of the test: their names, and what happens if they do not compile.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::machine;
use super::project::Project;
use super::refusals::{ALONE, LOCKED_ALONE, refused};
use crate::harness::{Options, Server, Team, failed_builds, serve_files};

/// A crate as the registry has it.
struct Packed {
    name: &'static str,
    archive: Vec<u8>,
}

impl Packed {
    /// A crate of version 1.0.0 with a manifest, and with directories that contain 312 MiB.
    fn of_directories(name: &'static str) -> Self {
        let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        let text = manifest(name, "1.0.0");
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, format!("{name}-1.0.0/Cargo.toml"), text.as_bytes()).expect("an entry");
        for _ in 0..5_000 {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Directory);
            header.set_size(64 << 10);
            header.set_path(format!("{name}-1.0.0/a")).expect("a path");
            header.set_cksum();
            archive.append(&header, [0; 64 << 10].as_slice()).expect("an entry");
        }
        Self { name, archive: archive.into_inner().and_then(flate2::write::GzEncoder::finish).expect("a crate") }
    }

    /// A crate of version 1.0.0 with these files.
    fn new(name: &'static str, files: &[(&str, &str)]) -> Self {
        let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        for (path, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("{name}-1.0.0/{path}"), text.as_bytes()).expect("an entry");
        }
        Self { name, archive: archive.into_inner().and_then(flate2::write::GzEncoder::finish).expect("a crate") }
    }

    /// A server whose index has this crate only.
    fn server(&self) -> Option<Arc<Server>> {
        let path = format!("/{}-1.0.0", self.name);
        let index = serve_files(|url| {
            let configuration = format!("{{\"dl\": \"{url}/{{crate}}-{{version}}\"}}");
            [("/config.json".to_owned(), configuration.into()), (path, self.archive.clone())].into()
        });
        machine::server_on(&index, Options::default())
    }

    /// A project that depends on the crate, with another path of its library.
    fn project<'t>(&self, team: &'t Team, library: &str) -> Project<'t> {
        let Self { name, archive } = self;
        let checksum = hex::encode(Sha256::digest(archive));
        let manifest =
            ALONE.replace("[lib]", &format!("[dependencies]\n{name} = \"1\"\n\n[lib]\npath = \"{library}\""));
        let locked = LOCKED_ALONE.replace("\"0.1.0\"\n", &format!("\"0.1.0\"\ndependencies = [\n \"{name}\",\n]\n"));
        let entry = format!(
            "\n[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n\
             source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{checksum}\"\n"
        );
        let project = Project::new(team).with("Cargo.toml", &manifest);
        project.with("Cargo.lock", &format!("{locked}{entry}")).with(library, "//! Nothing.\n")
    }
}

fn manifest(name: &str, version: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n")
}

#[test]
fn a_checksum_pins_the_crate_that_its_manifest_names() {
    for (name, version) in [("otherlib", "1.0.0"), ("safelib", "2.0.0")] {
        let packed = Packed::new("safelib", &[("Cargo.toml", &manifest(name, version))]);
        let Some(server) = packed.server() else { return };
        let team = Team::on(&server);
        let tool = packed.project(&team, "src/lib.rs");
        // From the cache the second time.
        for _ in 0..2 {
            let named = format!("with this checksum is {name} {version}");
            refused(&tool, &["(identity): Cargo.lock:", "safelib 1.0.0 is refused", &named]);
        }
    }
}

/// Directories have no contents, but an archive may claim that they do.
#[test]
fn everything_in_a_crate_counts_against_its_bound() {
    let packed = Packed::of_directories("hollow");
    assert!(packed.archive.len() < 4 << 20);
    let Some(server) = packed.server() else { return };
    let team = Team::on(&server);
    let tool = packed.project(&team, "src/lib.rs");
    refused(&tool, &["(crate): Cargo.lock:", "hollow 1.0.0 is refused", "exceed 268435456 bytes together"]);
}

/// Nothing of the project can be wrong yet, so the crate is compiled once.
#[test]
fn a_crate_that_does_not_compile_is_refused_at_once() {
    let files = [("Cargo.toml", &*manifest("broken", "1.0.0")), ("src/lib.rs", "compile_error!(\"not for wasm\");\n")];
    let packed = Packed::new("broken", &files);
    let Some(server) = packed.server() else { return };
    let team = Team::on(&server);
    let tool = packed.project(&team, "src/lib.rs");
    refused(&tool, &["compile failed (cargo)", "not for wasm"]);
    let log = &failed_builds(server.data(), tool.id())[0].log;
    assert_eq!(log.matches("Compiling broken").count(), 1, "{log}");
}

/// Cargo does not find the library of the project without its source code.
#[test]
fn a_project_with_another_layout_is_compiled_as_a_whole() {
    let packed = Packed::new("small", &[("Cargo.toml", &manifest("small", "1.0.0")), ("src/lib.rs", "//! Small.\n")]);
    let Some(server) = packed.server() else { return };
    let team = Team::on(&server);
    let tool = packed.project(&team, "src/tool.rs");
    refused(&tool, &["inspect failed (exports)"]);
    let log = &failed_builds(server.data(), tool.id())[0].log;
    assert!(log.contains("all crates are compiled") && log.contains("Compiling small"), "{log}");
}
