//! Legal holds of the history.

use api::wire::{Hold, HoldList};
use reqwest::Method;
use serde_json::Value;

use super::decoded_response::DecodedResponse;
use super::request::{Call, Client};

impl Client {
    pub async fn list_holds(&self) -> anyhow::Result<Vec<Value>> {
        self.read_all_pages::<HoldList>(Call::new(Method::GET, &["history_hold"])).await
    }

    pub async fn place_hold(&self, hold: Value) -> anyhow::Result<DecodedResponse<Hold>> {
        self.get(Call::new(Method::POST, &["history_hold"]).body(hold)).await
    }

    pub async fn release_hold(&self, hold: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["history_hold", hold, "release"])).await
    }
}
