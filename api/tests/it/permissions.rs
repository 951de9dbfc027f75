//! The permissions of the route table: each route requires exactly its permission, and the document says the same.

use std::fmt::Write;

use api::{Route, list_routes};
use axum::http::StatusCode;
use registry::{Grants, Permission};
use serde_json::json;

use crate::harness::{Answer, TestApp};

/// A path of the route in the organisation `acme`, with ids that do not exist. `None` for a path outside of organisations.
fn find_path(route: &Route) -> Option<String> {
    let is_of_user = ["/api/v1/", "/agents/"].iter().any(|prefix| route.path.starts_with(prefix));
    if !route.path.contains("{organization}") && !is_of_user {
        return None;
    }
    let filled = route
        .path
        .replace("{organization}", "acme")
        .replace("{tool_id}", &"f".repeat(24))
        .replace("{invocation_id}", &"f".repeat(24))
        .replace("{agent_id}", &"f".repeat(24))
        .replace("{agent_run_id}", &"f".repeat(24))
        .replace("{human_request_id}", &"f".repeat(24))
        .replace("{number}", "1")
        .replace("{state_name}", "nothing")
        .replace("{conversation_id}", &"f".repeat(24))
        .replace("{turn_id}", &"f".repeat(24))
        .replace("{gateway}", "nothing")
        .replace("{build_id}", &"f".repeat(24))
        .replace("{hold_id}", &"f".repeat(24))
        .replace("{operation_id}", &"f".repeat(24))
        .replace("{tool_name}", "nothing")
        .replace("{version}", "1.0.0")
        .replace("{user_id}", "nobody")
        .replace("{role_name}", "nothing")
        .replace("{api_key_id}", "aaaaaaaaaaaa")
        .replace("{variable_name}", "nothing")
        .replace("{memory_id}", &"f".repeat(24))
        .replace("{rule_id}", &"f".repeat(24))
        .replace("{skill_id}", &"f".repeat(24))
        .replace("{prompt_id}", &"f".repeat(24))
        .replace("{task_id}", &"f".repeat(24))
        .replace("{artifact_id}", &"f".repeat(24))
        .replace("{key}", "nothing")
        .replace("{*git_path}", "tools.git/nothing");
    assert!(!filled.contains('{'), "{filled}: a parameter that this test does not know");
    Some(filled)
}

async fn answer(app: &TestApp, token: &str, route: &Route) -> Option<Answer> {
    let request = app.request(route.method, &find_path(route)?).header("authorization", &format!("Bearer {token}"));
    Some(request.json(&json!({})).await)
}

#[tokio::test]
async fn every_permission_but_the_routes_own_is_not_enough() {
    let app = TestApp::start().await;
    for missing in Permission::grantable() {
        let name = format!("without-{}", missing as u32);
        let others = Permission::grantable().filter(|permission| *permission != missing);
        let token = app.member_with(&name, Grants::of(others)).await;
        for route in list_routes().into_iter().filter(|route| route.permission == Some(missing)) {
            let answer = answer(&app, &token, &route).await.unwrap();
            assert_eq!(answer.refusal(), (403, "permission_missing".into()), "{} {}", route.method, route.path);
            let detail = answer.json()["detail"].as_str().unwrap().to_owned();
            let expected =
                format!("The operation needs the permission {missing}, which your role does not grant. An admin");
            assert!(detail.starts_with(&expected) && detail.contains("`lathe role list`"), "{detail}");
        }
    }
}

#[tokio::test]
async fn the_routes_own_permission_is_enough() {
    let app = TestApp::start().await;
    for only in Permission::grantable() {
        let token = app.member_with(&format!("only-{}", only as u32), Grants::of([only])).await;
        for route in list_routes().into_iter().filter(|route| route.permission == Some(only)) {
            let status = answer(&app, &token, &route).await.unwrap().status;
            let refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
            assert!(!refused && !status.is_server_error(), "{} {}: {status}", route.method, route.path);
        }
    }
}

#[tokio::test]
async fn own_account_routes_need_a_user_and_no_permission() {
    let app = TestApp::start().await;
    let token = app.member_with("powerless", Grants::default()).await;
    let own = list_routes().into_iter().filter(|route| route.permission == Some(Permission::OwnAccount));
    let mut seen = 0;
    for route in own {
        let status = answer(&app, &token, &route).await.unwrap().status;
        // The body is checked after the permission.
        let is_invalid = matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
        let opened = status.is_success() || status == StatusCode::NOT_FOUND || is_invalid;
        assert!(opened, "{} {}: {status}", route.method, route.path);
        let anonymous = app.request(route.method, &find_path(&route).unwrap()).send().await;
        assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED, "{} {}", route.method, route.path);
        seen += 1;
    }
    assert!(seen >= 4, "who one is, and one's keys");
}

/// The built-in roles, as the document lists them.
#[tokio::test]
async fn the_built_in_roles_have_the_documented_permissions() {
    let app = TestApp::start().await;
    let tokens = [
        app.member("an-author", "author").await,
        app.member("an-invoker", "invoker").await,
        app.member("an-auditor", "auditor").await,
    ];
    for (permission, expected) in [
        (Permission::CreateTool, [true, false, false]),
        (Permission::ModifyTool, [true, false, false]),
        (Permission::DeleteTool, [true, false, false]),
        (Permission::TestTool, [true, false, false]),
        (Permission::AccessRepo, [true, false, false]),
        (Permission::InvokeTool, [true, true, false]),
        (Permission::GetTool, [true, true, true]),
        (Permission::GetInvocation, [true, false, true]),
        (Permission::CreateAgent, [true, false, false]),
        (Permission::ModifyAgent, [true, false, false]),
        (Permission::DeleteAgent, [true, false, false]),
        (Permission::GetAgent, [true, true, true]),
        (Permission::DeployAgent, [true, false, false]),
        (Permission::Administer, [false, false, false]),
    ] {
        for route in list_routes().into_iter().filter(|route| route.permission == Some(permission)) {
            for (token, expected) in tokens.iter().zip(expected) {
                let status = answer(&app, token, &route).await.unwrap().status;
                assert_eq!(status != StatusCode::FORBIDDEN, expected, "{} {}", route.method, route.path);
            }
        }
    }
}

#[test]
fn the_document_has_the_table() {
    let mut table = String::from("| method | path | permission |\n|---|---|---|\n");
    for route in list_routes() {
        let permission = match route.permission {
            None => "none: public".to_owned(),
            Some(Permission::OwnAccount) if route.path.contains("/operation/") => {
                "none: any user, about what they began; see below".to_owned()
            }
            Some(Permission::OwnAccount) => "none: any user, about themselves".to_owned(),
            Some(permission) => format!("`{permission}`"),
        };
        writeln!(table, "| `{}` | `{}` | {permission} |", route.method, route.path).unwrap();
    }
    let document = include_str!("../../../docs/reference/permissions.md");
    assert!(document.contains(&table), "docs/reference/permissions.md should have this table:\n\n{table}");
    for permission in Permission::grantable() {
        assert!(document.contains(&format!("| `{permission}` | ")), "{permission} has no row of its own");
    }
}
