//! Whose items a user sees.

use serde_json::json;

use super::agent::Agent;
use crate::harness::Team;

#[test]
fn s0_102_the_user_with_whom_an_artifact_is_shared_reads_it() {
    let ada = Team::new();
    let (bea, cy) = (ada.joined_by("bea", "admin"), ada.joined_by("cy", "admin"));
    let agents = [&ada, &bea, &cy].map(|team| Agent::of(team, &format!("desk-{}", team.user)));
    let [of_ada, of_bea, of_cy] = &agents;
    let report = json!({"title": "Sales", "artifact_type": "report", "content": "x", "content_type": "text/plain"});
    let id = of_ada.data("artifact_save", report)["artifact_id"].clone();
    let one = json!({"artifact_id": id});
    assert_eq!(of_bea.refused("artifact_get", one.clone()), ("not_found".into(), 404));

    of_ada.data("artifact_share", json!({"artifact_id": id, "user_id": "bea"}));
    assert_eq!(of_bea.data("artifact_get", one.clone())["title"], "Sales");
    assert_eq!(of_bea.listed("artifact_list", json!({}), "artifact_id"), [id.clone()]);
    assert_eq!(of_cy.refused("artifact_get", one.clone()), ("not_found".into(), 404));
    // Sharing gives no right to delete or to share.
    assert_eq!(of_bea.refused("artifact_delete", one), ("not_found".into(), 404));
    let with_cy = json!({"artifact_id": id, "user_id": "cy"});
    assert_eq!(of_bea.refused("artifact_share", with_cy), ("not_found".into(), 404));
    let nobody = json!({"artifact_id": id, "user_id": "nobody"});
    assert_eq!(of_ada.refused("artifact_share", nobody), ("invalid_value".into(), 400));
}

#[test]
fn s0_126_and_127_items_of_another_organization_do_not_exist() {
    let (ours, theirs) = (Team::new(), Team::new());
    let (our, their) = (Agent::of(&ours, "ours"), Agent::of(&theirs, "theirs"));
    let id = our.data("memory_create", json!({"content": "ours"}))["memory_id"].clone();
    for (tool, arguments) in [
        ("memory_get", json!({"memory_id": id})),
        ("memory_update", json!({"memory_id": id, "content": "theirs"})),
        ("memory_delete", json!({"memory_id": id})),
    ] {
        assert_eq!(their.refused(tool, arguments), ("not_found".into(), 404), "{tool}");
    }
    assert!(their.listed("memory_list", json!({}), "memory_id").is_empty());
    assert_eq!(our.data("memory_get", json!({"memory_id": id}))["content"], "ours");
}
