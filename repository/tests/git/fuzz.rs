//! The fuzz targets of git: compressed bodies of requests, and objects of pushes.

#[path = "../../../tests/harness/fuzz/mod.rs"]
mod harness;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use git2::{ObjectType, Repository};
use repository::{Inflater, Inspector, TreeLimits};

use harness::{Target, require_rows};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("a stream");
    encoder.finish().expect("a stream")
}

#[test]
fn every_target_has_a_row() {
    require_rows(&[include_str!("fuzz.rs")]);
}

#[test]
fn git_bodies() {
    let seeds = vec![gzip(b"0032want 0123456789012345678901234567890123456789\n"), gzip(&[b'0'; 100_000])];
    let target = Target::new("body of a git request", &[], |bytes| {
        let (mut inflater, mut rest) = (Inflater::start(), bytes);
        while let Ok(consumed) = inflater.step(rest) {
            inflater.clear();
            rest = &rest[consumed..];
            if rest.is_empty() {
                drop(inflater.finish());
                break;
            }
        }
    });
    Target { seeds, ..target }.run();
}

/// A tree and a commit with these bytes, as a push could bring them, read as the hook reads them.
#[test]
fn git_objects() {
    let id = b"01234567890123456789";
    let tree = [&b"100644 tool.py\0"[..], id, b"40000 lib\0", id].concat();
    let commit =
        format!("tree {0}\nparent {0}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n", "00".repeat(20));
    let target = Target::new("git object", &[], |bytes| {
        let directory = tempfile::tempdir().expect("a directory");
        let repository = Repository::init_bare(directory.path()).expect("a repository");
        let objects = repository.odb().expect("its objects");
        if let Ok(tree) = objects.write(ObjectType::Tree, bytes) {
            let mut inspector = Inspector::new(&repository, TreeLimits::PUSHED).expect("an inspector");
            drop(inspector.inspect(tree).map_err(|refusal| refusal.to_string()));
        }
        if let Ok(commit) = objects.write(ObjectType::Commit, bytes) {
            drop(repository.find_commit(commit).map(|commit| commit.parents().count()));
        }
    });
    Target { seeds: vec![tree, commit.into_bytes()], ..target }.run();
}
