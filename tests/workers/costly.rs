//! Projects whose files cost far more than their size suggests, in builds by a worker. They end neither the worker nor the
//! server, and reveal nothing of their environments.

use super::{server, worker, works};
use crate::harness::{Bump, Team, lock_line};

/// The file, its text, and a part of the refusal.
fn projects() -> Vec<(&'static str, String, &'static str)> {
    let nested = "(".repeat(60_000);
    let pairs: Vec<_> = (0..30).map(|number| format!("extra=='a{number:02}'and extra=='b{number:02}'")).collect();
    let marker = lock_line("six", "1.16.0", b"").replace(" --hash", &format!(" ; {} --hash", pairs.join("or ")));
    let head = "[project]\nname = \"costly\"\n";
    vec![
        ("pyproject.toml", format!("{head}dependencies = [\"{nested}\"]\n"), "names no package"),
        ("pyproject.toml", format!("{head}a = {}\n", "[".repeat(50_000)), "nested deeper"),
        ("requirements.lock", format!("six==1.16.0 ; {nested}os_name == 'nt'\n"), "a marker has at most"),
        ("requirements.lock", format!("six=={nested}\n"), "must be pinned"),
        ("requirements.lock", marker, "six: a marker"),
        ("requirements.lock", "a @ x${PATH} --hash=sha256:00\n".into(), "a must be pinned"),
        ("requirements.lock", "${HOME} --hash=sha256:00\n".into(), "is not a pinned package"),
    ]
}

#[test]
fn costly_projects_are_refused_by_a_worker_that_goes_on() {
    let server = server();
    let (team, _worker) = (Team::on(&server), worker(&server));
    for (file, text, expected) in projects() {
        let tool = team.next_tool().with_file(file, &text).pushed();
        let answer = tool.publish(Bump::Minor);
        answer.expect(400);
        assert!(answer.detail().contains(expected), "{expected:?} is missing in: {answer}");
        for name in ["PATH", "HOME"] {
            let value = std::env::var(name).expect("a variable of the tests");
            assert!(!answer.to_string().contains(&value), "{answer}");
        }
        drop(tool.renewed().pushed());
    }
    works(&team, "simple");
}
