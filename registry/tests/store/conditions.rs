//! Grants with conditions.

use registry::{Condition, Grant, Grants, NewTool, Permission, Principal, RunStart, Tool, ToolId};

use crate::fixtures::{World, new_tool, started, starts, tags};

async fn tool(world: &World, acme: &Principal, name: &str, team: Option<&str>) -> Tool {
    let tags = team.map(|team| tags(&[("team", Some(team)), ("beta", None)])).unwrap_or_default();
    let id = world.store.tools().create_tool(acme, NewTool { tags, ..new_tool(name) }).await.unwrap();
    world.store.tools().get_tool(&acme.organization, &id).await.unwrap().unwrap()
}

fn invoking(conditions: &[&[(&str, &str, &str)]]) -> Grants {
    let condition = |(key, operator, value): &(&str, &str, &str)| Condition::parse(key, operator, value).unwrap();
    let grant = |list: &&[_]| Grant::new(Permission::InvokeTool, list.iter().map(condition).collect()).unwrap();
    Grants::new(conditions.iter().map(grant).collect()).unwrap()
}

#[tokio::test]
async fn all_conditions_of_any_grant_must_hold() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let red = tool(&world, &acme, "search_red", Some("red")).await;
    let blue = tool(&world, &acme, "search_blue", Some("blue")).await;
    let bare = tool(&world, &acme, "greet", None).await;
    let check = |grants: &[&[(&str, &str, &str)]], expected: [bool; 3]| {
        let principal = Principal { grants: invoking(grants), ..acme.clone() };
        let allowed = [&red, &blue, &bare].map(|tool| principal.may_for(Permission::InvokeTool, tool));
        assert_eq!(allowed, expected, "{grants:?}");
        assert!(!principal.may_for(Permission::DeleteTool, &red));
    };
    check(&[&[]], [true, true, true]);
    check(&[], [false, false, false]);
    check(&[&[("tool_name", "startsWith", "search_")]], [true, true, false]);
    check(&[&[("tool_name", "startsWith", "search_"), ("tag.team", "equal", "red")]], [true, false, false]);
    check(&[&[("tag.team", "equal", "red")], &[("tool_name", "equal", "greet")]], [true, false, true]);
    check(&[&[("tag.team", "notEqual", "red")]], [false, true, true]);
    check(&[&[("tag.beta", "equal", "")]], [true, true, false]);
    check(&[&[("tag.team", "regex", "^(red|green)$")]], [true, false, false]);
    check(&[&[("tool_id", "equal", blue.id.as_str())]], [false, true, false]);
}

#[tokio::test]
async fn the_tool_of_a_run_is_found_in_its_organization() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let other = world.organization("other").await;
    let tool = tool(&world, &acme, "search", None).await;
    let run = RunStart { tool: Some(tool.id.clone()), ..started(&world.clock, &acme) };
    let test = RunStart { tool: None, tool_version: None, ..started(&world.clock, &acme) };
    let lost = RunStart { tool: Some(ToolId::new(&world.clock)), ..started(&world.clock, &acme) };
    world.store.history().record(&starts(vec![run.clone(), test.clone(), lost.clone()])).await.unwrap();
    assert_eq!(world.store.tools().get_tool_of(&acme.organization, &run.id).await.unwrap(), Some(tool));
    assert_eq!(world.store.tools().get_tool_of(&other.organization, &run.id).await.unwrap(), None);
    for without in [test, lost] {
        assert_eq!(world.store.tools().get_tool_of(&acme.organization, &without.id).await.unwrap(), None);
    }
}
