//! Tools in Rust.

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Team};
use crate::rust::machine::server_with;
use crate::rust::project::Project;

const APIS: &str = "lathe::apis!(create: create_order, list: orders::list);";
const CODE: &str = "
//! A tool of a test.

use lathe::{Context, Error};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    item: String,
    count: u64,
}

fn create_order(order: Order, context: &Context) -> Result<String, Error> {
    match order.item.as_str() {
        \"none\" => Err(Error::new(\"SoldOut\", \"sold out\")),
        item => Ok(format!(\"{}: {item} {}\", context.metadata.tool_name, order.count)),
    }
}

mod orders {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Page {
        #[serde(default)]
        page: u8,
    }

    pub fn list(page: Page, _: &lathe::Context) -> Result<u8, lathe::Error> {
        Ok(page.page)
    }
}
";

fn team() -> Option<Team> {
    Some(Team::on(&server_with(Options::default())?))
}

fn declared(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("[package.metadata.lathe.apis.{name}]\ndescription = \"The API {name}.\"\n"))
        .collect()
}

/// A tool that creates and lists orders.
fn orders<'t>(team: &'t Team, manifest: &str, entry: &str) -> Project<'t> {
    let head = "[lib]\n";
    let tool = Project::new(team)
        .without("checks/example.json")
        .with("src/lib.rs", &format!("{}{entry}\n", CODE.trim_start()));
    tool.changed("Cargo.toml", head, &format!("{manifest}\n{head}"))
}

#[test]
fn a_call_runs_the_function_that_the_tool_names() {
    let Some(team) = team() else { return };
    let tool = orders(&team, &declared(&["create", "list"]), APIS).published();
    let call = |api: &str, arguments: Value| tool.invoke(&json!({"api": api, "arguments": arguments}));
    // Larger than the integers that a number of JavaScript has.
    let created = call("create", json!({"item": "pen", "count": u64::MAX}));
    assert_eq!(created.output(), format!("{}: pen {}", tool.name, u64::MAX));
    assert_eq!(call("list", json!({"page": 2})).output(), "2");
    let failure = call("create", json!({"item": "none", "count": 1})).failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("SoldOut", "sold out"));
    for (api, arguments) in
        [("create", json!({"item": "pen"})), ("remove", json!({})), ("list", json!({"page": "two"}))]
    {
        tool.refuses(&json!({"api": api, "arguments": arguments}));
    }
    let shown = tool.version("1.0.0");
    let schema = &shown["settings"]["apis"]["create"]["input_schema"];
    assert_eq!(
        (&schema["required"], &schema["additionalProperties"]),
        (&json!(["item", "count"]), &json!(false)),
        "{shown}"
    );
    let drift = tool.changed("src/lib.rs", "list: orders::list", "remove: orders::list").publish(Bump::Minor).detail();
    let expected = "compile failed (apis): src/lib.rs: the declared APIs are not the exported functions: declared \
                    `create, list`, exported `create, remove`;";
    assert!(drift.contains(expected), "{drift}");
}

#[test]
fn code_and_manifest_agree_on_having_apis() {
    let Some(team) = team() else { return };
    let refused = |manifest: &str, entry: &str| orders(&team, manifest, entry).publish(Bump::Minor).detail();
    let undeclared = refused("", APIS);
    assert!(
        undeclared.contains("src/lib.rs: ") && undeclared.contains("declared nothing, exported `create, list`;"),
        "{undeclared}"
    );
    let one = refused(&declared(&["create"]), "lathe::tool!(create_order);");
    assert!(one.contains("(apis): the code does not name its functions, as `lathe::apis!` does in Rust"), "{one}");
}
