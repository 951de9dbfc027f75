//! Signing in of MCP clients by OAuth, over HTTP: the discovery, the page, codes and tokens, and every refusal.

mod access;
mod application;
mod authorization;
mod documents;
mod flow;
mod page;
mod registration;
mod tokens;
