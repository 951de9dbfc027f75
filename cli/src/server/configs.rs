//! The configurations of the crates, from the settings of a server.

use std::path::PathBuf;
use std::time::Duration;

use builder::WorkerEndpoint;
use registry::DataDir;
use runner::{Runners, schema_worker};

use super::builds::BuildWorkers;
use super::settings::Settings;

/// The running program's own file. Runners started after the file was replaced by an upgrade still speak this server's
/// protocol.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

pub fn configure_registry(settings: &Settings) -> registry::Config {
    let (values, default) = (&settings.values, registry::Config::default());
    let hours = |hours: u32| Duration::from_hours(u64::from(hours.max(1)));
    registry::Config {
        live_versions_max: values.live_versions.unwrap_or(default.live_versions_max),
        operation_retention: values.operation_hours.map_or(default.operation_retention, hours),
        tape_retention: values.tape_hours.map_or(default.tape_retention, |hours| Duration::from_hours(hours.into())),
        history_retention: values.history_days.map(|days| Duration::from_hours(24 * u64::from(days.max(1)))),
        ..default
    }
}

pub fn configure_api(settings: &Settings) -> api::Config {
    let values = &settings.values;
    api::Config {
        connections: values.limits.connections(settings.trusted_proxies.clone()),
        requests: values.limits.requests(),
        public_url: values.public_url.clone(),
        rate_limits: settings.rate_limits.clone(),
        oauth_registration: values.oauth_registration.unwrap_or_default(),
    }
}

pub fn configure_runner(settings: &Settings, default: runner::Config) -> runner::Config {
    let (values, runners) = (&settings.values, Runners::new(THIS_PROGRAM));
    let count = values.runners.and_then(|count| usize::try_from(count).ok()).unwrap_or(runners.count);
    runner::Config {
        runners: Some(Runners { count, ..runners }),
        schema_worker: Some(schema_worker(THIS_PROGRAM)),
        egress: settings.egress.clone(),
        runs: values.limits.runs(default.runs, values.parallel_runs, values.queued_runs),
        input_bytes_max: values.limits.input_bytes(default.input_bytes_max),
        limits_max: settings.run_limits,
        ..default
    }
}

pub fn configure_agents(settings: &Settings) -> anyhow::Result<agents::Config> {
    let model = &settings.values.model;
    Ok(agents::Config { model: model.build_model()?, runs_due_tasks: model.run_due_tasks.unwrap_or_default() })
}

pub fn configure_agent_store(settings: &Settings) -> anyhow::Result<agents::StoreConfig> {
    let (values, default) = (&settings.values, agents::StoreConfig::default());
    let mebibytes = |mebibytes: u32| u64::from(mebibytes) << 20;
    Ok(agents::StoreConfig {
        library_bytes_max: values.library_megabytes.map_or(default.library_bytes_max, mebibytes),
        library_user_bytes_max: values.library_user_megabytes.map_or(default.library_user_bytes_max, mebibytes),
        embedder: values.embeddings.build_embedder()?,
        ..default
    })
}

pub fn configure_builder(settings: &Settings, data: &DataDir, program: &str) -> builder::Config {
    let default = builder::Config::new(locate_cache(settings, data), data.scratch(), program);
    builder::Config {
        workers: is_external(settings).then(|| WorkerEndpoint::new(data.workers(), THIS_PROGRAM)),
        builds: settings.values.limits.builds(default.builds),
        limits_max: settings.run_limits,
        ..settings.values.builds.clone().apply_to(default)
    }
}

pub fn is_external(settings: &Settings) -> bool {
    settings.values.build_workers == Some(BuildWorkers::External)
}

/// The cache directory. Data directories with the same master key may share one.
pub fn locate_cache(settings: &Settings, data: &DataDir) -> PathBuf {
    settings.values.cache.clone().unwrap_or_else(|| data.cache())
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::super::serve_settings::ServeSettings;
    use super::super::settings::ServeArguments;
    use super::*;

    /// Without a model, its settings are refused.
    const MODEL: [&str; 2] = ["--model-url=https://models.example.com/v1/chat/completions", "--model=small"];

    fn describe(argument: Option<&str>) -> String {
        let line: Vec<_> = MODEL.into_iter().chain(argument).collect();
        let arguments = ServeArguments::of_line(&line).expect("a command line");
        let directory = std::env::temp_dir();
        let settings = Settings::read(&arguments).expect("settings");
        let default = runner::Config::new(directory, [0; 32], "lathe");
        let builds = builder::Config::new("cache".into(), "scratch".into(), "lathe").builds;
        let values = &settings.values;
        format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            values.listen(),
            configure_registry(&settings),
            configure_agent_store(&settings).expect("a configuration"),
            configure_api(&settings),
            configure_runner(&settings, default),
            configure_agents(&settings).expect("a configuration"),
            values.limits.builds(builds),
            values.limits.git(),
            values.storage.cache_bytes_max(),
        )
    }

    #[test]
    fn numbers_in_the_help_are_the_defaults() {
        // The client of a model needs it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (default, mut count) = (describe(None), 0);
        for argument in ServeSettings::augment_args(Command::new("lathe")).get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let Some((_, number)) = help.rsplit_once("[default: ") else { continue };
            let number = number.trim_end_matches(']');
            // Others are texts, or shares of other settings.
            if number.contains(' ') || !number.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            let flag = format!("--{}={number}", argument.get_long().expect("a flag"));
            assert_eq!(describe(Some(&flag)), default, "{flag}");
            count += 1;
        }
        assert!(count > 15, "{count} numbers");
    }
}
