//! Missing or damaged artifacts: runs that need them fail with a message, and no others.

use std::collections::BTreeSet;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::faults::{FAULTS, Fault};
use crate::harness::{Bump, Options, Run, Server, Team, count_record_events, input};
use crate::hostile::component::component;
use crate::hostile::installed::{Installer, Settings};

/// A published tool and the file of its bundle.
struct Published {
    name: String,
    id: String,
    bundle: PathBuf,
    /// A run that succeeded.
    run: String,
}

fn publish(team: &Team, name: &str) -> Published {
    let before: BTreeSet<_> = team.server.artifacts().into_iter().collect();
    let tool = team.tool(name).body(&format!("return '{name}'")).published();
    let after = team.server.artifacts().into_iter();
    let bundle = after.filter(|file| !before.contains(file)).map(|(path, _)| path).next().expect("a bundle");
    let run = tool.invoke(json!({}));
    assert_eq!(run.output(), name);
    Published { name: name.to_owned(), id: tool.id().to_owned(), bundle, run: run.id().to_owned() }
}

impl Published {
    fn invoke(&self, team: &Team, version: &str) -> Run {
        let body = json!({"inputs": [input(&json!({}))]});
        let path = format!("/tool/{}/version/{version}/invoke", self.id);
        Run(team.post(&path, &body).expect(200)["invocation_results"][0].clone())
    }

    /// Asserts that the caller, the record and the log get the same message.
    #[track_caller]
    fn fails(&self, team: &Team, problem: &str) {
        let run = self.invoke(team, "1.0.0");
        let failure = run.failure();
        assert_eq!(failure.kind, "artifact_damaged", "{}: {run}", self.name);
        let file = self.bundle.strip_prefix(team.server.data()).expect("a file of the server").display().to_string();
        for words in [problem, &file, "Publish its commit again", "backup"] {
            assert!(failure.message.contains(words), "{}, {words}: {}", self.name, failure.message);
        }
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        assert_eq!(record["invocation_status"]["exception_message"], Value::from(failure.message));
        assert!(team.server.log_about(run.id()).contains(&file), "{}", team.server.log_about(run.id()));
        let again = team.post(&format!("/tool/invocation/{}/replay", self.run), &json!({}));
        assert_eq!((again.status, again.code().as_str()), (503, "artifact_damaged"), "{again}");
        assert!(again.detail().contains(&file), "{again}");
    }

    /// Asserts that publishing the same commit again stores the bundle again, also for the old version.
    fn heals(&self, team: &Team) {
        let tool = team.tool(&self.name).with_id(&self.id).body(&format!("return '{}'", self.name));
        tool.publish(Bump::Patch).expect(201);
        for version in ["1.0.0", "1.0.1"] {
            assert_eq!(self.invoke(team, version).output(), self.name, "{version}");
        }
    }
}

fn problem(fault: Fault) -> &'static str {
    match fault {
        Fault::Removed => "is missing",
        Fault::Directory => "cannot be read",
        _ => "is damaged",
    }
}

#[test]
fn a_damaged_bundle_fails_only_its_own_runs_with_a_message() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tools = FAULTS.map(|fault| publish(&team, &format!("{fault:?}").to_lowercase()));
    let bystander = publish(&team, "bystander");
    for (tool, fault) in tools.iter().zip(FAULTS) {
        fault.spoil(&tool.bundle, &bystander.bundle);
        assert_eq!(tool.invoke(&team, "1.0.0").output(), tool.name, "this server has it");
    }
    server.signal(Signal::SIGTERM);
    server.ended();
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    for (tool, fault) in tools.iter().zip(FAULTS) {
        tool.fails(&team, problem(fault));
        assert_eq!(bystander.invoke(&team, "1.0.0").output(), "bystander");
    }
    for tool in &tools {
        tool.heals(&team);
        let (started, finished) = count_record_events(&team, &tool.id);
        assert_eq!((started, finished), (5, 5), "{}", tool.name);
    }
}

/// The component is lost while a server runs that has not used it yet.
#[test]
fn a_missing_component_fails_its_runs_with_a_message() {
    let server = Server::private(&Options { has_own_cache: true, ..Options::default() });
    let team = Team::on(&server);
    let installer = Installer::new(&team);
    let guest = component(include_str!("../hostile/guests/sleeps.wat"));
    let before: BTreeSet<_> = server.artifacts().into_iter().collect();
    let tool = installer.install("lost", &guest, Settings::default());
    let file = server.artifacts().into_iter().find(|file| !before.contains(file)).expect("an artifact").0;
    let aside = team.home().join("aside");
    std::fs::rename(&file, &aside).expect("a file");
    let failure = tool.invoke(json!({})).failure();
    assert_eq!(failure.kind, "artifact_damaged");
    assert!(failure.message.contains("is missing"), "{}", failure.message);
    // Restored from a backup.
    std::fs::rename(&aside, &file).expect("a file");
    assert_eq!(tool.invoke(json!({})).output(), "fine");
    // The compiled code suffices.
    Fault::Flipped.spoil(&file, &file);
    assert_eq!(tool.invoke(json!({})).output(), "fine");
}

/// Calls go on; everything that needs the repository says that it is damaged.
#[test]
fn a_damaged_repository_is_named() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("whole").body("return 'whole'").published();
    let packs = server.data().join(format!("git/{}.git/objects/pack", team.organization));
    let aside = team.home().join("aside");
    std::fs::rename(&packs, &aside).expect("packs");
    let cloned = team.repository.git(&["ls-remote", &team.git_url()]);
    assert!(cloned.code != Some(0) && cloned.stderr.contains("503"), "{cloned:?}");
    let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({}));
    for answer in [verified, tool.publish(Bump::Minor)] {
        assert_eq!((answer.status, answer.code().as_str()), (503, "repository_damaged"), "{answer}");
        assert!(answer.detail().contains("lathe doctor"), "{answer}");
    }
    assert_eq!(tool.invoke(json!({})).output(), "whole");
    let data = server.data().to_str().expect("UTF-8");
    let said = team.lathe().run(&["doctor", "--data", data]);
    assert!(said.stdout.contains(&format!("git/{}.git", team.organization)), "{said:?}");
    assert_eq!(said.code, Some(1), "{said:?}");
    // Restored from a backup.
    std::fs::rename(&aside, &packs).expect("packs");
    team.repository.ok(&["ls-remote", &team.git_url()]);
    let said = team.lathe().run(&["doctor", "--data", data]);
    assert!(said.stdout.contains("repositories and packs are whole"), "{said:?}");
}
