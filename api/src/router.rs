//! Every route, one line each: method, path, permission, handler. What is not in this table is not served.
//!
//! Both slash forms of a path are served. A route without a permission stops the start-up unless [`PUBLIC`] names
//! it, and so does one that could not be checked: with a permission, but without an organisation in its path. The
//! description of a route stands beside its handler; one without it stops the start-up, too.

mod build;
mod door;
mod route;

use registry::Permission::{
    AccessRepo, Administer, CreateTool, DeleteTool, GetInvocation, GetTool, InvokeTool, ModifyTool, OwnAccount,
    TestTool,
};

use crate::routes::{
    api_keys, builds, document, git, health, invocations, me, operations, reference, roles, scaffold, signin,
    signing_keys, test, tools, users, versions,
};

pub use build::{RouteRefused, router};
pub(crate) use door::Handle;
pub use route::Route;
use route::{delete, get, post};

/// The operations that anybody may call.
const PUBLIC: [(&str, &str); 7] = [
    ("GET", "/docs"),
    ("GET", "/docs/errors"),
    ("GET", "/docs/{asset}"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/v1/openapi.json"),
    ("POST", "/v1/{organization}/user/signin_with_api_key"),
];

/// The table.
#[rustfmt::skip]
pub fn routes() -> Vec<Route> {
    vec![
        get("/health/live", None, health::live).described(health::live_operation),
        get("/health/ready", None, health::ready).described(health::ready_operation),
        get("/v1/openapi.json", None, document::handle).described(document::operation),
        get("/docs", None, reference::page::handle).described(reference::page::operation),
        get("/docs/errors", None, reference::errors::handle).described(reference::errors::operation),
        get("/docs/{asset}", None, reference::assets::handle).described(reference::assets::operation),
        post("/v1/{organization}/user/signin_with_api_key", None, signin::handle).described(signin::operation),

        get("/v1/{organization}/user/me", Some(OwnAccount), me::show::handle).described(me::show::operation),
        get("/v1/{organization}/user/me/api_key", Some(OwnAccount), me::list_keys::handle).described(me::list_keys::operation),
        post("/v1/{organization}/user/me/api_key", Some(OwnAccount), me::create_key::handle).described(me::create_key::operation),
        delete("/v1/{organization}/user/me/api_key/{api_key_id}", Some(OwnAccount), me::revoke_key::handle).described(me::revoke_key::operation),

        get("/v1/{organization}/user", Some(Administer), users::list::handle).described(users::list::operation),
        post("/v1/{organization}/user", Some(Administer), users::create::handle).described(users::create::operation),
        get("/v1/{organization}/user/{user_id}", Some(Administer), users::show::handle).described(users::show::operation),
        post("/v1/{organization}/user/{user_id}", Some(Administer), users::set_role::handle).described(users::set_role::operation),
        delete("/v1/{organization}/user/{user_id}", Some(Administer), users::remove::handle).described(users::remove::operation),

        get("/v1/{organization}/role", Some(Administer), roles::list::handle).described(roles::list::operation),
        post("/v1/{organization}/role", Some(Administer), roles::create::handle).described(roles::create::operation),
        get("/v1/{organization}/role/{role_name}", Some(Administer), roles::show::handle).described(roles::show::operation),
        post("/v1/{organization}/role/{role_name}", Some(Administer), roles::modify::handle).described(roles::modify::operation),
        delete("/v1/{organization}/role/{role_name}", Some(Administer), roles::delete::handle).described(roles::delete::operation),

        get("/v1/{organization}/api_key", Some(Administer), api_keys::list::handle).described(api_keys::list::operation),
        post("/v1/{organization}/api_key", Some(Administer), api_keys::create::handle).described(api_keys::create::operation),
        delete("/v1/{organization}/api_key/{api_key_id}", Some(Administer), api_keys::revoke::handle).described(api_keys::revoke::operation),

        post("/v1/{organization}/tool", Some(CreateTool), tools::create::handle).described(tools::create::operation),
        get("/v1/{organization}/tool", Some(GetTool), tools::list::handle).described(tools::list::operation),
        post("/v1/{organization}/tool/{tool_id}", Some(ModifyTool), tools::modify::handle).described(tools::modify::operation),
        delete("/v1/{organization}/tool/{tool_id}", Some(DeleteTool), tools::deprecate::handle).described(tools::deprecate::operation),
        post("/v1/{organization}/tool/{tool_id}/envvar", Some(ModifyTool), tools::envvars::handle).described(tools::envvars::operation),

        post("/v1/{organization}/tool/{tool_id}/version", Some(ModifyTool), versions::publish::handle).described(versions::publish::operation),
        get("/v1/{organization}/tool/{tool_id}/version", Some(GetTool), versions::list::handle).described(versions::list::operation),
        get("/v1/{organization}/tool/{tool_id}/version/{version}", Some(GetTool), versions::detail::handle).described(versions::detail::operation),
        delete("/v1/{organization}/tool/{tool_id}/version/{version}", Some(DeleteTool), versions::deprecate::handle).described(versions::deprecate::operation),
        post("/v1/{organization}/tool/{tool_id}/version/{version}/invoke", Some(InvokeTool), versions::invoke::handle).described(versions::invoke::operation),
        get("/v1/{organization}/tool/{tool_id}/version/{version}/provenance", Some(GetTool), versions::attestation::provenance::handle).described(versions::attestation::provenance::operation),
        get("/v1/{organization}/tool/{tool_id}/version/{version}/sbom", Some(GetTool), versions::attestation::sbom::handle).described(versions::attestation::sbom::operation),
        post("/v1/{organization}/tool/{tool_id}/version/{version}/verify", Some(ModifyTool), versions::verify::handle).described(versions::verify::operation),
        get("/v1/{organization}/keys", Some(GetTool), signing_keys::handle).described(signing_keys::operation),
        get("/v1/{organization}/tool/{tool_id}/build/{build_id}", Some(GetTool), builds::show::handle).described(builds::show::operation),

        post("/v1/{organization}/tool/test", Some(TestTool), test::handle).described(test::operation),
        get("/v1/{organization}/tool/invocation", Some(GetInvocation), invocations::list::handle).described(invocations::list::operation),
        get("/v1/{organization}/tool/invocation/search", Some(GetInvocation), invocations::search::handle).described(invocations::search::operation),
        post("/v1/{organization}/tool/invocation/rollback", Some(InvokeTool), invocations::rollback::handle).described(invocations::rollback::operation),
        get("/v1/{organization}/tool/invocation/{invocation_id}", Some(GetInvocation), invocations::show::handle).described(invocations::show::operation),
        post("/v1/{organization}/tool/invocation/{invocation_id}/replay", Some(GetInvocation), invocations::replay::handle).described(invocations::replay::operation),

        get("/v1/{organization}/operation/{operation_id}", Some(OwnAccount), operations::show::handle).described(operations::show::operation),

        get("/v1/{organization}/tool/amigo_tool_scaffold.tar.gz", Some(GetTool), scaffold::handle).described(scaffold::operation),
        get("/v1/{organization}/tool/git/{*git_path}", Some(AccessRepo), git::handle).described(git::read_operation),
        post("/v1/{organization}/tool/git/{*git_path}", Some(AccessRepo), git::handle).described(git::write_operation),
    ]
}
