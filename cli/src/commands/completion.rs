//! Completions that need the server: the names of tools.

use std::time::Duration;

use anyhow::Context;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::client::{ToolFilter, read_all};
use crate::home::Home;
use crate::runtime::build_one_thread;

/// The variable in which a shell names itself when it asks for completions.
pub const VARIABLE: &str = "LATHE_COMPLETE";
/// Time for the server's answer, while the user waits for it.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);
/// The option that names a profile.
const PROFILE: &str = "--profile";
const PROFILE_WITH_VALUE: &str = "--profile=";
/// Tools that are offered. Nobody reads through more.
const TOOLS_MAX: usize = 200;

/// The names of the live tools, for an argument that names one. Without a server there are none.
pub fn complete_tools() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        find_tool_names().unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
    })
}

fn find_tool_names() -> anyhow::Result<Vec<String>> {
    let runtime = build_one_thread()?;
    let profile = find_named_profile(std::env::args()).or_else(|| std::env::var("LATHE_PROFILE").ok());
    let profile = profile.and_then(|name| name.parse().ok());
    let client = Home::of_user(profile)?.build_client()?;
    let filter = ToolFilter { deprecated: Some(false), tags: Vec::new() };
    let listed = async {
        let listed = tokio::time::timeout(ANSWER_TIME_MAX, client.list_tools(&filter, TOOLS_MAX));
        listed.await.context("waiting for the server")?
    };
    let (tools, _) = runtime.block_on(listed)?;
    let tools: Vec<api::wire::Tool> = read_all(&tools)?;
    Ok(tools.into_iter().map(|tool| tool.name).collect())
}

/// The profile that the command line to complete names. The shell passes the line as this program's own arguments.
fn find_named_profile(mut words: impl Iterator<Item = String>) -> Option<String> {
    let option = words.find(|word| word == PROFILE || word.starts_with(PROFILE_WITH_VALUE))?;
    option.strip_prefix(PROFILE_WITH_VALUE).map(str::to_owned).or_else(|| words.find(|word| word != "="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_the_line_is_found() {
        let found = |line: &str| find_named_profile(line.split(' ').map(str::to_owned));
        assert_eq!(found("lathe -- lathe --profile eu tool show").as_deref(), Some("eu"));
        assert_eq!(found("lathe -- lathe tool show --profile=eu").as_deref(), Some("eu"));
        // Bash makes three words of it.
        assert_eq!(found("lathe -- lathe --profile = eu tool show").as_deref(), Some("eu"));
        assert_eq!(found("lathe -- lathe tool show"), None);
    }
}
