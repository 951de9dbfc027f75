//! The common rules of lists: limits, defaults, tokens, orders and unknown parameters.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

/// A list and its rules.
struct List {
    path: String,
    rows: &'static str,
    limits: std::ops::RangeInclusive<usize>,
    default: usize,
}

/// The lists, with these numbers of rows.
async fn list_all(app: &TestApp, tools: usize, versions: usize, runs: usize) -> Vec<List> {
    let tool = app.tool("listed").await;
    for number in 1..tools {
        app.tool(&format!("tool_{number}")).await;
    }
    for _ in 0..versions {
        app.version(&tool, &[]).await;
        // The number of live tools is bounded.
        app.delete(&format!("/tool/{tool}/version/%3E%3D0")).await;
    }
    for number in 0..runs {
        app.run_of(&tool, &number.to_string(), number % 2 == 0).await;
    }
    for number in 0..tools {
        app.draft(&format!("agent-{number}")).await;
    }
    vec![
        List { path: "/agent".into(), rows: "agents", limits: 1..=20, default: 10 },
        List { path: "/tool".into(), rows: "tools", limits: 1..=20, default: 10 },
        List { path: format!("/tool/{tool}/version"), rows: "tool_versions", limits: 0..=50, default: 50 },
        List { path: "/tool/invocation".into(), rows: "tool_invocations", limits: 0..=100, default: 100 },
    ]
}

impl List {
    async fn read_page(&self, app: &TestApp, query: &str) -> Value {
        let answer = app.get(&format!("{}?{query}", self.path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{} {query}: {}", self.path, answer.json());
        answer.json()
    }

    fn ids(&self, page: &Value) -> Vec<String> {
        let rows = page[self.rows].as_array().unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    }

    /// The locations in a 422 response.
    async fn check_refusal(&self, app: &TestApp, query: &str) -> Value {
        let answer = app.get(&format!("{}?{query}", self.path)).await;
        assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{} {query}", self.path);
        answer.check_shape("HTTPValidationError")["detail"][0]["loc"].clone()
    }
}

#[tokio::test]
async fn limits_and_defaults_are_those_of_the_contract() {
    let app = TestApp::start().await;
    for list in list_all(&app, 21, 51, 101).await {
        let (least, most) = (*list.limits.start(), *list.limits.end());
        for (query, expected) in [
            (String::new(), list.default),
            (format!("limit={least}"), least),
            (format!("limit={most}"), most),
            (format!("limit=5&limit={least}"), least),
        ] {
            let page = list.read_page(&app, &query).await;
            assert_eq!(list.ids(&page).len(), expected, "{} {query}", list.path);
            assert_eq!(page["has_more"], expected > 0, "{} {query}", list.path);
        }
        let beyond =
            [format!("{}", most + 1), format!("{}", i128::MAX), "-1".into(), "1.5".into(), "ten".into(), "".into()];
        let below = if least > 0 { vec!["0".to_owned()] } else { vec![] };
        for limit in beyond.into_iter().chain(below) {
            assert_eq!(list.check_refusal(&app, &format!("limit={limit}")).await, json!(["query", "limit"]), "{limit}");
        }
    }
}

#[tokio::test]
async fn a_page_of_limit_zero_is_the_last() {
    let app = TestApp::start().await;
    for list in list_all(&app, 9, 9, 9).await.into_iter().filter(|list| list.limits.contains(&0)) {
        let first = list.read_page(&app, "limit=2&continuation_token=0").await;
        let behind_the_first = format!("limit=0&continuation_token={}", first["continuation_token"]);
        for query in ["limit=0", &behind_the_first] {
            let empty = list.read_page(&app, query).await;
            assert_eq!(list.ids(&empty).len(), 0, "{}", list.path);
            assert_eq!(
                (&empty["has_more"], &empty["continuation_token"]),
                (&json!(false), &Value::Null),
                "{}",
                list.path
            );
        }
    }
}

#[tokio::test]
async fn tokens_lead_through_all_rows_once() {
    let app = TestApp::start().await;
    for list in list_all(&app, 9, 9, 9).await {
        let (mut seen, mut token) = (Vec::new(), json!(0));
        while !token.is_null() {
            let page = list.read_page(&app, &format!("limit=2&continuation_token={token}")).await;
            let is_first = token == json!(0);
            if let Some(filter_values) = page.get("filter_values") {
                assert_eq!(filter_values.is_null(), !is_first, "{}", list.path);
            }
            assert_eq!(page["has_more"], !page["continuation_token"].is_null());
            seen.extend(list.ids(&page));
            token = page["continuation_token"].clone();
            assert!(token.is_null() || token.as_u64().unwrap() <= i32::MAX as u64, "clients keep 32 bits: {token}");
        }
        let different: std::collections::BTreeSet<_> = seen.iter().collect();
        assert_eq!((different.len(), seen.len()), (9, 9), "{}", list.path);
        for token in ["-1", "x", "1.0", "99999999999999999999", "1"] {
            let place = list.check_refusal(&app, &format!("continuation_token={token}")).await;
            assert_eq!(place, json!(["query", "continuation_token"]), "{token}");
        }
    }
}

#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let app = TestApp::start().await;
    for list in list_all(&app, 9, 9, 9).await {
        let plain = list.read_page(&app, "limit=3").await;
        for query in ["colour=red", "limits=1", "%00=%ff", "=", "&&", "limit=3&a=b=c", "Limit=0"] {
            let page = list.read_page(&app, &format!("{query}&limit=3")).await;
            assert_eq!(page, plain, "{} {query}", list.path);
        }
        let many: String = (0..201).map(|number| format!("x{number}=&")).collect();
        assert_eq!(list.check_refusal(&app, &many).await, json!(["query"]));
    }
}

#[tokio::test]
async fn orders_have_a_sign() {
    let app = TestApp::start().await;
    for list in list_all(&app, 9, 9, 9).await {
        let field = if list.rows == "tools" { "name" } else { "created_at" };
        let ascending = list.read_page(&app, &format!("sort_by=%2B{field}")).await;
        for query in [format!("sort_by=+{field}"), format!("sort_by=%20{field}")] {
            assert_eq!(list.read_page(&app, &query).await, ascending, "{query}");
        }
        // The second key has no effect here, and a repeated key never has one.
        let query = format!("sort_by=%2B{field}&sort_by=-{field}");
        assert_eq!(list.read_page(&app, &query).await, ascending);
        assert_ne!(list.ids(&list.read_page(&app, &format!("sort_by=-{field}")).await), list.ids(&ascending));
        for wrong in ["", "%2B", "--name", "+nothing", "name,deprecated", field] {
            let place = list.check_refusal(&app, &format!("sort_by=%2B{field}&sort_by={wrong}")).await;
            assert_eq!(place, json!(["query", "sort_by", 1]), "{wrong}");
        }
    }
}
