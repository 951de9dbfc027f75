//! The OpenAPI document: its contents, and its agreement with the server.

mod against_contract;
mod bodies;
mod bounds;
mod generate;
mod lists;
mod marks;
mod queries;
mod shape;
mod snapshots;

/// Values that are generated for each body and each query. `just attack` compares more of them.
fn cases() -> u64 {
    std::env::var("LATHE_DOCUMENT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(160)
}
