//! `GET /v1/{organization}/tool/{tool_id}/version`: lists the versions of a tool, in pages.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, Query, QueryParameters, Text};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::CONSTRAINT;
use axum::Json;
use axum::extract::State;
use registry::{
    Creator, InvalidValue, OrganizationId, Page, Slice, Store, ToolId, ToolRef, UserId, VersionFilter, VersionSort,
};
use serde_json::{Value, json};

use crate::routes::sorting::SortKey;
use crate::sections;
use crate::wire::{ToolVersion, ToolVersionList, VersionFilterValues, VersionUser, version_example};

const SORT_BY: SortKey<VersionSort> = SortKey(&[
    ("created_at", VersionSort::CreatedAt),
    ("version.major", VersionSort::Major),
    ("version.minor", VersionSort::Minor),
    ("version.patch", VersionSort::Patch),
    ("deprecated", VersionSort::Deprecated),
]);

const SORT_DESCRIPTION: &str = "`-version.major`, `+created_at` and so on; the first key takes precedence.";

const CREATOR_DESCRIPTION: &str = "Only versions that these users published, as `organization,user`.";

const CREATOR: Text<Creator> = Text::new(
    || {
        let id = r"\s*[A-Za-z0-9._@-]{1,128}\s*";
        json!({"type": "string", "pattern": format!("^{id},{id}$")})
    },
    |text| parse_creator(text).map_err(|error| error.to_string()),
);

pub(crate) struct Request {
    filter: VersionFilter,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-tool-versions", sections::VERSIONS, "List versions")
        .description(
            "Lists the versions, newest first unless `sort_by` gives another order. The list includes deprecated \
            versions.",
        )
        .returns::<ToolVersionList>(200, "One page of the list.", example())
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    Query(Request { filter, page }): Query<Request>,
) -> Result<Json<ToolVersionList>, Error> {
    let organization = &principal.organization;
    store.tools().get_tool(organization, &tool).await?.ok_or(Error::NotFound)?;
    let filter_values = match page.is_first() {
        true => Some(VersionFilterValues { creators: list_creators(&store, &principal, &tool).await? }),
        false => None,
    };
    let Slice { items, next } =
        store.versions().list_versions(ToolRef { organization, tool: &tool }, &filter, page).await?;
    let tool_versions = items.into_iter().map(ToolVersion::from).collect();
    Ok(Json(ToolVersionList { tool_versions, has_more: next.is_some(), continuation_token: next, filter_values }))
}

async fn list_creators(
    store: &Store,
    principal: &registry::Principal,
    tool: &ToolId,
) -> Result<Vec<VersionUser>, Error> {
    let creators = store.versions().version_creators(&principal.organization, tool).await?;
    Ok(creators.into_iter().map(|user| VersionUser::new(&principal.organization, user)).collect())
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let filter = VersionFilter {
            deprecated: query.read_boolean("deprecated", "Only deprecated versions, or only live versions."),
            constraint: query.read_one("versions", "Only versions that this PEP 440 constraint admits.", &CONSTRAINT),
            creators: query.read_distinct("creator", CREATOR_DESCRIPTION, &CREATOR),
            sort: query.read_many("sort_by", SORT_DESCRIPTION, &SORT_BY),
        };
        Self { filter, page: query.read_page(0..=50, 50) }
    }
}

fn example() -> Value {
    let creators = json!([{"user_id": "ada", "user_org_id": "acme"}]);
    json!({
        "tool_versions": [version_example()], "has_more": true, "continuation_token": 1,
        "filter_values": {"creators": creators},
    })
}

/// Reads `organization,user`.
fn parse_creator(text: &str) -> Result<Creator, InvalidValue> {
    let refused = InvalidValue::new("the creator", "should be an organisation and a user with a comma between them");
    let (organization, user) = text.split_once(',').ok_or(refused)?;
    let organization = OrganizationId::parse(organization.trim())?;
    Ok(Creator { organization, user: UserId::parse(user.trim())? })
}
