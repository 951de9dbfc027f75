//! The fuzz targets of packages. The structure of an archive is changed before it is compressed.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use super::Target;
use super::archives::{packed, tar};
use crate::steps::crates::{CrateArchive, Vendoring};
use crate::steps::{npm, wheel};

const METADATA: &str = "Metadata-Version: 2.1\nName: six\nVersion: 1.0rc1+x\n\nA package.\n";
const PACKAGE: &str = r#"{"name": "a", "version": "1.0.0", "main": "index.js"}"#;
/// Compressed bytes in an archive, and what they inflate to.
const INFLATION: usize = 2_000;

/// A wheel of stored files, so that a change of its bytes is a change of its directory or of its files.
fn wheel_of(metadata: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, contents) in [("six.py", &b"x = 1"[..]), ("six-1.dist-info/METADATA", metadata), ("six/a.py", b"")] {
        writer.start_file(name, stored).expect("a file");
        writer.write_all(contents).expect("its bytes");
    }
    writer.finish().expect("a wheel").into_inner()
}

/// A target whose memory is a multiple of what an archive may contain.
fn archives(name: &'static str, seed: Vec<u8>, parse: fn(&[u8])) {
    Target { seeds: vec![seed], memory_factor: INFLATION, ..Target::new(name, &[], parse).in_child() }.run();
}

#[test]
fn wheels() {
    archives("wheel", wheel_of(METADATA.as_bytes()), |bytes| drop(wheel::unpack(bytes.to_vec())));
}

#[test]
fn wheels_with_other_metadata() {
    archives("METADATA", METADATA.into(), |bytes| drop(wheel::unpack(wheel_of(bytes))));
}

#[test]
fn npm_archives() {
    let seed = tar("package", &[("package.json", PACKAGE), ("lib/a.mjs", "export {};\n")]);
    archives("npm archive", seed, |bytes| drop(npm::archive::unpack(&packed(bytes))));
}

#[test]
fn gzip_of_npm_archives() {
    let seed = packed(&tar("package", &[("package.json", PACKAGE)]));
    archives("gzip", seed, |bytes| drop(npm::archive::unpack(bytes)));
}

#[test]
fn package_json_of_packages() {
    Target::new("package.json of a package", &[PACKAGE], |bytes| assert!(!bytes.is_empty() || !npm::is_package(bytes)))
        .run();
}

#[test]
fn crates() {
    let seed = tar("a-1.0.0", &[("Cargo.toml", "[package]\nname = 'a'\n"), ("src/lib.rs", "")]);
    archives("crate", seed, |bytes| {
        let directory = tempfile::tempdir().expect("a directory");
        let (bytes, path) = (packed(bytes), directory.path().join("a.crate"));
        std::fs::write(&path, &bytes).expect("an archive");
        let archive = CrateArchive { path, checksum: registry::Digest::of(&bytes), directory: "a-1.0.0".into() };
        let directory = directory.path().join("vendor");
        drop(Vendoring { archives: vec![archive], directory, bytes_max: 1 << 20, modified_at: 0 }.unpack(str::len));
    });
}
