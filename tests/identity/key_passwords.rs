//! API keys as passwords of git, pip and uv.

use std::path::Path;
use std::process::Command;

use crate::harness::{Repository, Said, Team, change_database, clean_environment, eventually, needs, sign_in_as};

impl Team {
    /// The repository's URL with a user name and this team's key.
    fn git_url_with_key(&self, name: &str) -> String {
        self.git_url_with(&format!("{name}:{}", self.api_key))
    }

    fn lists_refs(&self, url: &str) -> bool {
        let said = self.repository.git(&["ls-remote", url]);
        said.code == Some(0) && said.stdout.contains("refs/heads/main")
    }
}

#[test]
fn git_clones_and_pushes_with_a_key() {
    let team = Team::new();
    for (number, name) in [format!("{}_{}", team.organization, team.user), team.user.clone()].iter().enumerate() {
        let url = team.git_url_with_key(name);
        let clone = Repository::clone_from(team.home(), &format!("clone{number}"), &url, &[]);
        let commit = clone.commit();
        let branch = format!("ci/work{number}");
        clone.ok(&["push", "-q", "origin", &format!("HEAD:{branch}")]);
        assert!(clone.ok(&["ls-remote", "origin", &branch]).starts_with(&commit));
    }
    let keys = team.get("/api_key");
    assert!(keys["api_keys"][0]["last_used_at"].is_string(), "{keys}");
}

#[test]
fn a_key_opens_its_own_account_and_no_more() {
    let team = Team::new();
    let (bob, stranger) = (team.joined_by("bob", "invoker"), Team::on(&team.server));
    let last = if team.api_key.ends_with('x') { 'y' } else { 'x' };
    let swapped = format!("{}{last}", &team.api_key[..team.api_key.len() - 1]);
    for credentials in [
        format!("ada:{swapped}"),
        format!("ada:{}", team.api_key_id),
        format!("bob:{}", team.api_key),
        format!("ada:{}", stranger.api_key),
        // The user may not read the repository.
        format!("bob:{}", bob.api_key),
    ] {
        assert!(!team.lists_refs(&team.git_url_with(&credentials)), "{credentials}");
    }
    assert!(team.lists_refs(&team.git_url_with_key("ada")));
}

/// Mistyped keys are refused by their checksum. This key is whole, and its secret is not the stored one.
#[test]
fn a_key_with_another_secret_is_refused() {
    let team = Team::new();
    let [forged, other] = ["dan", "eve"].map(|user| team.joined_by(user, "author"));
    let hash = format!("SELECT key_hash FROM api_keys WHERE api_key_id = '{}'", other.api_key_id);
    let change = format!("UPDATE api_keys SET key_hash = ({hash}) WHERE api_key_id = '{}'", forged.api_key_id);
    change_database(team.server.data(), &[&change]);
    assert!(!forged.lists_refs(&forged.git_url_with_key("dan")));
    sign_in_as(&team.server, &team.organization, "dan", &forged.api_key_id, &forged.api_key).expect(401);
    assert!(other.lists_refs(&other.git_url_with_key("eve")));
}

#[test]
fn a_key_that_ended_is_no_password() {
    let team = Team::new();
    let (revoked, expired) = (team.joined_by("bob", "author"), team.joined_by("cleo", "author"));
    let lists = |user: &Team| user.lists_refs(&user.git_url_with_key(&user.user));
    assert!(lists(&revoked) && lists(&expired));
    team.delete(&format!("/api_key/{}", revoked.api_key_id)).expect(204);
    assert!(!lists(&revoked));
    let over = format!("UPDATE api_keys SET expires_at = 1 WHERE api_key_id = '{}'", expired.api_key_id);
    change_database(team.server.data(), &[&over]);
    // A key stays in the cache for a second.
    eventually("the end of the key", || (!lists(&expired)).then_some(()));
}

#[test]
fn pip_and_uv_install_the_scaffold_with_a_key() {
    let named = std::env::var("LATHE_TEST_INSTALLERS").ok();
    let Some(programs) = needs::INSTALLERS.require(named) else { return };
    let (team, programs) = (Team::new(), Path::new(&programs));
    let (host, key) = (team.server.address(), &team.api_key);
    let path = format!("v1/{}/tool/amigo_tool_scaffold.tar.gz", team.organization);
    let package = |key: &str| format!("amigo_tool_scaffold @ http://ada:{key}@{host}/{path}");
    let python = programs.join("python");
    let python = python.to_str().expect("UTF-8");
    let pip = ["-m", "pip", "install", "--no-input", "--no-index", "--no-cache-dir", "--target"];
    let uv = ["pip", "install", "--no-index", "--no-cache", "--python", python, "--target"];
    for (program, arguments) in [("python", &pip[..]), ("uv", &uv)] {
        let install = |key: &str| {
            let mut command = Command::new(programs.join(program));
            clean_environment(&mut command);
            command.args(arguments).arg(team.home().join(program)).arg(package(key));
            Said::from(command.env("HOME", team.home()).output().expect("the program starts"))
        };
        assert_ne!(install(&format!("{key}x")).code, Some(0), "{program}");
        install(key).ok();
        assert!(team.home().join(program).join("amigo_tool_scaffold/__init__.py").is_file(), "{program}");
    }
}
