//! Confinement of runners: code that escapes the sandbox reaches nothing.

use serde_json::{Value, json};

use crate::harness::{Lathe, Options, Server, Team, runners};

fn self_test(arguments: &[&str]) -> Value {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    lathe.run(&[&["internal", "run", "--self-test"], arguments].concat()).ok().document()
}

/// Returns the error that refused each attempt, by name.
fn attempts(result: &Value) -> Vec<(&str, &Value)> {
    let attempts = result["attempts"].as_array().expect("a list").iter();
    attempts.map(|attempt| (attempt["name"].as_str().expect("a name"), &attempt["refused"])).collect()
}

#[test]
fn every_escape_attempt_is_refused() {
    let confined = self_test(&[]);
    let open: Vec<_> = attempts(&confined).into_iter().filter(|(_, refused)| refused.is_null()).collect();
    assert!(open.is_empty() && attempts(&confined).len() >= 13, "{confined:#}");
    println!("confined by {}", confined["confinement"]);
    // Runners can ask for the written pages of their memory wherever unconfined processes can.
    assert_eq!(confined["knows_its_pages"], self_test(&["--unconfined"])["knows_its_pages"]);
}

/// Otherwise the refusals would prove nothing.
#[test]
fn the_same_attempts_succeed_without_confinement() {
    let unconfined = self_test(&["--unconfined"]);
    let refused: Vec<_> = attempts(&unconfined).into_iter().filter(|(_, refused)| !refused.is_null()).collect();
    assert!(refused.is_empty(), "{refused:?}");
    assert_eq!(unconfined["confinement"], Value::Null);
}

#[test]
fn runners_have_no_environment_no_privileges_and_no_files_of_the_server() {
    let server = Server::private(&Options { arguments: vec!["--runners".into(), "2".into()], ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("hello").body("return 'hello'").published();
    assert_eq!(tool.invoke(json!({})).output(), "hello");
    for runner in runners(&server, 2) {
        let status = runner.status();
        for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"] {
            assert!(status.contains(line), "{line} is missing in {status}");
        }
        let preferred = std::fs::read_to_string(runner.file("oom_score_adj")).expect("a number");
        assert_eq!(preferred.trim(), "500", "the server must outlive its runners");
        // Only privileged users may read the environment of another process.
        let environment = std::fs::read(runner.file("environ")).unwrap_or_default();
        assert!(environment.is_empty(), "{}", String::from_utf8_lossy(&environment));
        let descriptors = std::fs::read_dir(runner.file("fd")).into_iter().flatten().flatten();
        for descriptor in descriptors.filter_map(|entry| std::fs::read_link(entry.path()).ok()) {
            let name = descriptor.to_str().expect("UTF-8");
            let is_harmless = ["socket:", "anon_inode:", "pipe:", "/dev/null", "/memfd:", "/proc/"];
            assert!(is_harmless.iter().any(|harmless| name.starts_with(harmless)), "{name}");
        }
    }
}
