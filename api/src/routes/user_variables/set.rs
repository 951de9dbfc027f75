//! `POST /v1/{organization}/user/{user_id}/variable` and `…/user/me/variable`: sets a variable of a user.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Boolean, Decoder as _, Fields, FromBody, InPath, any_text};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::USER_VARIABLE_NAME;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{NewUserVariable, SecretValue, Store, UserId};
use serde_json::{Value, json};

use crate::routes::user_variables::find_account;
use crate::sections;

pub(crate) struct Request(NewUserVariable);

pub(crate) fn operation() -> OperationDoc {
    describe_operation(OperationDoc::new("set-user-variable", sections::IDENTITY, "Set a variable of a user"))
}

pub(crate) fn own_operation() -> OperationDoc {
    describe_operation(OperationDoc::new("set-own-variable", sections::IDENTITY, "Set a variable of the caller"))
}

fn describe_operation(operation: OperationDoc) -> OperationDoc {
    operation
        .description(
            "Sets a variable, in place of an earlier one of this name. Every run of the user receives it in \
            `user_variables`, unless the caller sends one of this name. Values are encrypted. A value has at most 8 KiB, a \
            user at most 20 sensitive and 20 other variables.",
        )
        .returns_nothing(204, "Set.")
        .errors(400, &["invalid_value", "too_many"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(user): InPath<UserId>,
    Body(Request(variable)): Body<Request>,
) -> Result<StatusCode, Error> {
    let account = find_account(&store, &principal, &user).await?;
    store.access().set_user_variable(&principal, &account, variable).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn handle_own(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request(variable)): Body<Request>,
) -> Result<StatusCode, Error> {
    store.access().set_user_variable(&principal, &principal.account, variable).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl FromBody for Request {
    const NAME: &'static str = "SetUserVariable";

    fn example() -> Value {
        json!({"name": "customer_id", "value": "8812", "is_sensitive": false})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let name = fields.read_required("name", USER_VARIABLE_NAME);
        let value = fields.read_required("value", any_text());
        let is_sensitive = fields.read_optional(
            "is_sensitive",
            Boolean
                .described("Whether the value is removed from everything that is stored or shown.")
                .with_default(false),
        );
        let (name, value, is_sensitive) = (name?, SecretValue::new(value?), is_sensitive.unwrap_or(false));
        Some(Self(NewUserVariable { name, value, is_sensitive }))
    }
}
