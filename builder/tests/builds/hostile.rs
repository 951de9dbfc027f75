//! Jobs that never end, use up a resource, or leave an invalid output file. The test prints a table of the cases with
//! their results and times.

use std::env;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use builder::BuildProgress;
use builder::sandbox::{Bounds, Failure, Finished, Job, ReadOnlyMount};

use crate::machine::{Machine, assert_none_left, marked, script, until_there};

/// The expected result of a case.
enum Expect {
    /// The job succeeds.
    Fine,
    /// One of these checks ends the job.
    Refused(&'static [&'static str]),
    /// The job stops with this output.
    GivesUp(&'static str),
    /// The output file is refused with these words.
    Output(&'static str),
}

use Expect::{Fine, GivesUp, Output, Refused};

type Case = (&'static str, Job, Expect);

/// Bounds that are reached soon, except for time and processor time. The cases about these two have lower bounds of their
/// own; other cases reach another bound first, even on a slow machine.
fn bounds() -> Bounds {
    Bounds {
        wall: Duration::from_secs(600),
        cpu_seconds: 300,
        process_memory_bytes: 256 << 20,
        memory_bytes: 300 << 20,
        processes: 64,
        open_files: 64,
        file_bytes: 32 << 20,
        scratch_bytes: 64 << 20,
        scratch_files: 2_000,
        output_bytes: 1 << 20,
    }
}

fn hostile(text: &str) -> Job {
    Job { bounds: bounds(), ..script(text) }
}

fn leaving(text: &str) -> Job {
    Job { output: Some("/build/target/tool.wasm".into()), ..hostile(&format!("mkdir -p target; {text}")) }
}

fn perl(text: &str) -> Job {
    Job { arguments: vec!["-e".into(), text.into()], bounds: bounds(), ..Job::new("/usr/bin/perl") }
}

fn taking() -> Vec<Case> {
    vec![
        (
            "fork bomb",
            // Every process forks until it is refused. The first keeps its dead children, so it is refused too.
            perl("1 while defined fork; die 'Cannot fork'"),
            GivesUp("Cannot fork"),
        ),
        (
            "forks that wait",
            perl("for (1..1000) { my $p = fork; die 'enough' unless defined $p; sleep 100 unless $p }"),
            GivesUp("enough"),
        ),
        ("file of 100 GB", hostile("dd if=/dev/zero of=big bs=1M count=100000"), Refused(&["signal", "status"])),
        (
            "100 GB in many files",
            hostile("for i in 1 2 3 4 5 6 7 8 9; do dd if=/dev/zero of=big$i bs=1M count=30 || exit 1; done"),
            Refused(&["status"]),
        ),
        ("sparse file of 100 GB", hostile("truncate -s 100G sparse"), Refused(&["signal", "status"])),
        ("a million small files", perl("for (1..1000000) { open my $f, '>', \"f$_\" or die; }"), Refused(&["bound"])),
        ("path 4,096 deep", perl("for (1..4096) { mkdir 'd' or die; chdir 'd' or die; }"), Refused(&["bound"])),
        ("path 1,500 deep", perl("for (1..1500) { mkdir 'd' or die; chdir 'd' or die; }"), Fine),
        ("memory of one process", perl("my $x = 'x' x (1 << 30);"), Refused(&["status", "signal"])),
        (
            "memory of many",
            perl("for (1..8) { unless (fork) { my $x = 'x' x (100 << 20); sleep 500 } } sleep 500; exit 1"),
            Refused(&["bound"]),
        ),
        (
            "computing without end",
            Job { bounds: Bounds { cpu_seconds: 2, ..bounds() }, ..script("while :; do :; done") },
            Refused(&["signal"]),
        ),
        (
            "descriptors without end",
            perl("my @f; for (1..10000) { open my $f, '<', '/dev/null' or die 'enough'; push @f, $f }"),
            Refused(&["status"]),
        ),
        (
            "sleeping for ever",
            Job { bounds: Bounds { wall: Duration::from_secs(1), ..bounds() }, ..script("sleep 1000") },
            Refused(&["time"]),
        ),
        (
            "a stop that is not heard",
            Job {
                bounds: Bounds { wall: Duration::from_secs(1), ..bounds() },
                ..script("trap '' TERM INT HUP; sleep 1000")
            },
            Refused(&["time"]),
        ),
    ]
}

fn leavings() -> Vec<Case> {
    vec![
        ("no output", leaving(":"), Output("was not created")),
        ("a link to the passwords", leaving("ln -s /etc/shadow target/tool.wasm"), Output("is not a regular file")),
        (
            "a directory that is a link",
            leaving("rmdir target; ln -s /usr/bin target; cp /bin/true /build/tool.wasm"),
            Output("is not a regular file"),
        ),
        (
            "a farm of links",
            leaving(
                "i=0; while [ $i -lt 1000 ]; do ln -s tool.wasm target/l$i; i=$((i+1)); done; ln -s l999 target/tool.wasm",
            ),
            Output("is not a regular file"),
        ),
        ("a pipe", leaving("mkfifo target/tool.wasm"), Output("is not a regular file")),
        ("a directory", leaving("mkdir target/tool.wasm"), Output("is not a regular file")),
        ("a device", leaving("ln -s /dev/zero target/tool.wasm"), Output("is not a regular file")),
        (
            "more than it may",
            leaving("head -c 2000000 /dev/zero > target/tool.wasm"),
            Output("2000000 bytes; the limit is 1048576"),
        ),
        ("holes", leaving("truncate -s 30M target/tool.wasm"), Output("the limit is")),
        ("nobody may read it", leaving("echo x > target/tool.wasm; chmod 0 target/tool.wasm"), Fine),
    ]
}

/// The result of a case, for the table.
fn ended(outcome: &Result<Finished, Failure>) -> String {
    match outcome {
        Ok(Finished { used, .. }) => {
            format!("fine ({} KiB of memory, {} files)", used.memory_bytes >> 10, used.scratch_files)
        }
        Err(failure) => format!("{}: {failure}", failure.check()),
    }
}

#[tokio::test]
async fn every_resource_and_output_of_a_job_is_bounded() {
    let Some(machine) = Machine::here().await else { return };
    let mut wrong = Vec::new();
    for (name, job, expect) in taking().into_iter().chain(leavings()) {
        #[expect(clippy::disallowed_methods, reason = "a time that is only shown")]
        let started = Instant::now();
        let (outcome, log) = machine.run(job).await;
        println!("{name:<28} {:>6} ms  {}", started.elapsed().as_millis(), ended(&outcome));
        let is_as_expected = match (&outcome, expect) {
            (Ok(_), Fine) => true,
            // Root reads it, another user cannot: both are fine.
            (Err(Failure::Output { problem }), Fine) => problem.contains("cannot be read"),
            (Err(Failure::Output { problem }), Output(words)) => problem.contains(words),
            (Err(Failure::Status { .. }), GivesUp(words)) => log.contains(words),
            (Err(failure), Refused(checks)) => checks.contains(&failure.check()),
            _ => false,
        };
        if !is_as_expected || log.len() > 100 << 10 {
            wrong.push(format!("{name}: {} {log:.300}", ended(&outcome)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The peak memory of this process, in KiB.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
}

/// The variable that marks a process whose memory a test measures.
const ALONE: &str = "ALONE";

#[tokio::test]
async fn a_gigabyte_that_is_printed_costs_neither_memory_nor_the_log() {
    let Some(machine) = Machine::here().await else { return };
    if env::var_os(ALONE).is_none() {
        let own = env::current_exe().expect("this program");
        let name = "hostile::a_gigabyte_that_is_printed_costs_neither_memory_nor_the_log";
        let alone = Command::new(own).args(["--exact", name, "--nocapture"]).env(ALONE, "1").output();
        let alone = alone.expect("a process");
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
        return;
    }
    let before = most_memory();
    let (ended, log) = machine.run(script("yes 'and so on and so on' | head -c 1000000000; echo; echo the end")).await;
    ended.expect("it ends well");
    assert!(log.len() < 64 << 10, "{}", log.len());
    assert!(log.starts_with("and so on") && log.ends_with("the end\n") && log.contains("bytes of output left out"));
    let grown = most_memory() - before;
    assert!(grown < 16 << 10, "it took {grown} KiB");
}

#[tokio::test]
async fn shown_files_cannot_be_changed() {
    let Some(machine) = Machine::here().await else { return };
    let source = tempfile::tempdir().expect("a directory");
    fs::write(source.path().join("Cargo.lock"), "pinned").expect("a file");
    let job = Job {
        read_only: vec![ReadOnlyMount::new(source.path(), "/source")],
        directory: "/source".into(),
        ..hostile(
            "echo x > Cargo.lock && echo REACHED; rm Cargo.lock && echo REACHED; mv Cargo.lock old && echo REACHED; \
             echo x > build.rs && echo REACHED; mkdir target && echo REACHED; ln -s /etc/shadow link && echo REACHED; \
             chmod 777 . && echo REACHED; touch /usr/bin/cc && echo REACHED; echo x > /usr/bin/cc && echo REACHED; \
             cat Cargo.lock",
        )
    };
    let (ended, log) = machine.run(job).await;
    ended.expect("it ends well");
    assert!(!log.contains("REACHED") && log.ends_with("pinned\n"), "{log}");
    assert_eq!(fs::read_to_string(source.path().join("Cargo.lock")).expect("a file"), "pinned");
    assert_eq!(fs::read_dir(source.path()).expect("a directory").count(), 1);
}

#[tokio::test]
async fn setuid_bits_have_no_effect() {
    let Some(machine) = Machine::here().await else { return };
    let (ended, log) = machine.run(hostile(
        "cp /bin/dash own; chmod 6755 own; ./own -c 'id -u; grep CapEff /proc/self/status'; \
         find /usr/bin -perm -4000 | head -1 | while read -r one; do \"$one\" --version; done; grep ' /build ' /proc/self/mountinfo",
    ))
    .await;
    ended.expect("it ends well");
    assert!(log.contains("1000\n") && log.contains("0000000000000000") && log.contains("nosuid"), "{log}");
}

#[tokio::test]
async fn a_build_does_not_find_another() {
    let Some(machine) = Machine::here().await else { return };
    let (holding, mark) = marked(hostile("echo canary-of-another > secret; sleep 1000"));
    let sandbox = machine.sandbox.clone();
    let held = tokio::spawn(async move { sandbox.run(holding, &BuildProgress::none()).await.map(drop) });
    until_there(&mark, "sleep").await;
    let looking = hostile(
        "of=root; ls /build /tmp; grep -rs canary-of-another /build /tmp /proc/*/$of/build /proc/*/environ /dev/shm | head; \
         ls -d /proc/[0-9]* | wc -l",
    );
    let (looked, log) = machine.run(looking).await;
    looked.expect("it ends well");
    assert!(!held.is_finished(), "nobody was there to be found");
    held.abort();
    assert_none_left(&mark).await;
    assert!(!log.contains("secret") && !log.contains("canary"), "{log}");
}
