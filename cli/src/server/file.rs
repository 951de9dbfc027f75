//! `lathe.toml`, the settings file.
//!
//! The file is read only when `--config` or `LATHE_CONFIG` names it: it can name programs to start and hosts to send
//! requests to, and the current directory may be somebody else's checkout. An unknown key is an error, since most are
//! typing errors.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use registry::{Digest, StorageUrl, suggest_in};
use serde::Deserialize;

use super::builds::{BuildArguments, BuildWorkers};
use super::egress::EgressSettings;
use super::embeddings::EmbeddingSettings;
use super::limits::LimitSettings;
use super::model::{ModelApi, ModelArguments};
use super::rate_limits::RateLimitSettings;
use super::run_limits::RunLimitSettings;
use super::storage::StorageSettings;
use super::telemetry::{LogFormat, MetricsListen};
use crate::failure::Failure;
use crate::registries::DefaultRegistries;
use crate::text_input;

const FILE_NAME: &str = "lathe.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingsFile {
    pub listen: Option<SocketAddr>,
    pub public_url: Option<String>,
    pub oauth_registration: Option<bool>,
    pub trusted_proxies: Option<Vec<String>>,
    pub data: Option<PathBuf>,
    pub database: Option<String>,
    pub log: Option<String>,
    pub log_format: Option<LogFormat>,
    pub runners: Option<u32>,
    pub parallel_runs: Option<u32>,
    pub queued_runs: Option<usize>,
    pub live_versions: Option<u32>,
    pub operation_hours: Option<u32>,
    pub tape_hours: Option<u32>,
    pub history_days: Option<u32>,
    pub library_megabytes: Option<u32>,
    pub library_user_megabytes: Option<u32>,
    pub cache: Option<PathBuf>,
    pub storage: Option<StorageUrl>,
    pub storage_cache_megabytes: Option<u64>,
    pub embeddings_url: Option<String>,
    pub embeddings_model: Option<String>,
    pub embeddings_key_file: Option<PathBuf>,
    pub embeddings_directory: Option<PathBuf>,
    pub model_url: Option<String>,
    pub model_api: Option<ModelApi>,
    pub model: Option<String>,
    pub allowed_models: Option<Vec<String>>,
    pub agent_run_tokens: Option<u64>,
    pub model_key_file: Option<PathBuf>,
    pub run_due_tasks: Option<bool>,
    pub bubblewrap: Option<PathBuf>,
    pub default_registries: Option<DefaultRegistries>,
    pub python_index: Option<String>,
    pub rust_toolchain: Option<PathBuf>,
    pub rust_toolchain_digest: Option<Digest>,
    pub crate_index: Option<String>,
    pub npm_registry: Option<String>,
    pub esbuild: Option<PathBuf>,
    pub esbuild_digest: Option<Digest>,
    pub build_workers: Option<BuildWorkers>,
    #[serde(default)]
    pub limits: LimitSettings,
    #[serde(default)]
    pub egress: EgressSettings,
    #[serde(default)]
    pub run_limits: RunLimitSettings,
    pub rate_limits: Option<RateLimitSettings>,
    pub metrics_listen: Option<MetricsListen>,
    pub otlp_endpoint: Option<String>,
}

impl SettingsFile {
    pub fn storage(&self) -> StorageSettings {
        let Self { storage, storage_cache_megabytes, .. } = self;
        StorageSettings { storage: storage.clone(), storage_cache_megabytes: *storage_cache_megabytes }
    }

    pub fn embeddings(&self) -> EmbeddingSettings {
        EmbeddingSettings {
            embeddings_url: self.embeddings_url.clone(),
            embeddings_model: self.embeddings_model.clone(),
            embeddings_key_file: self.embeddings_key_file.clone(),
            embeddings_directory: self.embeddings_directory.clone(),
        }
    }

    pub fn model(&self) -> ModelArguments {
        ModelArguments {
            model_url: self.model_url.clone(),
            model_api: self.model_api,
            model: self.model.clone(),
            allowed_models: self.allowed_models.clone(),
            agent_run_tokens: self.agent_run_tokens,
            model_key_file: self.model_key_file.clone(),
            run_due_tasks: self.run_due_tasks,
        }
    }

    /// Reads the named file. Without a name, returns no settings.
    pub fn load(named: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = named else { return Ok(Self::default()) };
        let text = text_input::read_file(path)?;
        parse(path, &text)
    }

    /// Reads the named file like [`SettingsFile::load`]. Without a name, a settings file in the current directory is an
    /// error: the command would work on other data than its user expects.
    pub fn load_or_refuse(named: Option<&Path>) -> anyhow::Result<Self> {
        match is_file_ignored(named) {
            true => Err(Failure::usage(
                format!("{FILE_NAME} in the current directory is not read unless it is named"),
                format!(
                    "give `--config {FILE_NAME}` to read it or `--config /dev/null` to ignore it, or set LATHE_CONFIG"
                ),
            )),
            false => Self::load(named),
        }
    }

    /// Takes the settings of builds.
    pub fn take_builds(&mut self) -> BuildArguments {
        BuildArguments {
            bubblewrap: self.bubblewrap.take(),
            default_registries: self.default_registries.take(),
            python_index: self.python_index.take(),
            rust_toolchain: self.rust_toolchain.take(),
            rust_toolchain_digest: self.rust_toolchain_digest.take(),
            crate_index: self.crate_index.take(),
            npm_registry: self.npm_registry.take(),
            esbuild: self.esbuild.take(),
            esbuild_digest: self.esbuild_digest.take(),
        }
    }
}

/// Whether the current directory has a settings file and no file is named.
pub fn is_file_ignored(named: Option<&Path>) -> bool {
    named.is_none() && Path::new(FILE_NAME).exists()
}

fn parse(path: &Path, text: &str) -> anyhow::Result<SettingsFile> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1;
        let key = text.lines().nth(line - 1).and_then(|line| line.split_once('=')).map_or("", |(key, _)| key.trim());
        let reason = suggest_in(error.message().replace('\n', " "));
        Failure::usage(
            format!(
                "{}:{line}: {}{reason}",
                path.display(),
                if key.is_empty() { String::new() } else { format!("{key}: ") }
            ),
            "`lathe serve --help` lists the settings; in the file, write _ instead of -",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(Path::new("lathe.toml"), text).expect_err("refused").to_string()
    }

    #[test]
    fn every_key_is_read() {
        let file = parse(
            Path::new("lathe.toml"),
            "listen = \"127.0.0.1:1\"\ndata = \"d\"\nlog = \"debug\"\nlog_format = \"json\"\nrunners = 1\nparallel_runs = 1\nqueued_runs = 2\nlive_versions = 3\noperation_hours = 4\ntape_hours = 5\nhistory_days = 6\nlibrary_megabytes = 7\nlibrary_user_megabytes = 8\npython_index = \"https://packages.example/simple\"\nbuild_workers = \"external\"\nstorage = \"s3://lathe/tools\"\nstorage_cache_megabytes = 9\nallowed_models = [\"small\"]\nagent_run_tokens = 10\n[limits]\nconnections = 4\n[egress]\nhosts = [\"*.example.com\"]\n",
        )
        .expect("a valid file");
        assert_eq!(file.data, Some(PathBuf::from("d")));
        assert_eq!(file.log_format, Some(LogFormat::Json));
        assert_eq!(file.tape_hours, Some(5));
        assert_eq!(file.history_days, Some(6));
        assert_eq!((file.library_megabytes, file.library_user_megabytes), (Some(7), Some(8)));
        assert_eq!(file.build_workers, Some(BuildWorkers::External));
        assert_eq!(file.storage().storage.map(String::from).as_deref(), Some("s3://lathe/tools"));
        assert_eq!(file.storage().storage_cache_megabytes, Some(9));
        assert_eq!(
            (file.model().allowed_models, file.model().agent_run_tokens),
            (Some(vec!["small".to_owned()]), Some(10))
        );
        assert_eq!(file.limits.connections.map(usize::from), Some(4));
        assert_eq!(file.egress.hosts, Some(vec!["*.example.com".to_owned()]));
    }

    #[test]
    fn an_unknown_key_is_named_with_file_and_line() {
        let message = refusal("data = \"d\"\n\nlisen = \"127.0.0.1:1\"\n");
        assert!(message.starts_with("lathe.toml:3: lisen: unknown field `lisen`"), "{message}");
    }

    #[test]
    fn a_bad_value_is_named_with_file_and_line() {
        let message = refusal("data = \"d\"\nlisten = \"here\"\n");
        assert!(message.starts_with("lathe.toml:2: listen: "), "{message}");
    }
}
