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

pub use authorization::Authorization;
pub use client::Asked;
pub use consent::{Consent, Decision};
pub use error::OauthError;
pub use metadata::describe_authorization_server;
pub use page::{Page, PageResponse};
pub use parameters::Parameters;
pub use refused::AuthorizationRefused;
pub use registration::{RegistrationRefused, register};
pub use server::OauthServer;

/// The only scope: what a user may do at an MCP endpoint.
pub const SCOPE: &str = "mcp";
