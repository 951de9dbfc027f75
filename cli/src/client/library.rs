//! Items of the Library, by its routes for applications.

use reqwest::Method;
use serde_json::{Map, Value};

use super::decoded_response::read;
use super::request::{Call, Client};

/// Maximum items per page.
const PAGE_ITEMS_MAX: usize = 200;
/// The header that names an application, whose items are apart from those of others.
const APPLICATION: &str = "x-app-id";

/// The items of a family: those of an application, or those outside of all applications.
pub struct Items<'a> {
    pub client: &'a Client,
    /// The path of the family below `/api/v1`.
    pub family: &'static str,
    pub application: Option<&'a str>,
}

impl Items<'_> {
    /// Lists at most `items_max` items, newest first, and returns whether there are more.
    pub async fn list(
        &self,
        filter: &[(&'static str, String)],
        items_max: usize,
    ) -> anyhow::Result<(Vec<Value>, bool)> {
        let mut items: Vec<Value> = Vec::new();
        loop {
            let path = ["api", "v1", self.family];
            let mut call = Call::to_server(Method::GET, &path)
                .query("limit", PAGE_ITEMS_MAX.min(items_max - items.len()))
                .query("offset", items.len());
            call.query.extend_from_slice(filter);
            let page = self.send(call).await?;
            let found: Vec<Value> = read(&page["items"])?;
            let has_more = page["has_more"] == true && !found.is_empty();
            items.extend(found);
            if !has_more || items.len() >= items_max {
                return Ok((items, has_more));
            }
        }
    }

    /// Returns an item, as it is or in an earlier version.
    pub async fn show(&self, id: &str, query: &[(&'static str, String)]) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family, id];
        let mut call = Call::to_server(Method::GET, &path);
        call.query.extend_from_slice(query);
        self.send(call).await
    }

    pub async fn create(&self, fields: Map<String, Value>) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family];
        self.send(Call::to_server(Method::POST, &path).body(Value::Object(fields))).await
    }

    /// Changes the fields that are given.
    pub async fn edit(&self, id: &str, fields: Map<String, Value>) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family, id];
        self.send(Call::to_server(Method::PATCH, &path).body(Value::Object(fields))).await
    }

    /// Creates or replaces the item with a key.
    pub async fn put(&self, key: &str, fields: Map<String, Value>) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family, key];
        self.send(Call::to_server(Method::PUT, &path).body(Value::Object(fields))).await
    }

    pub async fn delete(&self, id: &str) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family, id];
        self.send(Call::to_server(Method::DELETE, &path)).await
    }

    /// Calls an operation on an item, such as `complete` of a task.
    pub async fn act(&self, id: &str, operation: &str, fields: Map<String, Value>) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family, id, operation];
        self.send(Call::to_server(Method::POST, &path).body(Value::Object(fields))).await
    }

    /// Searches items, the best first.
    pub async fn search(&self, fields: Map<String, Value>) -> anyhow::Result<Value> {
        let path = ["api", "v1", self.family, "search"];
        self.send(Call::to_server(Method::POST, &path).body(Value::Object(fields))).await
    }

    /// Returns the data of a response.
    async fn send(&self, call: Call<'_>) -> anyhow::Result<Value> {
        let call = match self.application {
            Some(application) => call.header(APPLICATION, application),
            None => call,
        };
        let mut response: Value = self.client.get(call).await?.body;
        Ok(response["data"].take())
    }
}
