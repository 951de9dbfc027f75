//! Searches in memories.

use serde_json::{Value, json};

use super::agent::{Agent, rows};
use crate::harness::{EmbeddingEndpoint, EndpointBehaviour, Options, Server, Team, eventually};
use crate::mcp::client::message;

fn remember(agent: &Agent, content: &str) -> Value {
    agent.data("memory_create", json!({"content": content}))["memory_id"].clone()
}

fn search(agent: &Agent, query: &str) -> Value {
    agent.data("memory_search", json!({"query": query, "limit": 50}))
}

/// The contents of the results, and how each was found.
fn found(agent: &Agent, query: &str) -> Vec<(String, Value)> {
    let results = search(agent, query);
    let items = results["items"].as_array().expect("items").iter();
    items.map(|item| (item["content"].as_str().expect("a text").to_owned(), item["matched"].clone())).collect()
}

/// The ids of the memories that were found by their words. Other tests of the agent have similar ones.
fn found_by_words(agent: &Agent, query: &str) -> Vec<Value> {
    let results = search(agent, query);
    let items = results["items"].as_array().expect("items").iter();
    let by_words = items.filter(|item| item["matched"].as_array().is_some_and(|by| by.contains(&json!("text"))));
    by_words.map(|item| item["memory_id"].clone()).collect()
}

/// Waits until a search finds exactly this.
#[track_caller]
fn finds(agent: &Agent, query: &str, expected: &[(&str, &[&str])]) {
    let expected: Vec<_> = expected.iter().map(|(text, matched)| ((*text).to_owned(), json!(matched))).collect();
    eventually(&format!("{expected:?} for {query:?}"), || (found(agent, query) == expected).then_some(()));
}

/// A team whose server gets vectors from an endpoint.
fn with_endpoint(endpoint: &EmbeddingEndpoint) -> Team {
    let arguments = ["--embeddings-url", &endpoint.url(), "--embeddings-model", "small"].map(str::to_owned).to_vec();
    let environment = vec![("LATHE_EMBEDDINGS_KEY".to_owned(), "sesame".to_owned())];
    Team::on(&Server::private(&Options { arguments, environment, ..Options::default() }))
}

rows! {
    s0_007_the_family_memory_searches: |agent| {
        for tool in ["memory_create", "memory_search", "memory_list", "memory_get", "memory_update", "memory_delete"] {
            assert!(agent.0.names().contains(&tool.to_owned()), "{tool}");
        }
        let memory = remember(agent, "s0007 is a fact");
        assert_eq!(found_by_words(agent, "s0007"), [memory]);
    };
    s0_035_memory_search_needs_a_query: |agent| {
        let memory = remember(agent, "s0035 the customer prefers e-mail");
        assert_eq!(found_by_words(agent, "s0035"), [memory]);
        let results = search(agent, "s0035");
        assert_eq!(results["semantic"], "corpus");
        let scores = results["items"].as_array().expect("items").iter().filter_map(|item| item["score"].as_f64());
        assert!(scores.is_sorted_by(|a, b| a >= b && *b > 0.0), "{results}");
        assert_eq!(agent.refused("memory_search", json!({})), ("input_schema".into(), 400));
        assert_eq!(agent.refused("memory_search", json!({"query": ""})), ("input_schema".into(), 400));
    };
    s0_036_memory_search_limit: |agent| {
        for number in 0..3 {
            remember(agent, &format!("s0036 number {number}"));
        }
        let results = agent.data("memory_search", json!({"query": "s0036", "limit": 2}));
        assert_eq!(results["items"].as_array().expect("items").len(), 2);
        for limit in [0, 51] {
            let arguments = json!({"query": "s0036", "limit": limit});
            assert_eq!(agent.refused("memory_search", arguments), ("input_schema".into(), 400));
        }
    };
    s0_044_memory_update_refreshes_what_a_search_finds: |agent| {
        let memory = remember(agent, "s0044 before");
        agent.data("memory_update", json!({"memory_id": memory, "content": "s0044b afterwards"}));
        assert_eq!((found_by_words(agent, "s0044b"), found_by_words(agent, "s0044")), (vec![memory], vec![]));
    };
    s0_048_a_deleted_memory_is_not_found: |agent| {
        let memory = remember(agent, "s0048 is forgotten");
        assert_eq!(found_by_words(agent, "s0048"), std::slice::from_ref(&memory));
        agent.data("memory_delete", json!({"memory_id": memory}));
        let left = search(agent, "s0048 is forgotten");
        assert!(left["items"].as_array().expect("items").iter().all(|item| item["memory_id"] != memory), "{left}");
    };
}

#[test]
fn s0_037_an_exact_term_is_found_by_its_words_alone() {
    let endpoint = EmbeddingEndpoint::serve();
    let team = with_endpoint(&endpoint);
    let agent = Agent::of(&team, "exact");
    remember(&agent, "the contract QX-9987 ends in May");
    remember(&agent, "the invoice is paid");
    finds(&agent, "bill", &[("the invoice is paid", &["semantic"])]);
    assert_eq!(found(&agent, "QX-9987"), [("the contract QX-9987 ends in May".to_owned(), json!(["text"]))]);
    assert_eq!(search(&agent, "QX-9987")["semantic"], "http");
}

#[test]
fn s0_038_a_paraphrase_without_shared_words_is_found_by_its_meaning_alone() {
    let team = Team::new();
    let agent = Agent::of(&team, "taught");
    remember(&agent, "Ben bought a red car");
    assert_eq!(found(&agent, "automobile"), []);
    for place in ["garage", "street", "workshop", "showroom", "driveway", "station"] {
        for word in ["car", "automobile"] {
            remember(&agent, &format!("the {word} stands at the {place} with its engine and tyres"));
        }
    }
    for dish in ["soup", "salad", "bread", "curry", "pie", "stew"] {
        remember(&agent, &format!("the cook serves the {dish} at noon with salt and pepper"));
    }
    eventually("the paraphrase", || {
        let results = found(&agent, "automobile");
        results.contains(&("Ben bought a red car".to_owned(), json!(["semantic"]))).then_some(())
    });
    assert_eq!(search(&agent, "automobile")["semantic"], "corpus");
}

#[test]
fn s0_044_a_change_refreshes_the_vector() {
    let endpoint = EmbeddingEndpoint::serve();
    let team = with_endpoint(&endpoint);
    let agent = Agent::of(&team, "changed");
    let memory = remember(&agent, "a car");
    finds(&agent, "automobile", &[("a car", &["semantic"])]);
    agent.data("memory_update", json!({"memory_id": memory, "content": "an invoice"}));
    assert_eq!(found(&agent, "automobile"), []);
    finds(&agent, "bill", &[("an invoice", &["semantic"])]);
    assert_eq!(endpoint.received()[0].header("authorization"), Some("Bearer sesame"));
}

#[test]
fn an_endpoint_that_fails_or_stalls_fails_no_call() {
    let endpoint = EmbeddingEndpoint::serve();
    let team = with_endpoint(&endpoint);
    let agent = Agent::of(&team, "alone");
    use EndpointBehaviour::{AnswersOtherJson, AnswersWithoutEnd, Refuses, StaysSilent};
    for behaviour in [Refuses(500), AnswersOtherJson, AnswersWithoutEnd, StaysSilent] {
        endpoint.behaves(behaviour);
        let memory = remember(&agent, &format!("a car {behaviour:?}"));
        let results = search(&agent, "car");
        assert_eq!((&results["semantic"], &results["items"][0]["memory_id"]), (&json!(null), &memory));
        assert_eq!(results["items"][0]["matched"], json!(["text"]));
    }
}

#[test]
fn memories_of_other_users_and_applications_are_never_found() {
    let endpoint = EmbeddingEndpoint::serve();
    let ada = with_endpoint(&endpoint);
    let bea = ada.joined_by("bea", "admin");
    let (of_ada, of_bea) = (Agent::of(&ada, "desk"), Agent::of(&bea, "desk-bea"));
    let in_shop = |tool: &str, arguments: Value| {
        let request = of_ada.0.request("POST").header("x-app-id", "shop");
        let request = of_ada.0.modern(request, "tools/call", json!({"name": tool, "arguments": arguments}));
        message(&request.send_message())["result"]["structuredContent"]["data"].clone()
    };
    remember(&of_ada, "the car of ada");
    remember(&of_bea, "the car of bea");
    in_shop("memory_create", json!({"content": "the car of the shop"}));
    for query in ["car", "automobile"] {
        let matched: &[&str] = if query == "car" { &["text", "semantic"] } else { &["semantic"] };
        finds(&of_ada, query, &[("the car of ada", matched)]);
        finds(&of_bea, query, &[("the car of bea", matched)]);
        eventually("the car of the shop", || {
            let results = in_shop("memory_search", json!({"query": query}));
            let items = results["items"].as_array().expect("items");
            assert!(items.iter().all(|item| item["app_id"] == "shop"), "{results}");
            items.first().filter(|item| item["matched"] == json!(matched)).map(|_| ())
        });
    }
}
