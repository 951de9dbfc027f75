//! Builds and their logs.

use api::wire::Build;
use reqwest::Method;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};

impl Client {
    pub async fn show_build(&self, tool_id: &str, build_id: &str) -> anyhow::Result<DecodedResponse<Build>> {
        self.get(Call::new(Method::GET, &["tool", tool_id, "build", build_id])).await
    }
}
