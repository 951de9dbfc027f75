//! `lathe login`: checks an API key by signing in, and saves it.

use api::wire::SecretText;
use clap::Args;
use registry::ApiKeyId;
use serde_json::json;

use super::input;
use crate::client::{Client, Credentials};
use crate::failure::{Failure, Outcome};
use crate::home::{DEFAULT_URL, Home};
use crate::output::Screen;

/// Asks for the key on the terminal, or reads it from stdin. `--api-key` would leave it in the shell's history.
#[derive(Debug, Args)]
pub struct LoginArguments {
    /// The server's address
    #[arg(long, env = "LATHE_URL", default_value = DEFAULT_URL)]
    url: String,
    /// The organisation's name
    #[arg(long, env = "LATHE_ORG")]
    org: String,
    /// The key's user [default: the server names the user]
    #[arg(long, env = "LATHE_USER")]
    user: Option<String>,
    /// The key's id [default: the id that the key contains]
    #[arg(long, env = "LATHE_API_KEY_ID", value_name = "ID")]
    api_key_id: Option<String>,
    /// The key [default: asked for on the terminal, or read from stdin]
    #[arg(long, env = "LATHE_API_KEY", value_name = "KEY", hide_env_values = true)]
    api_key: Option<String>,
}

pub async fn run(arguments: LoginArguments, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let api_key = match arguments.api_key {
        Some(api_key) => api_key,
        None => input::read_secret("API key")?,
    };
    let api_key = api_key.trim();
    if api_key.is_empty() {
        return Err(Failure::usage(
            "the API key is empty",
            "`lathe org create` and `lathe key create` show a key once, when they create it",
        ));
    }
    let Some(api_key_id) = arguments.api_key_id.or_else(|| ApiKeyId::of_key(api_key).map(String::from)) else {
        return Err(Failure::usage(
            "this is not an API key: its checksum is wrong, or a part is missing",
            "give the whole key, which begins with lk_",
        ));
    };
    let mut credentials = Credentials {
        url: arguments.url.trim_end_matches('/').to_owned(),
        organization: arguments.org,
        user_id: arguments.user,
        api_key_id,
        api_key: SecretText::new(api_key.to_owned()),
    };
    if credentials.user_id.is_none() {
        credentials = Client::with_key(credentials)?.identify_credentials().await?;
    }
    check_and_save(home, credentials, screen).await
}

async fn check_and_save(home: &Home, credentials: Credentials, screen: Screen) -> anyhow::Result<Outcome> {
    let cache = home.token_cache();
    cache.forget();
    let client = Client::new(credentials, Some(cache))?;
    client.get_token().await?;
    let credentials = client.credentials();
    home.save_credentials(credentials)?;
    let git_url = credentials.build_git_url()?;
    let document = json!({
        "url": credentials.url,
        "organization": credentials.organization,
        "user_id": credentials.user_id,
        "profile": home.profile().as_str(),
        "credentials_file": home.credentials_file(),
        "git_url": git_url,
    });
    screen.answer(&document, || render_text(home, credentials, &git_url))
}

fn render_text(home: &Home, credentials: &Credentials, git_url: &str) -> String {
    let Credentials { url, organization, user_id, .. } = credentials;
    let user_id = user_id.as_deref().unwrap_or_default();
    format!(
        "logged in to {url} as {user_id} of {organization} ({})\n\n\
         To push tools from a git repository, run once:\n  \
         git config --global credential.{url}.helper '!lathe git-credential'\n  \
         git remote add lathe {git_url}\n\
         then:\n  \
         git push lathe HEAD:releases/{organization}{}",
        home.credentials_file().display(),
        render_selection_hint(home)
    )
}

/// The command that selects a login which further commands would not use.
fn render_selection_hint(home: &Home) -> String {
    let profile = home.profile();
    let is_selected = home.read_selected().is_ok_and(|selected| selected == *profile);
    if is_selected {
        String::new()
    } else {
        format!("\n\nTo use this login without --profile:\n  lathe profile use {profile}")
    }
}
