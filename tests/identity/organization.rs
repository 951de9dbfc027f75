//! The organisation, as its users see it.

use serde_json::json;

use crate::harness::Team;

#[test]
fn every_user_sees_their_organization() {
    let team = Team::new();
    team.post("/role", &json!({"name": "guest", "grants": []})).expect(201);
    let guest = team.joined_by("bob", "guest");
    for path in ["/organization", "/organization/"] {
        let shown = guest.get(path);
        assert_eq!((&shown["org_id"], &shown["name"]), (&json!(team.organization), &json!(team.organization)));
        let created_at = shown["created_at"].as_str().expect("a time");
        assert!(created_at.ends_with('Z'), "{created_at}");
    }
    let elsewhere = team.server.request("GET", "/v1/nobody/organization").bearer(&team.token).send();
    assert_eq!((elsewhere.status, elsewhere.code().as_str()), (404, "not_found"));
}

#[test]
fn a_sign_in_without_its_headers_is_invalid() {
    let team = Team::new();
    let path = format!("/v1/{}/user/signin_with_api_key", team.organization);
    let refused = team.server.request("POST", &path).header("x-user-id", "ada").send().expect(422);
    let missing: Vec<_> =
        refused["detail"].as_array().expect("a list").iter().map(|one| one["loc"][1].clone()).collect();
    assert_eq!(missing, ["x-api-key-id", "x-api-key"]);
}
