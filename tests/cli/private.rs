//! Permissions of the files in a data directory.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{Lathe, Options, Server, Team};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// Collects a directory and everything below it. Files that are removed meanwhile are left out.
fn everything_in(path: PathBuf, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => everything_in(entry.path(), found),
            _ => found.push(entry.path()),
        }
    }
    found.push(path);
}

#[track_caller]
fn assert_private(data: &Path) {
    let mut found = Vec::new();
    everything_in(data.to_owned(), &mut found);
    let open: Vec<_> = found.iter().filter(|path| path.exists() && mode(path) & 0o077 != 0).collect();
    for name in ["lathe.db", "keys/master.key"] {
        assert!(found.contains(&data.join(name)), "{name} is not among {found:?}");
    }
    assert!(open.is_empty(), "other users may read {open:?}");
}

/// The harness creates the directory before the server does, with permissions for everybody.
#[test]
fn a_server_makes_its_data_directory_and_files_private() {
    let options =
        Options { arguments: ["--build-workers", "external"].map(str::to_owned).to_vec(), ..Options::default() };
    let server = Server::private(&options);
    let team = Team::on(&server);
    team.push();
    assert_private(server.data());
    assert!(server.data().join("workers/socket").exists() && server.data().join("lathe.db-wal").exists());
    drop(team);
    server.kill();
    set_mode(server.data(), 0o755);
    let server = server.restarted(|options| options.arguments.clear());
    let team = Team::on(&server);
    assert_eq!(team.next_tool().published().invoke(json!({"a": 1})).output(), "{\"a\":1}");
    assert_private(server.data());
}

#[test]
fn commands_make_the_data_directory_private_or_refuse_to_use_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: &directory.path().join("home"), directory: directory.path() };
    let data = directory.path().join("data");
    fs::create_dir(&data).expect("a directory");
    set_mode(&data, 0o755);
    let create = |name: &str, data: &str| lathe.run(&["org", "create", name, "--user", "ada", "--data", data]);
    create("first", "data").ok();
    assert_private(&data);
    // A directory that is named by mistake keeps its permissions.
    set_mode(directory.path(), 0o755);
    create("second", ".").refused(1, &["other users have access to", "chmod 700"]);
    lathe
        .run(&["serve", "--listen", "127.0.0.1:0", "--data", "."])
        .refused(1, &["other users have access to", "chmod 700"]);
    assert_eq!(mode(directory.path()), 0o755);
}
