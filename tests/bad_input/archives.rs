//! Archives of packages that cost far more than their size suggests. None of them may stop the server, and refusals stay
//! short.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::{mended, refused};
use crate::harness::{
    NpmRegistry, Options, PackageIndex, Server, Team, eventually, failed_builds, lock_line, npm_entry, npm_lock,
    parsing_processes,
};

const FILE: &str = "costly-1.0-py3-none-any.whl";
const COSTLY: [&str; 3] = ["dependencies failed", "costly==1.0 is refused", "more time or memory than a package may"];

/// An entry of a zip file's directory, with a comment of some bytes. Its file starts at the first byte of the archive.
fn directory_entry(name: &str, compressed: u32, comment: u16) -> Vec<u8> {
    let mut entry = [b"PK\x01\x02".as_slice(), &[20, 0, 20, 0, 0, 0, 8, 0], &[0; 8]].concat();
    entry.extend(compressed.to_le_bytes());
    entry.extend(0_u32.to_le_bytes());
    entry.extend(u16::try_from(name.len()).expect("a short name").to_le_bytes());
    entry.extend(0_u16.to_le_bytes());
    entry.extend(comment.to_le_bytes());
    entry.extend([0; 12]);
    entry.extend(name.as_bytes());
    entry.resize(entry.len() + usize::from(comment), b' ');
    entry
}

/// The end record of a zip file whose directory starts at this offset.
fn end_record(entries: u16, offset: u32) -> Vec<u8> {
    let counts = [entries.to_le_bytes(), entries.to_le_bytes()].concat();
    let rest = [0_u32.to_le_bytes(), offset.to_le_bytes()].concat();
    [b"PK\x05\x06\0\0\0\0".as_slice(), &counts, &rest, &[0; 2]].concat()
}

/// A large directory that lacks an entry, with half a million end records. The library would read the directory for each.
fn wheel_with_many_ends() -> Vec<u8> {
    let mut wheel: Vec<u8> = (0..9_900).flat_map(|number| directory_entry(&format!("{number}.py"), 0, 1_400)).collect();
    let end = end_record(9_901, 0);
    wheel.extend(end.repeat(500_000));
    wheel
}

/// Thousands of names for one file of 25 MB that inflates to nothing.
fn wheel_with_one_file_of_many_names() -> Vec<u8> {
    let empty_blocks = b"\0\0\0\xff\xff".repeat(5_000_000);
    let contents = [empty_blocks.as_slice(), b"\x01\0\0\xff\xff"].concat();
    let bytes = u32::try_from(contents.len()).expect("25 MB");
    let mut wheel = [b"PK\x03\x04".as_slice(), &[20, 0, 0, 0, 8, 0], &[0; 8]].concat();
    wheel.extend(bytes.to_le_bytes());
    wheel.extend([0; 4]);
    wheel.extend([1, 0, 0, 0, b'a']);
    wheel.extend(contents);
    let directory = u32::try_from(wheel.len()).expect("25 MB");
    wheel.extend((0..9_900).flat_map(|number| directory_entry(&format!("{number}.py"), bytes, 0)));
    wheel.extend(end_record(9_900, directory));
    wheel
}

#[test]
fn wheels_that_take_hours_are_refused_or_end_their_own_process() {
    let many_ends = ["costly==1.0 is refused: more than 100 zip files inside"];
    let cases = [(wheel_with_many_ends(), &many_ends[..]), (wheel_with_one_file_of_many_names(), &COSTLY)];
    for (wheel, refusal) in cases {
        let index = PackageIndex::serve(&[("costly", FILE, &wheel)]);
        let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
        let process = team.server.process_id();
        let tool = team.next_tool().with_file("requirements.lock", &lock_line("costly", "1.0", &wheel)).pushed();
        refused(&team, &tool, refusal);
        mended(tool);
        assert_eq!(team.server.process_id(), process);
    }
}

/// The wheel takes all the computing time that its process may use, so that the server has to answer meanwhile.
#[test]
fn the_server_answers_while_an_archive_is_read() {
    let wheel = wheel_with_one_file_of_many_names();
    let index = PackageIndex::serve(&[("costly", FILE, &wheel)]);
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
    let tool = team.next_tool().with_file("requirements.lock", &lock_line("costly", "1.0", &wheel)).pushed();
    eventually("readiness", || (team.server.request("GET", "/health/ready").send().status == 200).then_some(()));
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| refused(&team, &tool, &COSTLY));
        eventually("an answer while a process reads the archive", || {
            let reader = parsing_processes(&team.server).pop()?;
            for path in ["/health/live", "/health/ready"] {
                team.server.request("GET", path).send().expect(200);
            }
            (!reader.is_gone()).then_some(())
        });
        publishing.join().expect("a refusal");
    });
}

/// An npm package with one path of many bytes, none of which is printable.
fn package_with_a_long_path(bytes: usize) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, size) in [(tar::EntryType::GNULongName, bytes), (tar::EntryType::Regular, 0)] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size as u64);
        header.set_cksum();
        archive.append(&header, vec![1; size].as_slice()).expect("an entry");
    }
    archive.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

#[test]
fn a_path_of_an_archive_is_cut_in_its_refusal() {
    let archive = package_with_a_long_path(50 << 20);
    assert!(archive.len() < 1 << 20);
    let registry = NpmRegistry::serve(&[("long", "1.0.0", &archive)]);
    let environment = vec![("LATHE_NPM_REGISTRY".to_owned(), registry.url.clone())];
    let team = Team::on(&Server::private(&Options { environment, ..Options::default() }));
    let dependencies = json!({"long": "1.0.0"});
    let package = json!({"name": "uses-long", "dependencies": dependencies}).to_string();
    let lock = npm_lock(&dependencies, &[("node_modules/long", npm_entry("1.0.0", &archive))]);
    let tool = team.next_tool().without_file("pyproject.toml").without_file("tool.py");
    let tool = tool.with_file("package.json", &package).with_file("package-lock.json", &lock);
    let tool = tool.with_file("index.js", "export async function runTool() {}\n").pushed();
    refused(&team, &tool, &["dependencies failed (archive)", "it holds the path \"\\u{1}"]);
    let build = failed_builds(team.server.data(), tool.id()).pop().expect("a failed build");
    assert!(build.message.len() < 2_000 && build.log.len() < 10_000, "{} {}", build.message.len(), build.log.len());
}

/// A key of an author's file is part of the refusal, the check's name and the log.
#[test]
fn names_in_project_files_are_cut_in_their_refusal() {
    let team = Team::new();
    let long = "a".repeat(200 << 10);
    let project = format!("[project]\nname = \"long\"\n[tool.lathe]\n{long} = 1\n");
    let tool = team.next_tool().with_file("pyproject.toml", &project).pushed();
    refused(&team, &tool, &["manifest failed", "is an unknown key"]);
    let build = failed_builds(team.server.data(), tool.id()).pop().expect("a failed build");
    assert!(build.message.len() < 2_000, "{} bytes", build.message.len());
    mended(tool);
}
