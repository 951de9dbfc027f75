//! Keys end, whoever uses them at the moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::harness::{Team, eventually, team::sign_in_as};

/// The promise.
const END_TIME_MAX: Duration = Duration::from_millis(1_000);

#[test]
fn a_key_that_is_revoked_while_its_token_is_used_ends_within_a_second() {
    let team = Team::new();
    let bob = team.joined_by("bob", "author");
    let git = ["ls-remote", &bob.git_url()];
    bob.repository.ok(&git);
    let accepted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // The token is always among those that were checked a moment ago.
        let busy = scope.spawn(|| {
            eventually("the end of the token", || match bob.request("GET", "/tool").send().status {
                200 => {
                    accepted.fetch_add(1, Ordering::SeqCst);
                    None
                }
                status => Some((Instant::now(), status)),
            })
        });
        eventually("some requests", || (accepted.load(Ordering::SeqCst) > 3).then_some(()));
        team.delete(&format!("/api_key/{}", bob.api_key_id)).expect(204);
        let revoked = Instant::now();
        let (ended, status) = busy.join().expect("no panic");
        assert_eq!(status, 401);
        assert!(ended.saturating_duration_since(revoked) < END_TIME_MAX, "{:?}", ended - revoked);
    });
    let said = bob.repository.git(&git);
    assert!(said.code != Some(0) && said.stdout.is_empty(), "{said:?}");
    sign_in_as(&team.server, &team.organization, "bob", [&bob.api_key_id, &bob.api_key]).expect(401);
    // Who else is there is not touched.
    team.get("/tool");
}

#[test]
fn a_key_ends_by_itself() {
    let team = Team::new();
    let key = team.post("/user/me/api_key", &json!({"name": "short", "expires_in": 2})).expect(201);
    let text = |name: &str| key[name].as_str().expect("text");
    let sign_in = || sign_in_as(&team.server, &team.organization, "ada", [text("api_key_id"), text("api_key")]);
    let token = sign_in().expect(200);
    assert_eq!(token["expires_at"], key["expires_at"], "a token ends with its key");
    let token = token["id_token"].as_str().expect("a token");
    let path = format!("/v1/{}/tool", team.organization);
    eventually("the end of the key", || (sign_in().status == 401).then_some(()));
    assert_eq!(team.server.request("GET", &path).bearer(token).send().status, 401);
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
