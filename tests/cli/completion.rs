//! Completions, as a shell asks for them.

use std::process::Command;

use crate::harness::{Lathe, Team, clean_environment};

/// The completions of the last word of a command line in bash.
fn completed(lathe: &Lathe<'_>, words: &[&str]) -> String {
    let script = lathe.ok(&["completions", "bash"]);
    let index = words.len() - 1;
    let typed = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let ask = format!(
        "COMP_WORDS=({typed}); COMP_CWORD={index}; COMP_TYPE=9\n\
         _clap_complete_lathe lathe '{}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words[index]
    );
    let mut bash = Command::new("bash");
    clean_environment(&mut bash);
    bash.args(["-c", &format!("{script}\n{ask}")]).current_dir(lathe.directory);
    bash.env("LATHE_CONFIG_DIR", lathe.home).env("HOME", lathe.home);
    let output = bash.output().expect("bash starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn commands_options_and_names_of_tools_are_completed() {
    let team = Team::new();
    let lathe = team.lathe();
    team.tool("greet_guests").id();
    team.tool("translate").id();
    let commands = completed(&lathe, &["lathe", "tool", "pu"]);
    assert_eq!(commands.trim(), "publish");
    assert!(completed(&lathe, &["lathe", "tool", "publish", "--b"]).contains("--bump"));
    for command in [&["tool", "invoke"][..], &["tool", "publish"], &["envvar", "set"], &["tool", "verify"]] {
        let tools = completed(&lathe, &[&["lathe"], command, &["gr"]].concat());
        assert_eq!(tools.trim(), "greet_guests", "{command:?}");
    }
    // The profile on the line counts; nobody is logged in with this one.
    assert_eq!(completed(&lathe, &["lathe", "--profile", "nobody", "tool", "publish", "gr"]).trim(), "");
}

#[test]
fn without_a_server_there_are_no_names_of_tools() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    assert_eq!(completed(&lathe, &["lathe", "tool", "invoke", "gr"]).trim(), "");
}
