//! Usage lines with the arguments in the order of their use: positional arguments, required options, other options.
//! Clap's own lines begin with the options.

use clap::{Arg, Command};

/// Replaces the usage lines of all commands without subcommands.
pub fn order_usage(command: Command) -> Command {
    let path = command.get_name().to_owned();
    order_below(command, &path)
}

fn order_below(command: Command, path: &str) -> Command {
    if !command.has_subcommands() {
        let line = render_line(command.clone(), path);
        return command.override_usage(line);
    }
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        order_below(inner, &path)
    })
}

/// The usage line of a command. Clap displays an argument only after its command is built.
fn render_line(mut command: Command, path: &str) -> String {
    command.build();
    let groups: Vec<Vec<&Arg>> = command
        .get_groups()
        .filter(|group| group.is_required_set())
        .map(|group| {
            command.get_arguments().filter(|argument| group.get_args().any(|id| id == argument.get_id())).collect()
        })
        .collect();
    let is_grouped = |argument: &Arg| groups.iter().flatten().any(|member| member.get_id() == argument.get_id());
    let visible = || command.get_arguments().filter(|argument| !argument.is_hide_set() && !is_grouped(argument));
    let positionals = visible().filter(|argument| argument.is_positional()).map(ToString::to_string);
    let choices = groups
        .iter()
        .map(|members| format!("<{}>", members.iter().map(|one| render_choice(one)).collect::<Vec<_>>().join("|")));
    let required = visible().filter(|argument| !argument.is_positional() && argument.is_required_set());
    let required = required.map(ToString::to_string);
    let words = [path.to_owned()].into_iter().chain(positionals).chain(choices).chain(required);
    words.chain(["[OPTIONS]".to_owned()]).collect::<Vec<_>>().join(" ")
}

/// A member of a group of which one is required: `BUILD_ID` or `--version <VERSION>`.
fn render_choice(argument: &Arg) -> String {
    let text = argument.to_string();
    if argument.is_positional() { text.trim_matches(['<', '>', '[', ']']).to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use clap::ArgGroup;

    use super::*;

    #[test]
    fn arguments_are_in_their_order() {
        let tool = Arg::new("tool").value_name("TOOL").required(true);
        let bump = Arg::new("bump").long("bump").value_name("BUMP").required(true);
        let command = Command::new("publish").arg(bump).arg(Arg::new("gate").long("gate")).arg(tool.clone());
        assert_eq!(render_line(command, "lathe tool publish"), "lathe tool publish <TOOL> --bump <BUMP> [OPTIONS]");
        let (build, version) =
            (Arg::new("build").value_name("BUILD_ID"), Arg::new("version").long("version").value_name("V"));
        let which = ArgGroup::new("which").args(["build", "version"]).required(true);
        let command = Command::new("log").arg(tool).arg(build).arg(version).group(which);
        assert_eq!(render_line(command, "log"), "log <TOOL> <BUILD_ID|--version <V>> [OPTIONS]");
    }
}
