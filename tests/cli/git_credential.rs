//! `lathe git-credential`.

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
fn only_the_server_of_the_login_gets_a_token() {
    let team = Team::new();
    let lathe = team.lathe();
    let host = team.server.address();
    let ask = |operation: &str, question: &str| lathe.run_with(&["git-credential", operation], question).ok().stdout;
    let ours = format!("protocol=http\nhost={host}\n\n");
    let answer = ask("get", &ours);
    assert!(answer.starts_with(&format!("username={}_ada\npassword=", team.organization)), "{answer}");
    assert!(!answer.contains(&team.api_key), "git never gets the key");
    assert_eq!(ask("get", "protocol=https\nhost=example.com\n\n"), "");
    assert_eq!(ask("get", &format!("protocol=https\nhost={host}\n\n")), "");
    assert_eq!(ask("get", ""), "");
    assert_eq!(ask("store", &ours), "");
    assert_eq!(ask("erase", &ours), "");
    assert_ne!(ask("get", &ours), answer, "an erased token is not given again");
}

#[test]
fn a_host_that_only_starts_like_the_server_gets_no_token() {
    let team = Team::new();
    let lathe = team.lathe();
    let host = team.server.address();
    let ask = |question: String| lathe.run_with(&["git-credential", "get"], &question).ok().stdout;
    let ours = format!("protocol=http\nhost={host}\n");
    assert!(ask(ours.clone()).contains("password="), "the regular request");
    // Git makes the first of these from `http://OURS%2f.evil.com/`.
    for suffix in
        ["/.evil.com", "/", "?.evil.com", "#.evil.com", "\\.evil.com", "%2f.evil.com", ".", ":", "\0.evil.com"]
    {
        assert_eq!(ask(format!("protocol=http\nhost={host}{suffix}\n\n")), "", "{suffix:?}");
    }
    for prefix in ["evil.com@", "evil.com:x@", "@", "//", " "] {
        assert_eq!(ask(format!("protocol=http\nhost={prefix}{host}\n\n")), "", "{prefix:?}");
    }
    for question in [
        format!("host={host}\n\n"),
        format!("protocol=HTTP\nhost={host}\n\n"),
        format!("protocol=http\r\nhost={host}\r\n\r\n"),
        format!("protocol=http\nhost=evil.com\nhost={host}\n\n"),
        format!("{ours}path=v1/another/tool/git/tools.git\n\n"),
        format!("{ours}username=another_ada\n\n"),
    ] {
        assert_eq!(ask(question.clone()), "", "{question:?}");
    }
    let path = format!("path=v1/{}/tool/git/tools.git\n", team.organization);
    assert!(ask(format!("{ours}{path}username={}_ada\n\n", team.organization)).contains("password="));
}
