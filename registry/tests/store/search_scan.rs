//! Searches find what a scan over the same texts finds. The scan has its own definition of words, and no index.

use std::collections::BTreeMap;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestCaseError, TestRunner};
use registry::{Outcome, Page, Principal, RecordedInput, RunFilter, RunId, SearchField, SearchQuery, SearchText};

use crate::fixtures::{World, ends, finished, started, starts, succeeded};
use crate::search_texts::{DOCUMENTS, QUERIES, long_documents};

/// Bytes of a text that are searched, and bytes of its words.
const SEARCHED_BYTES_MAX: usize = 256 * 1024;

/// Bytes after which a word is cut.
const WORD_BYTES_MAX: usize = 256;

/// The searched fields. No field stands for all but the inputs.
const FIELDS: [&[SearchField]; 6] = {
    use SearchField::{ExceptionMessage, ExceptionStackTrace, ExceptionType, Inputs, Output};
    [&[], &[Output], &[ExceptionMessage, ExceptionType], &[ExceptionStackTrace], &[Inputs], &[Inputs, Output]]
};

/// The texts of a run.
#[derive(Clone, Debug)]
pub enum Document {
    Output(String),
    Failure {
        kind: String,
        message: String,
        trace: Vec<String>,
    },
    /// The parameter `note`, of a run without an output.
    Input(String),
}

/// A recorded run with the words of its fields.
struct Scanned {
    id: RunId,
    fields: BTreeMap<&'static str, Vec<String>>,
}

impl Document {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Output(text) => succeeded(text),
            Self::Failure { kind, message, trace } => Outcome::Failed {
                exception_type: kind.clone(),
                exception_message: message.clone(),
                exception_stack_trace: trace.clone(),
            },
            Self::Input(_) => succeeded(""),
        }
    }

    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        match self {
            Self::Input(text) => [("note".to_owned(), text.as_str().into())].into_iter().collect(),
            _ => serde_json::Map::new(),
        }
    }

    fn fields(&self) -> BTreeMap<&'static str, Vec<String>> {
        // The fields of an exception have no more words together than an output.
        let mut left = SEARCHED_BYTES_MAX;
        let mut of = |field, text: &str| {
            let words = separated(text, left);
            left = left.saturating_sub(words.join(" ").len());
            (name(field), words)
        };
        match self {
            Self::Output(text) => [of(SearchField::Output, text)].into(),
            Self::Input(text) => [of(SearchField::Inputs, &format!("note {text}"))].into(),
            Self::Failure { kind, message, trace } => [
                of(SearchField::ExceptionType, kind),
                of(SearchField::ExceptionMessage, message),
                of(SearchField::ExceptionStackTrace, &trace.join("\n")),
            ]
            .into(),
        }
    }
}

fn name(field: SearchField) -> &'static str {
    match field {
        SearchField::Output => "output",
        SearchField::ExceptionMessage => "message",
        SearchField::ExceptionType => "type",
        SearchField::ExceptionStackTrace => "trace",
        SearchField::Inputs => "inputs",
    }
}

/// Returns the first words of a text: decomposed, without the accents of Latin letters, composed again, and split.
fn separated(text: &str, bytes_max: usize) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(SEARCHED_BYTES_MAX)];
    let is_accent = |character: char| ('\u{300}'..='\u{36f}').contains(&character);
    let is_voicing = |character: char| matches!(character, '\u{3099}' | '\u{309a}');
    let (mut plain, mut is_latin) = (String::new(), false);
    for character in DecomposingNormalizerBorrowed::new_nfkd().normalize(text).chars() {
        if is_accent(character) && is_latin {
            continue;
        }
        if !is_accent(character) && !is_voicing(character) {
            is_latin = character.is_ascii_alphabetic();
        }
        plain.push(character);
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&plain);
    let (mut words, mut bytes, mut is_open) = (Vec::<String>::new(), 0, false);
    for character in composed.chars().filter(|character| !is_accent(*character)) {
        if bytes >= bytes_max {
            break;
        }
        if !character.is_alphanumeric() {
            is_open = false;
            continue;
        }
        let is_alone = is_east_asian(character);
        if !is_open || is_alone {
            bytes += usize::from(!words.is_empty());
            words.push(String::new());
        }
        is_open = !is_alone;
        let word = words.last_mut().unwrap();
        for lower in folded(character) {
            if word.len() < WORD_BYTES_MAX {
                word.push(lower);
                bytes += lower.len_utf8();
            }
        }
    }
    words
}

/// The lower case. The sigma at the end of a Greek word has one of its own.
fn folded(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().map(|lower| if lower == 'ς' { 'σ' } else { lower })
}

/// Whether a letter is Chinese or Japanese, by its block.
fn is_east_asian(letter: char) -> bool {
    let blocks = [0x3000..0x3100, 0x31f0..0x3200, 0x3400..0xa000, 0xf900..0xfb00, 0x2_0000..0x4_0000];
    blocks.iter().any(|block| block.contains(&u32::from(letter)))
}

/// Whether the fields of a run together have all terms of a search, each term in one field.
fn has_all(run: &Scanned, text: &str, fields: &[SearchField]) -> bool {
    let wanted: Vec<_> = match fields {
        [] => vec!["output", "message", "type", "trace"],
        some => some.iter().copied().map(name).collect(),
    };
    let terms = text.split_whitespace().map(|term| match term.strip_suffix('*') {
        Some(beginning) => (separated(beginning, SEARCHED_BYTES_MAX), true),
        None => (separated(term, SEARCHED_BYTES_MAX), false),
    });
    let terms: Vec<_> = terms.filter(|(words, _)| !words.is_empty()).collect();
    let in_one = |words: &[String], is_prefix| {
        wanted.iter().filter_map(|field| run.fields.get(field)).any(|text| has_phrase(text, words, is_prefix))
    };
    !terms.is_empty() && terms.iter().all(|(words, is_prefix)| in_one(words, *is_prefix))
}

fn has_phrase(text: &[String], phrase: &[String], is_prefix: bool) -> bool {
    let Some((last, before)) = phrase.split_last() else { return false };
    text.windows(phrase.len()).any(|window| {
        let end = &window[before.len()];
        window.starts_with(before) && if is_prefix { end.starts_with(last.as_str()) } else { end == last }
    })
}

/// Records a run for each document.
async fn record(world: &World, principal: &Principal, documents: &[Document]) -> Vec<Scanned> {
    let mut runs = Vec::new();
    for document in documents {
        let mut run = started(&world.clock, principal);
        run.input = RecordedInput::redacting(document.parameters(), BTreeMap::new(), &[]);
        runs.push((run, document));
    }
    let begun = runs.iter().map(|(run, _)| run.clone()).collect();
    world.store.history().record(&starts(begun)).await.unwrap();
    let ended = runs.iter().map(|(run, document)| finished(run, document.outcome())).collect();
    world.store.history().record(&ends(ended)).await.unwrap();
    runs.into_iter().map(|(run, document)| Scanned { id: run.id, fields: document.fields() }).collect()
}

/// Returns the runs that a search finds, page by page, in no order.
async fn found(world: &World, principal: &Principal, query: &SearchQuery) -> Vec<RunId> {
    let (mut found, mut page) = (Vec::new(), Page::first(100));
    loop {
        let slice = world.store.history().search_invocations(&principal.organization, query, page).await.unwrap();
        found.extend(slice.items.into_iter().map(|record| record.start.id));
        let Some(token) = slice.next else { break };
        page.token = token;
    }
    found.sort();
    found
}

/// Compares a search in each set of fields with the scan. Returns the number of found runs.
async fn compare(world: &World, principal: &Principal, runs: &[Scanned], text: &str) -> Result<usize, String> {
    let mut hits = 0;
    let Ok(parsed) = SearchText::parse(text) else { return Ok(0) };
    for fields in FIELDS {
        let query = SearchQuery { text: parsed.clone(), fields: fields.to_vec(), filter: RunFilter::default() };
        let mut expected: Vec<_> =
            runs.iter().filter(|run| has_all(run, text, fields)).map(|run| run.id.clone()).collect();
        expected.sort();
        let found = found(world, principal, &query).await;
        if found != expected {
            return Err(format!("{text:?} in {fields:?}: found {found:?}, the scan found {expected:?}"));
        }
        hits += found.len();
    }
    Ok(hits)
}

#[tokio::test]
async fn searches_find_what_a_scan_finds() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let mut documents = long_documents();
    for text in DOCUMENTS {
        documents.push(Document::Output((*text).to_owned()));
        documents.push(Document::Input((*text).to_owned()));
        let trace = text.split(' ').map(str::to_owned).collect();
        documents.push(Document::Failure { kind: "E".to_owned(), message: (*text).to_owned(), trace });
    }
    let runs = record(&world, &acme, &documents).await;
    let mut wrong = Vec::new();
    for (text, has_hits) in QUERIES {
        match compare(&world, &acme, &runs, text).await {
            Ok(hits) if (hits > 0) == *has_hits => {}
            Ok(hits) => wrong.push(format!("{text:?} has {hits} hits")),
            Err(difference) => wrong.push(difference),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A text of pieces that meet often: letters with their accents in several forms, and characters with a meaning in the query
/// languages.
fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    const PIECES: [&str; 40] = [
        "a",
        "b",
        "ab",
        "A",
        "é",
        "e\u{301}",
        "東",
        "京",
        "ア",
        "ｱ",
        "ー",
        "ﾞ",
        "1",
        "１",
        "σ",
        "ς",
        "Σ",
        "й",
        "и\u{306}",
        "한",
        "한",
        "\0",
        "\"",
        "*",
        "'",
        " ",
        " ",
        " ",
        ".",
        "-",
        "😀",
        "_",
        "%",
        "\\",
        "&",
        "|",
        "!",
        ":",
        "(",
        ")",
    ];
    prop::collection::vec(prop::sample::select(&PIECES[..]), pieces).prop_map(|pieces| pieces.concat())
}

fn document() -> impl Strategy<Value = Document> {
    let failure = (text(0..4), text(0..16), prop::collection::vec(text(0..6), 0..4));
    prop_oneof![
        3 => text(0..24).prop_map(Document::Output),
        1 => text(0..16).prop_map(Document::Input),
        2 => failure.prop_map(|(kind, message, trace)| Document::Failure { kind, message, trace }),
    ]
}

#[test]
fn random_searches_find_what_a_scan_finds() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = runtime.block_on(World::new());
    let number = std::cell::Cell::new(0);
    let hits = std::cell::Cell::new(0);
    let cases = (prop::collection::vec(document(), 1..6), prop::collection::vec(text(1..4), 1..4));
    let mut runner = TestRunner::new(Cases { cases: 300, failure_persistence: None, ..Cases::default() });
    let compared = runner.run(&cases, |(documents, queries)| {
        number.set(number.get() + 1);
        runtime.block_on(async {
            let acme = world.organization(&format!("acme{}", number.get())).await;
            let runs = record(&world, &acme, &documents).await;
            for text in &queries {
                hits.set(hits.get() + compare(&world, &acme, &runs, text).await.map_err(TestCaseError::fail)?);
            }
            Ok(())
        })
    });
    compared.unwrap_or_else(|difference| panic!("{difference}"));
    assert!(hits.get() > 100, "only {} hits: the texts do not meet", hits.get());
    runtime.block_on(world.store.close());
}
