//! What the writer of a command line, or of the environment, probably meant. Clap suggests options and subcommands by itself.

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use registry::closest;

/// The beginning of the names of all variables that are read.
const PREFIX: &str = "LATHE_";
/// Variables that no option names.
const OTHER_VARIABLES: [&str; 3] = ["LATHE_CONFIG_DIR", "LATHE_EMBEDDINGS_KEY", "LATHE_MODEL_KEY"];
/// Options that a tip lists.
const OPTIONS_MAX: usize = 5;

/// Adds the options of a command to the error about a word that it does not take, such as `laptop` in `key create laptop`.
pub fn add_options(mut error: Error, command: &Command, line: &[String]) -> Error {
    let is_word = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) => !word.starts_with('-'),
        _ => false,
    };
    let options = list_options(command, line);
    if is_word && !options.is_empty() {
        let tip = format!("the command takes options: {}", options.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The options with values of the command in a line, apart from those of all commands.
fn list_options(command: &Command, line: &[String]) -> Vec<String> {
    let mut command = command;
    for word in line.iter().skip(1) {
        match command.find_subcommand(word) {
            Some(inner) => command = inner,
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    let options = command.get_opts().filter(|option| !option.is_hide_set() && !option.is_global_set());
    options.take(OPTIONS_MAX).map(ToString::to_string).collect()
}

/// Finds variables of the environment that are not read, and are probably misspelt. Returns each with the one that was meant.
pub fn find_misspelt(command: &Command, names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let known: Vec<String> = list_variables(command).chain(OTHER_VARIABLES.map(str::to_owned)).collect();
    let unknown = names.filter(|name| name.starts_with(PREFIX) && !known.contains(name));
    let meant = |name: String| {
        // The common beginning would make all names similar.
        let endings = known.iter().filter_map(|known| known.strip_prefix(PREFIX));
        let meant = closest(name.strip_prefix(PREFIX)?, endings)?;
        let meant = format!("{PREFIX}{meant}");
        Some((name, meant))
    };
    unknown.filter_map(meant).collect()
}

fn list_variables(command: &Command) -> Box<dyn Iterator<Item = String> + '_> {
    let own = command.get_arguments().filter_map(|argument| Some(argument.get_env()?.to_str()?.to_owned()));
    Box::new(own.chain(command.get_subcommands().flat_map(list_variables)))
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, build_command};
    use super::*;

    #[test]
    fn a_misspelt_variable_is_found() {
        let misspelt = |name: &str| find_misspelt(&build_command(), std::iter::once(name.to_owned()));
        let expected = vec![("LATHE_PYTHON_INDX".to_owned(), "LATHE_PYTHON_INDEX".to_owned())];
        assert_eq!(misspelt("LATHE_PYTHON_INDX"), expected);
        for name in
            ["LATHE_PYTHON_INDEX", "LATHE_SERVICE_HOST", "LATHE_PORT_8080_TCP", "LATHE_MODEL_KEY", "PYTHON_INDX"]
        {
            assert!(misspelt(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_word_that_a_command_does_not_take_is_answered_with_its_options() {
        let line = ["lathe", "key", "create", "laptop"].map(str::to_owned);
        let mut command = build_command();
        let error = command.try_get_matches_from_mut(&line).expect_err("an error");
        let told = add_options(error, &command, &line).to_string();
        assert!(told.contains("unexpected argument 'laptop'") && told.contains("--name <NAME>"), "{told}");
        assert!(Arguments::read(line.map(Into::into)).is_err());
    }
}
