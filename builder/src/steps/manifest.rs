//! The manifest: the author's declarations in the project file of the tool's language.

mod annotations;
mod apis;
mod calls;
mod fields;
mod intervention;
mod limits;
mod mcp;
mod node;
mod project_file;

use std::collections::BTreeMap;

use registry::{
    Annotations, ApiName, Constraint, EnvvarName, HostPattern, Intervention, InterventionRule, Language, McpSettings,
    RunBounds, SystemRole, TaskSupport, ToolName,
};

use crate::composed_path::compose;
use crate::conventions::{ApiFunctions, Convention, EntryPoint};
use crate::error::{Error, Location};
use crate::steps::documents::Documents;
use crate::steps::lock::name;
pub use apis::Api;
use fields::{Fields, Located, STAGE};
pub use intervention::check_arguments;
pub use mcp::check_mcp;
pub use node::{Malformed, Node, Value, from_json, from_toml};

/// Allowed hosts of a tool. Nobody reviews a longer list.
const ALLOWED_HOSTS_MAX: usize = 100;
const REQUIRED_VARIABLES_MAX: usize = 100;

/// The validated declarations of a tool project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    pub language: Language,
    pub name: String,
    /// The code to call. With APIs, the default module of their functions.
    pub entry_point: String,
    /// The file with the schema of inputs. `None` to derive the schema from the entry point's types.
    pub input_schema: Option<String>,
    /// The file with the schema of outputs.
    pub output_schema: Option<String>,
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub allowed_hosts: Vec<String>,
    /// Secrets that only the host reads, with the hosts to which it sends them.
    pub secret_hosts: BTreeMap<EnvvarName, Vec<String>>,
    pub timeout_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub limits: RunBounds,
    /// Whether runs are recorded for replay.
    pub tape: bool,
    /// Whether responses to requests are recorded, too, and used in simulations.
    pub recorded_answers: bool,
    pub annotations: Annotations,
    pub intervention: Intervention,
    pub intervention_rules: Vec<InterventionRule>,
    pub task_support: TaskSupport,
    /// What MCP clients see besides a tool.
    pub mcp: McpSettings,
    /// The functions that agents call by names of their own. Empty for a tool of one function.
    pub apis: BTreeMap<ApiName, Api>,
    /// The instructions for models that have some of the APIs.
    pub system_role: Option<SystemRole>,
    /// The tools that its runs may call, with the versions that it accepts.
    pub calls: BTreeMap<ToolName, Constraint>,
    /// The packages that the project declares, which require a lock file.
    pub dependencies: Vec<Dependency>,
}

impl Manifest {
    /// Reads the project's manifest.
    ///
    /// # Errors
    /// When a declaration is missing or invalid, with file, line and key.
    pub fn read(documents: &Documents, files: &BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        let (convention, document) = project_file::find(documents)?;
        let lathe = Fields::new(convention.file, convention.table, document.find(convention.table))?;
        let project = Project {
            name: read_name(convention, document)?,
            dependencies: read_dependencies(convention, document)?,
            files,
        };
        read(convention, project, lathe)
    }
}

/// The declarations that the language's own tools also read.
struct Project<'f> {
    name: String,
    dependencies: Vec<Dependency>,
    files: &'f BTreeMap<String, Vec<u8>>,
}

fn read(convention: &Convention, project: Project<'_>, mut lathe: Fields) -> Result<Manifest, Error> {
    let tape = lathe.take_flag("tape")?.map(|found| found.value);
    let has_apis = apis::are_declared(&lathe);
    let task_support = annotations::read_task_support(&mut lathe)?;
    let required_secret_envvars = read_variables(&mut lathe, "required_secret_envvars")?;
    let entry_point = compose(&read_entry_point(&mut lathe, convention, project.files)?);
    let manifest = Manifest {
        language: convention.language,
        name: project.name,
        dependencies: project.dependencies,
        system_role: apis::read_system_role(&mut lathe)?,
        apis: apis::read(&mut lathe, convention, &entry_point)?,
        entry_point,
        input_schema: lathe.take_file("input_schema")?,
        output_schema: lathe.take_file("output_schema")?,
        required_envvars: read_variables(&mut lathe, "required_envvars")?,
        allowed_hosts: read_allowed_hosts(&mut lathe)?,
        secret_hosts: read_secret_hosts(&mut lathe, &required_secret_envvars)?,
        required_secret_envvars,
        limits: limits::read(lathe.take_table("limits")?)?,
        timeout_ms: lathe.take_seconds("timeout_seconds", runner::Limits::MAX.wall_ms)?,
        memory_bytes: read_memory(&mut lathe)?,
        tape: tape.unwrap_or(true),
        recorded_answers: read_recorded_answers(&mut lathe, tape)?,
        annotations: annotations::read(lathe.take_table("annotations")?)?,
        intervention: intervention::read(&mut lathe)?,
        intervention_rules: intervention::read_rules(&mut lathe)?,
        task_support,
        mcp: mcp::read(lathe.take_table("mcp")?, task_support, has_apis)?,
        calls: calls::read(&mut lathe)?,
    };
    lathe.finish().map(|()| manifest)
}

/// The memory of a run, up to the maximum of this release.
fn read_memory(lathe: &mut Fields) -> Result<Option<u64>, Error> {
    let megabytes = lathe.take_number("memory_mb", runner::Limits::MAX.memory_bytes >> 20)?;
    Ok(megabytes.map(|megabytes| megabytes << 20))
}

fn read_name(convention: &Convention, document: &Node) -> Result<String, Error> {
    match document.find(convention.name) {
        Some(Node { value: Value::Text(name), .. }) => Ok(name.clone()),
        Some(node) => {
            let message = format!("{} must be a string", convention.name.join("."));
            Err(Error::failed(STAGE, "name", message).at(Location::line(convention.file, node.line)))
        }
        None => {
            let message = format!("the project has no name: there is no {}", convention.name.join("."));
            Err(Error::failed(STAGE, "project", message).at(Location::file(convention.file)))
        }
    }
}

/// A package that a project declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub name: String,
    /// The text of the declaration. Empty if it is no text.
    pub requirement: String,
    pub line: u32,
}

fn read_dependencies(convention: &Convention, document: &Node) -> Result<Vec<Dependency>, Error> {
    let refuse = |line| {
        let message = format!("an entry of {} names no package", convention.dependencies.join("."));
        Error::failed(STAGE, "dependencies", message).at(Location::line(convention.file, line))
    };
    let Some(node) = document.find(convention.dependencies) else { return Ok(Vec::new()) };
    match &node.value {
        Value::Table(table) => {
            let one = |(name, entry): (&String, &node::TableEntry)| {
                let requirement = if let Value::Text(text) = &entry.node.value { text.clone() } else { String::new() };
                Dependency { name: name.clone(), requirement, line: entry.key_line }
            };
            Ok(table.iter().map(one).collect())
        }
        Value::List(list) => {
            let one = |node: &Node| match &node.value {
                Value::Text(text) => {
                    let name = parse_package_name(text).ok_or_else(|| refuse(node.line))?;
                    Ok(Dependency { name, requirement: text.clone(), line: node.line })
                }
                _ => Err(refuse(node.line)),
            };
            list.iter().map(one).collect()
        }
        _ => Err(refuse(node.line)),
    }
}

/// The package name in a requirement.
fn parse_package_name(text: &str) -> Option<String> {
    Some(name::split_name(text.trim())?.0)
}

/// Whether responses are recorded, which requires that runs are recorded.
fn read_recorded_answers(lathe: &mut Fields, tape: Option<bool>) -> Result<bool, Error> {
    match lathe.take_flag("recorded_answers")?.filter(|found| found.value) {
        Some(found) if tape == Some(false) => {
            let message = "must not be true with `tape = false`, which keeps nothing of what runs were answered";
            Err(lathe.refuse("recorded_answers", found.line, message))
        }
        found => Ok(found.is_some()),
    }
}

fn read_entry_point(
    lathe: &mut Fields,
    convention: &Convention,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<String, Error> {
    if let ApiFunctions::OfModules { default, is_valid, rule } = convention.api_functions
        && apis::are_declared(lathe)
    {
        return match lathe.take_text("entry_point")? {
            None => Ok(default.into()),
            Some(found) if is_valid(&found.value) => Ok(found.value),
            Some(found) => Err(lathe.refuse("entry_point", found.line, rule)),
        };
    }
    let rules = &convention.entry_point;
    match lathe.take_text("entry_point")? {
        None => Ok(find_default(rules, files).into()),
        Some(found) if (rules.is_valid)(&found.value) => Ok(found.value),
        Some(found) => Err(lathe.refuse("entry_point", found.line, rules.rule)),
    }
}

fn find_default(rules: &EntryPoint, files: &BTreeMap<String, Vec<u8>>) -> &'static str {
    let found = rules.defaults.iter().find(|file| files.contains_key(**file));
    found.or(rules.defaults.first()).copied().unwrap_or_default()
}

fn read_variables(lathe: &mut Fields, key: &str) -> Result<Vec<EnvvarName>, Error> {
    let names = lathe.take_texts(key)?;
    lathe.bound(key, &names, REQUIRED_VARIABLES_MAX)?;
    names.iter().map(|name| parse_variable(lathe, key, name)).collect()
}

fn parse_variable(lathe: &Fields, key: &str, name: &Located<String>) -> Result<EnvvarName, Error> {
    EnvvarName::parse(&name.value).map_err(|error| lathe.refuse(key, name.line, &error.to_string()))
}

fn read_allowed_hosts(lathe: &mut Fields) -> Result<Vec<String>, Error> {
    let key = "allowed_hosts";
    let found = lathe.take_texts(key)?;
    parse_hosts(lathe, key, &found)
}

fn parse_hosts(lathe: &Fields, key: &str, hosts: &[Located<String>]) -> Result<Vec<String>, Error> {
    lathe.bound(key, hosts, ALLOWED_HOSTS_MAX)?;
    let one = |host: &Located<String>| match HostPattern::parse(&host.value) {
        Ok(pattern) if pattern.is_any() => Err(lathe.refuse(key, host.line, "must name hosts; `*` alone names none")),
        Ok(pattern) => Ok(pattern.to_string()),
        Err(error) => Err(lathe.refuse(key, host.line, error.reason)),
    };
    hosts.iter().map(one).collect()
}

/// The hosts of each secret. Only secrets that the version requires can be sent.
fn read_secret_hosts(lathe: &mut Fields, required: &[EnvvarName]) -> Result<BTreeMap<EnvvarName, Vec<String>>, Error> {
    let key = "secret_hosts";
    let table = lathe.take_table(key)?;
    let one = |(name, entry): (String, node::TableEntry)| {
        let name = parse_variable(lathe, key, &Located { line: entry.key_line, value: name })?;
        if !required.contains(&name) {
            return Err(lathe.refuse(key, entry.key_line, "must be among `required_secret_envvars`"));
        }
        Ok((name, parse_hosts(lathe, key, &lathe.read_texts(key, entry.node)?)?))
    };
    table.into_entries().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn parse(text: &str) -> Result<Manifest, Error> {
        let files = BTreeMap::from([("pyproject.toml".to_owned(), text.into())]);
        Manifest::read(&Documents::parse_here(&files)?, &files)
    }

    pub(super) fn assert_refused(text: &str, expected: &str) {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }

    #[test]
    fn missing_keys_have_defaults() {
        let manifest = parse("[project]\nname = 'weather'\n").unwrap();
        assert_eq!(manifest.entry_point, "tool:run_tool");
        assert_eq!(manifest.input_schema, None);
        assert_eq!(manifest.timeout_ms, None);
        assert!(manifest.tape && !manifest.recorded_answers);
    }

    #[test]
    fn every_key_is_read() {
        let manifest = parse(
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
        let attrs = Dependency { name: "attrs".into(), requirement: "attrs".into(), line: 3 };
        assert_eq!(manifest.dependencies, [attrs]);
        assert!(!manifest.tape);
    }

    #[test]
    fn answers_are_recorded_where_the_author_wants_it_and_runs_are_kept() {
        let lathe = |lines: &str| format!("[project]\nname='w'\n[tool.lathe]\n{lines}");
        let wanted = |lines: &str| parse(&lathe(lines)).unwrap().recorded_answers;
        assert!(wanted("recorded_answers = true") && wanted("tape = true\nrecorded_answers = true"));
        assert!(!wanted("recorded_answers = false\ntape = false"));
        let both = lathe("tape = false\nrecorded_answers = true");
        assert_refused(&both, "pyproject.toml:5: tool.lathe.recorded_answers must not be true with `tape = false`");
        for wrong in ["'yes'", "1", "[]"] {
            assert_refused(&lathe(&format!("\nrecorded_answers = {wrong}\n")), "pyproject.toml:5: ");
        }
    }

    #[test]
    fn a_secret_with_hosts_is_one_that_the_version_requires() {
        let text = "[project]\nname='w'\n[tool.lathe]\nrequired_secret_envvars=['KEY']\n[tool.lathe.secret_hosts]\n";
        let manifest = parse(&format!("{text}KEY = ['API.example.com']\n")).unwrap();
        assert_eq!(manifest.secret_hosts[&EnvvarName::parse("KEY").unwrap()], ["api.example.com"]);
        assert_refused(&format!("{text}OTHER = ['api.example.com']\n"), "pyproject.toml:6: tool.lathe.secret_hosts");
        assert_refused(&format!("{text}KEY = ['*']\n"), "must name hosts");
        assert_refused("[project]\nname='w'\n[tool.lathe]\nallowed_hosts=['*.com']\n", "pyproject.toml:4: ");
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\nentrypoint = 'x'\n", "pyproject.toml:4: ");
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\nentrypoint = 'x'\n", "entrypoint");
        assert_refused(
            "[project]\nname = 'w'\n\n[tool.lathe]\nentry_point = 'x'\n",
            "pyproject.toml:5: tool.lathe.entry_point",
        );
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\nmemory_mb = 0\n", "memory_mb must be between 1 and 256");
        for beyond in ["memory_mb = 257", "memory_mb = 1024", "timeout_seconds = 301", "timeout_seconds = 0.0015"] {
            assert_refused(
                &format!("[project]\nname = 'w'\n[tool.lathe]\n{beyond}\n"),
                "pyproject.toml:4: tool.lathe.",
            );
        }
        let text = "memory_mb is text; write the number 128 without quotes, between 1 and 256";
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\nmemory_mb = '128'\n", text);
        assert_refused(
            "[project]\nname = 'w'\n[tool.lathe]\ntimeout_seconds = '3'\n",
            "write the number 3 without quotes",
        );
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\nrequired_envvars = ['lower']\n", "required_envvars");
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\ninput_schema = '../x'\n", "input_schema");
        assert_refused(
            "[project]\nname = 'w'\n[tool.lathe.limits]\ncpu_seconds = 0\n",
            "tool.lathe.limits.cpu_seconds",
        );
        assert_refused("[project]\nname = 'w'\n[tool.lathe.limits]\nhandels = 1\n", "pyproject.toml:4: ");
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\ntimeout_seconds = 0.0001\n", "at least 0.001");
        assert_refused("[project\n", "pyproject.toml:1");
        assert_refused("[tool.lathe]\n", "project.name");
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\ntimeout_seconds = 'soon'\n", "pyproject.toml:4");
    }
}
