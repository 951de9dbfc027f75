//! Keys expire or are revoked, also while they are in use.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use crate::harness::{Team, change_database, eventually, sign_in_as};

/// A revocation by another process takes effect within a second; `registry/tests/store/api_keys.rs` tests that.
#[test]
fn a_key_that_is_revoked_while_its_token_is_used_ends_immediately() {
    let team = Team::new();
    let bob = team.joined_by("bob", "author");
    let git = ["ls-remote", &bob.git_url()];
    bob.repository.ok(&git);
    let (accepted, is_revoked) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // The token is always in the cache.
        let busy = scope.spawn(|| {
            eventually("the end of the token", || {
                let ends_now = is_revoked.load(Ordering::SeqCst);
                match bob.request("GET", "/tool").send().status {
                    200 => {
                        assert!(!ends_now, "accepted after the revocation was answered");
                        accepted.fetch_add(1, Ordering::SeqCst);
                        None
                    }
                    status => Some(status),
                }
            })
        });
        eventually("some requests", || (accepted.load(Ordering::SeqCst) > 3).then_some(()));
        team.delete(&format!("/api_key/{}", bob.api_key_id)).expect(204);
        is_revoked.store(true, Ordering::SeqCst);
        assert_eq!(busy.join().expect("no panic"), 401);
    });
    let said = bob.repository.git(&git);
    assert!(said.code != Some(0) && said.stdout.is_empty(), "{said:?}");
    sign_in_as(&team.server, &team.organization, "bob", &bob.api_key_id, &bob.api_key).expect(401);
    // Other users are not affected.
    team.get("/tool");
}

#[test]
fn a_key_ends_by_itself() {
    let team = Team::new();
    let key = team.post("/user/me/api_key", &json!({"name": "short", "expires_in": 3_600})).expect(201);
    let text = |name: &str| key[name].as_str().expect("text");
    let sign_in = || sign_in_as(&team.server, &team.organization, "ada", text("api_key_id"), text("api_key"));
    let token = sign_in().expect(200);
    assert_eq!(token["expires_at"], key["expires_at"], "a token ends with its key");
    let token = token["id_token"].as_str().expect("a token");
    let path = format!("/v1/{}/tool", team.organization);
    let use_token = || team.server.request("GET", &path).bearer(token).send().status;
    assert_eq!(use_token(), 200);
    let over = |table: &str| format!("UPDATE {table} SET expires_at = 1 WHERE api_key_id = '{}'", text("api_key_id"));
    change_database(team.server.data(), &[&over("api_keys"), &over("tokens")]);
    assert_eq!(sign_in().status, 401);
    // A token stays in the cache for a second.
    eventually("the end of the token", || (use_token() == 401).then_some(()));
}

#[test]
fn a_removed_user_is_out_and_their_work_stays() {
    let team = Team::new();
    let bob = team.joined_by("bob", "author");
    let tool = bob.tool("leftover").body("return 'still here'").published();
    assert_eq!(tool.invoke(json!({})).output(), "still here");
    team.delete("/user/bob").expect(204);
    assert_eq!(bob.request("GET", "/tool").send().status, 401);
    let list = team.get("/tool");
    assert_eq!(list["tools"][0]["creator"], json!({"org_id": team.organization, "user_id": "bob"}));
    let id = tool.id().to_owned();
    assert_eq!(team.tool("leftover").with_id(&id).invoke(json!({})).output(), "still here");
}
