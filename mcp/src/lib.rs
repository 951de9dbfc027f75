//! The Model Context Protocol: the tools, prompts and resources of an agent for MCP clients, and the authorization server for these
//! clients.
//!
//! `rmcp` speaks the protocol in both of its eras: 2026-07-28 without sessions, and earlier versions with sessions. These modules
//! say which tools a client sees ([`listing`]), call them ([`calling`]), show prompts, resources and skills ([`prompts`], [`resources`], [`skills`]), start
//! tasks and take their answers ([`tasks`]), and bind sessions to their users ([`sessions`]). [`oauth`] gives clients their tokens.

#![forbid(unsafe_code)]

mod abilities;
mod accept;
mod calling;
mod challenge;
mod changes;
mod completion;
mod dialogue;
mod endpoint;
mod events;
mod exposure;
mod gateway;
mod headers;
mod hosts;
mod introduction;
mod library_items;
mod library_reads;
mod library_uris;
mod listing;
mod looks;
mod message;
mod metadata;
mod methods;
mod metrics;
mod mixed_list;
mod oauth;
mod offers;
mod pages;
mod parameters;
mod plain_call;
mod priming;
mod prompts;
mod request_state;
mod resource_watch;
mod resources;
mod result;
mod scope;
mod session_questions;
mod session_table;
mod sessions;
mod skills;
mod tasks;
mod tool_call_request;
mod tool_forms;
mod tool_prompts;
mod tool_resources;
mod transport_refusal;
mod turns;

pub use calling::Calling;
pub use challenge::with_challenge;
pub use dialogue::Dialogues;
pub use endpoint::{McpEndpoint, McpRequest};
pub use listing::{rendered, title};
pub use metadata::protected_resource;
pub use methods::{METHODS as MCP_METHODS, McpMethod};
pub use metrics::describe_metrics;
pub use oauth::{
    Asked, Authorization, AuthorizationRefused, Consent, Decision, OauthError, OauthServer, Page, PageResponse,
    Parameters, RegistrationRefused, SCOPE, authorization_server, register,
};
