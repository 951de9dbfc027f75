//! `lathe` with an API key in the environment and without a login, as in CI.

use crate::harness::{Lathe, Said, Team};

/// Runs a command with variables, in a home without a login.
fn run(home: &std::path::Path, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
    let mut command = Lathe { home, directory: home }.command(arguments);
    Said::from(command.envs(variables.iter().copied()).output().expect("an end"))
}

#[test]
fn a_key_in_the_environment_is_a_login() {
    let team = Team::new();
    let home = tempfile::tempdir().expect("a directory");
    let place = [("LATHE_URL", team.server.url.as_str()), ("LATHE_ORG", &team.organization)];
    let variables = [&place[..], &[("LATHE_API_KEY", &team.api_key)]].concat();
    let me = run(home.path(), &["--json", "whoami"], &variables).ok().document();
    assert_eq!((&me["user_id"], &me["api_key_id"]), (&"ada".into(), &team.api_key_id.as_str().into()), "{me}");
    assert!(me["profile"].is_null(), "{me}");
    for command in [
        &["tool", "list"][..],
        &["tool", "create", "made_by_ci", "--description", "A tool of CI"],
        &["agent", "list"],
        &["history", "list"],
        &["key", "list"],
        &["user", "list"],
        &["role", "list"],
        &["inbox"],
    ] {
        run(home.path(), command, &variables).ok();
    }
    let doctor = run(home.path(), &["doctor"], &variables);
    assert!(doctor.stdout.contains("the key is accepted"), "{doctor:?}");
    for file in ["credentials.toml", "session.json", "profiles"] {
        assert!(!home.path().join(file).exists(), "{file} is written");
    }
    run(home.path(), &["whoami"], &place).refused(1, &["not logged in", "LATHE_API_KEY"]);
}

#[test]
fn a_key_in_the_environment_comes_before_a_login_but_not_before_a_named_one() {
    let team = Team::new();
    let bob = team.joined_by("bob", "author");
    let lathe = team.lathe();
    let user = |arguments: &[&str]| {
        let mut command = lathe.command(&[&["--json"], arguments, &["whoami"]].concat());
        Said::from(command.env("LATHE_API_KEY", &bob.api_key).output().expect("an end")).ok().document()["user_id"]
            .clone()
    };
    assert_eq!(user(&[]), "bob");
    assert_eq!(user(&["--profile", "default"]), "ada");
}

#[test]
fn variables_that_are_no_login_are_told() {
    let team = Team::new();
    let home = tempfile::tempdir().expect("a directory");
    let (url, organization) = (("LATHE_URL", team.server.url.as_str()), ("LATHE_ORG", team.organization.as_str()));
    let cut = &team.api_key[..team.api_key.len() - 3];
    let whoami = |variables: &[(&str, &str)]| run(home.path(), &["whoami"], variables);
    whoami(&[url, organization, ("LATHE_API_KEY", cut)]).refused(2, &["LATHE_API_KEY is not an API key", "lk_"]);
    whoami(&[url, ("LATHE_API_KEY", &team.api_key)]).refused(2, &["LATHE_ORG is not"]);
    team.delete(&format!("/api_key/{}", team.joined_by("eve", "author").api_key_id)).expect(204);
    let gone = team.joined_by("dan", "author");
    team.delete(&format!("/api_key/{}", gone.api_key_id)).expect(204);
    whoami(&[url, organization, ("LATHE_API_KEY", &gone.api_key)]).refused(1, &["the key is that of LATHE_API_KEY"]);
}

#[test]
fn git_gets_a_token_for_the_key_in_the_environment() {
    let team = Team::new();
    let home = tempfile::tempdir().expect("a directory");
    let variables =
        [("LATHE_URL", team.server.url.as_str()), ("LATHE_ORG", &team.organization), ("LATHE_API_KEY", &team.api_key)];
    let exports: String = variables.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
    let program = env!("CARGO_BIN_EXE_lathe");
    let home = home.path().display();
    let helper = format!("credential.helper=!{exports}LATHE_CONFIG_DIR='{home}' '{program}' git-credential");
    let commit = team.repository.commit();
    let (url, target) = (team.git_url_with(""), format!("HEAD:{}", team.branch()));
    team.repository.ok(&["-c", &helper, "push", "-q", &url, &target]);
    assert!(team.repository.ok(&["-c", &helper, "ls-remote", &url, &team.branch()]).starts_with(&commit));
    let elsewhere = team.repository.git(&["-c", &helper, "ls-remote", "http://127.0.0.1:1/v1/x/tool/git/tools.git"]);
    assert_ne!(elsewhere.code, Some(0), "{elsewhere:?}");
}

#[test]
fn a_login_needs_the_key_alone() {
    let team = Team::new();
    let home = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: home.path(), directory: home.path() };
    lathe.run_with(&["login", "--url", &team.server.url, "--org", &team.organization], &team.api_key).ok();
    assert_eq!(lathe.json(&["whoami"])["user_id"], "ada");
    let cut = &team.api_key[..30];
    lathe
        .run_with(&["login", "--url", &team.server.url, "--org", &team.organization], cut)
        .refused(2, &["this is not an API key"]);
}
