//! The memories of a scope with their words and vectors.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use registry::{Correction, LibraryItemId};

use super::fusion::fuse;
use super::text_index::{Lengths, TextIndex};
use crate::domain::library::MatchedBy;
use crate::embeddings::Vector;

/// Results of each of both searches that are fused.
const RESULTS_MAX: usize = 100;

/// Bytes of the vectors of a scope. Beyond that, the oldest memories are found by their words only. 262,144 vectors of 256 numbers,
/// or 43,690 of 1,536.
const VECTORS_BYTES_MAX: usize = 256 << 20;

/// Memories that left the index and still take space, beyond which the index is read again.
const LEFT_MIN: usize = 1_000;

/// Bytes of a memory besides its words and its vector, roughly.
const MEMORY_BYTES: usize = size_of::<Memory>() + 64;

/// A change of one memory.
pub(crate) struct IndexChange {
    pub item: LibraryItemId,
    /// Its position among the changes of the scope.
    pub position: i64,
    /// `None` for a memory that was deleted.
    pub memory: Option<IndexedMemory>,
}

pub(crate) struct IndexedMemory {
    /// Separated by spaces.
    pub words: String,
    pub importance: i64,
    pub updated_at: i64,
    pub vector: Option<Vector>,
}

/// A search.
pub(crate) struct Wanted {
    pub words: Vec<String>,
    pub vector: Option<Vector>,
    pub similarity_min: f32,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundMemory {
    pub item: LibraryItemId,
    pub score: f64,
    pub matched: MatchedBy,
}

#[derive(Debug, Default)]
pub(crate) struct ScopeIndex {
    /// The position of the last change that the index has.
    seen: i64,
    memories: Vec<Memory>,
    /// The live memories.
    places: HashMap<LibraryItemId, u32>,
    text: TextIndex,
    /// Words of the live memories.
    words: u64,
    vectors_bytes: usize,
    /// The first memory that may have a vector.
    first_vector: usize,
}

#[derive(Debug)]
struct Memory {
    item: LibraryItemId,
    words_hash: u64,
    /// In words.
    length: u32,
    importance: i64,
    updated_at: i64,
    vector: Option<Vector>,
    is_live: bool,
}

impl ScopeIndex {
    pub const fn seen(&self) -> i64 {
        self.seen
    }

    /// Bytes that the index takes, roughly.
    pub fn bytes(&self) -> usize {
        self.memories.len() * MEMORY_BYTES + self.text.bytes() + self.vectors_bytes
    }

    /// Whether much of the index belongs to memories that left it.
    pub fn is_worn(&self) -> bool {
        let left = self.memories.len() - self.places.len();
        left > LEFT_MIN.max(self.places.len())
    }

    /// Applies changes in their order.
    pub fn apply(&mut self, changes: Vec<IndexChange>) {
        for IndexChange { item, position, memory } in changes {
            self.seen = self.seen.max(position);
            match memory {
                Some(memory) => self.set(item, memory),
                None => self.remove(&item),
            }
        }
        self.drop_oldest_vectors();
    }

    /// Returns the best memories, the best first, and the words that were taken for others.
    pub fn search(&self, wanted: &Wanted) -> (Vec<FoundMemory>, Vec<Correction>) {
        let ((text, corrections), semantic) = (self.search_words(&wanted.words), self.search_vectors(wanted));
        let mut fused: Vec<_> = fuse(&text, &semantic).into_iter().collect();
        fused.sort_by(|(a, a_fused), (b, b_fused)| {
            b_fused
                .score
                .total_cmp(&a_fused.score)
                .then_with(|| self.compute_precedence(*a).cmp(&self.compute_precedence(*b)))
        });
        let best = fused.into_iter().take(wanted.limit);
        let found = best.filter_map(|(place, fused)| {
            let item = self.get_memory(place)?.item.clone();
            Some(FoundMemory { item, score: fused.score, matched: fused.matched })
        });
        (found.collect(), corrections)
    }

    fn search_words(&self, words: &[String]) -> (Vec<u32>, Vec<Correction>) {
        let of = |place| self.get_memory(place).filter(|memory| memory.is_live).map(|memory| memory.length);
        let lengths = Lengths { of: &of, memories: self.places.len(), words: self.words };
        let (scores, corrections) = self.text.compute_scores(words, &lengths);
        (self.select_best(scores), corrections)
    }

    fn search_vectors(&self, wanted: &Wanted) -> Vec<u32> {
        let Some(vector) = &wanted.vector else { return Vec::new() };
        let cosines = (0_u32..).zip(&self.memories).filter_map(|(place, memory)| {
            let cosine = memory.vector.as_ref()?.cosine(vector);
            (cosine >= wanted.similarity_min).then_some((place, cosine))
        });
        self.select_best(cosines.collect())
    }

    fn select_best(&self, mut scores: Vec<(u32, f32)>) -> Vec<u32> {
        let order = |(a, a_score): &(u32, f32), (b, b_score): &(u32, f32)| {
            b_score.total_cmp(a_score).then_with(|| self.compute_precedence(*a).cmp(&self.compute_precedence(*b)))
        };
        if scores.len() > RESULTS_MAX {
            scores.select_nth_unstable_by(RESULTS_MAX, order);
            scores.truncate(RESULTS_MAX);
        }
        scores.sort_unstable_by(order);
        scores.into_iter().map(|(place, _)| place).collect()
    }

    /// The order of memories with the same score: important ones first, then recent ones.
    fn compute_precedence(&self, place: u32) -> impl Ord + use<> {
        Reverse(self.get_memory(place).map(|memory| (memory.importance, memory.updated_at, memory.item.clone())))
    }

    fn get_memory(&self, place: u32) -> Option<&Memory> {
        self.memories.get(usize::try_from(place).ok()?)
    }

    fn find_live(&mut self, item: &LibraryItemId) -> Option<&mut Memory> {
        let place = usize::try_from(*self.places.get(item)?).ok()?;
        self.memories.get_mut(place)
    }

    fn set(&mut self, item: LibraryItemId, new: IndexedMemory) {
        let IndexedMemory { words, importance, updated_at, vector } = new;
        let words_hash = hash(&words);
        let vector_bytes = count_bytes(vector.as_ref());
        if let Some(memory) = self.find_live(&item).filter(|memory| memory.words_hash == words_hash) {
            (memory.importance, memory.updated_at) = (importance, updated_at);
            let before = count_bytes(std::mem::replace(&mut memory.vector, vector).as_ref());
            self.vectors_bytes = self.vectors_bytes + vector_bytes - before;
            self.first_vector = 0;
            return;
        }
        self.remove(&item);
        let Ok(place) = u32::try_from(self.memories.len()) else { return };
        let length = self.text.add(place, &words);
        self.words += u64::from(length);
        self.vectors_bytes += vector_bytes;
        self.places.insert(item.clone(), place);
        self.memories.push(Memory { item, words_hash, length, importance, updated_at, vector, is_live: true });
    }

    fn remove(&mut self, item: &LibraryItemId) {
        let Some(memory) = self.find_live(item) else { return };
        memory.is_live = false;
        let (length, vector) = (memory.length, memory.vector.take());
        self.words -= u64::from(length);
        self.vectors_bytes -= count_bytes(vector.as_ref());
        self.places.remove(item);
    }

    fn drop_oldest_vectors(&mut self) {
        while self.vectors_bytes > VECTORS_BYTES_MAX {
            let Some(memory) = self.memories.get_mut(self.first_vector) else { return };
            self.vectors_bytes -= count_bytes(memory.vector.take().as_ref());
            self.first_vector += 1;
        }
    }
}

fn count_bytes(vector: Option<&Vector>) -> usize {
    vector.map_or(0, |vector| size_of_val(vector.numbers()))
}

fn hash(words: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(number: u8) -> LibraryItemId {
        LibraryItemId::parse(&format!("{number:024x}")).unwrap()
    }

    fn memory(words: &str, vector: &[f32]) -> IndexedMemory {
        IndexedMemory { words: words.into(), importance: 0, updated_at: 0, vector: Vector::of(vector.to_vec()) }
    }

    /// An index of memories, numbered from 1.
    fn index(memories: Vec<IndexedMemory>) -> ScopeIndex {
        let mut index = ScopeIndex::default();
        let change =
            |(number, memory)| IndexChange { item: item(number), position: number.into(), memory: Some(memory) };
        index.apply((1..).zip(memories).map(change).collect());
        index
    }

    fn change(index: &mut ScopeIndex, number: u8, memory: Option<IndexedMemory>) {
        index.apply(vec![IndexChange { item: item(number), position: index.seen() + 1, memory }]);
    }

    fn found(index: &ScopeIndex, words: &str, vector: &[f32]) -> Vec<(u8, MatchedBy)> {
        let words = words.split_whitespace().map(ToOwned::to_owned).collect();
        let wanted = Wanted { words, vector: Vector::of(vector.to_vec()), similarity_min: 0.5, limit: 10 };
        let number = |item: &LibraryItemId| u8::from_str_radix(&item.as_str()[22..], 16).unwrap();
        index.search(&wanted).0.iter().map(|found| (number(&found.item), found.matched)).collect()
    }

    const TEXT: MatchedBy = MatchedBy { text: true, semantic: false };
    const SEMANTIC: MatchedBy = MatchedBy { text: false, semantic: true };
    const BOTH: MatchedBy = MatchedBy { text: true, semantic: true };

    #[test]
    fn each_search_works_alone_and_both_together_come_first() {
        let index = index(vec![memory("a", &[0.0, 1.0]), memory("b", &[1.0, 0.0]), memory("a", &[1.0, 0.1])]);
        assert_eq!(found(&index, "a", &[1.0, 0.0]), [(3, BOTH), (2, SEMANTIC), (1, TEXT)]);
        assert_eq!(found(&index, "a", &[]), [(3, TEXT), (1, TEXT)]);
        assert_eq!(found(&index, "", &[1.0, 0.0]), [(2, SEMANTIC), (3, SEMANTIC)]);
        assert_eq!(found(&index, "", &[]), []);
    }

    #[test]
    fn important_memories_come_before_others_and_recent_ones_before_old_ones() {
        let of = |importance, updated_at| IndexedMemory { importance, updated_at, ..memory("a", &[]) };
        let index = index(vec![of(1, 1), of(2, 1), of(1, 2)]);
        assert_eq!(found(&index, "a", &[]), [(2, TEXT), (3, TEXT), (1, TEXT)]);
    }

    #[test]
    fn a_changed_memory_is_found_by_its_new_content_alone() {
        let mut index = index(vec![memory("old", &[1.0, 0.0])]);
        change(&mut index, 1, Some(memory("new", &[])));
        assert_eq!((found(&index, "old", &[1.0, 0.0]), found(&index, "new", &[])), (vec![], vec![(1, TEXT)]));
        change(&mut index, 1, Some(memory("new", &[0.0, 1.0])));
        assert_eq!(found(&index, "new", &[0.0, 1.0]), [(1, BOTH)]);
        assert_eq!(index.memories.len(), 2, "the words are the same");
    }

    #[test]
    fn a_deleted_memory_is_not_found() {
        let mut index = index(vec![memory("a", &[1.0]), memory("a", &[1.0])]);
        change(&mut index, 1, None);
        assert_eq!(found(&index, "a", &[1.0]), [(2, BOTH)]);
        assert_eq!((index.seen(), index.vectors_bytes, index.words), (3, 4, 1));
    }

    #[test]
    fn an_index_of_memories_that_left_is_worn() {
        let mut index = index(vec![memory("a", &[])]);
        for number in 0..LEFT_MIN {
            change(&mut index, 1, Some(memory(&format!("a{number}"), &[])));
        }
        assert!(!index.is_worn());
        change(&mut index, 1, None);
        assert!(index.is_worn());
    }

    #[test]
    fn the_oldest_memories_lose_their_vectors_first() {
        let mut index = index(vec![memory("a", &[1.0]), memory("a", &[1.0])]);
        index.vectors_bytes += VECTORS_BYTES_MAX - 4;
        index.drop_oldest_vectors();
        assert_eq!(found(&index, "", &[1.0]), [(2, SEMANTIC)]);
    }
}
