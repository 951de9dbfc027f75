//! Searches in memories.

use std::sync::Arc;
use std::time::Duration;

use agents::{
    AgentStore, Library, LibraryContent, LibraryFamily, LibraryItem, MatchedBy, MemoryResults, Provenance, StoreConfig,
};
use registry::{Config, Principal};
use serde_json::json;

use crate::database;
use crate::embedding_endpoint::{Behaviour, EmbeddingEndpoint};
use crate::embeddings::embedder;
use crate::library::{content, library, of_app, scope};
use crate::world::World;

const MEMORY: LibraryFamily = LibraryFamily::Memory;
const TEXT: MatchedBy = MatchedBy { text: true, semantic: false };
const SEMANTIC: MatchedBy = MatchedBy { text: false, semantic: true };
const BOTH: MatchedBy = MatchedBy { text: true, semantic: true };

async fn remember(library: &Library, text: &str) -> LibraryItem {
    library.create(MEMORY, content(text)).await.unwrap()
}

async fn search(library: &Library, query: &str) -> MemoryResults {
    library.search_memories(query, 10).await.unwrap()
}

/// The contents that a search finds, and how.
async fn found(library: &Library, query: &str) -> Vec<(String, MatchedBy)> {
    let results = search(library, query).await.items.into_iter();
    results.map(|result| (result.item.body["content"].as_str().unwrap().to_owned(), result.matched)).collect()
}

async fn texts(library: &Library, query: &str) -> Vec<String> {
    found(library, query).await.into_iter().map(|(text, _)| text).collect()
}

/// A world whose memories get vectors from an endpoint.
async fn with_endpoint(endpoint: &EmbeddingEndpoint) -> World {
    let embedder = Some(Arc::new(embedder(endpoint, "small")) as _);
    World::with(Config::for_tests(), StoreConfig { embedder, ..StoreConfig::for_tests() }).await
}

/// Another server on the data of a world, with another model.
async fn beside(world: &World, endpoint: &EmbeddingEndpoint, model: &str) -> AgentStore {
    let embedder = Some(Arc::new(embedder(endpoint, model)) as _);
    let config = StoreConfig { embedder, ..StoreConfig::for_tests() };
    AgentStore::open(world.options(), config).await.unwrap()
}

#[tokio::test]
async fn words_are_found_as_searches_of_the_history_separate_them() {
    let world = World::new().await;
    let library = library(&world, &world.organization("acme").await);
    for text in ["Order ZX-4711 was shipped to Zürich", "The invoice is paid", "東京の倉庫"] {
        remember(&library, text).await;
    }
    assert_eq!(texts(&library, "zx 4711").await[0], "Order ZX-4711 was shipped to Zürich");
    assert_eq!(texts(&library, "ZURICH").await, ["Order ZX-4711 was shipped to Zürich"]);
    assert_eq!(texts(&library, "東京").await, ["東京の倉庫"]);
    assert_eq!(texts(&library, "… !").await, Vec::<String>::new());
    assert_eq!(search(&library, "invoice").await.semantic, Some("corpus"));
}

#[tokio::test]
async fn summary_category_and_tags_are_found_too() {
    let world = World::new().await;
    let library = library(&world, &world.organization("acme").await);
    let body = json!({"content": "a", "summary": "contact", "category": "customers", "tags": ["e-mail"]});
    let body = body.as_object().cloned().unwrap();
    library.create(MEMORY, LibraryContent { body, ..LibraryContent::default() }).await.unwrap();
    for query in ["contact", "customers", "mail"] {
        assert_eq!(texts(&library, query).await, ["a"], "{query}");
    }
}

#[tokio::test]
async fn items_of_other_families_are_not_found() {
    let world = World::new().await;
    let library = library(&world, &world.organization("acme").await);
    library.create(LibraryFamily::Artifacts, content("report")).await.unwrap();
    assert_eq!(texts(&library, "report").await, Vec::<String>::new());
}

#[tokio::test]
async fn memories_of_others_are_never_found() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let acme = world.organization("acme").await;
    let ben = Principal { account: "ben#2".parse().unwrap(), ..acme.clone() };
    let globex = world.organization("globex").await;
    let libraries = [
        library(&world, &acme),
        library(&world, &ben),
        library(&world, &globex),
        of_app(&world, &acme, Some("shop")),
        of_app(&world, &acme, Some("desk")),
    ];
    for (number, library) in libraries.iter().enumerate() {
        remember(library, &format!("car {number}")).await;
    }
    world.agent_store.embed_memories().await.unwrap();
    for (number, library) in libraries.iter().enumerate() {
        assert_eq!(found(library, "car").await, [(format!("car {number}"), BOTH)]);
        assert_eq!(found(library, "automobile").await, [(format!("car {number}"), SEMANTIC)]);
    }
}

#[tokio::test]
async fn a_change_refreshes_words_and_vector() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let library = library(&world, &world.organization("acme").await);
    let memory = remember(&library, "a car").await;
    world.agent_store.embed_memories().await.unwrap();
    assert_eq!(found(&library, "automobile").await, [("a car".to_owned(), SEMANTIC)]);
    library.update(MEMORY, &memory.id, 1, content("an invoice")).await.unwrap();
    assert_eq!(found(&library, "automobile car").await, []);
    assert_eq!(found(&library, "invoice").await, [("an invoice".to_owned(), TEXT)], "it has no vector yet");
    world.agent_store.embed_memories().await.unwrap();
    assert_eq!(found(&library, "bill").await, [("an invoice".to_owned(), SEMANTIC)]);
}

#[tokio::test]
async fn a_deleted_memory_loses_words_and_vector_and_leaves_the_index_with_its_item() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let library = library(&world, &world.organization("acme").await);
    let memory = remember(&library, "a car").await;
    world.agent_store.embed_memories().await.unwrap();
    assert_eq!(found(&library, "car").await.len(), 1);
    library.delete(MEMORY, &memory.id).await.unwrap();
    assert_eq!(found(&library, "car automobile").await, []);
    let left = "SELECT count(*) FROM library_index WHERE words <> '' OR vector IS NOT NULL";
    assert_eq!(database::number(&world, left).await, 0);
    world.clock.advance(Duration::from_hours(31 * 24));
    world.agent_store.delete_expired_library_items().await.unwrap();
    assert_eq!(database::number(&world, "SELECT count(*) FROM library_index").await, 0);
}

#[tokio::test]
async fn without_its_endpoint_a_memory_is_written_and_found_by_its_words() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let library = library(&world, &world.organization("acme").await);
    for behaviour in [Behaviour::Refuses(503), Behaviour::AnswersOtherJson, Behaviour::StaysSilent] {
        endpoint.behaves(behaviour);
        remember(&library, &format!("a car {behaviour:?}")).await;
        let results = search(&library, "car").await;
        assert_eq!((results.semantic, results.items[0].matched), (None, TEXT));
    }
    endpoint.behaves(Behaviour::Refuses(500));
    assert_eq!(world.agent_store.embed_memories().await.unwrap(), 0);
    endpoint.behaves(Behaviour::Answers);
    assert_eq!(world.agent_store.embed_memories().await.unwrap(), 3, "what was refused is done later");
    let results = search(&library, "automobile").await;
    assert_eq!((results.semantic, results.items.len()), (Some("http"), 3));
}

#[tokio::test]
async fn a_memory_that_the_endpoint_refuses_does_not_stop_the_others() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let library = library(&world, &world.organization("acme").await);
    for text in ["a car", "a car with poison", "another car"] {
        remember(&library, text).await;
    }
    assert_eq!(world.agent_store.embed_memories().await.unwrap(), 3);
    assert_eq!(world.agent_store.embed_memories().await.unwrap(), 0, "nothing is tried again");
    assert_eq!(texts(&library, "automobile").await.len(), 2);
    assert!(found(&library, "poison").await.contains(&("a car with poison".to_owned(), TEXT)));
}

#[tokio::test]
async fn the_beginning_of_a_long_memory_gets_a_vector_and_all_of_its_words_are_found() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let library = library(&world, &world.organization("acme").await);
    remember(&library, &format!("{} end", "ä".repeat(10_000))).await;
    world.agent_store.embed_memories().await.unwrap();
    let received = endpoint.received().pop().unwrap();
    assert_eq!(received.body["input"][0].as_str().unwrap().len(), 8 * 1024);
    assert_eq!(texts(&library, "end").await.len(), 1);
}

#[tokio::test]
async fn another_model_makes_new_vectors_and_until_then_words_are_found() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let acme = world.organization("acme").await;
    remember(&library(&world, &acme), "a car").await;
    world.agent_store.embed_memories().await.unwrap();
    let other = beside(&world, &endpoint, "large").await;
    let library = other.library(scope(&acme), Provenance::default());
    assert_eq!(found(&library, "car").await, [("a car".to_owned(), TEXT)]);
    assert_eq!(other.embed_memories().await.unwrap(), 1);
    assert_eq!(found(&library, "automobile").await, [("a car".to_owned(), SEMANTIC)]);
    other.registry().close().await;
}

#[tokio::test]
async fn a_server_sees_what_another_one_writes() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let acme = world.organization("acme").await;
    let first = library(&world, &acme);
    let other = beside(&world, &endpoint, "small").await;
    let second = other.library(scope(&acme), Provenance::default());
    let memory = remember(&first, "one").await;
    assert_eq!(texts(&second, "one two").await, ["one"]);
    first.update(MEMORY, &memory.id, 1, content("two")).await.unwrap();
    assert_eq!(texts(&second, "one two").await, ["two"]);
    second.delete(MEMORY, &memory.id).await.unwrap();
    assert_eq!(texts(&first, "one two").await, Vec::<String>::new());
    other.registry().close().await;
}

#[tokio::test]
async fn the_corpus_teaches_which_words_mean_the_same() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (own, of_other) = (library(&world, &acme), of_app(&world, &acme, Some("shop")));
    remember(&own, "Ben bought a red car").await;
    world.agent_store.embed_memories().await.unwrap();
    assert_eq!(texts(&own, "automobile").await, Vec::<String>::new(), "nothing was taught");
    for place in ["garage", "street", "workshop", "showroom", "driveway", "station"] {
        for word in ["car", "automobile"] {
            remember(&of_other, &format!("the {word} stands at the {place} with its engine and tyres")).await;
        }
    }
    for dish in ["soup", "salad", "bread", "curry", "pie", "stew"] {
        remember(&of_other, &format!("the cook serves the {dish} at noon with salt and pepper")).await;
    }
    world.agent_store.embed_memories().await.unwrap();
    assert_eq!(found(&own, "automobile").await, [("Ben bought a red car".to_owned(), SEMANTIC)]);
    assert_eq!(texts(&own, "soup").await, Vec::<String>::new());
}

#[tokio::test]
async fn an_exact_term_is_found_without_a_similar_memory() {
    let endpoint = EmbeddingEndpoint::serve();
    let world = with_endpoint(&endpoint).await;
    let library = library(&world, &world.organization("acme").await);
    remember(&library, "the contract QX-9987 ends in May and is renewed by the sales team").await;
    world.agent_store.embed_memories().await.unwrap();
    let [(_, matched)] = &found(&library, "qx-9987").await[..] else { panic!("one memory") };
    assert_eq!(*matched, TEXT);
}

#[tokio::test]
async fn importance_and_then_age_decide_between_equal_results() {
    let world = World::new().await;
    let library = library(&world, &world.organization("acme").await);
    for (text, importance) in [("order a", 0.5), ("order b", 0.9), ("order c", 0.5)] {
        let body = json!({"content": text, "importance": importance}).as_object().cloned().unwrap();
        library.create(MEMORY, LibraryContent { body, ..LibraryContent::default() }).await.unwrap();
        world.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(texts(&library, "order").await, ["order b", "order c", "order a"]);
    assert_eq!(library.search_memories("order", 2).await.unwrap().items.len(), 2);
}

/// Memories of one user, each with a misspelt query.
const FORGIVEN: [(&str, &str); 10] = [
    ("The invoice of March is not paid yet", "invocie march"),
    ("Ann is vegetarian and does not eat fish", "vegitarian"),
    ("The car is parked in the garage", "prked car"),
    ("Meetings are on Tuesday afternoon", "tusday afternon"),
    ("The password of the wifi is in the drawer", "pasword wfi"),
    ("Ben prefers trains to flights", "prefrs trians"),
    ("The contract with Acme ends in June", "contrct acme"),
    ("The delivery comes to the back entrance", "delviery"),
    ("The dentist is in the main street", "dentst"),
    ("Her birthday is on the third of May", "birthdya"),
];

#[tokio::test]
async fn misspelt_words_find_what_was_meant() {
    let world = World::new().await;
    let library = library(&world, &world.organization("acme").await);
    for (text, _) in FORGIVEN {
        remember(&library, text).await;
    }
    for (text, query) in FORGIVEN {
        let found = found(&library, query).await;
        assert!(found.first().is_some_and(|(found, by)| found == text && by.text), "{query}: {found:?}");
    }
    let corrections = search(&library, "invocie march").await.corrections;
    assert_eq!(corrections.len(), 1, "a word that a memory has is itself");
    assert_eq!((corrections[0].word.as_str(), &corrections[0].taken_for), ("invocie", &vec!["invoice".to_owned()]));
    assert!(search(&library, "elephant zx4711").await.corrections.is_empty());
}
