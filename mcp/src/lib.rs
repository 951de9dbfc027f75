//! The Model Context Protocol: the tools, prompts and resources of an agent for MCP clients, and the authorization server for these
//! clients.
//!
//! `rmcp` speaks the protocol in both of its eras: 2026-07-28 without sessions, and earlier versions with sessions. These modules check
//! requests ([`transport`], [`messages`]), call tools ([`calls`]), show prompts, resources and skills ([`lists`]), tell clients of changes
//! ([`watches`]), and bind sessions to their users ([`sessions`]). [`endpoint`] serves the requests, and [`oauth`] gives clients their tokens.

#![forbid(unsafe_code)]

mod calls;
mod endpoint;
mod lists;
mod messages;
mod oauth;
mod sessions;
mod transport;
mod watches;

pub use calls::{Calling, Dialogues, find_title, render_tool};
pub use endpoint::{McpEndpoint, McpRequest};
pub use messages::{METHODS as MCP_METHODS, McpMethod};
pub use oauth::{
    Asked, Authorization, AuthorizationRefused, Consent, Decision, OauthError, OauthServer, Page, PageResponse,
    Parameters, RegistrationRefused, SCOPE, describe_authorization_server, register,
};
pub use sessions::describe_metrics;
pub use transport::{add_challenge, describe_resource};
