//! The files, environment and limits of a job.

use builder::sandbox::{Failure, Job, ReadOnlyMount, Sandbox};

use crate::machine::{Machine, script};

#[tokio::test]
async fn a_job_prints_and_leaves_a_file() {
    let Some(machine) = Machine::here().await else { return };
    let job = Job { output: Some("/build/out".into()), ..script("echo one; echo two >&2; echo made > /build/out") };
    let (ended, log) = machine.run(job).await;
    assert_eq!(ended.expect("it ends well").output.as_deref(), Some(&b"made\n"[..]));
    assert_eq!(log, "one\ntwo\n");
}

#[tokio::test]
async fn the_end_of_a_job_is_reported_precisely() {
    let Some(machine) = Machine::here().await else { return };
    let (ended, _) = machine.run(script("exit 7")).await;
    assert_eq!(ended.expect_err("a failure"), Failure::Status { code: 7 });
    let (ended, _) = machine.run(script("kill -SEGV $$")).await;
    assert_eq!(ended.expect_err("a failure"), Failure::Signal { signal: 11 });
    let (ended, log) = machine.run(Job::new("/nowhere/program")).await;
    assert!(ended.is_err() && log.contains("/nowhere/program"), "{log}");
}

#[tokio::test]
async fn shown_files_are_readable_wherever_they_are() {
    let Some(machine) = Machine::here().await else { return };
    let closed = tempfile::tempdir().expect("a directory that its owner alone may enter");
    let shown = closed.path().join("shown");
    std::fs::create_dir(&shown).expect("a directory");
    std::fs::write(shown.join("file"), "contents\n").expect("a file");
    let job = Job {
        read_only: vec![ReadOnlyMount::new(&shown, "/source"), ReadOnlyMount::new(shown.join("file"), "/one-file")],
        directory: "/source".into(),
        environment: vec![("LANG".into(), "C".into())],
        ..script(
            "cat file /one-file; pwd; id -u; env | grep -v MARK | sort; for fd in /proc/self/fd/*; do echo $fd; done",
        )
    };
    let (ended, log) = machine.run(job).await;
    ended.expect("it ends well");
    let environment = "HOME=/build/home\nLANG=C\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD=/source\nTMPDIR=/tmp\n";
    let handles = "/proc/self/fd/0\n/proc/self/fd/1\n/proc/self/fd/2\n/proc/self/fd/3\n";
    let expected = format!("contents\ncontents\n/source\n1000\n{environment}{handles}");
    assert_eq!(log, expected);
}

#[tokio::test]
async fn missing_programs_are_named_with_the_command_that_installs_them() {
    let private = tempfile::NamedTempFile::new().expect("a file");
    for program in [None, Some("/nowhere/bwrap".as_ref())] {
        let missing = Sandbox::probe(program, private.path()).await.expect_err("there is none");
        assert_eq!(missing.to_string(), "bubblewrap is not installed; sudo apt-get install bubblewrap");
    }
    let missing = Sandbox::probe(Some("/bin/false".as_ref()), private.path()).await.expect_err("it is not bubblewrap");
    assert!(missing.reason.contains("does not start"), "{missing}");
}
