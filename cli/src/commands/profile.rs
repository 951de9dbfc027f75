//! `lathe profile`: the logins of this machine.

use clap::{Args, Subcommand};
use registry::closest;
use serde_json::{Value, json};

use crate::client::Credentials;
use crate::failure::{Failure, Outcome};
use crate::home::{Home, ProfileName};
use crate::output::{Screen, render_table};

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List logins; * marks the one in use
    List,
    /// Choose the login for further commands
    ///
    /// `lathe --profile NAME login …` creates a profile. `--profile` and `LATHE_PROFILE` choose one for a single command.
    Use(UseArguments),
}

#[derive(Debug, Args)]
pub struct UseArguments {
    /// Name of the profile
    name: ProfileName,
}

pub fn run(command: ProfileCommand, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        ProfileCommand::List => list(home, screen),
        ProfileCommand::Use(arguments) => select(&home.with(arguments.name), screen),
    }
}

fn list(home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let login = |profile: ProfileName| Ok(home.with(profile.clone()).load_credentials()?.map(|found| (profile, found)));
    let logins: Vec<_> =
        home.list_profiles().into_iter().filter_map(|name| login(name).transpose()).collect::<anyhow::Result<_>>()?;
    let is_in_use = |profile: &ProfileName| profile == home.profile();
    if screen.is_json() {
        let one = |(profile, login): &(ProfileName, Credentials)| build_document(profile, login, is_in_use(profile));
        return screen.print_document(&json!({ "profiles": logins.iter().map(one).collect::<Vec<_>>() }));
    }
    if logins.is_empty() {
        screen.note("no logins; `lathe login` creates one");
        return Ok(Outcome::Done);
    }
    let row = |(profile, login): (ProfileName, Credentials)| {
        let mark = if is_in_use(&profile) { "*" } else { "" };
        [mark.to_owned(), profile.to_string(), login.url, login.organization, login.user_id.unwrap_or_default()]
    };
    screen.print_line(render_table(["", "profile", "server", "organization", "user"], logins.into_iter().map(row)))?;
    Ok(Outcome::Done)
}

fn build_document(profile: &ProfileName, login: &Credentials, in_use: bool) -> Value {
    json!({
        "profile": profile.as_str(), "in_use": in_use, "url": login.url, "organization": login.organization,
        "user_id": login.user_id,
    })
}

fn select(home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let profile = home.profile();
    if home.load_credentials()?.is_none() {
        let profiles = home.list_profiles();
        let meant = closest(profile.as_str(), profiles.iter().map(ProfileName::as_str));
        let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        let hint = format!(
            "{meant}`lathe profile list` lists the logins; `lathe --profile {profile} login …` creates this one"
        );
        return Err(Failure::coded("not_found", format!("there is no login in the profile {profile}"), hint));
    }
    home.select()?;
    screen.answer(&json!({ "profile": profile.as_str() }), || format!("further commands use the profile {profile}"))
}
