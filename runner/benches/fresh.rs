//! Measures a trivial run in a fresh instance, in this process and in a runner process, beside a CPython process per call; and
//! the throughput that a second runner process adds.
//!
//! One execution measures everything, so that the ratios hold on a noisy machine. The Rust guest is `guests/echo`, built for
//! `wasm32-wasip2` and kept beside its source.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use registry::Digest;
use runner::{
    Code, CodeBundle, CodeCache, CodeStore, Config, Executed, Execution, Interpreter, Limits, Maker, Outcome, Ports,
    Project, RunDocuments, RunnerPool, Runners, Sandbox, SourceFile, TapeMode, child_run_main, precompile,
};

/// Argument that makes this program a runner.
const RUNNER: &str = "run";

const ROUNDS: usize = 400;
const WARM_UP: usize = 50;
const SUBPROCESS_ROUNDS: usize = 40;

const PYTHON_TOOL: &str = "
def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    send_status_event('working')
    return {'text': tool_input['text'].upper()}
";
/// Output of esbuild.
const JAVASCRIPT_TOOL: &str = "\"use strict\";exports.runTool=async({toolInput,sendStatusEvent})=>{\
    sendStatusEvent(\"working\");return{text:toolInput.text.toUpperCase()}};";
/// Computes for some hundredths of a second.
const COMPUTING_TOOL: &str = "
def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    total = 0
    for number in range(100_000):
        total += number % 7
    return str(total)
";
/// Concurrent runs in the measurement of the rate.
const AT_ONCE: usize = 8;
/// Concurrent runs that compute.
const COMPUTING_RUNS: usize = 32;
const COMPUTING_ROUNDS: usize = 9;
const PYTHON_SCRIPT: &str = "
import json, sys
tool_input = json.load(sys.stdin)
print(json.dumps({'text': tool_input['text'].upper()}))
";
const INPUT: &str = r#"{"text": "hello"}"#;
const RUST_GUEST: &[u8] = include_bytes!("guests/echo.wasm");

fn main() {
    // The pool starts this program as its runners.
    if std::env::args().nth(1).as_deref() == Some(RUNNER) {
        return child_run_main().expect("a runner");
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = Config::new(directory.path().into(), [1; 32], "unused");
    let compiled = CodeCache::open(&config.cache_dir, config.cache_key).expect("a cache");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");

    let image = python_image::component().expect("the image");
    let python = keep(&compiled, &image, Maker::Platform);
    let of_python = async |source: &str| bundle(&compiled, &python, &[("tool.py", source)]).await;
    let plain = runtime.block_on(of_python(PYTHON_TOOL));
    let with_loop = runtime.block_on(of_python(&format!("async {}", PYTHON_TOOL.trim_start())));
    let computing = runtime.block_on(of_python(COMPUTING_TOOL));
    let image = javascript_image::component().expect("the image");
    let javascript = keep(&compiled, &image, Maker::Platform);
    let script = runtime.block_on(bundle(&compiled, &javascript, &[("bundle.js", JAVASCRIPT_TOOL)]));
    let rust = keep(&compiled, RUST_GUEST, Maker::Author);
    let sandbox = Sandbox::start(&config, CodeStore::new(compiled.clone())).expect("the sandbox");

    let here = async |execution| sandbox.run(execution, Ports::closed()).await.expect("the sandbox runs");
    let [one, two] = [1, 2].map(|count| runtime.block_on(async { pool(&config, &compiled, count) }));
    let apart = async |execution| one.run(execution, Ports::closed()).await.expect("the runner runs");
    let apart_on_two = async |execution| two.run(execution, Ports::closed()).await.expect("a runner runs");

    let rust = Code { component: rust, bundle: CodeBundle::default() };
    let plain = Code { component: python, bundle: plain };
    let with_loop = Code { component: python, bundle: with_loop };
    let script = Code { component: javascript, bundle: script };
    let faults = [&rust, &plain, &with_loop, &script].map(|code| runtime.block_on(page_faults(here, code)));
    let rust = runtime.block_on(measure(here, apart, &rust));
    let rate = runtime.block_on(rate(apart_on_two, &plain));
    let plain = runtime.block_on(measure(here, apart, &plain));
    let with_loop = runtime.block_on(measure(here, apart, &with_loop));
    let script = runtime.block_on(measure(here, apart, &script));
    let computing = Code { component: python, bundle: computing };
    // Alternately, so that other load of the machine affects both.
    let (mut on_one, mut on_two) = (Vec::new(), Vec::new());
    for _ in 0..COMPUTING_ROUNDS {
        on_one.push(runtime.block_on(compute(apart, &computing)));
        on_two.push(runtime.block_on(compute(apart_on_two, &computing)));
    }
    let subprocess = measure_subprocess();

    println!("fresh instance and trivial run, {ROUNDS} rounds each, milliseconds");
    println!("{:<28}{:>10}{:>10}{:>12}", "", "p50", "p99", "of CPython");
    for (name, times) in [
        ("rust component", &rust),
        ("python tool, def", &plain),
        ("python tool, async def", &with_loop),
        ("javascript tool", &script),
    ] {
        report(name, &times.here, &subprocess);
        report("  in a runner", &times.apart, &subprocess);
        report("  of it the run", &times.run, &subprocess);
    }
    report("cpython process per call", &subprocess, &subprocess);
    println!("python tool, def, on two runners: {rate:.0} runs a second");
    let [rust, plain, with_loop, script] = faults;
    println!(
        "page faults of a run: rust {rust:.0}, python def {plain:.0}, python async def {with_loop:.0}, javascript {script:.0}"
    );
    let (on_one, on_two) = (quantile(&on_one, 0.5), quantile(&on_two, 0.5));
    let ratio = on_one / on_two;
    println!(
        "{COMPUTING_RUNS} computing runs: {on_one:.0} on one runner, {on_two:.0} on two, {ratio:.2} times as fast"
    );
}

fn keep(compiled: &CodeCache, component: &[u8], maker: Maker) -> Digest {
    let digest = Digest::of(component);
    compiled.keep(&digest, &precompile(component, maker).expect("it compiles")).expect("it is kept");
    digest
}

async fn bundle(compiled: &CodeCache, image: &Digest, files: &[(&str, &str)]) -> CodeBundle {
    let code = compiled.find(image).expect("it was kept");
    // SAFETY: `keep` wrote the file a moment ago.
    let interpreter = unsafe { Interpreter::load(&code) }.expect("it loads");
    let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).into(), contents: (*text).into() };
    let files = files.iter().map(file).collect();
    let project = Project { entry_point: "tool:run_tool".into(), files, dependencies: Vec::new() };
    let bundle =
        interpreter.compile(project, true, Limits::DEFAULT).await.expect("the image runs").expect("the tool compiles");
    CodeBundle::new(bundle.bytes)
}

fn pool(config: &Config, compiled: &CodeCache, count: usize) -> RunnerPool {
    let program = std::env::current_exe().expect("this program").to_str().expect("UTF-8").to_owned();
    RunnerPool::start(
        config,
        &Runners { command: vec![program, RUNNER.to_owned()], count },
        CodeStore::new(compiled.clone()),
    )
    .expect("runners")
}

async fn compute(run: impl AsyncFn(Box<Execution>) -> Executed, code: &Code) -> Duration {
    let started = Instant::now();
    let runs = (0..COMPUTING_RUNS).map(|_| run(execution(code.clone())));
    let outcomes = futures_util::future::join_all(runs).await;
    assert!(outcomes.iter().all(|executed| matches!(executed.outcome, Outcome::Succeeded { .. })));
    started.elapsed()
}

/// Returns the average page faults of a run. Unlike times, they do not depend on other load of the machine.
async fn page_faults(run: impl AsyncFn(Box<Execution>) -> Executed, code: &Code) -> f64 {
    let count = || getrusage(UsageWho::RUSAGE_SELF).expect("this process").minor_page_faults();
    for _ in 0..WARM_UP {
        once(&run, code).await;
    }
    let before = count();
    for _ in 0..ROUNDS {
        once(&run, code).await;
    }
    (count() - before) as f64 / ROUNDS as f64
}

/// Durations of a tool's runs.
#[derive(Default)]
struct Times {
    /// In this process.
    here: Vec<Duration>,
    /// In a runner process.
    apart: Vec<Duration>,
    /// Inside the runner process, from instantiation to answer, without the messages.
    run: Vec<Duration>,
}

/// Measures both alternately, so that other load of the machine affects both.
async fn measure(
    here: impl AsyncFn(Box<Execution>) -> Executed,
    apart: impl AsyncFn(Box<Execution>) -> Executed,
    code: &Code,
) -> Times {
    let mut times = Times::default();
    for round in 0..WARM_UP + ROUNDS {
        let (first, (second, run)) = (once(&here, code).await.0, once(&apart, code).await);
        if round >= WARM_UP {
            times.here.push(first);
            times.apart.push(second);
            times.run.push(run);
        }
    }
    times
}

/// Returns the runs per second at a constant concurrency.
async fn rate(run: impl AsyncFn(Box<Execution>) -> Executed, code: &Code) -> f64 {
    let one_after_the_other = async || {
        for _ in 0..ROUNDS {
            once(&run, code).await;
        }
    };
    futures_util::future::join_all((0..AT_ONCE).map(|_| async { once(&run, code).await })).await;
    let started = Instant::now();
    futures_util::future::join_all((0..AT_ONCE).map(|_| one_after_the_other())).await;
    (AT_ONCE * ROUNDS) as f64 / started.elapsed().as_secs_f64()
}

/// Returns the duration of a call, and that of the run in it.
async fn once(run: impl AsyncFn(Box<Execution>) -> Executed, code: &Code) -> (Duration, Duration) {
    let started = Instant::now();
    let executed = run(execution(code.clone())).await;
    let time = started.elapsed();
    assert_eq!(executed.outcome, Outcome::Succeeded { output: r#"{"text":"HELLO"}"#.into() });
    (time, executed.duration)
}

fn execution(code: Code) -> Box<Execution> {
    let metadata = r#"{"invocation_mode":"regular","invocation_id":"","tool_id":"","tool_name":"","version":"","organization":"","deadline_ms":0}"#;
    Box::new(Execution {
        code,
        documents: RunDocuments {
            tool_input: INPUT.into(),
            metadata: metadata.into(),
            config: r#"{"envvars":{},"secrets":{}}"#.into(),
            conversation: "null".into(),
            user_variables: r#"{"nonsensitive":{},"sensitive":{}}"#.into(),
        },
        limits: Limits::DEFAULT,
        group: 0,
        tape_mode: TapeMode::Record,
        interaction: runner::Interaction::default(),
    })
}

/// Measures CPython; returns an empty list when the machine has no Python.
fn measure_subprocess() -> Vec<Duration> {
    // The interpreter itself, since the command on the path may be a script.
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable, end='')"]).output();
    let python = asked.map_or_else(|_| "python3".into(), |found| String::from_utf8_lossy(&found.stdout).into_owned());
    let once = || {
        let started = Instant::now();
        let mut child = Command::new(&python)
            .args(["-I", "-c", PYTHON_SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(INPUT.as_bytes()))?;
        child.wait_with_output()?;
        Ok(started.elapsed())
    };
    let times: std::io::Result<Vec<_>> = (0..SUBPROCESS_ROUNDS).map(|_| once()).collect();
    times.unwrap_or_else(|error| {
        println!("no CPython to compare with ({error}): apt-get install python3");
        Vec::new()
    })
}

fn report(name: &str, times: &[Duration], baseline: &[Duration]) {
    let (p50, p99) = (quantile(times, 0.5), quantile(times, 0.99));
    let ratio = p50 / quantile(baseline, 0.5);
    println!("{name:<28}{p50:>10.3}{p99:>10.3}{ratio:>12.4}");
}

fn quantile(times: &[Duration], quantile: f64) -> f64 {
    let mut sorted: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1) as f64;
    sorted.get((last * quantile).round() as usize).copied().unwrap_or(f64::NAN)
}
