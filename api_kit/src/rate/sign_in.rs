//! The outcomes of sign-ins, and what each is counted for.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::usage::Key;
use crate::extract;
use crate::server::Peer;

pub(super) const SIGN_IN: &str = "sign-in-with-api-key";

/// The outcome of a sign-in.
#[derive(Clone, Copy)]
pub(super) enum SignIn<'a> {
    /// A right key: its organisation and its id.
    Succeeded([&'a str; 2]),
    /// A wrong key: the organisation and the user that the client names, and its address.
    Failed([&'a str; 2], Option<IpAddr>),
}

impl SignIn<'_> {
    pub(super) fn key(&self) -> Key {
        match self {
            Self::Succeeded(names) => Key::from_names(SIGN_IN, *names, None),
            Self::Failed(names, peer) => Key::from_names(SIGN_IN, *names, *peer),
        }
    }
}

/// The names that a request for a token gives.
pub(super) struct SignInNames {
    organization: String,
    user: String,
    api_key_id: String,
    peer: Option<IpAddr>,
}

impl SignInNames {
    pub(super) async fn read(parts: &mut Parts) -> Self {
        let organization = extract::read_parameter(parts, &(), "organization").await.unwrap_or_default();
        let (user, api_key_id) = (read_text(&parts.headers, "x-user-id"), read_text(&parts.headers, "x-api-key-id"));
        Self { organization, user, api_key_id, peer: Peer::of(&parts.extensions) }
    }

    pub(super) fn succeed(&self) -> SignIn<'_> {
        SignIn::Succeeded([&self.organization, &self.api_key_id])
    }

    pub(super) fn fail(&self) -> SignIn<'_> {
        SignIn::Failed([&self.organization, &self.user], self.peer)
    }
}

fn read_text(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
