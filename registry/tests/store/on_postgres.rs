//! Running a test program once more, on Postgres.

use std::process::Command;

use crate::cluster::Cluster;
use crate::database::is_server;

/// Runs all tests of this program on Postgres, but for those of the file in the data directory, whose names begin with one of `of_files`.
pub fn run_on_postgres(of_files: &[&str]) {
    if is_server() {
        return;
    }
    let url = std::env::var("LATHE_TEST_DATABASE_URL");
    let cluster = if url.is_ok() { None } else { Cluster::start() };
    let Some(url) = url.ok().or_else(|| cluster.as_ref().map(|cluster| cluster.url("postgres"))) else { return };
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.env("LATHE_TEST_DATABASE_URL", url).args(of_files.iter().flat_map(|name| ["--skip", name]));
    let tests = tests.output().unwrap();
    assert!(
        tests.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&tests.stdout),
        String::from_utf8_lossy(&tests.stderr)
    );
    let summary = String::from_utf8_lossy(&tests.stdout)
        .lines()
        .filter(|line| line.starts_with("test result"))
        .collect::<String>();
    println!("on Postgres: {summary}");
}
