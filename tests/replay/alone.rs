//! Replays in a network namespace without a network, where the kernel refuses every connection.

use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::http::{BODY, asking, server};
use crate::harness::{PATIENCE, Site, Team, clean_environment, needs};

/// Serves a data directory in a network namespace of its own, replays runs there, and stops the server.
const SCRIPT: &str = r#"
    ip link set lo up
    strace -f -qq -e trace=connect,sendto,sendmsg,sendmmsg -o "$CALLS" "$@" > /dev/null 2>&1 &
    for id in $RUNS; do
        while [ $SECONDS -lt "$PATIENCE" ]; do
            "$LATHE" replay "$id" --json > "$ANSWERS/$id" 2> "$ANSWERS/$id.error"
            grep -q 'does not answer' "$ANSWERS/$id.error" || break
            sleep 0.2
        done
    done
    kill -TERM $(cat /proc/$!/task/$!/children)
    wait
"#;

fn can_be_alone() -> bool {
    let tried = Command::new("unshare").args(["-rn", "sh", "-c", "ip link set lo up && strace -V"]).output();
    tried.is_ok_and(|output| output.status.success())
}

#[test]
fn a_replay_needs_no_network() {
    if needs::NETWORK_OF_ITS_OWN.require(can_be_alone().then_some(())).is_none() {
        return;
    }
    let (site, server) = (Site::serve(), server());
    let team = Team::on(&server);
    let tool = asking(&team, &site, BODY);
    let runs: Vec<_> = (0..4).map(|_| tool.invoke(json!({"site": site.url("")}))).collect();
    let asked = site.connections();
    team.lathe().ok(&["history", "list"]);
    server.signal(Signal::SIGTERM);
    server.ended();
    let answers = tempfile::TempDir::new().expect("a directory");
    let ids: Vec<&str> = runs.iter().map(crate::harness::Run::id).collect();
    let said = alone(&team, &ids, answers.path());
    for id in ids {
        let text = std::fs::read_to_string(answers.path().join(id)).expect("an answer");
        let error = std::fs::read_to_string(answers.path().join(format!("{id}.error"))).unwrap_or_default();
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{error} {said:?}"));
        assert_eq!((&answer["identical"], &answer["complete"]), (&json!(true), &json!(true)), "{answer}");
    }
    let calls = std::fs::read_to_string(answers.path().join("calls")).expect("a trace");
    let outwards: Vec<_> = calls.lines().filter(|line| line.contains("connect(") && line.contains("AF_INET")).collect();
    assert!(outwards.is_empty(), "{outwards:?}");
    assert!(calls.contains("sendto(") || calls.contains("exited"), "nothing was traced: {calls}");
    assert_eq!(site.connections(), asked);
}

fn alone(team: &Team, runs: &[&str], answers: &Path) -> Output {
    let mut command = Command::new("unshare");
    clean_environment(&mut command);
    command.args(["-rn", "bash", "-c", SCRIPT, "alone"]).args(team.server.command_line());
    command.env("LATHE_CONFIG_DIR", team.home()).env("HOME", team.home()).env("LATHE", env!("CARGO_BIN_EXE_lathe"));
    command.env("RUNS", runs.join(" ")).env("ANSWERS", answers).env("CALLS", answers.join("calls"));
    command.env("PATIENCE", PATIENCE.as_secs().to_string());
    command.output().expect("a shell")
}
