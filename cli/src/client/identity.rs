//! Users, roles and API keys.

use api::wire::{ApiKeyList, CreatedApiKey, Me, Role, User, UserList, UserVariableList};
use reqwest::Method;
use serde_json::{Value, json};

use super::decoded_response::{DecodedResponse, read};
use super::request::{Call, Client};

/// Maximum users or keys per page, from the API contract.
const PAGE_ITEMS_MAX: u64 = 100;

/// The owner of API keys.
#[derive(Clone, Copy, Debug)]
pub enum KeyOwner<'a> {
    Me,
    Everybody,
    User(&'a str),
}

impl Client {
    pub async fn get_me(&self) -> anyhow::Result<DecodedResponse<Me>> {
        self.get(Call::new(Method::GET, &["user", "me"])).await
    }

    pub async fn list_users(&self) -> anyhow::Result<Vec<Value>> {
        self.read_all_pages::<UserList>(build_paged_call(&["user"])).await
    }

    pub async fn show_user(&self, user: &str) -> anyhow::Result<DecodedResponse<User>> {
        self.get(Call::new(Method::GET, &["user", user])).await
    }

    pub async fn create_user(&self, user: &str, role: &str) -> anyhow::Result<()> {
        let body = json!({"user_id": user, "role": role});
        self.execute(Call::new(Method::POST, &["user"]).body(body)).await
    }

    pub async fn set_role(&self, user: &str, role: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["user", user]).body(json!({ "role": role }))).await
    }

    pub async fn delete_user(&self, user: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["user", user])).await
    }

    pub async fn list_user_variables(&self, user: &str) -> anyhow::Result<DecodedResponse<UserVariableList>> {
        self.get(Call::new(Method::GET, &["user", user, "variable"])).await
    }

    pub async fn set_user_variable(&self, user: &str, variable: Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["user", user, "variable"]).body(variable)).await
    }

    pub async fn remove_user_variable(&self, user: &str, name: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["user", user, "variable", name])).await
    }

    pub async fn list_roles(&self) -> anyhow::Result<Vec<Value>> {
        let answer: DecodedResponse<Value> = self.get(Call::new(Method::GET, &["role"])).await?;
        read(&answer.document["roles"])
    }

    pub async fn show_role(&self, role: &str) -> anyhow::Result<DecodedResponse<Role>> {
        self.get(Call::new(Method::GET, &["role", role])).await
    }

    pub async fn create_role(&self, role: &str, grants: &Value) -> anyhow::Result<()> {
        let body = json!({"name": role, "grants": grants});
        self.execute(Call::new(Method::POST, &["role"]).body(body)).await
    }

    pub async fn replace_role(&self, role: &str, grants: &Value) -> anyhow::Result<()> {
        self.execute(Call::new(Method::POST, &["role", role]).body(json!({ "grants": grants }))).await
    }

    pub async fn delete_role(&self, role: &str) -> anyhow::Result<()> {
        self.execute(Call::new(Method::DELETE, &["role", role])).await
    }

    pub async fn list_keys(&self, of: KeyOwner<'_>) -> anyhow::Result<Vec<Value>> {
        match of {
            KeyOwner::Me => self.read_all_pages::<ApiKeyList>(build_paged_call(&["user", "me", "api_key"])).await,
            KeyOwner::Everybody => self.read_all_pages::<ApiKeyList>(build_paged_call(&["api_key"])).await,
            KeyOwner::User(user) => {
                self.read_all_pages::<ApiKeyList>(build_paged_call(&["api_key"]).query("user_id", user)).await
            }
        }
    }

    /// Creates a key for a user, or for the logged-in user.
    pub async fn create_key(
        &self,
        user: Option<&str>,
        mut terms: Value,
    ) -> anyhow::Result<DecodedResponse<CreatedApiKey>> {
        let path: &[&str] = if user.is_some() { &["api_key"] } else { &["user", "me", "api_key"] };
        if let Some(user) = user {
            terms["user_id"] = json!(user);
        }
        self.get(Call::new(Method::POST, path).body(terms)).await
    }

    pub async fn revoke_key(&self, of: KeyOwner<'_>, api_key_id: &str) -> anyhow::Result<()> {
        let path: &[&str] = match of {
            KeyOwner::Me => &["user", "me", "api_key", api_key_id],
            KeyOwner::Everybody | KeyOwner::User(_) => &["api_key", api_key_id],
        };
        self.execute(Call::new(Method::DELETE, path)).await
    }
}

fn build_paged_call<'call>(path: &'call [&'call str]) -> Call<'call> {
    Call::new(Method::GET, path).query("limit", PAGE_ITEMS_MAX)
}
