//! `lathe login`, `logout`, `whoami`, `profile` and `org list`.

use serde_json::{Value, json};

use crate::harness::{Lathe, Team};

fn log_in(lathe: &Lathe<'_>, team: &Team, profile: &str) {
    let arguments = ["--profile", profile, "login", "--url", &team.server.url, "--org", &team.organization, "--user"];
    let key = ["ada", "--api-key-id", &team.api_key_id];
    lathe.run_with(&[&arguments[..], &key].concat(), &team.api_key).ok();
}

#[test]
fn a_user_works_with_several_logins() {
    let (one, two) = (Team::new(), Team::new());
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    lathe.run(&["whoami"]).refused(1, &["not logged in", "lathe login"]);
    log_in(&lathe, &one, "default");
    log_in(&lathe, &two, "staging");
    let organization = |arguments: &[&str]| lathe.json(&[arguments, &["whoami"]].concat())["org_id"].clone();
    assert_eq!(organization(&[]), *one.organization);
    assert_eq!(organization(&["--profile", "staging"]), *two.organization);
    let mut command = lathe.command(&["--json", "whoami"]);
    let said = crate::harness::Said::from(command.env("LATHE_PROFILE", "staging").output().expect("an end"));
    assert_eq!(said.document()["org_id"], *two.organization);
    lathe.run(&["profile", "use", "nowhere"]).refused(1, &["nowhere", "lathe profile list"]);
    lathe.run(&["profile", "use", "../up"]).refused(2, &["letters, digits"]);
    lathe.ok(&["profile", "use", "staging"]);
    assert_eq!(organization(&[]), *two.organization);
    let listed = lathe.json(&["profile", "list"]);
    let names: Vec<_> =
        listed["profiles"].as_array().expect("a list").iter().map(|one| (&one["profile"], &one["in_use"])).collect();
    assert_eq!(names, [(&json!("default"), &json!(false)), (&json!("staging"), &json!(true))]);
    let table = lathe.ok(&["profile", "list"]);
    assert!(table.contains('*') && table.contains(&one.organization) && table.contains(&one.server.url), "{table}");
    git_gets_the_login_of_its_server(&lathe, &one);
    assert!(lathe.ok(&["logout"]).contains(&format!("lathe key revoke {}", two.api_key_id)));
    lathe.run(&["whoami"]).refused(1, &["not logged in in the profile staging"]);
    lathe.run(&["logout"]).refused(1, &["not logged in"]);
    assert_eq!(organization(&["--profile", "default"]), *one.organization);
    assert!(!directory.path().join("profiles/staging/session.json").exists());
}

/// The login in use is of another organisation.
fn git_gets_the_login_of_its_server(lathe: &Lathe<'_>, team: &Team) {
    let path = format!("v1/{}/tool/git/tools.git", team.organization);
    let question = format!("protocol=http\nhost={}\npath={path}\n\n", team.server.address());
    let answer = lathe.run_with(&["git-credential", "get"], &question).ok().stdout;
    assert!(answer.starts_with(&format!("username={}_ada\n", team.organization)), "{answer}");
}

#[test]
fn whoami_shows_server_user_and_permissions() {
    let team = Team::new();
    let text = team.lathe().ok(&["whoami"]);
    for word in
        [&team.server.url, &team.organization, "ada", "admin", "Organization:Admin", "default", &team.api_key_id]
    {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
}

#[test]
fn an_unknown_organisation_is_named() {
    let team = Team::new();
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let login =
        ["login", "--url", &team.server.url, "--org", "acmee", "--user", "ada", "--api-key-id", &team.api_key_id];
    let said = lathe.run_with(&login, &team.api_key);
    said.refused(1, &[&format!("there is no organisation `acmee` on {}", team.server.url), "--org"]);
    assert!(!said.stderr.contains("lathe tool list"), "{said:?}");
}

#[test]
fn the_operator_lists_organisations() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    lathe.run(&["org", "list", "--data", "new"]).refused(1, &["there is no data directory", "--data"]);
    for name in ["zeta", "acme"] {
        lathe.ok(&["org", "create", name, "--user", "ada", "--data", "new"]);
    }
    let listed = lathe.json(&["org", "list", "--data", "new"]);
    let names: Vec<&Value> =
        listed["organizations"].as_array().expect("a list").iter().map(|one| &one["organization"]).collect();
    assert_eq!(names, ["acme", "zeta"]);
    assert_eq!(listed["organizations"][0]["users"], 1);
    assert!(lathe.ok(&["org", "list", "--data", "new"]).contains("zeta"));
}
