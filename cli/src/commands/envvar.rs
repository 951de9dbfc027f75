//! `lathe envvar`: the environment variables and secrets of a tool.

use std::collections::{BTreeMap, BTreeSet};

use api::wire::{Tool, ToolVersion};
use clap::{Args, Subcommand};
use registry::closest;
use serde_json::{Value, json};

use super::{completion, env_file, input};
use crate::client::{Client, VersionFilter, read_all};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, render_table};

#[derive(Debug, Subcommand)]
pub enum EnvvarCommand {
    /// List the names of variables, their kinds and the live versions that require them; values are never shown
    List(ListArguments),
    /// Set variables, all or none; existing ones get the new value
    Set(SetArguments),
    /// Remove variables, all or none; refused while a live version requires one of them
    Unset(UnsetArguments),
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
    /// Variables to set; NAME=- reads the value from stdin, NAME alone takes it from the environment
    #[arg(required_unless_present = "env_file", value_name = "NAME[=VALUE]")]
    variables: Vec<String>,
    /// File with variables to set, a line NAME=VALUE for each; - for stdin. Variables of the command line win
    #[arg(long, value_name = "FILE")]
    env_file: Option<String>,
    /// Set them as secrets; a plain variable becomes a secret. Without this option, secrets stay secrets
    #[arg(long)]
    secret: bool,
}

#[derive(Debug, Args)]
pub struct UnsetArguments {
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
    /// Names of the variables to remove
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

pub async fn run(command: EnvvarCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        EnvvarCommand::List(arguments) => list(client, &arguments, screen).await,
        EnvvarCommand::Set(arguments) => set(client, &arguments, screen).await,
        EnvvarCommand::Unset(arguments) => unset(client, &arguments, screen).await,
    }
}

async fn list(client: &Client, arguments: &ListArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    let filter = VersionFilter { constraint: None, deprecated: Some(false) };
    let live: Vec<ToolVersion> = read_all(&client.list_versions(&tool.id, &filter).await?)?;
    let variables: Vec<Variable> = list_variables(&tool, &live);
    if screen.is_json() {
        let documents: Vec<Value> = variables.iter().map(Variable::build_document).collect();
        return screen.print_document(&json!({"tool_id": tool.id, "variables": documents}));
    }
    if variables.is_empty() {
        screen.note(format!("no variables; `lathe envvar set {} NAME=VALUE` sets one", tool.name));
        return Ok(Outcome::Done);
    }
    screen.print_line(render_table(["name", "kind", "required by"], variables.iter().map(Variable::build_row)))?;
    Ok(Outcome::Done)
}

/// A variable of a tool.
struct Variable {
    name: String,
    is_secret: bool,
    required_by: Vec<String>,
}

impl Variable {
    fn build_document(&self) -> Value {
        json!({"name": self.name, "is_secret": self.is_secret, "required_by": self.required_by})
    }

    fn build_row(&self) -> [String; 3] {
        let kind = if self.is_secret { "secret" } else { "plain" };
        let required_by = if self.required_by.is_empty() { "-".to_owned() } else { self.required_by.join(", ") };
        [self.name.clone(), kind.to_owned(), required_by]
    }
}

fn list_variables(tool: &Tool, live: &[ToolVersion]) -> Vec<Variable> {
    let of = |name: &String, is_secret: bool| {
        let required = |version: &&ToolVersion| {
            let names = if is_secret { &version.required_secret_envvars } else { &version.required_envvars };
            names.contains(name)
        };
        let required_by = live.iter().filter(required).map(|version| version.version.to_string()).collect();
        Variable { name: name.clone(), is_secret, required_by }
    };
    let plain = tool.envvars.iter().map(|name| of(name, false));
    plain.chain(tool.secret_envvars.iter().map(|name| of(name, true))).collect()
}

async fn set(client: &Client, arguments: &SetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let mut variables = arguments.env_file.as_deref().map_or_else(|| Ok(BTreeMap::new()), env_file::read)?;
    variables.extend(input::read_pairs(&arguments.variables)?);
    let tool = client.find_tool(&arguments.tool).await?;
    let mut changes = Changes::default();
    for (name, value) in &variables {
        let (is_plain, is_secret) = (tool.envvars.contains(name), tool.secret_envvars.contains(name));
        if is_secret || (is_plain && !arguments.secret) {
            changes.updates.push(json!({"name": name, "value": value}));
            continue;
        }
        if is_plain {
            changes.deletes.push(json!({ "name": name }));
        }
        changes.inserts.push(json!({"name": name, "value": value, "is_secret": arguments.secret}));
    }
    let set = client.modify_envvars(&tool.id, changes.build_document()).await;
    set.map_err(|error| explain_kept_plain(error, &tool, &changes))?;
    warn_of_blanks(&variables, screen);
    let (secrets, updated) = (changes.deletes.len(), changes.updates.len());
    let inserted = changes.inserts.len() - secrets;
    let document = json!({"tool_id": tool.id, "inserted": inserted, "updated": updated, "made_secret": secrets});
    screen.answer(&document, || {
        let made_secret = if secrets > 0 { format!(", {secrets} made secret") } else { String::new() };
        format!("{}: {inserted} new, {updated} changed{made_secret}", tool.name)
    })
}

/// Warns of values that are probably not meant: a program that puts one into a header or a URL gets an error.
fn warn_of_blanks(variables: &BTreeMap<String, String>, screen: Screen) {
    for (name, value) in variables {
        let is_blank = |character: char| character.is_whitespace() || character == '\u{feff}';
        let warning = match () {
            () if value.ends_with(['\n', '\r']) => "ends with a line end, which no header may have",
            () if value.ends_with(is_blank) => "ends with a blank",
            () if value.starts_with(is_blank) => "begins with a blank or a byte order mark",
            () => continue,
        };
        screen.note(format!("warning: the value of {name} {warning}; it was set as it is"));
    }
}

/// Changes of variables in one request. A plain variable that becomes a secret is deleted and inserted.
#[derive(Default)]
struct Changes {
    inserts: Vec<Value>,
    updates: Vec<Value>,
    deletes: Vec<Value>,
}

impl Changes {
    fn build_document(&self) -> Value {
        json!({"inserts": self.inserts, "updates": self.updates, "deletes": self.deletes})
    }
}

/// Explains why a plain variable cannot become a secret: live versions read it as a plain one.
fn explain_kept_plain(error: anyhow::Error, tool: &Tool, changes: &Changes) -> anyhow::Error {
    let is_required = matches!(error.downcast_ref::<Failure>(), Some(failure) if failure.code() == "variable_required");
    if !is_required || changes.deletes.is_empty() {
        return error;
    }
    let advice = format!(
        "nothing was set: a plain variable that a live version requires cannot become a secret. Publish a version of {} that \
         requires it under a new name as a secret",
        tool.name
    );
    Failure::add_hint(error, advice)
}

async fn unset(client: &Client, arguments: &UnsetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let tool = client.find_tool(&arguments.tool).await?;
    // A name that is given twice is removed once.
    let names: BTreeSet<&str> = arguments.names.iter().map(String::as_str).collect();
    let deletes: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let unset = client.modify_envvars(&tool.id, json!({ "deletes": deletes })).await;
    unset.map_err(|error| suggest_other_name(error, &tool, &names))?;
    let document = json!({"tool_id": tool.id, "deleted": names.len()});
    screen.answer(&document, || format!("{}: {} removed", tool.name, Vec::from_iter(names).join(", ")))
}

/// Adds the variable that was probably meant to the refusal of one that does not exist.
fn suggest_other_name(error: anyhow::Error, tool: &Tool, names: &BTreeSet<&str>) -> anyhow::Error {
    let known = || tool.envvars.iter().chain(&tool.secret_envvars).map(String::as_str);
    let unknown = names.iter().filter(|name| known().all(|known| known != **name));
    let meant = unknown.filter_map(|name| Some(format!("`{}` instead of `{name}`", closest(name, known())?)));
    match meant.collect::<Vec<_>>() {
        none if none.is_empty() => error,
        meant => Failure::add_hint(
            error,
            format!("did you mean {}? `lathe envvar list {}` lists the variables", meant.join(", "), tool.name),
        ),
    }
}
