//! A model without weights: it learns from the texts of an organisation which words are used alike.
//!
//! The vector of a word has two parts that are added up: its letters ([`super::ngrams`]), and the letters of its neighbours in all
//! texts. `car` and `automobile` have no letters in common; once the texts speak of both in the same way, their vectors are
//! similar. A word that one text has has taught nothing yet, and counts less. The vector of a text is the sum of those of its words.
//!
//! Words are hashed to the same numbers by every server and at every time, so that vectors of models that learned from other texts
//! can still be compared.

use std::collections::HashMap;

use futures_util::future::{BoxFuture, ready};
use registry::extract_words;

use super::embedder::{EmbedFailure, Embedder};
use super::ngrams::{DIMENSIONS, build_vector, scale};
use super::vector::Vector;

/// The first part of the model's id. It changes with the vectors.
pub(crate) const CORPUS_FORMAT: &str = "corpus-1.";

/// Texts from which a model learns: more hardly change it.
pub(crate) const LEARNED_TEXTS_MAX: u32 = 20_000;
/// Words from which a model learns, repeated ones included. They take half a second.
const LEARNED_WORDS_MAX: usize = 1_000_000;
/// Different words whose neighbours a model knows, a kilobyte each. Rarer words have only their letters.
const KNOWN_WORDS_MAX: usize = 20_000;
/// Words of a text that count.
const TEXT_WORDS_MAX: usize = 512;
/// Words before and after a word that are its neighbours.
const NEIGHBOURS: usize = 8;
/// Texts that must have a word before its neighbours count.
const TEXTS_MIN: u32 = 2;
/// The part of the letters in the square of a word's vector; the rest is that of the neighbours.
const LETTERS_SHARE: f32 = 0.25;
/// The weight of a word whose neighbours are not known. That of others is 1, or less if many texts have it.
const UNKNOWN_WEIGHT: f32 = 0.4;
/// The part of its weight that a word loses that all texts have.
const FREQUENT_LOSS: f32 = 0.9;
/// Texts of a few words that mean the same reach it, and unrelated texts do not.
const SIMILARITY_MIN: f32 = 0.3;

type Numbers = [f32; DIMENSIONS];

/// A model that learned from texts.
pub(crate) struct CorpusModel {
    /// Tells models of an organisation apart.
    generation: i64,
    texts: f32,
    known: HashMap<Box<str>, KnownWord>,
}

struct KnownWord {
    /// Texts with the word.
    texts: f32,
    vector: Box<Numbers>,
}

impl CorpusModel {
    /// Learns from texts whose words are separated by spaces, up to [`LEARNED_WORDS_MAX`] words.
    pub fn learn(generation: i64, texts: &[String]) -> Self {
        let texts = split_words(texts);
        let known = find_frequent_words(&texts);
        let count = to_number(texts.len());
        let contexts = collect_contexts(&texts, &known);
        let known = known.into_iter().map(|(word, Frequent { index, texts })| {
            let vector = Box::new(combine(word, &contexts[index]));
            (word.into(), KnownWord { texts, vector })
        });
        Self { generation, texts: count, known: known.collect() }
    }

    /// Bytes that the model takes, roughly.
    pub fn bytes(&self) -> usize {
        self.known.len() * (size_of::<Numbers>() + 96)
    }

    fn embed_text(&self, text: &str) -> Option<Vector> {
        let words = extract_words(text);
        let mut counts: HashMap<&str, f32> = HashMap::new();
        words.split_whitespace().take(TEXT_WORDS_MAX).for_each(|word| *counts.entry(word).or_default() += 1.0);
        // A fixed order, since sums of floats depend on it.
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(word, _)| *word);
        let mut sum = vec![0.0; DIMENSIONS];
        for (word, count) in counts {
            let repeated = 1.0 + count.ln();
            match self.known.get(word) {
                Some(KnownWord { texts, vector }) => {
                    add(&mut sum, &vector[..], repeated * (1.0 - FREQUENT_LOSS * texts / self.texts));
                }
                None => add(&mut sum, &build_vector(word), repeated * UNKNOWN_WEIGHT),
            }
        }
        Vector::of(sum)
    }
}

impl Embedder for CorpusModel {
    fn kind(&self) -> &'static str {
        "corpus"
    }

    fn model_id(&self) -> String {
        format!("{CORPUS_FORMAT}{}", self.generation)
    }

    fn reads(&self, model_id: &str) -> bool {
        model_id.starts_with(CORPUS_FORMAT)
    }

    fn similarity_min(&self) -> f32 {
        SIMILARITY_MIN
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Vec<Option<Vector>>, EmbedFailure>> {
        Box::pin(ready(Ok(texts.iter().map(|text| self.embed_text(text)).collect())))
    }
}

impl std::fmt::Debug for CorpusModel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CorpusModel").field("generation", &self.generation).finish_non_exhaustive()
    }
}

struct Frequent {
    index: usize,
    texts: f32,
}

/// The words of the texts, up to [`LEARNED_WORDS_MAX`].
fn split_words(texts: &[String]) -> Vec<Vec<&str>> {
    let mut left = LEARNED_WORDS_MAX;
    let mut bounded = Vec::new();
    for text in texts {
        let words: Vec<_> = text.split_whitespace().take(TEXT_WORDS_MAX.min(left)).collect();
        left -= words.len();
        if left == 0 {
            break;
        }
        bounded.push(words);
    }
    bounded
}

/// The words that most texts have.
fn find_frequent_words<'t>(texts: &[Vec<&'t str>]) -> HashMap<&'t str, Frequent> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for text in texts {
        let mut distinct = text.clone();
        distinct.sort_unstable();
        distinct.dedup();
        distinct.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    }
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count >= TEXTS_MIN).collect();
    counts.sort_unstable_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
    counts.truncate(KNOWN_WORDS_MAX);
    let frequent = counts.into_iter().enumerate();
    frequent.map(|(index, (word, count))| (word, Frequent { index, texts: to_number(count) })).collect()
}

/// Sums of the vectors of each word's neighbours. A word that all texts have counts nothing, rare words count most.
fn collect_contexts(texts: &[Vec<&str>], known: &HashMap<&str, Frequent>) -> Vec<Numbers> {
    let count = to_number(texts.len());
    let mut letters = vec![[0.0; DIMENSIONS]; known.len()];
    for (word, Frequent { index, texts }) in known {
        letters[*index] = build_vector(word);
        letters[*index].iter_mut().for_each(|number| *number *= (count / texts).ln());
    }
    let mut contexts = vec![[0.0; DIMENSIONS]; known.len()];
    for text in texts {
        let indices: Vec<Option<usize>> = text.iter().map(|word| known.get(word).map(|known| known.index)).collect();
        let neighbours = |position: usize| indices.get(position).copied().flatten().map(|index| &letters[index][..]);
        let mut near = [0.0; DIMENSIONS];
        (0..NEIGHBOURS).filter_map(neighbours).for_each(|neighbour| add(&mut near, neighbour, 1.0));
        for (position, index) in indices.iter().enumerate() {
            neighbours(position + NEIGHBOURS).into_iter().for_each(|entering| add(&mut near, entering, 1.0));
            let leaving = position.checked_sub(NEIGHBOURS + 1).and_then(neighbours);
            leaving.into_iter().for_each(|leaving| add(&mut near, leaving, -1.0));
            let Some(index) = *index else { continue };
            add(&mut contexts[index], &near, 1.0);
            add(&mut contexts[index], &letters[index], -1.0);
        }
    }
    contexts
}

/// The vector of a word: its letters and its neighbours.
fn combine(word: &str, context: &Numbers) -> Numbers {
    let (letters, mut context) = (build_vector(word), *context);
    scale(&mut context);
    let mut sum = [0.0; DIMENSIONS];
    add(&mut sum, &letters, LETTERS_SHARE.sqrt());
    add(&mut sum, &context, (1.0 - LETTERS_SHARE).sqrt());
    scale(&mut sum);
    sum
}

fn add(sum: &mut [f32], numbers: &[f32], weight: f32) {
    sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += weight * number);
}

/// Converts a count, all of which are far below the numbers that 32 bits hold exactly.
fn to_number(count: impl TryInto<u32>) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts are below the bounds of this file")]
    let number = count.try_into().unwrap_or(u32::MAX) as f32;
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that use `car` and `automobile` alike, and others.
    fn taught() -> Vec<String> {
        let places = ["garage", "street", "workshop", "showroom", "driveway", "petrol station"];
        let vehicles = places.iter().flat_map(|place| {
            ["car", "automobile"].map(|word| format!("the {word} stands at the {place} with its engine and tyres"))
        });
        let dishes = ["soup", "salad", "bread", "curry", "pie", "stew"];
        let meals = dishes.iter().map(|dish| format!("the cook serves the {dish} at noon with salt and pepper"));
        vehicles.chain(meals).collect()
    }

    fn cosine(model: &CorpusModel, a: &str, b: &str) -> f32 {
        model.embed_text(a).unwrap().cosine(&model.embed_text(b).unwrap())
    }

    #[test]
    fn words_that_are_used_alike_become_similar() {
        let (empty, taught) = (CorpusModel::learn(0, &[]), CorpusModel::learn(1, &taught()));
        let (before, after) = (cosine(&empty, "automobile", "car"), cosine(&taught, "automobile", "car"));
        assert!(before < SIMILARITY_MIN && after > SIMILARITY_MIN + 0.1, "{before} {after}");
        let other = cosine(&taught, "automobile", "soup");
        assert!(other < SIMILARITY_MIN, "{other}");
    }

    #[test]
    fn a_paraphrase_is_similar_to_a_whole_text() {
        let model = CorpusModel::learn(1, &taught());
        let memory = "ben bought a red car";
        let (near, far) = (cosine(&model, "automobile", memory), cosine(&model, "pepper", memory));
        assert!(near > far + 0.2, "{near} {far}");
    }

    #[test]
    fn unknown_words_are_compared_by_their_letters() {
        let model = CorpusModel::learn(0, &[]);
        assert!(cosine(&model, "invoices", "invoice") > cosine(&model, "invoices", "garden") + 0.2);
        assert_eq!(model.embed_text("…"), None);
    }

    #[test]
    fn models_of_other_texts_stay_comparable() {
        let texts = taught();
        let (early, late) = (CorpusModel::learn(1, &texts[..12]), CorpusModel::learn(2, &texts));
        let [a, b] = [&early, &late].map(|model| model.embed_text("the automobile of ben").unwrap());
        assert!(a.cosine(&b) > 0.8, "{}", a.cosine(&b));
        assert!(late.reads(&early.model_id()) && !late.reads("text-embedding"));
    }

    #[test]
    fn the_words_that_a_model_knows_are_bounded() {
        let texts: Vec<_> =
            (0..2 * (KNOWN_WORDS_MAX + 500)).map(|number| format!("word{} again", number / 2)).collect();
        let model = CorpusModel::learn(1, &texts);
        assert_eq!(model.known.len(), KNOWN_WORDS_MAX);
        assert!(model.known.contains_key("again"));
    }
}
