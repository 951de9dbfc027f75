//! An agent with all families.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::harness::Team;
use crate::mcp::client::Gateway;

const SLUG: &str = "library";

/// The team of most tests, with the id of its agent. Each test has items that no other test finds.
static SHARED: Mutex<Weak<(Team, String)>> = Mutex::new(Weak::new());

pub struct Agent<'t>(pub Gateway<'t>);

/// Returns the shared team. It ends with its last user.
pub fn shared() -> Arc<(Team, String)> {
    let mut shared = SHARED.lock();
    if let Some(found) = shared.upgrade() {
        return found;
    }
    let team = Team::new();
    let id = Agent::of(&team, SLUG).0.id;
    let made = Arc::new((team, id));
    *shared = Arc::downgrade(&made);
    made
}

/// Declares a test for each row.
macro_rules! rows {
    ($($row:ident: $check:expr;)*) => {$(
        #[test]
        fn $row() {
            let check: fn(&crate::library::agent::Agent<'_>) = $check;
            let shared = crate::library::agent::shared();
            let (team, id) = &*shared;
            check(&crate::library::agent::Agent::shared(team, id));
        }
    )*};
}
pub(crate) use rows;

impl<'t> Agent<'t> {
    pub fn of(team: &'t Team, slug: &str) -> Self {
        Self(Gateway::of_type(team, slug, "agent").with(&[]))
    }

    pub fn shared(team: &'t Team, id: &str) -> Self {
        Self(Gateway { team, slug: SLUG.to_owned(), id: id.to_owned() })
    }

    /// The data of a call that succeeds.
    #[track_caller]
    pub fn data(&self, tool: &str, arguments: Value) -> Value {
        let (envelope, result) = self.envelope(tool, arguments);
        assert_eq!((&envelope["success"], &result["isError"]), (&json!(true), &json!(false)), "{tool}: {envelope}");
        assert_eq!(envelope.as_object().expect("an object").len(), 2, "{envelope}");
        envelope["data"].clone()
    }

    /// The error of a call that fails.
    #[track_caller]
    pub fn error(&self, tool: &str, arguments: Value) -> Value {
        let (envelope, result) = self.envelope(tool, arguments);
        assert_eq!((&envelope["success"], &result["isError"]), (&json!(false), &json!(true)), "{tool}: {envelope}");
        envelope["error"].clone()
    }

    /// The code and the status of a call that fails.
    #[track_caller]
    pub fn refused(&self, tool: &str, arguments: Value) -> (String, u64) {
        let error = self.error(tool, arguments);
        (error["code"].as_str().expect("a code").to_owned(), error["status"].as_u64().expect("a status"))
    }

    /// The object that the text of a result has, and the result.
    #[track_caller]
    pub fn envelope(&self, tool: &str, arguments: Value) -> (Value, Value) {
        let result = self.0.call(tool, arguments);
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool}: {result}"));
        let envelope: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(envelope, result["structuredContent"], "{tool}");
        (envelope, result)
    }

    /// The values of a field of the items of a list.
    #[track_caller]
    pub fn listed(&self, tool: &str, arguments: Value, field: &str) -> Vec<Value> {
        let page = self.data(tool, arguments);
        page["items"].as_array().expect("items").iter().map(|item| item[field].clone()).collect()
    }
}
