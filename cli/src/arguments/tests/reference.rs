//! `docs/reference/cli.md`, made from the command line.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command};

use super::rows::{is_shown, is_update, render_default, render_meaning, render_sentence, render_variable};

const HEAD: &str = "# Commands\n\nMade from the command line of `lathe`; do not edit. `lathe help COMMAND` prints the same.\n\n\
    Every command accepts `--json`, which prints one JSON document on stdout, also for an error, `-v`, which prints the \
    [code](errors.md) of an error, and `--profile NAME`, which selects a login. The exit status is 0 on success, 1 if the \
    server refuses a request or a tool fails, and 2 for an invalid command line. A constraint of versions is written as in \
    Python (`>=1.2,<2`) or as `1`, `1.2`, `1.x`, `^1.2`, `~1.2` ([rules](http.md#version-constraints)). \
    [Configuration](configuration.md) has the settings of `lathe serve` and `lathe worker`.\n";

/// Commands whose arguments are settings, with the sections of the configuration that list them.
const SETTINGS: [(&str, &str); 2] = [("lathe serve", "the-server"), ("lathe worker", "build-workers")];

fn add_section(text: &mut String, path: &str, command: &Command) {
    let mut shown = command.clone();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = shown.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = about.split("\n\n").map(render_sentence).collect::<Vec<_>>().join("\n\n");
    let usage = if command.has_subcommands() { usage.replacen(command.get_name(), path, 1) } else { usage.to_owned() };
    let _infallible = write!(text, "\n## `{path}`\n\n{about}\n\n```text\n{usage}\n```\n");
    let arguments: Vec<&Arg> = command.get_arguments().filter(|argument| is_shown(argument)).collect();
    if let Some(table) = SETTINGS.iter().find_map(|(command, table)| (*command == path).then_some(table)) {
        let _infallible = write!(text, "\n[Configuration](configuration.md#{table}) has its settings.\n");
    } else if !arguments.is_empty() {
        text.push_str("\n| argument | meaning | environment | default |\n|---|---|---|---|\n");
        arguments.into_iter().for_each(|argument| text.push_str(&render_row(argument)));
    }
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        add_section(text, &format!("{path} {}", inner.get_name()), inner);
    }
}

fn render_row(argument: &Arg) -> String {
    let value = argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).next();
    let value = value.filter(|_| argument.get_action().takes_values());
    let names = argument.get_long().map(|long| format!("--{long}"));
    let written = [names, value].into_iter().flatten().collect::<Vec<_>>().join(" ");
    format!(
        "| `{written}` | {} | {} | {} |\n",
        render_meaning(argument),
        render_variable(argument),
        render_default(argument)
    )
}

fn render_document() -> String {
    let command = super::build_command().term_width(0);
    let mut text = HEAD.to_owned();
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        add_section(&mut text, &format!("lathe {}", inner.get_name()), inner);
    }
    text
}

#[test]
fn the_reference_has_the_command_line() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/cli.md");
    let document = render_document();
    if is_update() {
        std::fs::write(&path, &document).expect("the reference");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let command = "INSTA_UPDATE=always cargo test -p cli --bins reference";
    assert!(written == document, "docs/reference/cli.md is older than the command line; write it with `{command}`");
}
