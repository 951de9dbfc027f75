//! `lathe git-credential`, which git asks by itself.

use crate::harness::Team;

#[test]
fn git_needs_no_password() {
    let team = Team::new();
    let lathe = team.lathe();
    let url = &team.server.url;
    let helper = format!(
        "credential.{url}.helper=!LATHE_CONFIG_DIR='{}' '{}' git-credential",
        lathe.home.display(),
        env!("CARGO_BIN_EXE_lathe")
    );
    let commit = team.repository.commit();
    let (remote, target) = (team.git_url_with(""), format!("HEAD:{}", team.branch()));
    team.repository.ok(&["-c", &helper, "push", "-q", &remote, &target]);
    assert!(team.repository.ok(&["-c", &helper, "ls-remote", &remote, &team.branch()]).starts_with(&commit));
}

#[test]
fn the_token_goes_to_one_server_only() {
    let team = Team::new();
    let lathe = team.lathe();
    let host = team.server.address();
    let ask = |operation: &str, question: &str| lathe.run_with(&["git-credential", operation], question).ok().stdout;
    let ours = format!("protocol=http\nhost={host}\n\n");
    let answer = ask("get", &ours);
    assert!(answer.starts_with(&format!("username={}_ada\npassword=", team.organization)), "{answer}");
    assert!(!answer.contains(&team.api_key), "the key itself never leaves");
    assert_eq!(ask("get", "protocol=https\nhost=example.com\n\n"), "");
    assert_eq!(ask("get", &format!("protocol=https\nhost={host}\n\n")), "");
    assert_eq!(ask("get", ""), "");
    assert_eq!(ask("store", &ours), "");
    assert_eq!(ask("erase", &ours), "");
    assert_ne!(ask("get", &ours), answer, "a token that was erased is not given again");
}
