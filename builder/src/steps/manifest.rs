//! `pyproject.toml`: what the author declares.

mod limits;

use std::collections::BTreeMap;
use std::ops::Range;

use registry::{EnvvarName, HostPattern, RunBounds};
use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, Place};

pub const FILE: &str = "pyproject.toml";
const STAGE: &str = "manifest";

/// `package.module:function`.
const DEFAULT_ENTRY_POINT: &str = "tool:run_tool";
/// More hosts than this is no list that anyone reviews.
const ALLOWED_HOSTS_MAX: usize = 100;
const REQUIRED_VARIABLES_MAX: usize = 100;

/// A tool project's declarations, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub name: String,
    pub entry_point: String,
    /// A file of the project; otherwise derived from the entry point's types.
    pub input_schema: Option<String>,
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub allowed_hosts: Vec<String>,
    /// Secrets that stay with the host, and where it sends them.
    pub secret_hosts: BTreeMap<EnvvarName, Vec<String>>,
    pub timeout_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub limits: RunBounds,
    /// Whether runs are kept so that they can be replayed.
    pub tape: bool,
    /// Whether what requests were answered is kept, too, and answers in simulations.
    pub recorded_answers: bool,
    /// Whether `[project]` asks for packages, which need a lock file.
    pub dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    project: Option<Project>,
    tool: Option<ToolTable>,
}

#[derive(Deserialize)]
struct Project {
    name: Spanned<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct ToolTable {
    lathe: Option<Lathe>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lathe {
    entry_point: Option<Spanned<String>>,
    input_schema: Option<Spanned<String>>,
    #[serde(default)]
    required_envvars: Vec<Spanned<String>>,
    #[serde(default)]
    required_secret_envvars: Vec<Spanned<String>>,
    #[serde(default)]
    allowed_hosts: Vec<Spanned<String>>,
    #[serde(default)]
    secret_hosts: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    timeout_seconds: Option<Spanned<f64>>,
    memory_mb: Option<Spanned<u64>>,
    #[serde(default)]
    limits: limits::Limits,
    tape: Option<bool>,
    recorded_answers: Option<Spanned<bool>>,
}

impl Manifest {
    /// Reads the manifest.
    ///
    /// # Errors
    /// With file, line and key.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Error::failed(STAGE, "utf-8", "the file is not UTF-8", Place::file(FILE)))?;
        Reader { text }.read()
    }
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn read(&self) -> Result<Manifest, Error> {
        let document: Document = toml::from_str(self.text).map_err(|error| {
            let place = error.span().map_or_else(|| Place::file(FILE), |span| self.place(&span));
            Error::failed(STAGE, "toml", error.message().trim(), place)
        })?;
        let project = document.project.ok_or_else(|| {
            Error::failed(STAGE, "project", "there is no [project] table with a name", Place::file(FILE))
        })?;
        let lathe = document.tool.and_then(|tool| tool.lathe).unwrap_or_default();
        Ok(Manifest {
            name: project.name.into_inner(),
            dependencies: project.dependencies,
            entry_point: self.entry_point(lathe.entry_point)?,
            input_schema: self.input_schema(lathe.input_schema)?,
            required_envvars: self.variables("required_envvars", &lathe.required_envvars)?,
            required_secret_envvars: self.variables("required_secret_envvars", &lathe.required_secret_envvars)?,
            allowed_hosts: self.hosts("allowed_hosts", &lathe.allowed_hosts)?,
            secret_hosts: self.secret_hosts(&lathe.secret_hosts, &lathe.required_secret_envvars)?,
            limits: self.limits(&lathe.limits)?,
            timeout_ms: lathe.timeout_seconds.map(|value| self.timeout(&value)).transpose()?,
            memory_bytes: lathe.memory_mb.map(|value| self.memory(&value)).transpose()?,
            tape: lathe.tape.unwrap_or(true),
            recorded_answers: self.recorded_answers(lathe.recorded_answers.as_ref(), lathe.tape)?,
        })
    }

    /// A tool that keeps nothing of its runs keeps no answers, either.
    fn recorded_answers(&self, value: Option<&Spanned<bool>>, tape: Option<bool>) -> Result<bool, Error> {
        match value.filter(|value| *value.get_ref()) {
            Some(value) if tape == Some(false) => {
                let message = "must not be true with `tape = false`, which keeps nothing of what runs were answered";
                Err(self.refuse("recorded_answers", &value.span(), message))
            }
            found => Ok(found.is_some()),
        }
    }

    fn entry_point(&self, value: Option<Spanned<String>>) -> Result<String, Error> {
        let Some(value) = value else { return Ok(DEFAULT_ENTRY_POINT.into()) };
        let dotted = |text: &str| text.split('.').all(is_identifier);
        match value.get_ref().split_once(':') {
            Some((module, function)) if dotted(module) && dotted(function) => Ok(value.into_inner()),
            _ => Err(self.refuse(
                "entry_point",
                &value.span(),
                "must be `package.module:function`, such as `tool:run_tool`",
            )),
        }
    }

    fn input_schema(&self, value: Option<Spanned<String>>) -> Result<Option<String>, Error> {
        let Some(value) = value else { return Ok(None) };
        let path = value.get_ref();
        let inside = !path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if inside {
            Ok(Some(value.into_inner()))
        } else {
            Err(self.refuse("input_schema", &value.span(), "must be a file of the project"))
        }
    }

    fn variables(&self, key: &str, values: &[Spanned<String>]) -> Result<Vec<EnvvarName>, Error> {
        self.bounded(key, values, REQUIRED_VARIABLES_MAX)?;
        let one = |value: &Spanned<String>| {
            EnvvarName::parse(value.get_ref()).map_err(|error| self.refuse(key, &value.span(), &error.to_string()))
        };
        values.iter().map(one).collect()
    }

    fn hosts(&self, key: &str, values: &[Spanned<String>]) -> Result<Vec<String>, Error> {
        self.bounded(key, values, ALLOWED_HOSTS_MAX)?;
        let one = |value: &Spanned<String>| match HostPattern::parse(value.get_ref()) {
            Ok(pattern) if pattern.is_any() => {
                Err(self.refuse(key, &value.span(), "must name hosts; `*` alone names none"))
            }
            Ok(pattern) => Ok(pattern.to_string()),
            Err(error) => Err(self.refuse(key, &value.span(), error.reason)),
        };
        values.iter().map(one).collect()
    }

    /// Only a secret that the version requires can be sent.
    fn secret_hosts(
        &self,
        values: &BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
        required: &[Spanned<String>],
    ) -> Result<BTreeMap<EnvvarName, Vec<String>>, Error> {
        let key = "secret_hosts";
        let one = |(name, hosts): (&Spanned<String>, &Vec<Spanned<String>>)| {
            let is_required = required.iter().any(|required| required.get_ref() == name.get_ref());
            let parsed = EnvvarName::parse(name.get_ref());
            match parsed {
                Ok(parsed) if is_required => Ok((parsed, self.hosts(key, hosts)?)),
                Ok(_) => Err(self.refuse(key, &name.span(), "must be among `required_secret_envvars`")),
                Err(error) => Err(self.refuse(key, &name.span(), &error.to_string())),
            }
        };
        values.iter().map(one).collect()
    }

    fn bounded(&self, key: &str, values: &[Spanned<String>], max: usize) -> Result<(), Error> {
        match values.get(max) {
            Some(value) => Err(self.refuse(key, &value.span(), &format!("at most {max} entries"))),
            None => Ok(()),
        }
    }

    fn timeout(&self, value: &Spanned<f64>) -> Result<u64, Error> {
        let message = "must be at least 0.001 and at most 86400";
        milliseconds(*value.get_ref()).ok_or_else(|| self.refuse("timeout_seconds", &value.span(), message))
    }

    fn memory(&self, value: &Spanned<u64>) -> Result<u64, Error> {
        let megabytes = *value.get_ref();
        if !(1..=4_096).contains(&megabytes) {
            return Err(self.refuse("memory_mb", &value.span(), "must be between 1 and 4096"));
        }
        Ok(megabytes << 20)
    }

    fn refuse(&self, key: &str, span: &Range<usize>, message: &str) -> Error {
        Error::failed(STAGE, key, format!("tool.lathe.{key} {message}"), self.place(span))
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        Place::line(FILE, u32::try_from(lines).unwrap_or(u32::MAX - 1) + 1)
    }
}

/// Of seconds that make a millisecond and no more than a day.
fn milliseconds(seconds: f64) -> Option<u64> {
    let is_time = (0.001..=86_400.0).contains(&seconds);
    is_time.then(|| std::time::Duration::from_secs_f64(seconds).as_millis()).and_then(|time| time.try_into().ok())
}

fn is_identifier(part: &str) -> bool {
    let mut characters = part.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || next == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn refused(text: &str, expected: &str) {
        let error = Manifest::parse(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    #[test]
    fn defaults_stand_for_what_is_not_said() {
        let manifest = Manifest::parse(b"[project]\nname = 'weather'\n").unwrap();
        assert_eq!(manifest.entry_point, "tool:run_tool");
        assert_eq!(manifest.input_schema, None);
        assert_eq!(manifest.timeout_ms, None);
        assert!(manifest.tape && !manifest.recorded_answers);
    }

    #[test]
    fn every_key_is_read() {
        let manifest = Manifest::parse(
            b"[project]\nname='w'\ndependencies=['attrs']\n[tool.lathe]\nentry_point='a.b:run'\n\
              input_schema='schemas/in.json'\nrequired_envvars=['REGION']\nrequired_secret_envvars=['KEY']\n\
              allowed_hosts=['API.example.com']\ntimeout_seconds=1.5\nmemory_mb=64\ntape=false\n\
              [tool.lathe.limits]\ncpu_seconds=0.5\nhost_calls=7\nlog_kb=2\nstatus_event_bytes=100\n\
              http_requests=256\nhttp_parallel=1\nhttp_request_kb=3\nhttp_response_kb=4\nhttp_kb=5\n",
        )
        .unwrap();
        assert_eq!(manifest.entry_point, "a.b:run");
        assert_eq!(manifest.input_schema.as_deref(), Some("schemas/in.json"));
        assert_eq!(manifest.allowed_hosts, ["api.example.com"]);
        assert_eq!((manifest.timeout_ms, manifest.memory_bytes), (Some(1_500), Some(64 << 20)));
        let limits = RunBounds {
            cpu_ms: Some(500),
            host_calls: Some(7),
            log_bytes: Some(2_048),
            status_event_bytes: Some(100),
            http_requests: Some(256),
            http_parallel: Some(1),
            http_request_bytes: Some(3 << 10),
            http_response_bytes: Some(4 << 10),
            http_bytes: Some(5 << 10),
            ..RunBounds::default()
        };
        assert_eq!(manifest.limits, limits);
        assert_eq!(manifest.dependencies, ["attrs"]);
        assert!(!manifest.tape);
    }

    #[test]
    fn answers_are_recorded_where_the_author_wants_it_and_runs_are_kept() {
        let lathe = |lines: &str| format!("[project]\nname='w'\n[tool.lathe]\n{lines}");
        let wanted = |lines: &str| Manifest::parse(lathe(lines).as_bytes()).unwrap().recorded_answers;
        assert!(wanted("recorded_answers = true") && wanted("tape = true\nrecorded_answers = true"));
        assert!(!wanted("recorded_answers = false\ntape = false"));
        let both = lathe("tape = false\nrecorded_answers = true");
        refused(&both, "pyproject.toml:5: tool.lathe.recorded_answers must not be true with `tape = false`");
        for wrong in ["'yes'", "1", "[]"] {
            refused(&lathe(&format!("\nrecorded_answers = {wrong}\n")), "pyproject.toml:5: ");
        }
    }

    #[test]
    fn a_secret_with_hosts_is_one_that_the_version_requires() {
        let text = "[project]\nname='w'\n[tool.lathe]\nrequired_secret_envvars=['KEY']\n[tool.lathe.secret_hosts]\n";
        let manifest = Manifest::parse(format!("{text}KEY = ['API.example.com']\n").as_bytes()).unwrap();
        assert_eq!(manifest.secret_hosts[&EnvvarName::parse("KEY").unwrap()], ["api.example.com"]);
        refused(&format!("{text}OTHER = ['api.example.com']\n"), "pyproject.toml:6: tool.lathe.secret_hosts");
        refused(&format!("{text}KEY = ['*']\n"), "must name hosts");
        refused("[project]\nname='w'\n[tool.lathe]\nallowed_hosts=['*.com']\n", "pyproject.toml:4: ");
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        refused("[project]\nname = 'w'\n[tool.lathe]\nentrypoint = 'x'\n", "pyproject.toml:4: ");
        refused("[project]\nname = 'w'\n[tool.lathe]\nentrypoint = 'x'\n", "entrypoint");
        refused(
            "[project]\nname = 'w'\n\n[tool.lathe]\nentry_point = 'x'\n",
            "pyproject.toml:5: tool.lathe.entry_point",
        );
        refused("[project]\nname = 'w'\n[tool.lathe]\nmemory_mb = 0\n", "memory_mb");
        refused("[project]\nname = 'w'\n[tool.lathe]\nrequired_envvars = ['lower']\n", "required_envvars");
        refused("[project]\nname = 'w'\n[tool.lathe]\ninput_schema = '../x'\n", "input_schema");
        refused("[project]\nname = 'w'\n[tool.lathe.limits]\ncpu_seconds = 0\n", "tool.lathe.limits.cpu_seconds");
        refused("[project]\nname = 'w'\n[tool.lathe.limits]\nhandels = 1\n", "pyproject.toml:4: ");
        refused("[project]\nname = 'w'\n[tool.lathe]\ntimeout_seconds = 0.0001\n", "at least 0.001");
        refused("[project\n", "pyproject.toml:1");
        refused("[tool.lathe]\n", "[project]");
        refused("[project]\nname = 'w'\n[tool.lathe]\ntimeout_seconds = 'soon'\n", "pyproject.toml:4");
    }
}
