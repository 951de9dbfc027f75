//! Builds and their logs.

use reqwest::Method;
use serde::Deserialize;

use super::request::{Call, Client};
use super::wire::Answer;

#[derive(Clone, Debug, Deserialize)]
pub struct Build {
    pub state: String,
    pub started_at: String,
    pub finished_at: Option<String>,
    pub log: String,
}

impl Client {
    pub async fn show_build(&self, tool_id: &str, build_id: &str) -> anyhow::Result<Answer<Build>> {
        self.get(Call::new(Method::GET, &["tool", tool_id, "build", build_id])).await
    }
}
