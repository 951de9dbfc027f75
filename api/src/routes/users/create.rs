//! `POST /v1/{organization}/user`: adds a user with a role. The user can sign in after an API key is created for them.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder, Fields, FromBody, Node};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{ROLE_NAME, USER_ID};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{NewUser, Store, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::sections;

pub(crate) struct Request(NewUser);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CreatedUser")]
pub(crate) struct Response {
    user_id: String,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("create-user", sections::IDENTITY, "Add a user")
        .description("Adds a user with a role. The user can sign in after an API key is created for them.")
        .returns::<Response>(201, "The user's id.", json!({"user_id": "bob"}))
        .errors(400, &["role_unknown", "too_many"])
        .errors(409, &["already_exists"])
        .links_to("get-user", "user_id", "/user_id")
        .links_to("modify-user", "user_id", "/user_id")
        .links_to("remove-user", "user_id", "/user_id")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request(user)): Body<Request>,
) -> Result<(StatusCode, Json<Response>), Error> {
    let user_id = user.id.to_string();
    store.access().create_user(&principal.organization, user).await?;
    Ok((StatusCode::CREATED, Json(Response { user_id })))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateUser";

    fn example() -> Value {
        json!({"user_id": "bob", "role": "searcher"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let id = fields.read_required("user_id", NewUserId);
        let role = fields.read_required("role", ROLE_NAME);
        Some(Self(NewUser { id: id?, role: role? }))
    }
}

/// The id of a new user. Some ids would read as other paths.
struct NewUserId;

impl Decoder for NewUserId {
    type Value = UserId;

    fn schema(&self) -> Value {
        let mut schema = USER_ID.schema();
        schema["not"] = json!({"enum": UserId::RESERVED});
        schema
    }

    fn decode(&self, node: &Node) -> Option<UserId> {
        let id = USER_ID.decode(node)?;
        if UserId::RESERVED.contains(&id.as_str()) {
            return node.note("value_error", "user id must not be one of: me, signin_with_api_key, ., ..");
        }
        Some(id)
    }
}
