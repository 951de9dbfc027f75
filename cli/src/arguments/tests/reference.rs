//! `docs/reference/cli.md`, made from the command line.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command};

const HEAD: &str = "# Commands\n\nMade from the command line of `lathe`; do not edit. `lathe help COMMAND` prints the same.\n\n\
    Every command accepts `--json`, which prints one JSON document on stdout, also for an error, `-v`, which prints the \
    [code](errors.md) of an error, and `--profile NAME`, which selects a login. The exit status is 0 on success, 1 if the \
    server refuses a request or a tool fails, and 2 for an invalid command line. A constraint of versions is written as in \
    Python (`>=1.2,<2`) or as `1`, `1.2`, `1.x`, `^1.2`, `~1.2` ([rules](http.md#version-constraints)). \
    [Configuration](configuration.md) has the settings of `lathe serve` and `lathe worker`.\n";

fn section(text: &mut String, path: &str, command: &Command) {
    let mut shown = command.clone();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = shown.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = about.split("\n\n").map(sentence).collect::<Vec<_>>().join("\n\n");
    let usage = if command.has_subcommands() { usage.replacen(command.get_name(), path, 1) } else { usage.to_owned() };
    let _infallible = write!(text, "\n## `{path}`\n\n{about}\n\n```text\n{usage}\n```\n");
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| is_shown(argument)).collect();
    if !arguments.is_empty() {
        text.push_str("\n| argument | meaning | environment | default |\n|---|---|---|---|\n");
        arguments.into_iter().for_each(|argument| text.push_str(&row(argument)));
    }
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        section(text, &format!("{path} {}", inner.get_name()), inner);
    }
}

fn is_shown(argument: &Arg) -> bool {
    let is_everywhere = matches!(argument.get_id().as_str(), "json" | "help" | "version_flag");
    !argument.is_hide_set() && !is_everywhere
}

fn row(argument: &Arg) -> String {
    let value = argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).next();
    let value = value.filter(|_| argument.get_action().takes_values());
    let names = argument.get_long().map(|long| format!("--{long}"));
    let written = [names, value].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let environment = argument.get_env().map(|name| format!("`{}`", name.display())).unwrap_or_default();
    let (help, named) = split_default(&help);
    let default = argument.get_default_values().iter().map(|value| format!("`{}`", value.display()));
    let default = default.filter(|_| argument.get_action().takes_values()).collect::<Vec<_>>().join(", ");
    let default = if default.is_empty() { named } else { &default };
    format!("| `{written}` | {} | {environment} | {} |\n", cell(&sentence(help)), cell(default))
}

/// Splits a help text at the default that it names. Most settings have their default in the help text, since clap does not
/// know it: a flag that is not given may be in the settings file.
fn split_default(help: &str) -> (&str, &str) {
    let named = help.trim().strip_suffix(']').and_then(|help| help.rsplit_once(" [default: "));
    named.unwrap_or((help, ""))
}

fn cell(text: &str) -> String {
    text.replace("\n\n", " ").replace('\n', " ").replace('|', "\\|")
}

/// Help has no full stop; a document has.
fn sentence(help: &str) -> String {
    match help.trim() {
        "" => String::new(),
        help if help.ends_with(['.', ':', ')', '`']) => help.to_owned(),
        help => format!("{help}."),
    }
}

fn document() -> String {
    let command = super::command().term_width(0);
    let mut text = HEAD.to_owned();
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        section(&mut text, &format!("lathe {}", inner.get_name()), inner);
    }
    text
}

#[test]
fn the_reference_has_the_command_line() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/cli.md");
    let document = document();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &document).expect("the reference");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let command = "INSTA_UPDATE=always cargo test -p cli --bins reference";
    assert!(written == document, "docs/reference/cli.md is older than the command line; write it with `{command}`");
}
