//! `checks/*.json`: the author's inputs with their expected results.

use std::collections::{BTreeMap, BTreeSet};

use registry::{EnvvarName, SecretValue, Timestamp, suggest_in};
use runner::{Conversation, InputSchema, InvocationMode, MOCKS_MAX, Mock, ToolMock};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::blocking::blocking;
use crate::error::{Error, Location};
use crate::text::quote;

pub const STAGE: &str = "checks";
const CHECK: &str = "check";
const DIRECTORY: &str = "checks/";
const SUFFIX: &str = ".json";
/// Checks of a project. Each is a run, and the publisher waits for all of them.
const CHECKS_MAX: usize = 200;
/// Bytes of all check files, which are in memory while the project is built.
const CHECKS_BYTES_MAX: usize = 2 << 20;
/// Characters of a check's name, which is part of every line about the check.
const NAME_CHARACTERS_MAX: usize = 100;

/// A run and its expected result.
#[derive(Debug)]
pub struct Check {
    pub name: String,
    pub file: String,
    pub input_parameters: Map<String, Value>,
    pub invocation_mode: InvocationMode,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    pub sensitive_user_variables: BTreeMap<String, SecretValue>,
    pub envvars: BTreeMap<EnvvarName, String>,
    pub secrets: BTreeMap<EnvvarName, SecretValue>,
    /// Mocks that take precedence over those of the project.
    pub mocks: Vec<Mock>,
    /// Answers to calls of other tools.
    pub tool_mocks: Vec<ToolMock>,
    /// The time at the start of the run. `None` for the current time.
    pub clock: Option<Timestamp>,
    pub conversation: Option<Conversation>,
    pub expected: Expected,
}

#[derive(Debug)]
pub enum Expected {
    Output(Value),
    Error(ExpectedError),
    /// The schema of the output, which need not be an object.
    Schema(InputSchema),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedError {
    pub exception_type: String,
    pub message_contains: Option<String>,
}

/// A file with one check or a list of checks.
#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    List(Vec<Value>),
    One(Value),
}

/// A check in JSON. The fields of its input are named as in an invocation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    name: Option<String>,
    #[serde(default)]
    input_parameters: Map<String, Value>,
    #[serde(default = "regular")]
    invocation_mode: InvocationMode,
    #[serde(default)]
    nonsensitive_user_variables: BTreeMap<String, String>,
    #[serde(default)]
    sensitive_user_variables: BTreeMap<String, String>,
    #[serde(default)]
    envvars: BTreeMap<String, String>,
    #[serde(default)]
    secrets: BTreeMap<String, String>,
    #[serde(default)]
    mocks: Vec<Value>,
    #[serde(default)]
    tool_mocks: Vec<Value>,
    clock: Option<String>,
    conversation: Option<Conversation>,
    expected_output: Option<Value>,
    expected_error: Option<ExpectedError>,
    expected_schema: Option<Value>,
}

const fn regular() -> InvocationMode {
    InvocationMode::Regular
}

/// The check files of a project.
#[derive(Debug, Default)]
pub struct CheckFiles(BTreeMap<String, Vec<u8>>);

impl CheckFiles {
    /// Selects the check files among a project's files.
    #[must_use]
    pub fn select(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let is_check = |path: &str| path.starts_with(DIRECTORY) && path.ends_with(SUFFIX);
        let found = files.iter().filter(|(path, _)| is_check(path));
        Self(found.map(|(path, bytes)| (path.clone(), bytes.clone())).collect())
    }

    /// Reads the checks on a thread for blocking work, since each may have a schema to compile.
    ///
    /// # Errors
    /// When a file is not JSON, or its content is not a check.
    pub async fn read_blocking(&self) -> Result<Vec<Check>, Error> {
        let files = Self(self.0.clone());
        blocking(move || files.read()).await?
    }

    /// Reads the checks in the order of their files' names.
    ///
    /// # Errors
    /// When a file is not JSON, or its content is not a check.
    pub fn read(&self) -> Result<Vec<Check>, Error> {
        let bytes: usize = self.0.values().map(Vec::len).sum();
        if bytes > CHECKS_BYTES_MAX {
            let message = format!("checks have at most {CHECKS_BYTES_MAX} bytes together, and these {bytes}");
            return Err(Error::failed(STAGE, CHECK, message).at(Location::file(DIRECTORY)));
        }
        let mut checks = Vec::new();
        for (path, bytes) in &self.0 {
            checks.extend(read_file(path, bytes)?);
        }
        if checks.len() > CHECKS_MAX {
            let message = format!("a project has at most {CHECKS_MAX} checks, and this one {}", checks.len());
            return Err(Error::failed(STAGE, CHECK, message).at(Location::file(DIRECTORY)));
        }
        let mut names = BTreeSet::new();
        match checks.iter().find(|check| !names.insert(check.name.as_str())) {
            Some(twin) => {
                let message = format!("another check has the name {}, too; rename one of them", quote(&twin.name));
                Err(Error::failed(STAGE, CHECK, message).at(Location::file(&twin.file)))
            }
            None => Ok(checks),
        }
    }
}

fn read_file(path: &str, bytes: &[u8]) -> Result<Vec<Check>, Error> {
    let file: File = registry::read_json(bytes)
        .map_err(|error| Error::failed(STAGE, CHECK, error.to_string()).at(Location::of_json(path, &error)))?;
    let stem = path.strip_prefix(DIRECTORY).and_then(|name| name.strip_suffix(SUFFIX)).unwrap_or(path);
    match file {
        File::One(value) => read_check(path, stem.to_owned(), value)
            .map(|check| vec![check])
            .map_err(|problem| Error::failed(STAGE, CHECK, problem).at(Location::file(path))),
        File::List(values) => {
            let one = |(index, value)| {
                let refuse =
                    |problem| Error::failed(STAGE, CHECK, format!("check {index}: {problem}")).at(Location::file(path));
                read_check(path, format!("{stem}[{index}]"), value).map_err(refuse)
            };
            values.into_iter().enumerate().map(one).collect()
        }
    }
}

fn read_check(path: &str, default_name: String, value: Value) -> Result<Check, String> {
    let mut document: Document = serde_json::from_value(value).map_err(|error| suggest_in(error.to_string()))?;
    let (mocks, tool_mocks) = (std::mem::take(&mut document.mocks), std::mem::take(&mut document.tool_mocks));
    let (envvars, secrets) = (std::mem::take(&mut document.envvars), std::mem::take(&mut document.secrets));
    Ok(Check {
        name: check_name(document.name.take().unwrap_or(default_name))?,
        file: path.to_owned(),
        mocks: read_mocks(mocks)?,
        tool_mocks: read_tool_mocks(tool_mocks)?,
        clock: document.clock.take().map(|text| parse_clock(&text)).transpose()?,
        conversation: document.conversation.take(),
        envvars: parse_variables("envvars", envvars)?,
        secrets: parse_variables("secrets", secrets)?,
        expected: read_expected(&mut document)?,
        input_parameters: document.input_parameters,
        invocation_mode: document.invocation_mode,
        nonsensitive_user_variables: document.nonsensitive_user_variables,
        sensitive_user_variables: hide_values(document.sensitive_user_variables),
    })
}

fn check_name(text: String) -> Result<String, String> {
    let is_good = !text.trim().is_empty() && !text.chars().any(char::is_control);
    if is_good && text.chars().count() <= NAME_CHARACTERS_MAX {
        return Ok(text);
    }
    Err(format!("name must be one line of at most {NAME_CHARACTERS_MAX} characters"))
}

fn read_expected(document: &mut Document) -> Result<Expected, String> {
    match (document.expected_output.take(), document.expected_error.take(), document.expected_schema.take()) {
        (Some(output), None, None) => Ok(Expected::Output(output)),
        (None, Some(error), None) => Ok(Expected::Error(error)),
        (None, None, Some(schema)) => InputSchema::compile(&schema)
            .map(Expected::Schema)
            .map_err(|problem| format!("expected_schema is not a JSON Schema: {problem}")),
        _ => Err("it needs one of expected_output, expected_error and expected_schema, and no two of them".into()),
    }
}

fn read_mocks(values: Vec<Value>) -> Result<Vec<Mock>, String> {
    if values.len() > MOCKS_MAX {
        return Err(format!("a check has at most {MOCKS_MAX} mocks"));
    }
    let one = |(index, value)| Mock::read(value).map_err(|problem| format!("mocks[{index}]: {problem}"));
    values.into_iter().enumerate().map(one).collect()
}

fn read_tool_mocks(values: Vec<Value>) -> Result<Vec<ToolMock>, String> {
    if values.len() > MOCKS_MAX {
        return Err(format!("a check has at most {MOCKS_MAX} tool_mocks"));
    }
    let one = |(index, value)| {
        let mock: Result<ToolMock, _> = serde_json::from_value(value);
        let mock = mock.map_err(|error| format!("tool_mocks[{index}]: {}", suggest_in(error.to_string())))?;
        match mock.problem() {
            Some(problem) => Err(format!("tool_mocks[{index}]: {problem}")),
            None => Ok(mock),
        }
    };
    values.into_iter().enumerate().map(one).collect()
}

/// The start time of a check. The guests' clock counts from 1970.
fn parse_clock(text: &str) -> Result<Timestamp, String> {
    let moment = text.parse::<jiff::Timestamp>().ok().filter(|moment| moment.as_millisecond() >= 0);
    let moment = moment.ok_or("clock must be a time since 1970 with its offset, such as 2030-01-31T12:00:00Z")?;
    Ok(Timestamp::from_milliseconds(moment.as_millisecond()))
}

fn parse_variables<T: From<String>>(
    key: &str,
    values: BTreeMap<String, String>,
) -> Result<BTreeMap<EnvvarName, T>, String> {
    let one = |(name, value): (String, String)| {
        let name = EnvvarName::parse(&name).map_err(|error| format!("{key}: {error}"))?;
        Ok((name, T::from(value)))
    };
    values.into_iter().map(one).collect()
}

fn hide_values(values: BTreeMap<String, String>) -> BTreeMap<String, SecretValue> {
    values.into_iter().map(|(name, value)| (name, SecretValue::new(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn read(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<Check>, Error> {
        CheckFiles::select(files).read()
    }

    const ONE: &str = r#"{"input_parameters": {"name": "Ada"}, "expected_output": "Hello"}"#;

    #[test]
    fn checks_are_named_after_their_files() {
        let two = format!("[{ONE}, {}]", ONE.replacen('{', r#"{"name": "greets", "#, 1));
        let checks = [("checks/b.json", ONE), ("checks/a.json", two.as_str()), ("checks/deep/c.json", ONE)];
        let checks = read(&files(&[&checks[..], &[("checks/x.md", "#"), ("tool.py", "")]].concat())).unwrap();
        let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["a[0]", "greets", "b", "deep/c"]);
        assert!(checks.iter().all(|check| matches!(check.invocation_mode, InvocationMode::Regular)));
        assert!(read(&files(&[("tool.py", "")])).unwrap().is_empty());
    }

    #[test]
    fn every_field_of_a_check_is_read() {
        let text = r#"{
            "name": "all", "input_parameters": {"a": 1}, "invocation_mode": "conversation-simulation",
            "nonsensitive_user_variables": {"city": "Oslo"}, "sensitive_user_variables": {"pin": "1234"},
            "envvars": {"REGION": "eu"}, "secrets": {"API_KEY": "k"},
            "mocks": [{"request": {"method": "GET", "url": "https://a.example.com/*"}, "response": {}}],
            "clock": "2030-01-31T12:00:00+02:00",
            "conversation": {"conversation_id": "c", "interaction_id": null, "user_id": "u"},
            "expected_error": {"exception_type": "ValueError", "message_contains": "no"}
        }"#;
        let check = read(&files(&[("checks/a.json", text)])).unwrap().remove(0);
        assert!(matches!(check.invocation_mode, InvocationMode::ConversationSimulation));
        assert_eq!((check.mocks.len(), check.envvars.len(), check.secrets.len()), (1, 1, 1));
        assert_eq!(check.clock.unwrap().to_string(), "2030-01-31T10:00:00.000Z");
        let conversation = check.conversation.unwrap();
        assert_eq!((conversation.conversation_id.as_deref(), conversation.user_id.as_str()), (Some("c"), "u"));
        assert!(matches!(check.expected, Expected::Error(error) if error.exception_type == "ValueError"));
        assert!(!format!("{:?}", check.sensitive_user_variables).contains("1234"));
    }

    #[test]
    fn refusals_name_file_and_check() {
        let with = |members: &str| ONE.replacen('{', &format!("{{{members}, "), 1);
        for (text, expected) in [
            ("{", "checks/a.json:1: "),
            ("[{}]", "checks/a.json: check 0: it needs one of expected_output"),
            (&with(r#""expected_error": {"exception_type": "E"}"#), "checks/a.json: it needs one of"),
            (&with(r#""input": {}"#), "unknown field `input`"),
            (&with(r#""invocation_mode": "dry""#), "unknown variant `dry`"),
            (&with(r#""name": "a\nb""#), "name must be one line"),
            (&with(r#""envvars": {"no name": ""}"#), "envvars: "),
            (&with(r#""clock": "2030-01-31 12:00""#), "clock must be a time since 1970 with its offset"),
            (&with(r#""clock": "1969-12-31T23:59:59Z""#), "clock must be a time since 1970"),
            (&with(r#""clock": 7"#), "expected a string"),
            (&with(r#""conversation": {}"#), "missing field `user_id`"),
            (&with(r#""conversation": {"user_id": "u", "turn": 1}"#), "unknown field `turn`"),
            (&with(r#""mocks": [{}]"#), "mocks[0]: missing field `request`"),
            (&with(r#""tool_mocks": [{"tool": "weather"}]"#), "tool_mocks[0]: it needs one of output and error"),
            (&with(r#""tool_mocks": [{"tol": "weather"}]"#), "did you mean `tool`?"),
            (r#"{"expected_schema": {"type": 7}}"#, "expected_schema is not a JSON Schema"),
            (&format!(r#"[{ONE}, {}]"#, with(r#""name": "a[0]""#)), "another check has the name \"a[0]\""),
        ] {
            let error = read(&files(&[("checks/a.json", text)])).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
        }
    }

    #[test]
    fn checks_have_bounds() {
        let many = format!("[{}]", vec![ONE; CHECKS_MAX + 1].join(","));
        assert!(read(&files(&[("checks/a.json", &many)])).unwrap_err().to_string().contains("at most 200 checks"));
        let long = format!("{ONE}{}", " ".repeat(CHECKS_BYTES_MAX));
        assert!(read(&files(&[("checks/a.json", &long)])).unwrap_err().to_string().contains("bytes together"));
    }
}
