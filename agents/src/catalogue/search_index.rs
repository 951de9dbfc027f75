//! The texts of a catalogue's tools in small letters, for `search_tools`. They are made once for a catalogue.

use std::collections::BTreeSet;

use registry::{CORRECTED_WORDS_MAX, Correction, NearBy, find_near_words};

/// Different words of a query. Further ones are ignored. Each is searched in all texts.
const WORDS_MAX: usize = 32;
/// Characters of a word, of which the rest is ignored: names of tools are no longer.
const WORD_CHARACTERS_MAX: usize = 64;
/// Weight of a word in the name of a tool, when one in its description weighs 1.
const NAME_WEIGHT: usize = 3;

/// Bytes of the distinct words that are kept for comparisons with misspelt ones: those of the descriptions of some thousand tools.
const VOCABULARY_BYTES_MAX: usize = 256 << 10;

/// The texts of the tools of a catalogue, in their order.
#[derive(Debug)]
pub(crate) struct SearchIndex {
    texts: Vec<ToolText>,
    /// The distinct words of the texts, up to a bound.
    vocabulary: BTreeSet<String>,
    vocabulary_bytes: usize,
}

/// The texts of one tool.
#[derive(Debug)]
pub(crate) struct ToolText {
    name: String,
    description: String,
}

impl SearchIndex {
    pub fn of(texts: impl Iterator<Item = ToolText>) -> Self {
        let mut index = Self { texts: texts.collect(), vocabulary: BTreeSet::new(), vocabulary_bytes: 0 };
        let separates = |character: char| !character.is_alphanumeric();
        for text in &index.texts {
            for word in [&text.name, &text.description].into_iter().flat_map(|text| text.split(separates)) {
                if index.vocabulary_bytes + word.len() > VOCABULARY_BYTES_MAX || index.vocabulary.contains(word) {
                    continue;
                }
                index.vocabulary_bytes += word.len();
                index.vocabulary.insert(word.to_owned());
            }
        }
        index
    }

    /// The words of a query, each once.
    pub fn split_words(query: &str) -> Vec<String> {
        let mut words = Vec::new();
        for word in query.split_whitespace() {
            let word: String = word.to_lowercase().chars().take(WORD_CHARACTERS_MAX).collect();
            if words.len() < WORDS_MAX && !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    /// Bytes that a search for one word reads.
    pub fn bytes(&self) -> usize {
        self.vocabulary_bytes + self.texts.iter().map(|text| text.name.len() + text.description.len()).sum::<usize>()
    }

    /// The weights of the words that each tool has, in the order of the tools. A word for which another one is taken weighs half as
    /// much.
    pub fn compute_scores(&self, words: &[String], corrections: &[Correction]) -> impl Iterator<Item = usize> {
        let taken = move |text: &ToolText| -> usize {
            corrections.iter().flat_map(|correction| &correction.taken_for).map(|word| text.weigh(word)).sum()
        };
        self.texts.iter().map(move |text| 2 * words.iter().map(|word| text.weigh(word)).sum::<usize>() + taken(text))
    }

    /// Returns the words that no tool has, with near words that some have.
    pub fn correct(&self, words: &[String]) -> Vec<Correction> {
        let unknown = words.iter().filter(|word| self.texts.iter().all(|text| text.weigh(word) == 0));
        let corrected = unknown.take(CORRECTED_WORDS_MAX).filter_map(|word| {
            let near = find_near_words(word, self.vocabulary.iter().map(String::as_str), NearBy::SpellingOrMeaning);
            let taken_for: Vec<_> = near.into_iter().map(str::to_owned).collect();
            (!taken_for.is_empty()).then(|| Correction { word: word.clone(), taken_for })
        });
        corrected.collect()
    }
}

impl ToolText {
    pub fn of(name: &str, description: &str) -> Self {
        Self { name: name.to_lowercase(), description: description.to_lowercase() }
    }

    fn weigh(&self, word: &str) -> usize {
        usize::from(self.name.contains(word)) * NAME_WEIGHT + usize::from(self.description.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_query_have_bounds() {
        assert_eq!(SearchIndex::split_words(" Pay  the BILL pay\n"), ["pay", "the", "bill"]);
        let many: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        assert_eq!(SearchIndex::split_words(&many.join(" ")), many[..WORDS_MAX]);
        assert_eq!(SearchIndex::split_words(&"ä".repeat(1_000)), ["ä".repeat(WORD_CHARACTERS_MAX)]);
    }

    #[test]
    fn a_name_weighs_more_than_a_description() {
        let texts = [("Pay_bill", "Pays a BILL"), ("shout", "of a bill"), ("x", "y")];
        let index = SearchIndex::of(texts.iter().map(|(name, description)| ToolText::of(name, description)));
        let words = ["bill", "pay"].map(str::to_owned);
        assert_eq!(index.compute_scores(&words, &[]).collect::<Vec<_>>(), [16, 2, 0]);
        // The distinct words are pay, bill, pays, a, shout, of, x and y.
        assert_eq!(index.bytes(), 8 + 11 + 5 + 9 + 1 + 1 + 3 + 4 + 4 + 1 + 5 + 2 + 1 + 1);
    }

    #[test]
    fn a_word_that_no_tool_has_is_taken_for_near_ones() {
        let texts = [("send_invoice", "Sends an invoice"), ("weather", "Tells the weather of a town")];
        let index = SearchIndex::of(texts.iter().map(|(name, description)| ToolText::of(name, description)));
        for (query, word, place) in [("invioce", "invoice", 0), ("wether", "weather", 1), ("climate", "weather", 1)] {
            let words = SearchIndex::split_words(query);
            let corrections = index.correct(&words);
            assert_eq!(corrections, [Correction { word: query.to_owned(), taken_for: vec![word.to_owned()] }]);
            let scores: Vec<_> = index.compute_scores(&words, &corrections).collect();
            assert!(scores[place] > 0 && scores[1 - place] == 0, "{query}: {scores:?}");
        }
        assert!(index.correct(&SearchIndex::split_words("invoice elephant")).is_empty());
    }

    #[test]
    fn the_kept_words_have_a_bound() {
        let text = (0..100_000).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        let index = SearchIndex::of([ToolText::of("x", &text)].into_iter());
        assert!((VOCABULARY_BYTES_MAX - 16..=VOCABULARY_BYTES_MAX).contains(&index.vocabulary_bytes));
    }
}
