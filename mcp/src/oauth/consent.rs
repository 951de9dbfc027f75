//! The decision of a user, who signs in with an API key for each authorisation.

use std::net::IpAddr;

use api_kit::error::Error;
use api_kit::rate::KeyCheck;
use registry::{ApiKeyId, KeyEnd, Principal};

use super::authorization::Authorization;
use super::error::OauthError;
use super::parameters::Parameters;
use super::server::OauthServer;

/// The form of a user.
pub struct Consent<'a> {
    user: &'a str,
    api_key: &'a str,
    is_allowed: bool,
}

/// The result of a user's decision on an authorisation.
pub enum Decision {
    /// The code for the client.
    Allowed(String),
    Denied,
    /// The user is asked again, with a message.
    Unclear(&'static str),
}

const EXPIRED_KEY: &str = "The API key has expired. Create another one with `lathe key create`.";
const REVOKED_KEY: &str = "The API key was revoked. Create another one with `lathe key create`.";
const WRONG_KEY: &str = "The user or the API key is wrong, or it is not one of this organisation.";
const NO_GATEWAY: &str = "This organisation has no such MCP endpoint for this user.";

impl<'a> Consent<'a> {
    /// Reads a form. Absent fields are wrong ones.
    pub fn read(parameters: &'a Parameters) -> Result<Self, OauthError> {
        Ok(Self {
            user: parameters.find_value("user")?.unwrap_or_default().trim(),
            api_key: parameters.find_value("api_key")?.unwrap_or_default().trim(),
            is_allowed: parameters.find_value("decision")? == Some("allow"),
        })
    }

    /// Carries out the decision. An unknown organisation, an unknown user and a wrong key look the same.
    pub async fn decide(
        &self,
        server: &OauthServer,
        asked: &Authorization,
        peer: Option<IpAddr>,
    ) -> Result<Decision, Error> {
        if !self.is_allowed {
            return Ok(Decision::Denied);
        }
        let signed_in = self.sign_in(server, asked).await;
        self.count(server, asked, KeyCheck::new(peer, &signed_in)).await?;
        let principal = match signed_in {
            Err(Error::Unauthenticated) => return Ok(Decision::Unclear(WRONG_KEY)),
            Err(Error::KeyEnded(end)) => {
                return Ok(Decision::Unclear(match end {
                    KeyEnd::Expired { .. } => EXPIRED_KEY,
                    KeyEnd::Revoked { .. } => REVOKED_KEY,
                }));
            }
            signed_in => signed_in?,
        };
        let Some(running) = server.store.agents().running_agent(&principal, &asked.gateway.agent).await? else {
            return Ok(Decision::Unclear(NO_GATEWAY));
        };
        if asked.client.is_registered() {
            server.store.registry().access().note_client_use(&principal, &asked.client.id).await?;
        }
        let code =
            server.store.registry().access().authorize_client(&principal, &running.agent.id, asked.terms()).await?;
        let code = code.ok_or(Error::Unauthenticated)?;
        let (organization, user) = (&principal.organization, principal.user());
        tracing::info!(%organization, %user, client = asked.client.id, resource = asked.gateway.url, "a client was authorised");
        Ok(Decision::Allowed(code.expose().to_owned()))
    }

    async fn sign_in(&self, server: &OauthServer, asked: &Authorization) -> Result<Principal, Error> {
        let found = server.store.registry().access().authenticate_key(self.api_key).await?;
        let is_right = |found: &Principal| {
            found.organization == asked.gateway.organization && found.account.user_str() == self.user
        };
        match found.filter(is_right) {
            Some(principal) => Ok(principal),
            None => {
                let ended = server.store.registry().access().find_key_end(self.api_key).await?;
                Err(ended.map_or(Error::Unauthenticated, Error::KeyEnded))
            }
        }
    }

    /// Counts the check of the key as a sign-in.
    async fn count(&self, server: &OauthServer, asked: &Authorization, check: KeyCheck) -> Result<(), Error> {
        let Some(limit) = &server.key_limit else { return Ok(()) };
        let key = ApiKeyId::of_key(self.api_key);
        let key = key.as_ref().map(ApiKeyId::as_str).unwrap_or_default();
        limit.count(asked.gateway.organization.as_str(), self.user, key, check).await
    }
}
