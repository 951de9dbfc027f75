//! Cells of the tables of arguments and settings in the reference.

use clap::Arg;

/// Whether the pages are to be written again.
pub fn is_update() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

/// Whether the argument is one of its command alone.
pub fn is_shown(argument: &Arg) -> bool {
    let is_everywhere = matches!(argument.get_id().as_str(), "json" | "help" | "version_flag");
    !argument.is_hide_set() && !is_everywhere
}

/// The help, without the default that it names.
pub fn render_meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    render_cell(&render_sentence(split_default(&help).0))
}

/// Returns what the comment of a setting says beyond its help.
pub fn render_notes(argument: &Arg) -> String {
    let help = argument.get_long_help().map(ToString::to_string).unwrap_or_default();
    help.split_once("\n\n").map(|(_, notes)| render_cell(&render_sentence(notes))).unwrap_or_default()
}

pub fn render_variable(argument: &Arg) -> String {
    argument.get_env().map(|name| format!("`{}`", name.display())).unwrap_or_default()
}

/// The default that clap knows, or else the one that the help names.
pub fn render_default(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let default = argument.get_default_values().iter().map(|value| format!("`{}`", value.display()));
    let default = default.filter(|_| argument.get_action().takes_values()).collect::<Vec<_>>().join(", ");
    render_cell(if default.is_empty() { split_default(&help).1 } else { &default })
}

/// Splits a help text at the default that it names. Most settings have their default in the help text, since clap does not
/// know it: a flag that is not given may be in the settings file.
fn split_default(help: &str) -> (&str, &str) {
    let named = help.trim().strip_suffix(']').and_then(|help| help.rsplit_once(" [default: "));
    named.unwrap_or((help, ""))
}

fn render_cell(text: &str) -> String {
    let text = text.replace("\n\n", " ").replace('\n', " ").replace('|', "\\|");
    let parts = (0..).zip(text.split('`'));
    let parts = parts.map(|(number, part)| if number % 2 == 0 { mark_flags(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// Marks flags as code, since some renderers make one dash of two.
fn mark_flags(text: &str) -> String {
    let mark = |word: &str| {
        let flag = word.trim_end_matches([',', ';', '.', ')']);
        let is_flag = flag.len() > 2 && flag.starts_with("--");
        if is_flag { format!("`{flag}`{}", &word[flag.len()..]) } else { word.to_owned() }
    };
    text.split(' ').map(mark).collect::<Vec<_>>().join(" ")
}

/// Help has no full stop; a document has.
pub fn render_sentence(help: &str) -> String {
    match help.trim() {
        "" => String::new(),
        help if help.ends_with(['.', ':', ')', '`']) => help.to_owned(),
        help => format!("{help}."),
    }
}
