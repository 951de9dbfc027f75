//! `lathe git-credential`: a git credential helper, see gitcredentials(7).

mod request;

use std::io::Read;

use clap::Args;

use crate::client::Client;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;
use request::{CredentialRequest, REQUEST_BYTES_MAX};

/// Gives git a user name and a short-lived token for the server of LATHE_API_KEY, or of `lathe login`, of any profile.
/// To register the helper:
///
///   git config --global credential.http://127.0.0.1:8080.helper '!lathe git-credential'
///
/// Git writes its request to stdin. For another server, repository or user the answer is empty, and git asks its next
/// helper.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GitCredentialArguments {
    /// The operation: get, or erase to drop a refused token; others are ignored
    operation: String,
}

pub async fn run(arguments: &GitCredentialArguments, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let Some(request) = read_request(std::io::stdin().lock())? else { return Ok(Outcome::Done) };
    let client = if let Some(credentials) = home.read_environment_login()?
        && request.is_for(&credentials)?
    {
        Client::with_key(credentials)?
    } else {
        let Some(home) = find_home(&request, home)? else { return Ok(Outcome::Done) };
        if arguments.operation == "erase" {
            home.token_cache().forget();
        }
        home.build_client()?
    };
    if arguments.operation != "get" {
        return Ok(Outcome::Done);
    }
    answer(&request, &client, screen).await
}

/// Gives git a token of the client, if the request is for its user.
async fn answer(request: &CredentialRequest, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let credentials = client.identify_credentials().await?;
    if let Some(user) = credentials.build_basic_user().filter(|_| request.is_for(&credentials).unwrap_or(false)) {
        let token = client.get_token().await?;
        screen.print_line(format!("username={user}\npassword={}", token.id_token.reveal()))?;
    }
    Ok(Outcome::Done)
}

/// Finds the saved login that a request is for: the one in use, otherwise that of another profile.
fn find_home(request: &CredentialRequest, home: &Home) -> anyhow::Result<Option<Home>> {
    let others = home.list_profiles().into_iter().filter(|profile| profile != home.profile());
    let homes = std::iter::once(home.with(home.profile().clone())).chain(others.map(|profile| home.with(profile)));
    for home in homes {
        let Some(credentials) = home.load_credentials()? else { continue };
        if request.is_for(&credentials)? {
            return Ok(Some(home));
        }
    }
    Ok(None)
}

/// Reads git's request; `None` if it is malformed.
fn read_request(input: impl Read) -> std::io::Result<Option<CredentialRequest>> {
    let mut bytes = Vec::new();
    input.take(REQUEST_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(CredentialRequest::parse(&bytes))
}
