//! What the author declares, in the project file of the tool's language.

mod fields;
mod limits;
mod node;
mod project_file;

use std::collections::BTreeMap;

use registry::{EnvvarName, HostPattern, Language, RunBounds};

use crate::error::{Error, Place};
use fields::{Fields, Located};
pub use node::{Node, Value, from_toml};
use project_file::{Convention, EntryPoint};

const STAGE: &str = "manifest";

/// More hosts than this is no list that anyone reviews.
const ALLOWED_HOSTS_MAX: usize = 100;
const REQUIRED_VARIABLES_MAX: usize = 100;
const MEMORY_MEGABYTES_MAX: u64 = 4_096;
const DAY_MS: u64 = 86_400_000;

/// A tool project's declarations, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub language: Language,
    pub name: String,
    pub entry_point: String,
    /// A file of the project; otherwise derived from the entry point's types.
    pub input_schema: Option<String>,
    /// A file of the project, that outputs are held against.
    pub output_schema: Option<String>,
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
    /// The packages that the project asks for, which need a lock file.
    pub dependencies: Vec<String>,
}

impl Manifest {
    /// Reads the project's manifest.
    ///
    /// # Errors
    /// With file, line and key.
    pub fn read(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        let (convention, document) = project_file::find(files)?;
        let lathe = Fields::new(convention.file, convention.table, document.at(convention.table))?;
        let project =
            Project { name: name(convention, &document)?, dependencies: dependencies(convention, &document)?, files };
        read(convention, project, lathe)
    }
}

/// What the language's own tools read, too.
struct Project<'f> {
    name: String,
    dependencies: Vec<String>,
    files: &'f BTreeMap<String, Vec<u8>>,
}

fn read(convention: &Convention, project: Project<'_>, mut lathe: Fields) -> Result<Manifest, Error> {
    let tape = lathe.flag("tape")?.map(|found| found.value);
    let required_secret_envvars = variables(&mut lathe, "required_secret_envvars")?;
    let manifest = Manifest {
        language: convention.language,
        name: project.name,
        dependencies: project.dependencies,
        entry_point: entry_point(&mut lathe, &convention.entry_point, project.files)?,
        input_schema: file(&mut lathe, "input_schema")?,
        output_schema: file(&mut lathe, "output_schema")?,
        required_envvars: variables(&mut lathe, "required_envvars")?,
        allowed_hosts: allowed_hosts(&mut lathe)?,
        secret_hosts: secret_hosts(&mut lathe, &required_secret_envvars)?,
        required_secret_envvars,
        limits: limits::read(lathe.table("limits")?)?,
        timeout_ms: lathe.seconds("timeout_seconds", DAY_MS)?,
        memory_bytes: lathe.number("memory_mb", MEMORY_MEGABYTES_MAX)?.map(|megabytes| megabytes << 20),
        tape: tape.unwrap_or(true),
        recorded_answers: recorded_answers(&mut lathe, tape)?,
    };
    lathe.finish().map(|()| manifest)
}

fn name(convention: &Convention, document: &Node) -> Result<String, Error> {
    match document.at(convention.name) {
        Some(Node { value: Value::Text(name), .. }) => Ok(name.clone()),
        Some(node) => {
            let message = format!("{} must be a string", convention.name.join("."));
            Err(Error::failed(STAGE, "name", message, Place::line(convention.file, node.line)))
        }
        None => {
            let message = format!("the project has no name: there is no {}", convention.name.join("."));
            Err(Error::failed(STAGE, "project", message, Place::file(convention.file)))
        }
    }
}

fn dependencies(convention: &Convention, document: &Node) -> Result<Vec<String>, Error> {
    let refuse = |line| {
        let message = format!("{} lists no packages", convention.dependencies.join("."));
        Error::failed(STAGE, "dependencies", message, Place::line(convention.file, line))
    };
    let Some(node) = document.at(convention.dependencies) else { return Ok(Vec::new()) };
    match &node.value {
        Value::Table(table) => Ok(table.keys().cloned().collect()),
        Value::List(list) => {
            let one = |node: &Node| match &node.value {
                Value::Text(text) => Ok(text.clone()),
                _ => Err(refuse(node.line)),
            };
            list.iter().map(one).collect()
        }
        _ => Err(refuse(node.line)),
    }
}

/// A tool that keeps nothing of its runs keeps no answers, either.
fn recorded_answers(lathe: &mut Fields, tape: Option<bool>) -> Result<bool, Error> {
    match lathe.flag("recorded_answers")?.filter(|found| found.value) {
        Some(found) if tape == Some(false) => {
            let message = "must not be true with `tape = false`, which keeps nothing of what runs were answered";
            Err(lathe.refuse("recorded_answers", found.line, message))
        }
        found => Ok(found.is_some()),
    }
}

fn entry_point(lathe: &mut Fields, rules: &EntryPoint, files: &BTreeMap<String, Vec<u8>>) -> Result<String, Error> {
    match lathe.text("entry_point")? {
        None => Ok(default(rules, files).into()),
        Some(found) if (rules.is_valid)(&found.value) => Ok(found.value),
        Some(found) => Err(lathe.refuse("entry_point", found.line, rules.rule)),
    }
}

fn default(rules: &EntryPoint, files: &BTreeMap<String, Vec<u8>>) -> &'static str {
    let found = rules.defaults.iter().find(|file| files.contains_key(**file));
    found.or(rules.defaults.first()).copied().unwrap_or_default()
}

/// A file of the project.
fn file(lathe: &mut Fields, key: &str) -> Result<Option<String>, Error> {
    let Some(found) = lathe.text(key)? else { return Ok(None) };
    let path = &found.value;
    let inside = !path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if inside { Ok(Some(found.value)) } else { Err(lathe.refuse(key, found.line, "must be a file of the project")) }
}

fn variables(lathe: &mut Fields, key: &str) -> Result<Vec<EnvvarName>, Error> {
    let names = lathe.texts(key)?;
    bounded(lathe, key, &names, REQUIRED_VARIABLES_MAX)?;
    names.iter().map(|name| variable(lathe, key, name.line, &name.value)).collect()
}

fn variable(lathe: &Fields, key: &str, line: u32, name: &str) -> Result<EnvvarName, Error> {
    EnvvarName::parse(name).map_err(|error| lathe.refuse(key, line, &error.to_string()))
}

fn allowed_hosts(lathe: &mut Fields) -> Result<Vec<String>, Error> {
    let key = "allowed_hosts";
    let found = lathe.texts(key)?;
    hosts(lathe, key, &found)
}

fn hosts(lathe: &Fields, key: &str, hosts: &[Located<String>]) -> Result<Vec<String>, Error> {
    bounded(lathe, key, hosts, ALLOWED_HOSTS_MAX)?;
    let one = |host: &Located<String>| match HostPattern::parse(&host.value) {
        Ok(pattern) if pattern.is_any() => Err(lathe.refuse(key, host.line, "must name hosts; `*` alone names none")),
        Ok(pattern) => Ok(pattern.to_string()),
        Err(error) => Err(lathe.refuse(key, host.line, error.reason)),
    };
    hosts.iter().map(one).collect()
}

/// Only a secret that the version requires can be sent.
fn secret_hosts(lathe: &mut Fields, required: &[EnvvarName]) -> Result<BTreeMap<EnvvarName, Vec<String>>, Error> {
    let key = "secret_hosts";
    let table = lathe.table(key)?;
    let one = |(name, entry): (String, node::Entry)| {
        let name = variable(lathe, key, entry.key_line, &name)?;
        if !required.contains(&name) {
            return Err(lathe.refuse(key, entry.key_line, "must be among `required_secret_envvars`"));
        }
        Ok((name, hosts(lathe, key, &lathe.texts_of(key, entry.node)?)?))
    };
    table.into_entries().map(one).collect()
}

fn bounded(lathe: &Fields, key: &str, values: &[Located<String>], max: usize) -> Result<(), Error> {
    match values.get(max) {
        Some(value) => Err(lathe.refuse(key, value.line, &format!("at most {max} entries"))),
        None => Ok(()),
    }
}

/// Of seconds that make a millisecond and no more than a day.
fn milliseconds(seconds: f64) -> Option<u64> {
    let is_time = (0.001..=86_400.0).contains(&seconds);
    is_time.then(|| std::time::Duration::from_secs_f64(seconds).as_millis()).and_then(|time| time.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn parsed(text: &str) -> Result<Manifest, Error> {
        Manifest::read(&BTreeMap::from([("pyproject.toml".to_owned(), text.into())]))
    }

    pub(super) fn refused(text: &str, expected: &str) {
        let error = parsed(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    #[test]
    fn defaults_stand_for_what_is_not_said() {
        let manifest = parsed("[project]\nname = 'weather'\n").unwrap();
        assert_eq!(manifest.entry_point, "tool:run_tool");
        assert_eq!(manifest.input_schema, None);
        assert_eq!(manifest.timeout_ms, None);
        assert!(manifest.tape && !manifest.recorded_answers);
    }

    #[test]
    fn every_key_is_read() {
        let manifest = parsed(
            "[project]\nname='w'\ndependencies=['attrs']\n[tool.lathe]\nentry_point='a.b:run'\n\
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
        let wanted = |lines: &str| parsed(&lathe(lines)).unwrap().recorded_answers;
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
        let manifest = parsed(&format!("{text}KEY = ['API.example.com']\n")).unwrap();
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
        refused("[tool.lathe]\n", "project.name");
        refused("[project]\nname = 'w'\n[tool.lathe]\ntimeout_seconds = 'soon'\n", "pyproject.toml:4");
    }
}
