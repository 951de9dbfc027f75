//! Values from the command line, a file, stdin or the environment.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};

use anyhow::Context;
use clap::Args;
use serde_json::{Map, Value};

use crate::client::{Input, Mode};
use crate::failure::Failure;

/// The contract's bound on one call.
const INPUTS_MAX: usize = 10;
/// Larger than the server's bound on a request, so that the server's own message is what people read.
const STDIN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The inputs of a run.
#[derive(Debug, Args)]
pub struct InputArguments {
    /// Input parameters: a JSON object, @FILE, or - for stdin; up to ten times
    #[arg(long = "input", short = 'i', value_name = "JSON")]
    inputs: Vec<String>,
    /// How the tool is asked to behave
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
    /// A variable of the user, for every input
    #[arg(long = "user-variable", value_name = "NAME=VALUE")]
    user_variables: Vec<String>,
    /// A variable of the user that no record keeps; without =VALUE it is read from the environment, with =- from stdin
    #[arg(long = "sensitive-user-variable", value_name = "NAME[=VALUE]")]
    sensitive_user_variables: Vec<String>,
}

impl InputArguments {
    /// The inputs that are given, which may be none.
    pub fn read_given(&self) -> anyhow::Result<Vec<Input>> {
        if self.inputs.is_empty() { Ok(Vec::new()) } else { self.read() }
    }

    /// The inputs; an empty object when none is given.
    pub fn read(&self) -> anyhow::Result<Vec<Input>> {
        if self.inputs.len() > INPUTS_MAX {
            return Err(Failure::usage(
                format!("{} inputs are too many", self.inputs.len()),
                "one call takes up to ten",
            ));
        }
        let nonsensitive = pairs(&self.user_variables)?;
        let sensitive = pairs(&self.sensitive_user_variables)?;
        let texts = if self.inputs.is_empty() { vec!["{}".to_owned()] } else { self.inputs.clone() };
        let input = |text: &String| {
            Ok(Input {
                input_parameters: parameters(text)?,
                invocation_mode: self.mode,
                nonsensitive_user_variables: nonsensitive.clone(),
                sensitive_user_variables: sensitive.clone(),
            })
        };
        texts.iter().map(input).collect()
    }
}

fn parameters(text: &str) -> anyhow::Result<Map<String, Value>> {
    let (source, json) = match text.strip_prefix('@') {
        Some(file) => (file, std::fs::read_to_string(file).with_context(|| format!("reading {file}"))?),
        None if text == "-" => ("stdin", read_stdin()?),
        None => ("--input", text.to_owned()),
    };
    let hint = "give a JSON object such as '{\"name\": \"value\"}'";
    match serde_json::from_str(&json) {
        Ok(Value::Object(parameters)) => Ok(parameters),
        Ok(_) => Err(Failure::usage(format!("{source} is JSON, but no object"), hint)),
        Err(error) => Err(Failure::usage(format!("{source} is not JSON: {error}"), hint)),
    }
}

/// Reads `NAME=VALUE` pairs; a lone `NAME` takes the environment's value and `NAME=-` takes stdin, which keeps secrets out of the shell's history.
pub fn pairs(texts: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let mut pairs = BTreeMap::new();
    for text in texts {
        let (name, value) = pair(text)?;
        if pairs.insert(name.clone(), value).is_some() {
            return Err(Failure::usage(format!("{name} is given twice"), "give every name once"));
        }
    }
    Ok(pairs)
}

fn pair(text: &str) -> anyhow::Result<(String, String)> {
    match text.split_once('=') {
        Some((name, "-")) => Ok((name.to_owned(), read_secret(name)?)),
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => match std::env::var(text) {
            Ok(value) => Ok((text.to_owned(), value)),
            Err(_) => Err(Failure::usage(
                format!("`{text}` is no NAME=VALUE, and the environment has no variable of that name"),
                "write NAME=VALUE, or NAME=- to read the value from stdin",
            )),
        },
    }
}

/// Reads one secret: without echo from a terminal, else stdin to its end without the last line break.
pub fn read_secret(name: &str) -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        return super::prompt::hidden(&format!("{name}: "));
    }
    let text = read_stdin()?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

/// All of stdin, up to a bound.
pub fn read_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().take(STDIN_BYTES_MAX).read_to_string(&mut text).context("reading stdin")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_hold_an_equals_sign() {
        let read = pairs(&["A=b=c".to_owned(), "EMPTY=".to_owned()]).expect("pairs");
        assert_eq!(read["A"], "b=c");
        assert_eq!(read["EMPTY"], "");
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        assert!(pairs(&["A=1".to_owned(), "A=2".to_owned()]).is_err());
    }

    #[test]
    fn an_input_is_an_object() {
        assert_eq!(parameters("{\"a\": 1}").expect("an object")["a"], 1);
        for text in ["[1]", "{", "1", "@/no/such/file"] {
            assert!(parameters(text).is_err(), "{text}");
        }
    }
}
