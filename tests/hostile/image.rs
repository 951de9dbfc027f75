//! A component compiled as a language's image: its memory is reused by later runs, which must not notice.

use std::path::Path;

use registry::Digest;
use runner::{
    Code, CodeBundle, CodeCache, CodeStore, Config, Executed, Execution, Limits, Maker, Outcome, Ports, RunDocuments,
    RunnerPool, Runners, Sandbox,
};

use super::case::guest;
use super::component::component;

pub const GUESTS: [(&str, &str); 1] = [guest!("lives_on_an_image")];

const CALLS: u32 = 12;

/// Requests to the guest.
#[derive(Clone, Copy)]
enum Ask {
    /// Writes to one page of every `n` + 1.
    Write(u32),
    CountWritten,
    Sum,
    CountFresh,
    ReadBehind,
    Grow,
    WriteBefore,
    WriteAndFail(u32),
}

impl Ask {
    const fn number(self) -> u32 {
        match self {
            Self::Write(step) => 10 * step + 1,
            Self::CountWritten => 2,
            Self::Sum => 3,
            Self::CountFresh => 4,
            Self::ReadBehind => 5,
            Self::Grow => 6,
            Self::WriteBefore => 7,
            Self::WriteAndFail(step) => 10 * step + 8,
        }
    }
}

fn code(directory: &Path, maker: Maker) -> (Digest, CodeCache) {
    let compiled = CodeCache::open(directory, [7; 32]).expect("a cache");
    let bytes = component(GUESTS[0].1);
    let digest = Digest::of(&bytes);
    compiled.keep(&digest, &runner::precompile(&bytes, maker).expect("a component")).expect("a file");
    (digest, compiled)
}

fn execution(component: Digest, ask: Ask) -> Box<Execution> {
    let nothing = || "null".to_owned();
    Box::new(Execution {
        code: Code { component, bundle: CodeBundle::default() },
        documents: RunDocuments {
            tool_input: format!("{{\"n\":{:05}}}", ask.number()),
            metadata: nothing(),
            config: nothing(),
            conversation: nothing(),
            user_variables: nothing(),
        },
        limits: Limits { memory_bytes: 16 << 20, ..Limits::DEFAULT },
        group: 0,
        tape_mode: runner::TapeMode::Off,
        interaction: runner::Interaction::default(),
    })
}

/// Returns the outcome of a first run.
async fn first(maker: Maker, ask: Ask) -> Outcome {
    let directory = tempfile::tempdir().expect("a directory");
    let (digest, compiled) = code(directory.path(), maker);
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let sandbox = Sandbox::start(&config, CodeStore::new(compiled)).expect("a sandbox");
    sandbox.run(execution(digest, ask), Ports::closed()).await.expect("a run").outcome
}

/// Executes runs that write much or little and succeed or fail, each followed by runs that inspect the memory.
async fn check(digest: Digest, run: impl AsyncFn(Box<Execution>) -> Executed) {
    let run = async |ask| run(execution(digest, ask)).await.outcome;
    let output = |text: &str| Outcome::Succeeded { output: text.to_owned() };
    let sum = first(Maker::Author, Ask::Sum).await;
    assert!(matches!(sum, Outcome::Succeeded { .. }), "{sum:?}");
    for call in 0..CALLS {
        assert_eq!(run(Ask::Write(call % 7)).await, output("0"));
        assert!(matches!(run(Ask::WriteAndFail(call % 5)).await, Outcome::Failed { .. }));
        assert_eq!(run(Ask::CountWritten).await, output("0"), "call {call}");
        assert_eq!(run(Ask::Sum).await, sum, "call {call}");
        assert_eq!(run(Ask::CountFresh).await, output("0"), "call {call}");
        // Several concurrent runs, each with its own memory.
        let (wrote, found, summed) = tokio::join!(run(Ask::Write(0)), run(Ask::CountWritten), run(Ask::Sum));
        assert_eq!((wrote, found, summed), (output("0"), output("0"), sum.clone()), "call {call}");
    }
}

#[tokio::test]
async fn runs_leave_no_trace_in_a_reused_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let (digest, compiled) = code(directory.path(), Maker::Platform);
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let sandbox = Sandbox::start(&config, CodeStore::new(compiled)).expect("a sandbox");
    check(digest, async |execution| sandbox.run(execution, Ports::closed()).await.expect("a run")).await;
}

#[tokio::test]
async fn runs_in_a_runner_leave_no_trace_in_a_reused_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let (digest, compiled) = code(directory.path(), Maker::Platform);
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let runners = Runners { count: 1, ..Runners::new(env!("CARGO_BIN_EXE_lathe")) };
    let pool = RunnerPool::start(&config, &runners, CodeStore::new(compiled)).expect("a pool");
    check(digest, async |execution| pool.run(execution, Ports::closed()).await.expect("a run")).await;
}

/// Both kinds of engine have the same bounds of memory and growth.
#[tokio::test]
async fn a_reused_memory_has_the_bounds_of_any_memory() {
    let asks = [Ask::ReadBehind, Ask::Grow, Ask::WriteBefore, Ask::WriteAndFail(0), Ask::Sum];
    let (directory, mut outcomes) = (tempfile::tempdir().expect("a directory"), Vec::new());
    let (digest, compiled) = code(directory.path(), Maker::Platform);
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let sandbox = Sandbox::start(&config, CodeStore::new(compiled)).expect("a sandbox");
    // Twice, since the second round reuses the memories of the first.
    for ask in asks.into_iter().chain(asks) {
        let ran = sandbox.run(execution(digest, ask), Ports::closed()).await.expect("a run").outcome;
        assert_eq!(ran, first(Maker::Author, ask).await);
        outcomes.push(ran);
    }
    assert!(matches!(&outcomes[0], Outcome::Failed { exception_type, .. } if exception_type == "trap"), "{outcomes:?}");
    assert_eq!(outcomes[1], Outcome::Succeeded { output: "256".to_owned() });
}
