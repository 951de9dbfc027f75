//! Several servers on one Postgres database and one bucket: what one does holds at the others, and what one leaves is closed
//! by the others.

mod changes;
mod deaths;
mod demo;
mod idle;
mod mcp_sessions;
mod outages;
mod rolling;
mod tasks;
