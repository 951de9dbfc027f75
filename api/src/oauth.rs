//! The authorization server for MCP clients: OAuth 2.1 with PKCE, as the MCP specification profiles it.
//!
//! A client sends its user to a page ([`page`]), where the user signs in with an API key and allows the access ([`consent`]). The
//! client exchanges the code for tokens, which are for one MCP endpoint ([`resource`]) alone. A client describes itself in a
//! document at its id, an HTTPS URL ([`document`]), or has registered itself ([`registration`]).

mod authorization;
mod client;
mod consent;
mod document;
mod error;
mod metadata;
mod page;
mod parameters;
mod redirect;
mod refused;
mod registration;
mod resource;
mod server;
mod text;

pub(crate) use authorization::Authorization;
pub(crate) use client::Asked;
pub(crate) use consent::{Consent, Decision};
pub(crate) use error::OauthError;
pub(crate) use metadata::authorization_server;
pub(crate) use page::{Page, PageResponse};
pub(crate) use parameters::Parameters;
pub(crate) use refused::AuthorizationRefused;
pub(crate) use registration::{RegistrationRefused, register};
pub(crate) use server::OauthServer;

/// The only scope: what a user may do at an MCP endpoint.
pub(crate) const SCOPE: &str = "mcp";
