//! `POST /v1/{organization}/user`: a new user with a role. They get in once they have a key.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{NewUser, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::role;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag};
use crate::routes::names::{role_name_form, user_id_form};

pub(crate) struct Request(NewUser);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedUser")]
pub(crate) struct Response {
    user_id: String,
}

pub(crate) fn operation() -> Operation {
    Operation::new("create-user", Tag::Identity, "Add a user")
        .says("A new user with a role. They get in once they have a key.")
        .answers::<Response>(201, "The user's id.", json!({"user_id": "bob"}))
        .refuses(400, &["role_unknown", "too_many"])
        .refuses(409, &["already_exists"])
        .leads_to("get-user", "user_id", "/user_id")
        .leads_to("modify-user", "user_id", "/user_id")
        .leads_to("remove-user", "user_id", "/user_id")
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request(user)): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let user_id = user.id.to_string();
    app.store().create_user(&principal.organization, user).await?;
    Ok((StatusCode::CREATED, Json(Response { user_id })))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateUser";

    fn form() -> Value {
        let mut id = user_id_form();
        id["not"] = json!({"enum": UserId::RESERVED});
        json!({
            "type": "object",
            "required": ["user_id", "role"],
            "properties": {"user_id": id, "role": role_name_form()},
        })
    }

    fn example() -> Value {
        json!({"user_id": "bob", "role": "searcher"})
    }

    fn from_body(body: &Node) -> Option<Self> {
        let id = body.required("user_id").and_then(|node| id(&node));
        let role = role(body);
        Some(Self(NewUser { id: id?, role: role? }))
    }
}

fn id(node: &Node) -> Option<UserId> {
    let id = node.parsed(UserId::parse)?;
    if UserId::RESERVED.contains(&id.as_str()) {
        return node.note("value_error", "user id must not be one of: me, signin_with_api_key, ., ..");
    }
    Some(id)
}
