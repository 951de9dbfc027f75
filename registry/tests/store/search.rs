//! Full-text search of the history.

use std::collections::BTreeMap;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use registry::{Page, Principal, RecordedInput, RunFilter, RunId, SearchField, SearchQuery, SearchText};

use crate::fixtures::{World, ends, finished, started, starts, succeeded};

async fn found(world: &World, principal: &Principal, text: &str, fields: &[SearchField]) -> Vec<RunId> {
    let query =
        SearchQuery { text: SearchText::parse(text).unwrap(), fields: fields.to_vec(), filter: RunFilter::default() };
    let page = Page::first(100);
    let records = world.store.history().search_invocations(&principal.organization, &query, page).await.unwrap();
    records.items.into_iter().map(|record| record.start.id).collect()
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

/// Letters and digits are words, whatever their form; other characters are not.
#[tokio::test]
async fn terms_without_words_are_ignored() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let hello = world.answered(&acme, "hello Ⓐ ４２ world").await;
    for text in ["hello 😀", "😀 hello \u{e000} -", "\u{345} hello", "Ⓐ hello", "a ４２", "42 ｗｏｒｌｄ"]
    {
        assert_eq!(found(&world, &acme, text, &[]).await, std::slice::from_ref(&hello), "{text}");
    }
    for text in ["😀", "\u{e000} —", "ⓑ", "hello 😀 missing"] {
        assert!(found(&world, &acme, text, &[]).await.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn prefixes_and_words_without_spaces_between_them_are_found() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let braver = world.answered(&acme, "a braver bird").await;
    let tokyo = world.answered(&acme, "会議は東京都で行われます。").await;
    let kyoto = world.answered(&acme, "京都の天気: 晴れ").await;
    let beijing = world.answered(&acme, "我明天去北京开会").await;
    for (text, expected) in [
        ("brav*", vec![&braver]),
        ("brav", vec![]),
        ("BRAV* bi*", vec![&braver]),
        ("brav* cat", vec![]),
        ("東京", vec![&tokyo]),
        ("京都", vec![&kyoto, &tokyo]),
        ("都京", vec![]),
        ("天気", vec![&kyoto]),
        ("北京", vec![&beijing]),
        ("北京 开会", vec![&beijing]),
        ("行われ*", vec![&tokyo]),
        ("*", vec![]),
    ] {
        assert_eq!(found(&world, &acme, text, &[]).await.iter().collect::<Vec<_>>(), expected, "{text}");
    }
}

/// Records a run with an input.
async fn asked(world: &World, principal: &Principal, input: serde_json::Value) -> RunId {
    let mut record = started(&world.clock, principal);
    let serde_json::Value::Object(parameters) = input else { panic!("an object") };
    record.input = RecordedInput::redacting(parameters, BTreeMap::new(), &[]);
    world.store.history().record(&starts(vec![record.clone()])).await.unwrap();
    world.store.history().record(&ends(vec![finished(&record, succeeded("done"))])).await.unwrap();
    record.id
}

#[tokio::test]
async fn inputs_are_searched_when_asked() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let run = asked(&world, &acme, serde_json::json!({"city": "Zürich", "nights": [3]})).await;
    use SearchField::{Inputs, Output};
    for (text, fields, is_found) in [
        ("zürich", &[Inputs][..], true),
        ("city 3", &[Inputs], true),
        ("zürich", &[], false),
        ("zürich", &[Output], false),
        ("zürich done", &[Inputs, Output], true),
        ("zürich done", &[Inputs], false),
    ] {
        assert_eq!(found(&world, &acme, text, fields).await == [run.clone()], is_found, "{text} {fields:?}");
    }
}

#[tokio::test]
async fn searches_have_pages() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut runs = Vec::new();
    for number in 0..5 {
        runs.insert(0, world.answered(&acme, &format!("needle {number}")).await);
        world.answered(&acme, "hay").await;
    }
    let query =
        SearchQuery { text: SearchText::parse("needle").unwrap(), fields: Vec::new(), filter: RunFilter::default() };
    let (mut seen, mut page) = (Vec::new(), Page::first(2));
    loop {
        let found = world.store.history().search_invocations(&acme.organization, &query, page).await.unwrap();
        assert!(found.items.len() <= 2);
        seen.extend(found.items.into_iter().map(|record| record.start.id));
        let Some(token) = found.next else { break };
        page.token = token;
    }
    assert_eq!(seen, runs);
    let page = Page { limit: 1, token: u64::MAX };
    let refused = world.store.history().search_invocations(&acme.organization, &query, page).await.unwrap_err();
    assert_eq!(refused.code(), "page_token_unknown");
}

#[tokio::test]
async fn the_name_of_the_organization_is_not_a_word() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    world.answered(&acme, "anything").await;
    assert!(found(&world, &acme, "822b33ad87", &[]).await.is_empty());
}

#[tokio::test]
async fn searches_apply_filters() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let answered = world.answered(&acme, "needle").await;
    world.failed(&acme, "needle", "needle", &[]).await;
    let query =
        SearchQuery { text: SearchText::parse("needle").unwrap(), fields: Vec::new(), filter: RunFilter::default() };
    let filter = RunFilter { succeeded: Some(true), ..RunFilter::default() };
    let query = SearchQuery { filter, ..query };
    let records = world.store.history().search_invocations(&acme.organization, &query, Page::first(10)).await.unwrap();
    assert_eq!(records.items.into_iter().map(|record| record.start.id).collect::<Vec<_>>(), [answered]);
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
