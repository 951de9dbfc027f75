//! Every route, one line each: method, path, permission, handler. What is not in this table is not served.
//!
//! Both slash forms of a path are served. A route without a permission stops the start-up unless [`PUBLIC`] names
//! it, and so does one that could not be checked: with a permission, but without an organisation in its path.

mod build;
mod route;

use registry::Permission::{
    AccessRepo, Administer, CreateTool, DeleteTool, GetInvocation, GetTool, InvokeTool, ModifyTool, OwnAccount,
    TestTool,
};

use crate::routes::{
    api_keys, builds, git, health, invocations, me, roles, scaffold, signin, test, tools, users, versions,
};

pub use build::{RouteRefused, router};
pub use route::Route;
use route::{delete, get, post};

/// The operations that anybody may call.
const PUBLIC: [(&str, &str); 3] =
    [("GET", "/health/live"), ("GET", "/health/ready"), ("POST", "/v1/{organization}/user/signin_with_api_key")];

/// The table.
#[rustfmt::skip]
pub fn routes() -> Vec<Route> {
    vec![
        get("/health/live", None, health::live),
        get("/health/ready", None, health::ready),
        post("/v1/{organization}/user/signin_with_api_key", None, signin::handle),

        get("/v1/{organization}/user/me", Some(OwnAccount), me::show::handle),
        get("/v1/{organization}/user/me/api_key", Some(OwnAccount), me::list_keys::handle),
        post("/v1/{organization}/user/me/api_key", Some(OwnAccount), me::create_key::handle),
        delete("/v1/{organization}/user/me/api_key/{api_key_id}", Some(OwnAccount), me::revoke_key::handle),

        get("/v1/{organization}/user", Some(Administer), users::list::handle),
        post("/v1/{organization}/user", Some(Administer), users::create::handle),
        get("/v1/{organization}/user/{user_id}", Some(Administer), users::show::handle),
        post("/v1/{organization}/user/{user_id}", Some(Administer), users::set_role::handle),
        delete("/v1/{organization}/user/{user_id}", Some(Administer), users::remove::handle),

        get("/v1/{organization}/role", Some(Administer), roles::list::handle),
        post("/v1/{organization}/role", Some(Administer), roles::create::handle),
        get("/v1/{organization}/role/{role_name}", Some(Administer), roles::show::handle),
        post("/v1/{organization}/role/{role_name}", Some(Administer), roles::modify::handle),
        delete("/v1/{organization}/role/{role_name}", Some(Administer), roles::delete::handle),

        get("/v1/{organization}/api_key", Some(Administer), api_keys::list::handle),
        post("/v1/{organization}/api_key", Some(Administer), api_keys::create::handle),
        delete("/v1/{organization}/api_key/{api_key_id}", Some(Administer), api_keys::revoke::handle),

        post("/v1/{organization}/tool", Some(CreateTool), tools::create::handle),
        get("/v1/{organization}/tool", Some(GetTool), tools::list::handle),
        post("/v1/{organization}/tool/{tool_id}", Some(ModifyTool), tools::modify::handle),
        delete("/v1/{organization}/tool/{tool_id}", Some(DeleteTool), tools::deprecate::handle),
        post("/v1/{organization}/tool/{tool_id}/envvar", Some(ModifyTool), tools::envvars::handle),

        post("/v1/{organization}/tool/{tool_id}/version", Some(ModifyTool), versions::publish::handle),
        get("/v1/{organization}/tool/{tool_id}/version", Some(GetTool), versions::list::handle),
        get("/v1/{organization}/tool/{tool_id}/version/{version}", Some(GetTool), versions::detail::handle),
        delete("/v1/{organization}/tool/{tool_id}/version/{version}", Some(DeleteTool), versions::deprecate::handle),
        post("/v1/{organization}/tool/{tool_id}/version/{version}/invoke", Some(InvokeTool), versions::invoke::handle),
        get("/v1/{organization}/tool/{tool_id}/build/{build_id}", Some(GetTool), builds::show::handle),

        post("/v1/{organization}/tool/test", Some(TestTool), test::handle),
        get("/v1/{organization}/tool/invocation", Some(GetInvocation), invocations::list::handle),
        get("/v1/{organization}/tool/invocation/search", Some(GetInvocation), invocations::search::handle),
        get("/v1/{organization}/tool/invocation/{invocation_id}", Some(GetInvocation), invocations::show::handle),

        get("/v1/{organization}/tool/amigo_tool_scaffold.tar.gz", Some(GetTool), scaffold::handle),
        get("/v1/{organization}/tool/git/{*git_path}", Some(AccessRepo), git::handle),
        post("/v1/{organization}/tool/git/{*git_path}", Some(AccessRepo), git::handle),
    ]
}
