//! Inputs and variables from the command line, files, stdin or the environment.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use api::wire::{Input, MODES};
use clap::Args;
use registry::{EnvvarName, InvocationMode, parse_json};
use serde_json::{Map, Value, json};

use super::choice::build_choice_parser;
use crate::failure::Failure;
use crate::text_input::{self, read_stdin};

/// Maximum inputs per call, from the API contract.
const INPUTS_MAX: usize = 10;

/// The inputs of a run.
#[derive(Debug, Args)]
pub struct InputArguments {
    /// Input parameters: a JSON object, @FILE, or - for stdin; up to ten times
    #[arg(long = "input", short = 'i', value_name = "JSON")]
    inputs: Vec<String>,
    /// API of a tool with several APIs, which takes the inputs
    #[arg(long, value_name = "NAME")]
    api: Option<String>,
    /// Invocation mode, which the tool sees
    #[arg(long, default_value = "regular", value_parser = build_choice_parser(&MODES))]
    mode: InvocationMode,
    /// User variable for every input; repeatable
    #[arg(long = "user-variable", value_name = "NAME=VALUE")]
    user_variables: Vec<String>,
    /// User variable that is not recorded; NAME=- reads stdin, NAME alone the environment; repeatable
    #[arg(long = "sensitive-user-variable", value_name = "NAME[=VALUE]")]
    sensitive_user_variables: Vec<String>,
}

impl InputArguments {
    pub const fn is_given(&self) -> bool {
        !self.inputs.is_empty() || self.api.is_some()
    }

    /// An input of a tool with several APIs names the API.
    fn of_api(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        match &self.api {
            Some(api) => Map::from_iter([("api".to_owned(), json!(api)), ("arguments".to_owned(), json!(arguments))]),
            None => arguments,
        }
    }

    /// Returns the given inputs, possibly none.
    pub fn read_given(&self) -> anyhow::Result<Vec<Input>> {
        if self.is_given() { self.read() } else { Ok(Vec::new()) }
    }

    /// Returns the given inputs, or one empty object.
    pub fn read(&self) -> anyhow::Result<Vec<Input>> {
        if self.inputs.len() > INPUTS_MAX {
            return Err(Failure::usage(
                format!("too many inputs: {}", self.inputs.len()),
                "one call takes at most ten inputs",
            ));
        }
        let nonsensitive = read_pairs(&self.user_variables)?;
        let sensitive = read_pairs(&self.sensitive_user_variables)?;
        let texts = if self.inputs.is_empty() { vec!["{}".to_owned()] } else { self.inputs.clone() };
        let input = |text: &String| {
            Ok(Input {
                input_parameters: self.of_api(read_parameters(text)?).into(),
                invocation_mode: self.mode,
                nonsensitive_user_variables: nonsensitive.clone(),
                sensitive_user_variables: sensitive.clone(),
            })
        };
        texts.iter().map(input).collect()
    }
}

pub fn read_parameters(text: &str) -> anyhow::Result<Map<String, Value>> {
    read_object(text, "--input")
}

/// Reads the JSON object of an argument: the object itself, @FILE, or - for stdin.
pub fn read_object(text: &str, argument: &str) -> anyhow::Result<Map<String, Value>> {
    let (source, json) = match text.strip_prefix('@') {
        Some(file) => (file, text_input::read_file(file.as_ref())?),
        None if text == "-" => ("stdin", read_stdin()?),
        None => (argument, text.to_owned()),
    };
    let hint = "give a JSON object such as '{\"name\": \"value\"}'";
    match parse_json(json.as_bytes()) {
        Ok(Value::Object(parameters)) => Ok(parameters),
        Ok(_) => Err(Failure::usage(format!("{source} is JSON, but not an object"), hint)),
        Err(error) => Err(Failure::usage(format!("{source} is not JSON: {error}"), hint)),
    }
}

/// Reads `NAME=VALUE` pairs. `NAME` takes the environment's value and `NAME=-` reads stdin, so that secrets stay out of
/// the shell's history.
pub fn read_pairs(texts: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let mut pairs = BTreeMap::new();
    for text in texts {
        let (name, value) = read_pair(text)?;
        if pairs.insert(name.clone(), value).is_some() {
            return Err(Failure::usage(format!("{name} is given twice"), "give each name once"));
        }
    }
    Ok(pairs)
}

/// Reads variables of a tool as `NAME=VALUE` pairs.
pub fn read_variables<T: From<String>>(texts: &[String]) -> anyhow::Result<BTreeMap<EnvvarName, T>> {
    parse_names(read_pairs(texts)?)
}

/// Checks the names of variables of a tool.
pub fn parse_names<T: From<String>>(pairs: BTreeMap<String, String>) -> anyhow::Result<BTreeMap<EnvvarName, T>> {
    let one = |(name, value): (String, String)| {
        let name = EnvvarName::parse(&name)
            .map_err(|error| Failure::usage(error.to_string(), "give a name such as API_KEY"))?;
        Ok((name, T::from(value)))
    };
    pairs.into_iter().map(one).collect()
}

fn read_pair(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((name, "-")) => match read_secret(name)? {
            value if value.is_empty() => Err(Failure::usage(
                format!("the value of {name} is empty"),
                format!("stdin has one value, for one {name}=-; {name}= gives an empty value"),
            )),
            value => Ok((name.to_owned(), value)),
        },
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => match std::env::var(text) {
            Ok(value) => Ok((text.to_owned(), value)),
            Err(_) => Err(Failure::usage(
                format!("`{text}` has no value, and the environment has no variable of this name"),
                "give NAME=VALUE, or NAME=- to read the value from stdin",
            )),
        },
    }
}

/// Reads a secret: from the terminal without echo, else all of stdin without its last line break.
pub fn read_secret(name: &str) -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        return super::prompt::ask_hidden(&format!("{name}: "));
    }
    let text = read_stdin()?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_hold_an_equals_sign() {
        let read = read_pairs(&["A=b=c".to_owned(), "EMPTY=".to_owned()]).expect("pairs");
        assert_eq!(read["A"], "b=c");
        assert_eq!(read["EMPTY"], "");
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        assert!(read_pairs(&["A=1".to_owned(), "A=2".to_owned()]).is_err());
    }

    #[test]
    fn an_input_is_an_object() {
        assert_eq!(read_parameters("{\"a\": 1}").expect("an object")["a"], 1);
        for text in ["[1]", "{", "1", "@/no/such/file", r#"{"a": 1, "a": 2}"#, r#"{"a": 18446744073709551616}"#] {
            assert!(read_parameters(text).is_err(), "{text}");
        }
    }
}
