//! The permissions of the roles, over HTTP and git.

use serde_json::json;

use crate::harness::{Bump, Team, input};

#[test]
fn an_author_can_push_and_publish_and_not_manage_users() {
    let team = Team::new();
    let author = team.joined_by("bob", "author");
    let tool = author.tool("greet").body("return 'hi'").published();
    assert_eq!(tool.invoke(json!({})).output(), "hi");
    for path in ["/user", "/role", "/api_key"] {
        let refused = author.request("GET", path).send();
        refused.expect(403);
        assert_eq!(
            (refused.code().as_str(), refused.detail().contains("Organization:Admin")),
            ("permission_missing", true)
        );
    }
    author.post("/user", &json!({"user_id": "eve", "role": "admin"})).expect(403);
    author.post("/user/bob", &json!({"role": "admin"})).expect(403);
    author.post("/api_key", &json!({"user_id": "ada"})).expect(403);
}

#[test]
fn an_invoker_invokes_and_cannot_push() {
    let team = Team::new();
    let tool = team.tool("greet").body("return 'hi'").published();
    let invoker = team.joined_by("bob", "invoker");
    assert_eq!(invoker.tool("greet").with_id(tool.id()).invoke(json!({})).output(), "hi");
    invoker.repository.commit();
    let target = format!("HEAD:{}", invoker.branch());
    let before = team.repository.ok(&["ls-remote", &team.git_url()]);
    for arguments in [&["push", &invoker.git_url(), &target][..], &["ls-remote", &invoker.git_url()]] {
        let said = invoker.repository.git(arguments);
        assert!(said.code != Some(0) && said.stderr.contains("403"), "{said:?}");
    }
    assert_eq!(team.repository.ok(&["ls-remote", &team.git_url()]), before);
    invoker.tool("greet").with_id(tool.id()).publish(Bump::Minor).expect(403);
    invoker.request("GET", "/tool/invocation").send().expect(403);
}

#[test]
fn an_auditor_reads_the_history_and_cannot_invoke() {
    let team = Team::new();
    let tool = team.tool("greet").body("return 'hi'").published();
    tool.invoke(json!({}));
    let auditor = team.joined_by("bob", "auditor");
    assert_eq!(auditor.history().len(), 1);
    let refused =
        auditor.tool("greet").with_id(tool.id()).invoke_request(&json!({"inputs": [input(&json!({}))]})).send();
    refused.expect(403);
    assert!(refused.detail().contains("Tool:InvokeTool"), "{refused}");
    assert_eq!(auditor.history().len(), 1, "what was refused did not run");
}

#[test]
fn a_conditional_role_runs_its_tool_and_no_other() {
    let team = Team::new();
    let open = team.tool("search_web").body("return 'found'").published();
    let closed = team.tool("delete_all").body("return 'gone'").published();
    let condition = json!({"key": "tool_name", "operator": "startsWith", "value": "search_"});
    let grants = json!([
        {"permission": "Tool:InvokeTool", "conditions": [condition]},
        {"permission": "Tool:GetInvocation", "conditions": [condition]}
    ]);
    team.post("/role", &json!({"name": "searcher", "grants": grants})).expect(201);
    let searcher = team.joined_by("bob", "searcher");
    let run = searcher.tool("search_web").with_id(open.id()).invoke(json!({}));
    assert_eq!(run.output(), "found");
    searcher.request("GET", &format!("/tool/invocation/{}", run.id())).send().expect(200);
    let other = closed.invoke(json!({}));
    searcher.request("GET", &format!("/tool/invocation/{}", other.id())).send().expect(403);
    let body = json!({"inputs": [input(&json!({}))]});
    searcher.tool("delete_all").with_id(closed.id()).invoke_request(&body).send().expect(403);
    searcher.request("GET", "/tool").send().expect(403);
    searcher.request("GET", "/tool/invocation").send().expect(403);
    assert_eq!(team.history().len(), 2);
}
