//! A fresh instance and a trivial run, beside a CPython process per call.
//!
//! All in one run, so that the ratios hold on a noisy machine. The Rust guest
//! is `guests/echo`, built for `wasm32-wasip2` and kept beside its source.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use registry::Digest;
use runner::{
    Code, Compiled, Config, Execution, Interpreter, Limits, Outcome, Ports, Project, Sandbox, SourceFile, precompile,
};

const ROUNDS: usize = 400;
const WARM_UP: usize = 50;
const SUBPROCESS_ROUNDS: usize = 40;

const PYTHON_TOOL: &str = "
def run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables):
    send_status_event('working')
    return {'text': tool_input['text'].upper()}
";
const PYTHON_SCRIPT: &str = "
import json, sys
tool_input = json.load(sys.stdin)
print(json.dumps({'text': tool_input['text'].upper()}))
";
const INPUT: &str = r#"{"text": "hello"}"#;
const RUST_GUEST: &[u8] = include_bytes!("guests/echo.wasm");

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = Config::new(directory.path().into(), [1; 32], "unused");
    let compiled = Compiled::open(&config.cache_dir, config.cache_key).expect("a cache");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");

    let image = python_image::component().expect("the image");
    let python = keep(&compiled, &image);
    let plain = runtime.block_on(bundle(&compiled, &python, PYTHON_TOOL));
    let with_loop = runtime.block_on(bundle(&compiled, &python, &format!("async {}", PYTHON_TOOL.trim_start())));
    let rust = keep(&compiled, RUST_GUEST);
    let sandbox = Sandbox::start(&config, compiled).expect("the sandbox");

    let rust = runtime.block_on(measure(&sandbox, Code { component: rust, bundle: [].into() }));
    let plain = runtime.block_on(measure(&sandbox, Code { component: python, bundle: plain }));
    let with_loop = runtime.block_on(measure(&sandbox, Code { component: python, bundle: with_loop }));
    let subprocess = measure_subprocess();

    println!("fresh instance and trivial run, {ROUNDS} rounds each, milliseconds");
    println!("{:<28}{:>10}{:>10}{:>12}", "", "p50", "p99", "of CPython");
    report("rust component", &rust, &subprocess);
    report("python tool, def", &plain, &subprocess);
    report("python tool, async def", &with_loop, &subprocess);
    report("cpython process per call", &subprocess, &subprocess);
}

fn keep(compiled: &Compiled, component: &[u8]) -> Digest {
    let digest = Digest::of(component);
    compiled.keep(&digest, &precompile(component).expect("it compiles")).expect("it is kept");
    digest
}

async fn bundle(compiled: &Compiled, image: &Digest, source: &str) -> Arc<[u8]> {
    let code = compiled.find(image).expect("it was kept");
    // SAFETY: `keep` wrote the file a moment ago.
    let interpreter = unsafe { Interpreter::load(&code) }.expect("it loads");
    let file = SourceFile { path: "tool.py".into(), contents: source.into() };
    let project = Project { entry_point: "tool:run_tool".into(), files: vec![file], dependencies: Vec::new() };
    let bundle =
        interpreter.compile(project, true, Limits::DEFAULT).await.expect("the image runs").expect("the tool compiles");
    bundle.bytes.into()
}

async fn measure(sandbox: &Sandbox, code: Code) -> Vec<Duration> {
    let mut times = Vec::with_capacity(ROUNDS);
    for round in 0..WARM_UP + ROUNDS {
        let started = Instant::now();
        let executed = sandbox.run(execution(code.clone()), Ports::closed()).await.expect("the sandbox runs");
        let time = started.elapsed();
        assert_eq!(executed.outcome, Outcome::Succeeded { output: r#"{"text":"HELLO"}"#.into() });
        if round >= WARM_UP {
            times.push(time);
        }
    }
    times
}

fn execution(code: Code) -> Execution {
    let metadata = r#"{"invocation_mode":"regular","invocation_id":"","tool_id":"","tool_name":"","version":"","organization":"","deadline_ms":0}"#;
    Execution {
        code,
        tool_input: INPUT.into(),
        metadata: metadata.into(),
        config: r#"{"envvars":{},"secrets":{}}"#.into(),
        conversation: "null".into(),
        user_variables: r#"{"nonsensitive":{},"sensitive":{}}"#.into(),
        limits: Limits::DEFAULT,
    }
}

/// An empty list where the machine has no Python: nothing to compare with.
fn measure_subprocess() -> Vec<Duration> {
    // The interpreter itself: what stands on the path may be a script around it.
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
