//! The settings that a command line and the environment give, which take precedence over those of the settings file.

use std::marker::PhantomData;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Id};

/// Given settings. They stay as clap read them, since those that are not given come from the file.
#[derive(Clone, Debug)]
pub struct Given<T> {
    matches: ArgMatches,
    settings: PhantomData<T>,
}

impl<T: Args> Given<T> {
    /// The settings in the environment, for commands without flags for them.
    ///
    /// # Errors
    /// When a variable has an invalid value.
    pub fn of_environment() -> Result<Self, Error> {
        Self::of_line(&[])
    }

    /// The settings of a command line, and of the environment.
    ///
    /// # Errors
    /// When an argument or a variable is invalid.
    pub fn of_line(line: &[&str]) -> Result<Self, Error> {
        let command = T::augment_args(Command::new("lathe").no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(line)?)
    }

    /// Replaces settings by the given ones.
    ///
    /// # Errors
    /// Those of clap; the command line was accepted before.
    pub fn apply_to(&self, mut settings: T) -> Result<T, Error> {
        settings.update_from_arg_matches(&self.matches)?;
        Ok(settings)
    }
}

impl<T> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { matches: matches.clone(), settings: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<T: Args> Args for Given<T> {
    fn group_id() -> Option<Id> {
        T::group_id()
    }

    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::LimitSettings;
    use super::*;

    #[test]
    fn given_settings_win_and_others_stay() {
        let file = || toml::from_str::<LimitSettings>("connections = 8\nkeep_alive_seconds = 7").expect("a table");
        let given = Given::<LimitSettings>::of_line(&["--connections", "9"]).expect("a command line");
        let settings = given.apply_to(file()).expect("settings");
        assert_eq!((settings.connections.map(usize::from), settings.keep_alive_seconds), (Some(9), Some(7)));
        let settings = Given::of_environment().expect("nothing").apply_to(file()).expect("settings");
        assert_eq!(settings.connections.map(usize::from), Some(8));
    }
}
