//! Local tests: builds, checks and runs a project without a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use api::wire::{BuildLog, BuildStep, Input};
use builder::{
    BuildEvent, BuildPlace, BuildProgress, Error, LocalBuilder, LocalRun, StepState, SuppliedVariables, directory,
};
use registry::{Clock, DataDir, HostPattern, KeyRing};
use runner::{EgressConfig, EventDocument, Runners, TrialRunner};
use tempfile::TempDir;
use tokio::time::Instant;

use super::arguments::TestArguments;
use super::round::{Refusal, Round, Run, Step};
use crate::client::Event;
use crate::failure::Failure;
use crate::home::Home;
use crate::output::{BuildDisplay, Screen};
use crate::server::{BuildSettings, CACHE_KEY_LABEL, THIS_PROGRAM, find_bubblewrap, find_program};

/// Runner processes of a local test. Its runs are sequential.
const RUNNERS: usize = 1;

/// Loopback and private networks, in which authors have the services that they develop against.
const OWN_NETWORKS: [&str; 6] = ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];

pub type Files = BTreeMap<String, Vec<u8>>;

/// The state that rounds of tests share.
pub struct LocalTester {
    pub root: PathBuf,
    builder: LocalBuilder,
    inputs: Vec<Input>,
    variables: SuppliedVariables,
    /// Whether requests of the inputs' runs go to the declared hosts.
    reaches_hosts: bool,
    /// A scratch directory for this process, since other processes may test at the same time.
    _scratch: TempDir,
}

impl LocalTester {
    pub fn open(arguments: &TestArguments, screen: Screen) -> anyhow::Result<Self> {
        let root = arguments.path.clone().unwrap_or_else(|| PathBuf::from("."));
        if !root.is_dir() {
            let message = format!("{} is not a directory", root.display());
            return Err(Failure::usage(message, "give the project's directory, or a pushed branch with --branch"));
        }
        let inputs = arguments.input.read_given()?;
        let (envvars, secrets) = arguments.read_variables()?;
        let variables = SuppliedVariables { envvars, secrets };
        let data = DataDir::open(Home::find_user_cache()?).context("opening the cache directory")?;
        if !data.cache().is_dir() {
            screen.note("the first test on this machine compiles the language images, which takes some seconds");
        }
        let scratch = create_scratch(&data)?;
        let builder = build_builder(arguments, &data, scratch.path())?;
        Ok(Self { root, builder, inputs, variables, reaches_hosts: arguments.allow_network, _scratch: scratch })
    }

    /// Builds, checks and runs the files, and shows the progress.
    pub async fn test(&self, files: Result<Files, Error>) -> Round {
        let display = BuildDisplay::start(&format!("testing {}", self.root.display()));
        let (progress, mut events) = BuildProgress::channel();
        let mut steps = Vec::new();
        let showing = async {
            while let Some(event) = events.recv().await {
                if let BuildEvent::Step { name, state: StepState::Finished { duration_ms } } = &event {
                    steps.push(Step { name: (*name).to_owned(), duration_ms: *duration_ms });
                }
                display.show(&convert_event(event));
            }
        };
        let started = Instant::now();
        let (mut round, ()) = tokio::join!(self.test_files(files, progress), showing);
        round.steps = steps;
        round.duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        round
    }

    /// Owns `progress`, so that the stream of events ends with the test.
    async fn test_files(&self, files: Result<Files, Error>, progress: BuildProgress) -> Round {
        let mut round = Round { directory: self.root.display().to_string(), ..Round::default() };
        match self.try_test(files, &progress, &mut round).await {
            Ok(()) => round.succeeded = round.is_success(),
            Err(error) => round.refusal = Some(Refusal::of(&error)),
        }
        round
    }

    async fn try_test(
        &self,
        files: Result<Files, Error>,
        progress: &BuildProgress,
        round: &mut Round,
    ) -> Result<(), Error> {
        let variables = (!self.inputs.is_empty()).then_some(&self.variables);
        let built = self.builder.build(files?, variables, progress).await?;
        round.checks = self.builder.check(&built, progress).await?;
        for (index, input) in self.inputs.iter().enumerate() {
            let (variables, events) = (self.variables.clone(), build_event_sink(index + 1, progress.clone()));
            let run = LocalRun { input: input.clone(), variables, events, reaches_hosts: self.reaches_hosts };
            let tried = self.builder.run(&built, run).await?;
            round.runs.push(Run::from(tried));
        }
        Ok(())
    }
}

/// Shows status events and log messages of an input as log lines.
fn build_event_sink(number: usize, progress: BuildProgress) -> runner::EventSink {
    Box::new(move |event| match event {
        EventDocument::Status(event) => progress.line(format!("[{number}] {}", event.message)),
        // The printed text, which is shown after the run, has it.
        EventDocument::Log(_) => {}
    })
}

fn build_builder(arguments: &TestArguments, data: &DataDir, scratch: &Path) -> anyhow::Result<LocalBuilder> {
    let keys = KeyRing::load(data).context("opening the cache directory")?;
    let program = find_program()?;
    let runner = runner::Config::new(data.cache(), keys.derive(CACHE_KEY_LABEL), &program);
    let runners = Runners { count: RUNNERS, ..Runners::new(THIS_PROGRAM) };
    let schema_worker = Some(runner::schema_worker(THIS_PROGRAM));
    let egress = if arguments.allow_network { build_egress()? } else { EgressConfig::default() };
    let config = runner::Config { runners: Some(runners), schema_worker, egress, ..runner };
    let trials = TrialRunner::start(&config, Clock::system())?;
    let builds = BuildSettings {
        bubblewrap: find_bubblewrap(),
        default_registries: Some(arguments.default_registries),
        python_index: arguments.python_index.clone(),
        rust_toolchain: arguments.rust_toolchain.clone(),
        crate_index: arguments.crate_index.clone(),
        npm_registry: arguments.npm_registry.clone(),
        esbuild: arguments.esbuild.clone(),
        ..BuildSettings::default()
    };
    let config = builder::Config::new(data.cache(), scratch.to_owned(), &program);
    let config = builder::Config { place: BuildPlace::Machine, ..config };
    Ok(LocalBuilder::new(builds.apply_to(config), trials)?)
}

/// The destinations of a run with `--allow-network`: the declared hosts, also on this machine and in its networks.
fn build_egress() -> anyhow::Result<EgressConfig> {
    let networks = OWN_NETWORKS.iter().map(|network| network.parse()).collect::<Result<_, _>>()?;
    Ok(EgressConfig { hosts: vec![HostPattern::parse("*")?], networks, ..EgressConfig::default() })
}

fn create_scratch(data: &DataDir) -> anyhow::Result<TempDir> {
    let directory = data.scratch();
    let made = std::fs::create_dir_all(&directory).and_then(|()| TempDir::with_prefix_in("test-", &directory));
    made.with_context(|| format!("making a directory in {}", directory.display()))
}

fn convert_event(event: BuildEvent) -> Event {
    match event {
        BuildEvent::Log { line } => Event::Log(BuildLog { line }),
        BuildEvent::Step { name, state } => Event::Step(BuildStep::new(name, state)),
    }
}

/// Returns all directories with files of the project.
pub fn list_folders(root: &Path) -> Vec<PathBuf> {
    // Reading the files reports the error.
    directory::folders(root).unwrap_or_else(|_| vec![root.to_owned()])
}
