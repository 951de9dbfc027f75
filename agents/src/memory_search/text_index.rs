//! An index of words, whose results are ranked by BM25: memories with rare words of the query, and often, come first, and short
//! memories before long ones.

use std::collections::HashMap;

use registry::{CORRECTED_WORDS_MAX, Correction, NearBy, TAKEN_WEIGHT, find_near_words};

/// The parameters of BM25, with their usual values: the weight of repeated words, and of a text's length.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Bytes of a word in the index besides its letters and its postings, roughly.
const WORD_BYTES: usize = 96;

#[derive(Debug, Default)]
pub(super) struct TextIndex {
    postings: HashMap<Box<str>, Vec<Posting>>,
    bytes: usize,
}

/// A memory that has a word.
#[derive(Debug)]
struct Posting {
    memory: u32,
    count: u32,
}

/// The lengths of the memories in words.
pub(super) struct Lengths<'a> {
    /// `None` for a memory that has left the index.
    pub of: &'a dyn Fn(u32) -> Option<u32>,
    pub memories: usize,
    pub words: u64,
}

impl TextIndex {
    /// Adds a memory. Returns its length in words.
    pub fn add(&mut self, memory: u32, words: &str) -> u32 {
        let mut counts: HashMap<&str, u32> = HashMap::new();
        words.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
        let length = counts.values().sum();
        for (word, count) in counts {
            self.bytes += size_of::<Posting>();
            let posting = Posting { memory, count };
            match self.postings.get_mut(word) {
                Some(postings) => postings.push(posting),
                None => {
                    self.bytes += WORD_BYTES + word.len();
                    self.postings.insert(word.into(), vec![posting]);
                }
            }
        }
        length
    }

    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the memories that have one of the words, or one for which a word is taken, with their scores.
    pub fn compute_scores(&self, words: &[String], lengths: &Lengths<'_>) -> (Vec<(u32, f32)>, Vec<Correction>) {
        let average = compute_ratio(lengths.words, lengths.memories);
        let corrections = self.correct(words, lengths);
        let taken = corrections.iter().flat_map(|correction| &correction.taken_for).map(|word| (word, TAKEN_WEIGHT));
        let mut scores: HashMap<u32, f32> = HashMap::new();
        for (word, weight) in words.iter().map(|word| (word, 1.0)).chain(taken) {
            let live = self.list_live(word, lengths);
            let rarity = weight * compute_rarity(lengths.memories, live.len());
            for (Posting { memory, count }, length) in live {
                *scores.entry(*memory).or_default() += rarity * saturate(*count, compute_ratio(length, 1) / average);
            }
        }
        (scores.into_iter().collect(), corrections)
    }

    /// Returns the words that no memory has, with near words that some have.
    fn correct(&self, words: &[String], lengths: &Lengths<'_>) -> Vec<Correction> {
        let unknown = words.iter().filter(|word| self.list_live(word, lengths).is_empty());
        let corrected = unknown.take(CORRECTED_WORDS_MAX).filter_map(|word| {
            let near = find_near_words(word, self.postings.keys().map(|word| &**word), NearBy::Spelling);
            let near = near.into_iter();
            let near = near.filter(|near| !self.list_live(near, lengths).is_empty());
            let taken_for: Vec<_> = near.map(str::to_owned).collect();
            (!taken_for.is_empty()).then(|| Correction { word: word.clone(), taken_for })
        });
        corrected.collect()
    }

    /// Returns the postings of a word in live memories, with the lengths of these.
    fn list_live(&self, word: &str, lengths: &Lengths<'_>) -> Vec<(&Posting, u32)> {
        let postings = self.postings.get(word).map_or(&[][..], Vec::as_slice);
        postings.iter().filter_map(|posting| Some((posting, (lengths.of)(posting.memory)?))).collect()
    }
}

/// The weight of a word that some memories have: the fewer, the greater.
fn compute_rarity(memories: usize, with_word: usize) -> f32 {
    let (all, with) = (compute_ratio(memories, 1), compute_ratio(with_word, 1));
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// The weight of a word that a memory has `count` times.
fn saturate(count: u32, length_to_average: f32) -> f32 {
    let count = compute_ratio(count, 1);
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length_to_average))
}

#[expect(clippy::cast_precision_loss, reason = "a score needs no more digits")]
fn compute_ratio(number: impl TryInto<u64>, of: usize) -> f32 {
    number.try_into().unwrap_or(u64::MAX) as f32 / of.max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memories that a query finds, the best first.
    fn found(texts: &[&str], gone: Option<u32>, query: &str) -> Vec<u32> {
        let mut index = TextIndex::default();
        let lengths: Vec<u32> = (0..).zip(texts).map(|(memory, text)| index.add(memory, text)).collect();
        let of = |memory: u32| lengths.get(memory as usize).copied().filter(|_| gone != Some(memory));
        let words = lengths.iter().copied().map(u64::from).sum();
        let query: Vec<_> = query.split(' ').map(ToOwned::to_owned).collect();
        let (mut scores, _) = index.compute_scores(&query, &Lengths { of: &of, memories: texts.len(), words });
        scores.sort_by(|(a, a_score), (b, b_score)| b_score.total_cmp(a_score).then(a.cmp(b)));
        scores.into_iter().map(|(memory, _)| memory).collect()
    }

    #[test]
    fn rare_words_count_more_than_frequent_ones() {
        let texts = ["the order", "the invoice", "the order the order", "the"];
        assert_eq!(found(&texts, None, "the invoice")[0], 1);
    }

    #[test]
    fn repeated_words_and_short_texts_count_more() {
        assert_eq!(found(&["order a b c", "order order b c", "x"], None, "order"), [1, 0]);
        assert_eq!(found(&["order a b c d e", "order a", "x"], None, "order"), [1, 0]);
    }

    #[test]
    fn words_are_found_as_a_whole_and_memories_that_left_are_not() {
        assert_eq!(found(&["order", "orders"], None, "order"), [0]);
        assert_eq!(found(&["order", "invoice"], None, "invioce"), [1], "a misspelt word is taken for a near one");
        assert_eq!(found(&["invoice", "order"], Some(0), "invioce"), [0_u32; 0]);
        assert_eq!(found(&["order", "order"], Some(0), "order"), [1]);
        assert_eq!(found(&["order"], None, "nothing"), [0_u32; 0]);
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        assert!((compute_rarity(10, 1) - (1.0_f32 + 9.5 / 1.5).ln()).abs() < 1e-6);
        assert!((saturate(1, 1.0) - 1.0).abs() < 1e-6);
        assert!((saturate(2, 1.0) - 4.4 / 3.2).abs() < 1e-6);
    }
}
