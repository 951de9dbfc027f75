//! `lathe git-credential`: a git credential helper, see gitcredentials(7).

mod request;

use std::io::Read;

use clap::Args;

use crate::client::Credentials;
use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;
use request::{CredentialRequest, REQUEST_BYTES_MAX};

/// Gives git a user name and a short-lived token for the server of `lathe login`, of any profile. To register the helper:
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
    let Some((home, credentials)) = login_for(&request, home)? else { return Ok(Outcome::Done) };
    match arguments.operation.as_str() {
        "get" => {
            let client = home.client()?;
            let token = client.token().await?;
            screen.line(format!("username={}\npassword={}", credentials.basic_user(), token.id_token.reveal()))?;
        }
        "erase" => home.token_cache().forget(),
        _ => {}
    }
    Ok(Outcome::Done)
}

/// Finds the login that a request is for: the one in use, otherwise that of another profile.
fn login_for(request: &CredentialRequest, home: &Home) -> anyhow::Result<Option<(Home, Credentials)>> {
    let others = home.profiles().into_iter().filter(|profile| profile != home.profile());
    let homes = std::iter::once(home.clone()).chain(others.map(|profile| home.with(profile)));
    for home in homes {
        let Some(credentials) = home.load_credentials()? else { continue };
        if request.is_for(&credentials)? {
            return Ok(Some((home, credentials)));
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
