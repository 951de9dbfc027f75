//! The end of jobs, after which none of their processes is left.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use builder::BuildProgress;
use builder::sandbox::{Bounds, Failure, Job};

use crate::machine::{Machine, assert_none_left, marked, script, until_there};

/// The variable that marks a server which the test kills.
const DOOMED: &str = "DOOMED";
const NAME: &str = "endings::a_server_to_kill";

#[tokio::test]
async fn a_job_that_times_out_is_ended_with_all_its_processes() {
    let Some(machine) = Machine::here().await else { return };
    let bounds = Bounds { wall: Duration::from_secs(1), ..Bounds::BUILD };
    let job = Job { bounds, ..script("setsid sleep 1000 & (sleep 1000 &) & sleep 1000") };
    let (ended, _) = machine.run(job).await;
    assert_eq!(ended.expect_err("a failure"), Failure::Time { after: Duration::from_secs(1) });
}

#[tokio::test]
async fn background_processes_end_with_the_job() {
    let Some(machine) = Machine::here().await else { return };
    let (ended, log) =
        machine.run(script("setsid sh -c 'sleep 1000; echo late' & (setsid sleep 1000 &) & echo started")).await;
    ended.expect("it ends well");
    assert_eq!(log, "started\n");
}

#[tokio::test]
async fn dropping_the_future_ends_the_job() {
    let Some(machine) = Machine::here().await else { return };
    let (job, mark) = marked(script("setsid sleep 1000 & sleep 1000"));
    let progress = BuildProgress::none();
    let running = tokio::spawn(async move { machine.sandbox.run(job, &progress).await.map(drop) });
    until_there(&mark, "sleep").await;
    running.abort();
    assert_none_left(&mark).await;
}

/// The process of a server, which a test kills.
#[tokio::test]
async fn a_server_to_kill() {
    let Some(machine) = Machine::here().await else { return };
    if env::var_os(DOOMED).is_none() {
        return;
    }
    let (mut job, _) = marked(script("setsid sleep 1000 & sleep 1000"));
    job.environment.push(("MARK".into(), env::var(DOOMED).expect("a mark")));
    let _ = machine.sandbox.run(job, &BuildProgress::none()).await;
}

#[tokio::test]
async fn a_job_ends_with_its_server() {
    if Machine::here().await.is_none() {
        return;
    }
    let mark = format!("doomed-{}", std::process::id());
    let program = env::current_exe().expect("this program");
    let mut server = Command::new(program);
    let server = server.args(["--exact", NAME]).env(DOOMED, &mark).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = server.spawn().expect("a process");
    until_there(&mark, "sleep").await;
    server.kill().expect("it is there");
    server.wait().expect("it ends");
    assert_none_left(&mark).await;
}
