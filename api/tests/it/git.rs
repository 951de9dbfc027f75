//! The real `git` against the server.

use std::process::Output;

use tokio::process::Command;

use crate::harness::TestApp;
use crate::server::{Running, start};

async fn run_git(arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.args(arguments).env("GIT_TERMINAL_PROMPT", "0").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_ASKPASS").env_remove("SSH_ASKPASS");
    command.output().await.expect("git runs; install it with `apt-get install git`")
}

fn build_url(running: &Running, credentials: &str, repository: &str) -> String {
    format!("http://{credentials}{}/v1/acme/tool/git/{repository}", running.address)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clone_with_basic_credentials_gets_the_scaffold() {
    let app = TestApp::start().await;
    let running = start(&app).await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("tools");
    let credentials = format!("acme_ada:{}@", app.token);
    for depth in [&["--depth", "1"][..], &[]] {
        let url = build_url(&running, &credentials, "tools.git");
        let output = run_git(&[&["clone", "-q", &url, target.to_str().unwrap()], depth].concat()).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(target.join("README.md").is_file());
        std::fs::remove_dir_all(&target).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_valid_credentials_git_asks_for_them() {
    let app = TestApp::start().await;
    let running = start(&app).await;
    for credentials in ["", "acme_ada:wrong@", "acme_eve:wrong@"] {
        let output = run_git(&["ls-remote", &build_url(&running, credentials, "tools.git")]).await;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{credentials}");
        assert!(error.contains("could not read") || error.contains("Authentication failed"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_repositories_and_files_are_not_found() {
    let app = TestApp::start().await;
    for path in
        ["other.git/info/refs", "tools.git/HEAD", "tools.git/../../x", "tools.git/%2e%2e/config", "tools.git/config"]
    {
        let answer = app.get(&format!("/tool/git/{path}?service=git-upload-pack")).await;
        assert_eq!(answer.refusal(), (404, "not_found".into()), "{path}");
    }
}
