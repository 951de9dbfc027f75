//! The tables of settings in `docs/reference/configuration.md`, made from the command line and the keys of the settings file.

use std::path::Path;

use clap::{Arg, Args, Command};

use super::rows::{is_shown, is_update, render_default, render_meaning, render_notes, render_variable};
use crate::server::{ServeSettings, WorkerSettings, find_key};

/// Beginnings of the marks around a table.
const BEGIN: &str = "<!-- The table up to the end mark is made from the code";
const END: &str = "<!-- end of the table -->\n";

fn list_arguments<T: Args>() -> Vec<Arg> {
    let command = T::augment_args(Command::new("lathe"));
    command.get_arguments().filter(|argument| is_shown(argument)).cloned().collect()
}

fn render_flag(argument: &Arg) -> String {
    format!("`--{}`", argument.get_long().unwrap_or_default())
}

/// The meaning of a setting, which names each of its values.
fn describe(argument: &Arg) -> String {
    let described = [render_meaning(argument), render_notes(argument)].join(" ");
    let is_boolean = argument.get_possible_values().iter().any(|value| value.get_name() == "true");
    for value in argument.get_possible_values().iter().filter(|_| !is_boolean) {
        assert!(
            described.contains(value.get_name()),
            "{} does not explain {}",
            render_flag(argument),
            value.get_name()
        );
    }
    described.trim_end().to_owned()
}

fn render_default_or_none(argument: &Arg) -> String {
    Some(render_default(argument)).filter(|default| !default.is_empty()).unwrap_or_else(|| "none".to_owned())
}

/// The settings of a server, with the keys that its file has.
fn render_server_table() -> String {
    let mut text =
        "| `lathe serve` | environment | `lathe.toml` | default | meaning |\n|---|---|---|---|---|\n".to_owned();
    for argument in list_arguments::<ServeSettings>() {
        let (flag, variable, default) =
            (render_flag(&argument), render_variable(&argument), render_default_or_none(&argument));
        let key = match find_key(argument.get_id().as_str()) {
            Some((None, key)) => format!("`{key}`"),
            Some((Some(table), key)) => format!("`{key}` in `[{table}]`"),
            None => String::new(),
        };
        text.push_str(&format!("| {flag} | {variable} | {key} | {default} | {} |\n", describe(&argument)));
    }
    text
}

/// The settings of a worker. Those with the variable of a server's setting are the server's.
fn render_worker_table() -> String {
    let server: Vec<_> = list_arguments::<ServeSettings>().iter().map(render_variable).collect();
    let arguments = list_arguments::<WorkerSettings>();
    let (shared, own): (Vec<_>, Vec<_>) =
        arguments.iter().partition(|argument| server.contains(&render_variable(argument)));
    let shared: Vec<_> = shared.into_iter().map(render_flag).collect();
    let mut text = "| `lathe worker` | environment | default | meaning |\n|---|---|---|---|\n".to_owned();
    for argument in own {
        let (flag, variable, default) =
            (render_flag(argument), render_variable(argument), render_default_or_none(argument));
        text.push_str(&format!("| {flag} | {variable} | {default} | {} |\n", describe(argument)));
    }
    let same = "as for the server";
    text.push_str(&format!("| {} | {same} | {same} | {same} |\n", shared.join(", ")));
    text
}

/// Replaces the text between the marks of a table, of which the first is the given one.
fn replace(document: &str, name: &str, table: &str) -> String {
    let begin = format!("{BEGIN}: {name} -->\n");
    let (before, rest) = document.split_once(&begin).expect("a begin mark");
    let (_, after) = rest.split_once(END).expect("an end mark");
    format!("{before}{begin}\n{table}\n{END}{after}")
}

#[test]
fn the_configuration_has_the_settings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/configuration.md");
    let written = std::fs::read_to_string(&path).expect("the page");
    let document = replace(&written, "lathe serve", &render_server_table());
    let document = replace(&document, "lathe worker", &render_worker_table());
    if is_update() {
        std::fs::write(&path, &document).expect("the page");
        return;
    }
    let command = "INSTA_UPDATE=always cargo test -p cli --bins configuration";
    assert!(
        written == document,
        "docs/reference/configuration.md is older than the settings; write it with `{command}`"
    );
}

/// Otherwise a key would be missing, or be one that no flag has.
#[test]
fn every_setting_has_a_key() {
    let without: Vec<_> = list_arguments::<ServeSettings>()
        .iter()
        .filter(|argument| find_key(argument.get_id().as_str()).is_none())
        .map(|argument| argument.get_id().to_string())
        .collect();
    assert_eq!(without, ["config"]);
}
