//! Commands that depend on the current directory.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Lathe, Options, Repository, Server, Team};

fn in_empty_directory(test: impl FnOnce(&Lathe<'_>, &Path)) {
    let directory = tempfile::tempdir().expect("a directory");
    let home = tempfile::tempdir().expect("a directory");
    test(&Lathe { home: home.path(), directory: directory.path() }, directory.path());
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).expect("a directory").next().is_none()
}

#[test]
fn a_command_in_the_wrong_directory_makes_no_data_directory() {
    in_empty_directory(|lathe, directory| {
        let database = "postgres://nobody@127.0.0.1:1/none";
        let commands: [&[&str]; 12] = [
            &["org", "create", "acme", "--user", "ada"],
            &["org", "create", "acme", "--user", "ada", "--database", database],
            &["org", "key", "acme", "--user", "ada"],
            &["org", "key", "acme", "--user", "ada", "--database", database],
            &["org", "edit", "acme", "--redact-answers", "on"],
            &["org", "list"],
            &["org", "list", "--database", database],
            &["gc", "--dry-run", "--database", database],
            &["backup", "copy"],
            &["backup", "copy", "--database", database],
            &["migrate", "--to", database],
            &["worker"],
        ];
        for command in commands {
            lathe.run(command).refused(1, &["there is no data directory", "lathe-data", "--data"]);
            assert!(is_empty(directory), "{command:?}");
        }
    });
}

#[test]
fn an_organisation_is_created_beside_the_server_or_in_a_named_directory() {
    in_empty_directory(|lathe, directory| {
        let made = lathe.run(&["org", "create", "first", "--user", "ada", "--data", "lathe-data"]).ok();
        let data = directory.join("lathe-data");
        assert!(made.stderr.contains(&format!("data directory: {}", data.display())), "{made:?}");
        // No server says that this directory is the right one.
        let create = ["org", "create", "second", "--user", "ada"];
        lathe.run(&create).refused(1, &["no server runs on the data directory", "lathe serve", "--data"]);
        lathe.run(&["org", "key", "first", "--user", "ada"]).refused(1, &["no server runs on the data directory"]);
        let server = Server::on_data(&data, &Options::default());
        let said = lathe.run(&create).ok();
        assert!(said.stderr.contains("data directory: "), "{said:?}");
        lathe.ok(&["org", "key", "first", "--user", "ada"]);
        drop(server);
    });
}

#[test]
fn git_takes_no_file_of_a_data_directory_or_a_backup() {
    in_empty_directory(|lathe, directory| {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(directory).output().expect("git starts");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        git(&["init", "--quiet"]);
        lathe.ok(&["org", "create", "acme", "--user", "ada", "--data", "data"]);
        lathe.ok(&["backup", "copy", "--with-keys", "--data", "data"]);
        lathe.ok(&["restore", "copy", "--data", "restored"]);
        assert!(directory.join("restored/keys/master.key").is_file() && directory.join("copy/manifest.json").is_file());
        git(&["add", "--all"]);
        assert_eq!(git(&["ls-files"]), "");
    });
}

#[test]
fn a_new_tool_is_made_where_publish_looks_for_it() {
    let team = Team::new();
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &[]);
    team.lathe();
    std::fs::create_dir_all(clone.directory.join("docs/drafts")).expect("a directory");
    for (directory, name) in [("", "one"), ("tools", "two"), ("tools/one", "three"), ("docs/drafts", "four")] {
        let at = clone.directory.join(directory);
        let said = Lathe { home: team.home(), directory: &at }.ok(&["tool", "new", name]);
        assert!(clone.directory.join("tools").join(name).join("pyproject.toml").is_file(), "{directory}: {said}");
        assert!(
            said.contains(&format!("lathe tool publish {name} --bump minor\n")) || said.ends_with("minor\n"),
            "{said}"
        );
        assert!(!said.contains("--path"), "{said}");
    }
    let at = clone.directory.join("tools");
    let said = Lathe { home: team.home(), directory: &at }.ok(&["tool", "new", "five", "--path", "elsewhere"]);
    assert!(said.contains("--path elsewhere"), "{said}");
}

#[test]
fn a_publication_outside_of_a_clone_says_what_is_meant() {
    let team = Team::new();
    let tool = team.tool("shout").pushed();
    tool.id();
    let elsewhere = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: team.home(), directory: elsewhere.path() };
    team.lathe();
    let publish = ["tool", "publish", "shout", "--bump", "minor"];
    let (organization, branch) = (&team.organization, team.branch());
    let words =
        [&format!("in no clone of the tools of {organization}")[..], "tools/shout", &branch, "git clone", "--yes"];
    lathe.run(&publish).refused(1, &words);
    // A clone of another organisation is none of this one, though it has the directory.
    let others = Repository::new(elsewhere.path());
    others.ok(&["remote", "add", "origin", &format!("{}/v1/others/tool/git/tools.git", team.server.url)]);
    others.write("tools/shout/tool.py", b"");
    others.commit();
    Lathe { directory: &others.directory, ..lathe }.run(&publish).refused(1, &words);
    assert!(tool.versions().is_empty());
    lathe.ok(&[&publish[..], &["--branch", &branch]].concat());
    assert_eq!(tool.versions(), ["1.0.0"]);
}

#[test]
fn a_client_gets_the_path_of_the_program_and_the_login() {
    let team = Team::new();
    let lathe = team.lathe();
    lathe.ok(&["agent", "create", "desk", "--description", "Helps.", "--type", "mcp_gateway"]);
    for (client, file) in [("claude-desktop", "claude_desktop_config.json"), ("stdio", "MCP servers")] {
        let said = lathe.run(&["mcp", "config", "desk", "--client", client]).ok();
        assert!(said.stderr.contains("Paste it into") && said.stderr.contains(file), "{said:?}");
        let entry: Value = said.document()["mcpServers"]["desk"].clone();
        assert_eq!(entry["command"], env!("CARGO_BIN_EXE_lathe"));
        assert_eq!(entry["args"], json!(["--profile", "default", "mcp", "serve", "--stdio", "desk"]));
        assert_eq!(entry["env"]["LATHE_CONFIG_DIR"], team.home().to_str().expect("UTF-8"));
    }
    for client in ["claude", "cursor", "vscode", "windsurf", "codex", "gemini"] {
        let said = lathe.json(&["mcp", "config", "desk", "--client", client]);
        assert!(said["file"].as_str().is_some_and(|file| file.contains("json") || file.contains("toml")), "{said}");
    }
}
