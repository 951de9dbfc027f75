//! Full-text search of the history.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use registry::{InvocationFilter, InvocationId, Principal, SearchField, SearchQuery, SearchText};

use crate::fixtures::World;

async fn found(world: &World, principal: &Principal, text: &str, fields: &[SearchField]) -> Vec<InvocationId> {
    let query = SearchQuery { text: SearchText::parse(text).unwrap(), fields: fields.to_vec() };
    let filter = InvocationFilter::default();
    let records = world.store.search_invocations(&principal.organization, &query, &filter).await.unwrap();
    records.into_iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn words_are_found_in_the_requested_fields() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let order = world.answered(&acme, "The order #4711 was shipped\0today").await;
    let error = world.failed(&acme, "ShipmentError", "order lost", &["main.py line 3", "shipped = False"]).await;

    use SearchField::{ExceptionMessage, ExceptionStackTrace, ExceptionType, Output};
    for (text, fields, expected) in [
        ("order", &[][..], vec![&error, &order]),
        ("ORDER", &[Output], vec![&order]),
        ("order", &[ExceptionMessage], vec![&error]),
        ("shipped", &[Output, ExceptionStackTrace], vec![&error, &order]),
        ("shipmenterror", &[ExceptionType], vec![&error]),
        ("shipmenterror", &[Output, ExceptionMessage, ExceptionStackTrace], vec![]),
        ("today shipped", &[], vec![&order]),
        ("#4711", &[], vec![&order]),
        ("main.py", &[], vec![&error]),
        ("order missing", &[], vec![]),
        ("", &[], vec![]),
        (" \" ) ( * - : ", &[], vec![]),
    ] {
        assert_eq!(found(&world, &acme, text, fields).await.iter().collect::<Vec<_>>(), expected, "{text} {fields:?}");
    }
}

/// The full-text index decides which characters belong to a word: circled letters do not, private-use characters do.
#[tokio::test]
async fn terms_without_words_are_ignored() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let hello = world.answered(&acme, "hello Ⓐ world").await;
    let private = world.answered(&acme, "hello \u{e000}").await;
    for text in ["hello Ⓐ", "Ⓐ hello", "hello 😀", "Ⓐ 😀 hello ⓑ world -", "Ⓐ-hello \u{345}"] {
        assert!(found(&world, &acme, text, &[]).await.contains(&hello), "{text}");
    }
    assert_eq!(found(&world, &acme, "hello \u{e000}", &[]).await, [private]);
    for text in ["Ⓐ", "Ⓐ 😀", "hello Ⓐ missing"] {
        assert!(found(&world, &acme, text, &[]).await.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn the_name_of_the_organization_is_not_a_word() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.answered(&acme, "anything").await;
    assert!(found(&world, &acme, "o61636d65", &[]).await.is_empty());
}

#[tokio::test]
async fn searches_apply_filters() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let answered = world.answered(&acme, "needle").await;
    world.failed(&acme, "needle", "needle", &[]).await;
    let query = SearchQuery { text: SearchText::parse("needle").unwrap(), fields: Vec::new() };
    let filter = InvocationFilter { succeeded: Some(true), ..InvocationFilter::default() };
    let records = world.store.search_invocations(&acme.organization, &query, &filter).await.unwrap();
    assert_eq!(records.into_iter().map(|record| record.id).collect::<Vec<_>>(), [answered]);
}

#[test]
fn searches_are_bounded() {
    for (within, beyond) in [("w ".repeat(32), "w ".repeat(33)), ("é".repeat(256), "é".repeat(257))] {
        assert!(SearchText::parse(&within).is_ok() && SearchText::parse(&beyond).is_err(), "{beyond}");
    }
}

#[tokio::test]
async fn no_text_is_syntax() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let kept = world.answered(&acme, "a NEAR b OR c AND NOT d").await;
    for text in [
        "\"",
        "a\"b",
        "NEAR(a b)",
        "output:a",
        "{output}",
        "a*",
        "^a",
        "a AND",
        "NOT",
        "a OR b",
        "\0a",
        "a\0",
        "-",
        "(a",
        "'",
        "+a",
        "scope : x",
    ] {
        found(&world, &acme, text, &[]).await;
    }
    assert_eq!(found(&world, &acme, "NOT OR", &[]).await, [kept]);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let text = proptest::arbitrary::any::<String>().prop_map(|text| text.chars().take(60).collect::<String>());
    for _ in 0..300 {
        let text = text.new_tree(&mut runner).unwrap().current();
        if SearchText::parse(&text).is_ok() {
            found(&world, &acme, &text, &[]).await;
        }
    }
}
