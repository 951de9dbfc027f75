//! A directory's project, built, checked and run here, without a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use builder::{BuildEvent, Built, Error, Progress, StepState, Workshop, directory};
use registry::{Clock, DataDir, EnvvarName, KeyRing, SecretValue};
use runner::{InvocationMode, Runners, Trials, Tried};
use tempfile::TempDir;

use super::TestArguments;
use super::round::{Refusal, Round, Run, Step};
use super::{report, watch};
use crate::client::{Event, Input, Mode, StepState as ShownState};
use crate::commands::input;
use crate::failure::{Failure, Outcome};
use crate::home::Home;
use crate::output::{BuildDisplay, Screen};
use crate::programs;
use crate::server::{CACHE_KEY_LABEL, THIS_PROGRAM, found_bubblewrap, program};

/// A project is tested by one process; its runs are one after the other.
const RUNNERS: usize = 1;

pub type Files = BTreeMap<String, Vec<u8>>;

/// What stays warm between rounds.
pub struct Bench {
    pub root: PathBuf,
    workshop: Workshop,
    inputs: Vec<Input>,
    envvars: BTreeMap<EnvvarName, String>,
    secrets: BTreeMap<EnvvarName, SecretValue>,
    /// Of this process alone: another one may be testing, too.
    _scratch: TempDir,
}

pub async fn run(arguments: &TestArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let bench = Bench::open(arguments, screen)?;
    if arguments.watch {
        return watch::run(&bench, screen).await;
    }
    let round = bench.round(directory::read(&bench.root)).await;
    report::whole(screen, &round)?;
    Ok(if round.succeeded { Outcome::Done } else { Outcome::Failed })
}

impl Bench {
    fn open(arguments: &TestArguments, screen: Screen) -> anyhow::Result<Self> {
        let root = arguments.path.clone().unwrap_or_else(|| PathBuf::from("."));
        if !root.is_dir() {
            let message = format!("{} is no directory here", root.display());
            return Err(Failure::usage(message, "name a project's directory, or a pushed branch with --branch"));
        }
        let inputs = arguments.input.read_given()?;
        let (envvars, secrets) = (named(&arguments.envvars)?, named(&arguments.secrets)?);
        let data = DataDir::open(Home::cache_of_user()?).context("opening the cache directory")?;
        if !data.cache().is_dir() {
            screen
                .note("the first test on this machine compiles the languages' interpreters, which takes some seconds");
        }
        let scratch = scratch(&data)?;
        let workshop = workshop(arguments, &data, scratch.path())?;
        Ok(Self { root, workshop, inputs, envvars, secrets, _scratch: scratch })
    }

    /// Builds, checks and runs what was read, and shows how that goes.
    pub async fn round(&self, files: Result<Files, Error>) -> Round {
        let display = BuildDisplay::start(&format!("testing {}", self.root.display()));
        let (progress, mut events) = Progress::channel();
        let mut steps = Vec::new();
        let showing = async {
            while let Some(event) = events.recv().await {
                if let BuildEvent::Step { name, state: StepState::Finished { duration_ms } } = &event {
                    steps.push(Step { name: (*name).to_owned(), duration_ms: *duration_ms });
                }
                display.show(&shown(event));
            }
        };
        #[expect(clippy::disallowed_methods, reason = "a duration that is only shown")]
        let started = Instant::now();
        let (mut round, ()) = tokio::join!(self.work(files, progress), showing);
        round.steps = steps;
        round.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        round
    }

    /// The progress is given away, so that its end is the end of the work.
    async fn work(&self, files: Result<Files, Error>, progress: Progress) -> Round {
        let mut round = Round { directory: self.root.display().to_string(), ..Round::default() };
        match self.try_work(files, &progress, &mut round).await {
            Ok(()) => round.succeeded = round.is_good(),
            Err(error) => round.refusal = Some(Refusal::of(&error)),
        }
        round
    }

    async fn try_work(&self, files: Result<Files, Error>, progress: &Progress, round: &mut Round) -> Result<(), Error> {
        let built = self.workshop.build(files?, progress).await?;
        round.checks = self.workshop.check(&built, progress).await?;
        for (index, input) in self.inputs.iter().enumerate() {
            let tried = self.run_input(&built, input, index, progress).await?;
            round.runs.push(Run::of(tried));
        }
        Ok(())
    }

    async fn run_input(&self, built: &Built, input: &Input, index: usize, progress: &Progress) -> Result<Tried, Error> {
        let said = progress.clone();
        let events =
            Box::new(move |event: runner::StatusDocument| said.line(format!("[{}] {}", index + 1, event.message)));
        let (envvars, secrets) = (self.envvars.clone(), self.secrets.clone());
        self.workshop.run(built, of_runner(input), envvars, secrets, events).await
    }
}

fn workshop(arguments: &TestArguments, data: &DataDir, scratch: &Path) -> anyhow::Result<Workshop> {
    let keys = KeyRing::load(data).context("opening the cache directory")?;
    let program = program()?;
    let runner = runner::Config::new(data.cache(), keys.derive(CACHE_KEY_LABEL), &program);
    let runners = Runners { count: RUNNERS, ..Runners::new(THIS_PROGRAM) };
    let trials = Trials::start(&runner::Config { runners: Some(runners), ..runner }, Clock::system())?;
    let builder = builder::Config {
        bubblewrap: found_bubblewrap(),
        python_index: arguments.python_index.clone(),
        rust_toolchain: arguments.rust_toolchain.clone().or_else(programs::rust_toolchain),
        crate_index: Some(arguments.crate_index.clone()),
        npm_registry: arguments.npm_registry.clone(),
        esbuild: programs::esbuild(arguments.esbuild.as_deref()),
        ..builder::Config::new(data.cache(), scratch.to_owned(), &program)
    };
    Ok(Workshop::new(builder, trials)?)
}

fn scratch(data: &DataDir) -> anyhow::Result<TempDir> {
    let directory = data.scratch();
    let made = std::fs::create_dir_all(&directory).and_then(|()| TempDir::with_prefix_in("test-", &directory));
    made.with_context(|| format!("making a directory in {}", directory.display()))
}

fn named<T: From<String>>(pairs: &[String]) -> anyhow::Result<BTreeMap<EnvvarName, T>> {
    let one = |(name, value): (String, String)| {
        let name =
            EnvvarName::parse(&name).map_err(|error| Failure::usage(error.to_string(), "a name such as API_KEY"))?;
        Ok((name, T::from(value)))
    };
    input::pairs(pairs)?.into_iter().map(one).collect()
}

fn of_runner(input: &Input) -> runner::Input {
    runner::Input {
        input_parameters: input.input_parameters.clone(),
        invocation_mode: match input.invocation_mode {
            Mode::Regular => InvocationMode::Regular,
            Mode::ConversationSimulation => InvocationMode::ConversationSimulation,
        },
        nonsensitive_user_variables: input.nonsensitive_user_variables.clone(),
        sensitive_user_variables: input.sensitive_user_variables.clone(),
    }
}

fn shown(event: BuildEvent) -> Event {
    match event {
        BuildEvent::Log { line } => Event::Log { line },
        BuildEvent::Step { name, state } => {
            let (state, duration_ms) = match state {
                StepState::Started => (ShownState::Started, None),
                StepState::Finished { duration_ms } => (ShownState::Finished, Some(duration_ms)),
            };
            Event::Step { name: name.to_owned(), state, duration_ms }
        }
    }
}

/// All directories with files of the project.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    // What cannot be read is told when the files are read.
    directory::folders(root).unwrap_or_else(|_| vec![root.to_owned()])
}
