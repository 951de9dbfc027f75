//! The route table, one line for each route: method, path, permission, handler. A route that is missing here is not
//! served.
//!
//! Both slash forms of a path are served. These routes stop the start-up: a route without a permission, unless
//! [`public`] names it; a route with a permission whose path does not tell the organisation; a route without a
//! description, which stands beside its handler; a route without [`bounds`].

mod bounds;
mod build;
mod public;
mod route;
mod route_guard;

use ::mcp::OauthError;
use api_kit::body_bounds::BodyBound::{Content, Streamed};
use api_kit::openapi::{self, OperationDoc};
use axum::Router;
use registry::Permission::{
    AccessRepo, Administer, CreateAgent, CreateTool, DeleteAgent, DeleteTool, DeployAgent, GetAgent, GetInvocation,
    GetTool, InvokeTool, ModifyAgent, ModifyTool, OwnAccount, TestTool,
};
use serde_json::Value;

use crate::app::App;
use crate::routes::{
    agent_runs, agents, api_keys, builds, conversations, document, git, health, holds, human_requests, invocations,
    library, mcp, me, oauth, operations, organization, reference, roles, root, scaffold, signin, signing_keys, test,
    tools, user_variables, users, versions,
};
use crate::tool_routes;

pub use bounds::{Bounds, RequestBound, ResponseBound};
pub use build::RouteRefused;
pub use route::Route;
use route::{delete, get, post};

/// Builds the router of the whole API.
pub fn build_router(app: App) -> Result<Router, RouteRefused> {
    build::assemble(app, list_routes())
}

/// The OpenAPI document of all routes.
pub fn build_openapi_document() -> Value {
    openapi::build_document(&list_routes().iter().map(Route::doc).collect::<Vec<_>>(), |generator| {
        generator.subschema_for::<OauthError>();
    })
}

/// The names of all operations, in the order of the route table.
pub(crate) fn list_operation_names() -> Vec<&'static str> {
    list_routes().iter().filter_map(|route| route.operation.as_ref()).map(OperationDoc::id).collect()
}

/// A limit is set for an operation that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no operation `{name}`; limits can be set for {}", known.join(", "))]
pub struct UnknownOperation {
    pub name: String,
    pub known: Vec<&'static str>,
}

/// Finds the operation with a name, for its rate limit.
pub fn find_operation(name: &str) -> Result<&'static str, UnknownOperation> {
    let known = list_operation_names();
    match known.iter().find(|known| **known == name) {
        Some(operation) => Ok(operation),
        None => Err(UnknownOperation { name: name.to_owned(), known }),
    }
}

/// The route table.
pub fn list_routes() -> Vec<Route> {
    [list_server_routes(), list_account_routes(), list_tool_routes(), list_agent_routes(), list_native_tool_routes()]
        .into_iter()
        .flatten()
        .collect()
}

/// The routes that native tools declare beside their schemas.
fn list_native_tool_routes() -> Vec<Route> {
    tool_routes::list_operations().into_iter().map(Route::from).collect()
}

#[rustfmt::skip]
fn list_server_routes() -> Vec<Route> {
    vec![
        get("/", None, root::handle).described(root::operation),
        get("/health/live", None, health::live).described(health::live_operation),
        get("/health/ready", None, health::ready).described(health::ready_operation),
        get("/v1/openapi.json", None, || document::handle(build_openapi_document)).described(document::operation),
        get("/api/v1/downloads/{download}", None, library::download::handle).described(library::download::operation),
        get("/docs", None, reference::page::handle).described(reference::page::operation),
        get("/docs/errors", None, reference::errors::handle).described(reference::errors::operation),
        get("/docs/{asset}", None, reference::assets::handle).described(reference::assets::operation),
        get("/.well-known/oauth-protected-resource/{*resource}", None, mcp::metadata::handle).described(mcp::metadata::operation),
        get("/.well-known/oauth-authorization-server", None, oauth::metadata::handle).described(oauth::metadata::operation),
        get("/oauth/authorize", None, oauth::ask::handle).described(oauth::ask::operation),
        post("/oauth/authorize", None, oauth::allow::handle).described(oauth::allow::operation),
        post("/oauth/token", None, oauth::token::handle).described(oauth::token::operation),
        post("/oauth/revoke", None, oauth::revoke::handle).described(oauth::revoke::operation),
        post("/oauth/register", None, oauth::register::handle).described(oauth::register::operation),
        post("/v1/{organization}/user/signin_with_api_key", None, signin::handle).described(signin::operation),
    ]
}

#[rustfmt::skip]
fn list_account_routes() -> Vec<Route> {
    vec![
        get("/v1/{organization}/organization", Some(OwnAccount), organization::handle).described(organization::operation),

        get("/v1/{organization}/user/me", Some(OwnAccount), me::show::handle).described(me::show::operation),
        get("/v1/{organization}/user/me/api_key", Some(OwnAccount), me::list_keys::handle).described(me::list_keys::operation),
        post("/v1/{organization}/user/me/api_key", Some(OwnAccount), me::create_key::handle).described(me::create_key::operation),
        delete("/v1/{organization}/user/me/api_key/{api_key_id}", Some(OwnAccount), me::revoke_key::handle).described(me::revoke_key::operation),

        get("/v1/{organization}/user/me/variable", Some(OwnAccount), user_variables::list::handle_own).described(user_variables::list::own_operation),
        post("/v1/{organization}/user/me/variable", Some(OwnAccount), user_variables::set::handle_own).described(user_variables::set::own_operation),
        delete("/v1/{organization}/user/me/variable/{variable_name}", Some(OwnAccount), user_variables::remove::handle_own).described(user_variables::remove::own_operation),

        get("/v1/{organization}/user", Some(Administer), users::list::handle).described(users::list::operation),
        post("/v1/{organization}/user", Some(Administer), users::create::handle).described(users::create::operation),
        get("/v1/{organization}/user/{user_id}", Some(Administer), users::show::handle).described(users::show::operation),
        post("/v1/{organization}/user/{user_id}", Some(Administer), users::set_role::handle).described(users::set_role::operation),
        delete("/v1/{organization}/user/{user_id}", Some(Administer), users::remove::handle).described(users::remove::operation),
        get("/v1/{organization}/user/{user_id}/variable", Some(Administer), user_variables::list::handle).described(user_variables::list::operation),
        post("/v1/{organization}/user/{user_id}/variable", Some(Administer), user_variables::set::handle).described(user_variables::set::operation),
        delete("/v1/{organization}/user/{user_id}/variable/{variable_name}", Some(Administer), user_variables::remove::handle).described(user_variables::remove::operation),

        get("/v1/{organization}/role", Some(Administer), roles::list::handle).described(roles::list::operation),
        post("/v1/{organization}/role", Some(Administer), roles::create::handle).described(roles::create::operation),
        get("/v1/{organization}/role/{role_name}", Some(Administer), roles::show::handle).described(roles::show::operation),
        post("/v1/{organization}/role/{role_name}", Some(Administer), roles::modify::handle).described(roles::modify::operation),
        delete("/v1/{organization}/role/{role_name}", Some(Administer), roles::delete::handle).described(roles::delete::operation),

        get("/v1/{organization}/api_key", Some(Administer), api_keys::list::handle).described(api_keys::list::operation),
        post("/v1/{organization}/api_key", Some(Administer), api_keys::create::handle).described(api_keys::create::operation),
        delete("/v1/{organization}/api_key/{api_key_id}", Some(Administer), api_keys::revoke::handle).described(api_keys::revoke::operation),
    ]
}

#[rustfmt::skip]
fn list_tool_routes() -> Vec<Route> {
    vec![
        post("/v1/{organization}/tool", Some(CreateTool), tools::create::handle).described(tools::create::operation).reads(Content),
        get("/v1/{organization}/tool", Some(GetTool), tools::list::handle).described(tools::list::operation),
        post("/v1/{organization}/tool/{tool_id}", Some(ModifyTool), tools::modify::handle).described(tools::modify::operation).reads(Content),
        delete("/v1/{organization}/tool/{tool_id}", Some(DeleteTool), tools::deprecate::handle).described(tools::deprecate::operation),
        post("/v1/{organization}/tool/{tool_id}/envvar", Some(ModifyTool), tools::envvars::handle).described(tools::envvars::operation).reads(Content),

        post("/v1/{organization}/tool/{tool_id}/version", Some(ModifyTool), versions::publish::handle).described(versions::publish::operation).reads(Content),
        get("/v1/{organization}/tool/{tool_id}/version", Some(GetTool), versions::list::handle).described(versions::list::operation),
        get("/v1/{organization}/tool/{tool_id}/version/{version}", Some(GetTool), versions::detail::handle).described(versions::detail::operation),
        delete("/v1/{organization}/tool/{tool_id}/version/{version}", Some(ModifyTool), versions::deprecate::handle).described(versions::deprecate::operation),
        post("/v1/{organization}/tool/{tool_id}/version/{version}/invoke", Some(InvokeTool), versions::invoke::handle).described(versions::invoke::operation).reads(Content),
        post("/v1/{organization}/tool/by-name/{tool_name}/version/{version}/invoke", Some(InvokeTool), versions::invoke::handle_by_name).described(versions::invoke::operation_by_name).reads(Content),
        get("/v1/{organization}/tool/{tool_id}/version/{version}/provenance", Some(GetTool), versions::attestation::provenance::handle).described(versions::attestation::provenance::operation),
        get("/v1/{organization}/tool/{tool_id}/version/{version}/sbom", Some(GetTool), versions::attestation::sbom::handle).described(versions::attestation::sbom::operation),
        post("/v1/{organization}/tool/{tool_id}/version/{version}/verify", Some(ModifyTool), versions::verify::handle).described(versions::verify::operation),
        get("/v1/{organization}/keys", Some(GetTool), signing_keys::handle).described(signing_keys::operation),
        get("/v1/{organization}/tool/{tool_id}/build/{build_id}", Some(GetTool), builds::show::handle).described(builds::show::operation),

        post("/v1/{organization}/tool/test", Some(TestTool), test::handle).described(test::operation).reads(Content),
        get("/v1/{organization}/tool/invocation", Some(GetInvocation), invocations::list::handle).described(invocations::list::operation),
        get("/v1/{organization}/tool/invocation/search", Some(GetInvocation), invocations::search::handle).described(invocations::search::operation),
        post("/v1/{organization}/tool/invocation/rollback", Some(InvokeTool), invocations::rollback::handle).described(invocations::rollback::operation).reads(Content),
        get("/v1/{organization}/tool/invocation/{invocation_id}", Some(GetInvocation), invocations::show::handle).described(invocations::show::operation),
        post("/v1/{organization}/tool/invocation/{invocation_id}/replay", Some(GetInvocation), invocations::replay::handle).described(invocations::replay::operation),
        post("/v1/{organization}/tool/invocation/{invocation_id}/cancel", Some(InvokeTool), invocations::cancel::handle).described(invocations::cancel::operation),

        get("/v1/{organization}/history_hold", Some(GetInvocation), holds::list::handle).described(holds::list::operation),
        post("/v1/{organization}/history_hold", Some(Administer), holds::place::handle).described(holds::place::operation),
        post("/v1/{organization}/history_hold/{hold_id}/release", Some(Administer), holds::release::handle).described(holds::release::operation),

        get("/v1/{organization}/operation/{operation_id}", Some(OwnAccount), operations::show::handle).described(operations::show::operation),

        get("/v1/{organization}/tool/amigo_tool_scaffold.tar.gz", Some(GetTool), scaffold::handle).described(scaffold::operation),
        get("/v1/{organization}/tool/git/{*git_path}", Some(AccessRepo), git::handle).described(git::read_operation).reads(Streamed),
        post("/v1/{organization}/tool/git/{*git_path}", Some(AccessRepo), git::handle).described(git::write_operation).reads(Streamed),
    ]
}

#[rustfmt::skip]
fn list_agent_routes() -> Vec<Route> {
    vec![
        post("/v1/{organization}/agent", Some(CreateAgent), agents::create::handle).described(agents::create::operation).reads(Content),
        get("/v1/{organization}/agent", Some(GetAgent), agents::list::handle).described(agents::list::operation),
        get("/v1/{organization}/agent/{agent_id}", Some(GetAgent), agents::show::handle).described(agents::show::operation),
        post("/v1/{organization}/agent/{agent_id}", Some(ModifyAgent), agents::modify::handle).described(agents::modify::operation).reads(Content),
        delete("/v1/{organization}/agent/{agent_id}", Some(DeleteAgent), agents::delete::handle).described(agents::delete::operation),

        get("/v1/{organization}/agent/{agent_id}/assignment", Some(GetAgent), agents::assignments::handle).described(agents::assignments::operation),
        post("/v1/{organization}/agent/{agent_id}/assignment", Some(ModifyAgent), agents::assign::handle).described(agents::assign::operation).reads(Content),
        delete("/v1/{organization}/agent/{agent_id}/assignment/{tool_id}", Some(ModifyAgent), agents::unassign::handle).described(agents::unassign::operation),

        get("/v1/{organization}/agent/{agent_id}/state", Some(GetAgent), agents::states::handle).described(agents::states::operation),
        post("/v1/{organization}/agent/{agent_id}/state", Some(ModifyAgent), agents::set_state::handle).described(agents::set_state::operation).reads(Content),
        delete("/v1/{organization}/agent/{agent_id}/state/{state_name}", Some(ModifyAgent), agents::remove_state::handle).described(agents::remove_state::operation),

        post("/v1/{organization}/agent/{agent_id}/deploy", Some(DeployAgent), agents::deploy::handle).described(agents::deploy::operation),
        get("/v1/{organization}/agent/{agent_id}/revision", Some(GetAgent), agents::revisions::handle).described(agents::revisions::operation),
        get("/v1/{organization}/agent/{agent_id}/revision/{number}", Some(GetAgent), agents::revision::handle).described(agents::revision::operation),
        get("/v1/{organization}/agent/{agent_id}/tools", Some(GetAgent), agents::tools::handle).described(agents::tools::operation),

        post("/v1/{organization}/agent/{agent_id}/conversation", Some(OwnAccount), conversations::start::handle).described(conversations::start::operation).reads(Content),
        get("/v1/{organization}/agent/{agent_id}/conversation", Some(OwnAccount), conversations::list::handle).described(conversations::list::operation),
        get("/v1/{organization}/conversation/{conversation_id}", Some(OwnAccount), conversations::show::handle).described(conversations::show::operation),
        delete("/v1/{organization}/conversation/{conversation_id}", Some(OwnAccount), conversations::end::handle).described(conversations::end::operation),
        get("/v1/{organization}/conversation/{conversation_id}/log", Some(OwnAccount), conversations::log::handle).described(conversations::log::operation),
        post("/v1/{organization}/conversation/{conversation_id}/turn", Some(OwnAccount), conversations::begin_turn::handle).described(conversations::begin_turn::operation).reads(Content),
        get("/v1/{organization}/conversation/{conversation_id}/turn/{turn_id}", Some(OwnAccount), conversations::show_turn::handle).described(conversations::show_turn::operation),
        post("/v1/{organization}/conversation/{conversation_id}/turn/{turn_id}/invoke", Some(OwnAccount), conversations::invoke::handle).described(conversations::invoke::operation).reads(Content),

        post("/agents/execute", Some(OwnAccount), agent_runs::execute::handle).described(agent_runs::execute::operation).reads(Content),
        get("/agents/{agent_run_id}/status", Some(OwnAccount), agent_runs::status::handle).described(agent_runs::status::operation),
        get("/agents/{agent_run_id}/trace", Some(OwnAccount), agent_runs::trace::handle).described(agent_runs::trace::operation),
        post("/agents/{agent_run_id}/resume", Some(OwnAccount), agent_runs::resume::handle).described(agent_runs::resume::operation).reads(Content),
        get("/v1/{organization}/agent_run", Some(OwnAccount), agent_runs::list::handle).described(agent_runs::list::operation),
        get("/v1/{organization}/human_request", Some(OwnAccount), human_requests::list::handle).described(human_requests::list::operation),
        get("/v1/{organization}/human_request/{human_request_id}", Some(OwnAccount), human_requests::show::handle).described(human_requests::show::operation),
        post("/v1/{organization}/human_request/{human_request_id}/answer", Some(OwnAccount), human_requests::answer::handle).described(human_requests::answer::operation).reads(Content),
        post("/agents/{agent_run_id}/cancel", Some(OwnAccount), agent_runs::cancel::handle).described(agent_runs::cancel::operation),

        post("/v1/{organization}/mcp/{gateway}", Some(OwnAccount), mcp::endpoint::handle).described(mcp::endpoint::post_operation).accept_mcp_clients().reads(Content),
        get("/v1/{organization}/mcp/{gateway}", Some(OwnAccount), mcp::endpoint::handle).described(mcp::endpoint::get_operation).accept_mcp_clients(),
        delete("/v1/{organization}/mcp/{gateway}", Some(OwnAccount), mcp::endpoint::handle).described(mcp::endpoint::delete_operation).accept_mcp_clients(),
    ]
}

#[cfg(test)]
mod tests {
    use api_kit::auth::ResourceKind;
    use api_kit::rate::RateLimits;
    use registry::Permission;

    use super::*;

    /// A permission accepts conditions if and only if one of its operations names a tool or a run.
    #[test]
    fn conditions_can_be_met_where_they_are_accepted() {
        for permission in Permission::grantable() {
            let mut own = list_routes().into_iter().filter(|route| route.permission == Some(permission));
            let names_tool = own.any(|route| ResourceKind::of(route.path) != ResourceKind::None);
            assert_eq!(names_tool, permission.can_be_conditional(), "{permission}");
        }
    }

    #[test]
    fn limits_are_set_for_operations() {
        for operation in RateLimits::contract().operations() {
            assert_eq!(find_operation(operation), Ok(operation));
        }
        let error = find_operation("invoke").unwrap_err().to_string();
        assert!(error.contains("`invoke`; limits can be set for ") && error.contains(", create-tool, "), "{error}");
    }
}
