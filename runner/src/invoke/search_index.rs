//! The texts of a catalogue's tools in small letters, for `search_tools`. They are made once for a catalogue.

/// Different words of a query. Further ones are ignored. Each is searched in all texts.
const WORDS_MAX: usize = 32;
/// Characters of a word, of which the rest is ignored: names of tools are no longer.
const WORD_CHARACTERS_MAX: usize = 64;
/// Weight of a word in the name of a tool, when one in its description weighs 1.
const NAME_WEIGHT: usize = 3;

/// The texts of the tools of a catalogue, in their order.
#[derive(Debug)]
pub(super) struct SearchIndex(Vec<ToolText>);

/// The texts of one tool.
#[derive(Debug)]
pub(super) struct ToolText {
    name: String,
    description: String,
}

impl SearchIndex {
    pub fn of(texts: impl Iterator<Item = ToolText>) -> Self {
        Self(texts.collect())
    }

    /// The words of a query, each once.
    pub fn words(query: &str) -> Vec<String> {
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
        self.0.iter().map(|text| text.name.len() + text.description.len()).sum()
    }

    /// The weights of the words that each tool has, in the order of the tools.
    pub fn scores(&self, words: &[String]) -> impl Iterator<Item = usize> {
        self.0.iter().map(|text| words.iter().map(|word| text.weight(word)).sum())
    }
}

impl ToolText {
    pub fn of(name: &str, description: &str) -> Self {
        Self { name: name.to_lowercase(), description: description.to_lowercase() }
    }

    fn weight(&self, word: &str) -> usize {
        usize::from(self.name.contains(word)) * NAME_WEIGHT + usize::from(self.description.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_query_have_bounds() {
        assert_eq!(SearchIndex::words(" Pay  the BILL pay\n"), ["pay", "the", "bill"]);
        let many: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        assert_eq!(SearchIndex::words(&many.join(" ")), many[..WORDS_MAX]);
        assert_eq!(SearchIndex::words(&"ä".repeat(1_000)), ["ä".repeat(WORD_CHARACTERS_MAX)]);
    }

    #[test]
    fn a_name_weighs_more_than_a_description() {
        let texts = [("Pay_bill", "Pays a BILL"), ("shout", "of a bill"), ("x", "y")];
        let index = SearchIndex::of(texts.iter().map(|(name, description)| ToolText::of(name, description)));
        let words = ["bill", "pay"].map(str::to_owned);
        assert_eq!(index.scores(&words).collect::<Vec<_>>(), [8, 1, 0]);
        assert_eq!(index.bytes(), 8 + 11 + 5 + 9 + 1 + 1);
    }
}
