//! `lathe backup` and `lathe restore` without a server: what is written, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Lathe, Options, Process, Said, Server, Team, eventually};

/// A data directory with one organisation, and a directory for backups.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: TempDir::new().expect("a directory") };
        place.lathe().ok(&["org", "create", "acme", "--user", "ada", "--data", "data"]);
        place
    }

    fn lathe(&self) -> Lathe<'_> {
        Lathe { home: self.directory.path(), directory: self.directory.path() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn back_up(&self, arguments: &[&str]) -> Said {
        self.lathe().run(&[&["backup", "backup", "--data", "data"], arguments].concat())
    }

    fn restore(&self, arguments: &[&str]) -> Said {
        self.lathe().run(&[&["restore", "backup", "--data", "restored"], arguments].concat())
    }

    fn manifest(&self) -> Value {
        let text = fs::read_to_string(self.path("backup/manifest.json")).expect("a manifest");
        serde_json::from_str(&text).expect("JSON")
    }

    fn write_manifest(&self, manifest: &Value) {
        fs::write(self.path("backup/manifest.json"), manifest.to_string()).expect("a manifest");
    }

    /// Asserts that a refused restore has left nothing.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], words: &[&str]) {
        self.restore(arguments).refused(1, words);
        let left =
            fs::read_dir(self.directory.path()).expect("a directory").map(|entry| entry.expect("one").file_name());
        let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
        assert!(!left.iter().any(|name| name == "restored" || name.contains("restore-")), "{left:?}");
    }
}

fn flip(file: &Path) {
    let mut bytes = fs::read(file).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).expect("a file");
}

/// Asserts that only the owner can access a directory and everything in it.
fn is_private(path: &Path) {
    let mode = path.metadata().expect("a file").permissions().mode() & 0o777;
    if path.is_file() {
        assert!(mode & 0o077 == 0, "{} {mode:o}", path.display());
        return;
    }
    assert_eq!(mode, 0o700, "{}", path.display());
    for entry in fs::read_dir(path).expect("a directory") {
        is_private(&entry.expect("an entry").path());
    }
}

#[test]
fn a_backup_with_keys_is_restored_without_anything_else() {
    let place = Place::new();
    let said = place.back_up(&["--with-keys"]).ok();
    assert!(said.stdout.contains("organisations: 1") && said.stdout.contains("can read all secrets"), "{said:?}");
    let manifest = place.manifest();
    assert_eq!((&manifest["format"], &manifest["master_key"]["is_included"]), (&json!(1), &json!(true)));
    let said = place.restore(&[]).ok();
    assert!(said.stdout.contains("lathe serve --data"), "{said:?}");
    assert!(place.lathe().ok(&["org", "list", "--data", "restored"]).contains("acme"));
    is_private(&place.path("backup"));
    is_private(&place.path("restored"));
    let key = |data: &str| fs::read(place.path(data).join("keys/master.key")).expect("a key");
    assert_eq!(key("data"), key("restored"));
}

#[test]
fn a_backup_without_keys_needs_the_key_of_its_server() {
    let place = Place::new();
    let said = place.back_up(&[]).ok();
    assert!(said.stdout.contains("lacks the master key") && said.stdout.contains("data/keys/master.key"), "{said:?}");
    assert!(!place.path("backup/keys").exists());
    place.refuses(&[], &["without the master key", "--key"]);
    place.refuses(&["--key", "absent"], &["absent"]);
    place.lathe().ok(&["org", "create", "other", "--user", "ada", "--data", "other"]);
    place.refuses(&["--key", "other/keys/master.key"], &["is not the master key of this backup", "--key"]);
    place.restore(&["--key", "data/keys/master.key"]).ok();
    assert!(place.lathe().ok(&["org", "list", "--data", "restored"]).contains("acme"));
}

#[test]
fn a_backup_that_is_not_whole_is_refused() {
    let place = Place::new();
    place.back_up(&["--with-keys"]).ok();
    let manifest = place.manifest();

    flip(&place.path("backup/lathe.db"));
    place.refuses(&[], &["the backup is damaged", "lathe.db"]);
    flip(&place.path("backup/lathe.db"));
    fs::rename(place.path("backup/lathe.db"), place.path("aside")).expect("renamed");
    place.refuses(&[], &["lathe.db is missing"]);
    fs::rename(place.path("aside"), place.path("backup/lathe.db")).expect("renamed");

    let mut newer = manifest.clone();
    newer["format"] = json!(3);
    place.write_manifest(&newer);
    place.refuses(&[], &["has format 3", "a later one"]);
    let mut outside = manifest.clone();
    outside["files"][0]["path"] = json!("../outside");
    place.write_manifest(&outside);
    place.refuses(&[], &["`../outside`"]);
    fs::remove_file(place.path("backup/manifest.json")).expect("removed");
    place.refuses(&[], &["no complete backup", "manifest.json"]);
    place.write_manifest(&manifest);
    place.restore(&[]).ok();
    place.lathe().run(&["restore", "absent", "--data", "new"]).refused(1, &["there is no backup absent"]);
}

/// A repository with a program that git would run, and files outside of the backup.
#[test]
fn only_files_that_backups_write_are_restored() {
    let place = Place::new();
    place.back_up(&["--with-keys"]).ok();
    let manifest = place.manifest();
    let with_file = |path: &str, text: &str| {
        let file = place.path("backup").join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("a file");
        let digest = registry::Digest::of(text.as_bytes()).to_string();
        let mut planted = manifest.clone();
        let entry = json!({"path": path, "bytes": text.len(), "digest": digest});
        planted["files"].as_array_mut().expect("files").push(entry);
        place.write_manifest(&planted);
    };
    for path in [
        "git/acme.git/config",
        "git/acme.git/hooks/pre-receive",
        "git/hooks/pre-receive",
        "git/acme.git/objects/info/alternates",
        "git/acme.git/commondir",
        "storage",
    ] {
        with_file(path, "[core]\n\talternateRefsCommand = touch planted\n");
        place.refuses(&[], &["the manifest names the file", path]);
    }
    // Files that the manifest does not name are left.
    place.write_manifest(&manifest);
    let link = place.path("backup/lathe.db");
    let aside = place.path("aside.db");
    fs::rename(&link, &aside).expect("renamed");
    std::os::unix::fs::symlink(&aside, &link).expect("a link");
    place.refuses(&[], &["lathe.db is a symbolic link"]);
    fs::remove_file(&link).expect("a link");
    fs::rename(&aside, &link).expect("renamed");
    place.restore(&[]).ok();
    assert!(!place.path("restored/git/acme.git").exists() && !place.path("restored/storage").exists());
}

#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    place.back_up(&["--with-keys"]).ok();
    place.back_up(&["--with-keys"]).refused(1, &["backup is not empty", "a new directory"]);
    place.lathe().run(&["restore", "backup", "--data", "data"]).refused(1, &["data is not empty", "--data"]);
    let said = place.lathe().run(&["backup", "data/inside", "--data", "data"]);
    said.refused(1, &["inside of the data directory"]);
    assert!(!place.path("data/inside").exists());
    fs::create_dir(place.path("restored")).expect("a directory");
    place.restore(&[]).ok();
    let absent = place.lathe().run(&["backup", "other", "--data", "absent"]);
    absent.refused(1, &["there is no data directory", "--data"]);
    assert!(!place.path("other").exists() && !place.path("absent").exists());
}

#[test]
fn a_full_disk_leaves_no_backup() {
    let place = Place::new();
    let mut limited = Command::new("bash");
    // With SIGXFSZ ignored, a write beyond the limit returns an error, as on a full disk.
    limited.args(["-c", "trap '' XFSZ; ulimit -S -f 64; exec \"$@\"", "bash"]).arg(env!("CARGO_BIN_EXE_lathe"));
    let template = place.lathe().command(&["backup", "backup", "--data", "data"]);
    limited.args(template.get_args()).current_dir(place.directory.path());
    let said = Said::from(limited.output().expect("the program runs"));
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("error:"), "{said:?}");
    assert!(!place.path("backup").exists());
}

/// A program `git` that waits before it packs the objects of a repository.
fn waiting_git(directory: &Path) {
    let script = "#!/bin/sh\ncase \" $* \" in *\" pack-objects \"*) echo $$ > \"$0.new\"; mv \"$0.new\" \"$0.reached\"; exec sleep 1000 ;; esac\n\
        PATH=${PATH#*:} exec git \"$@\"\n";
    fs::write(directory.join("git"), script).expect("a script");
    fs::set_permissions(directory.join("git"), fs::Permissions::from_mode(0o700)).expect("a program");
}

#[test]
fn a_killed_backup_does_not_look_whole() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    team.tool("greet").published();
    server.signal(Signal::SIGTERM);
    server.ended();
    let directory = TempDir::new().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let data = server.data().to_str().expect("UTF-8");
    waiting_git(directory.path());
    let mut command = lathe.command(&["backup", "backup", "--with-keys", "--data", data]);
    let path = std::env::var("PATH").expect("a search path");
    command.env("PATH", format!("{}:{path}", directory.path().display())).stdin(Stdio::null());
    let mut backup = Process::start(command);
    let packing =
        eventually("the copy of a repository", || fs::read_to_string(directory.path().join("git.reached")).ok());
    backup.kill();
    kill(Pid::from_raw(packing.trim().parse().expect("a process id")), Signal::SIGKILL).expect("the process is there");
    assert!(directory.path().join("backup/lathe.db").is_file());
    lathe.run(&["restore", "backup", "--data", "new"]).refused(1, &["no complete backup"]);
    lathe.run(&["backup", "backup", "--data", data]).refused(1, &["is not empty", "incomplete"]);
    let lost = server.artifacts().into_iter().min_by_key(|(_, bytes)| *bytes).expect("artifacts").0;
    let said = lathe.json(&["backup", "second", "--with-keys", "--data", data]);
    assert_eq!((&said["counts"]["repositories"], &said["counts"]["organizations"]), (&json!(1), &json!(1)), "{said}");
    assert!(said["counts"]["artifacts"].as_u64().is_some_and(|count| count >= 2), "{said}");
    is_private(&directory.path().join("second"));
    lathe.ok(&["restore", "second", "--data", "new"]);
    is_private(&directory.path().join("new"));
    // What the server itself has lost is named, and the rest is saved.
    flip(&lost);
    let said = lathe.run(&["backup", "third", "--with-keys", "--data", data]).ok();
    assert!(said.stderr.contains("1 artifacts of versions are missing or damaged"), "{said:?}");
    lathe.ok(&["restore", "third", "--data", "partial"]);
}

#[test]
fn the_directory_of_a_running_server_is_no_target() {
    let place = Place::new();
    place.back_up(&["--with-keys"]).ok();
    let server = Server::shared();
    let data = server.data().to_str().expect("UTF-8");
    let said = place.lathe().run(&["restore", "backup", "--data", data]);
    said.refused(1, &[&server.process_id().to_string(), "stop that server"]);
}

/// Another program changed the settings: a start writes the settings anew.
#[test]
fn settings_of_a_repository_that_name_programs_are_not_used() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    team.tool("first").pushed();
    server.signal(Signal::SIGTERM);
    server.ended();
    let repository = server.data().join(format!("git/{}.git", team.organization));
    let trace = team.home().join("started");
    let touch = format!("touch {}", trace.display());
    let settings = format!(
        "[core]\n\talternateRefsCommand = \"{touch}; :\"\n\tfsmonitor = \"{touch}\"\n\tsshCommand = \"{touch}\"\n"
    );
    let config = fs::read_to_string(repository.join("config")).expect("settings");
    fs::write(repository.join("config"), config + &settings).expect("written");
    let other = team.home().join("other.git");
    assert!(Command::new("git").args(["init", "-q", "--bare"]).arg(&other).status().expect("git").success());
    let alternates = repository.join("objects/info/alternates");
    fs::create_dir_all(alternates.parent().expect("a folder")).expect("a folder");
    fs::write(&alternates, format!("{}\n", other.join("objects").display())).expect("written");
    let team = team.moved_to(server.restarted(|_| {}));
    team.tool("second").pushed();
    team.repository.ok(&["ls-remote", &team.git_url()]);
    assert!(!trace.exists() && !alternates.exists());
    assert!(!fs::read_to_string(repository.join("config")).expect("settings").contains("touch"));
}
