//! Reciprocal rank fusion: results of several searches as one list. Only ranks count, since scores of different searches cannot be
//! compared.

use std::collections::BTreeMap;

use crate::domain::library::MatchedBy;

/// The constant of the method. A larger one lets low ranks count more.
const K: f64 = 60.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fused {
    pub score: f64,
    pub matched: MatchedBy,
}

/// Fuses two lists of memories, each with the best first.
pub(super) fn fuse(text: &[u32], semantic: &[u32]) -> BTreeMap<u32, Fused> {
    let mut fused: BTreeMap<u32, Fused> = BTreeMap::new();
    for (memory, score) in rank_memories(text) {
        let entry = fused.entry(memory).or_default();
        entry.score += score;
        entry.matched.text = true;
    }
    for (memory, score) in rank_memories(semantic) {
        let entry = fused.entry(memory).or_default();
        entry.score += score;
        entry.matched.semantic = true;
    }
    fused
}

fn rank_memories(memories: &[u32]) -> impl Iterator<Item = (u32, f64)> {
    memories.iter().zip(1_u32..).map(|(memory, rank)| (*memory, 1.0 / (K + f64::from(rank))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_that_both_searches_find_comes_first() {
        let fused = fuse(&[1, 2], &[3, 2]);
        let score = |memory: u32| fused[&memory].score;
        assert!(score(2) > score(1) && (score(1) - score(3)).abs() < 1e-12);
        assert!((score(2) - 2.0 / 62.0).abs() < 1e-12 && (score(1) - 1.0 / 61.0).abs() < 1e-12);
    }

    #[test]
    fn the_searches_that_found_a_memory_are_named() {
        let fused = fuse(&[1, 2], &[2, 3]);
        let matched = |memory: u32| fused[&memory].matched;
        assert_eq!(matched(1), MatchedBy { text: true, semantic: false });
        assert_eq!(matched(2), MatchedBy { text: true, semantic: true });
        assert_eq!(matched(3), MatchedBy { text: false, semantic: true });
        assert!(fuse(&[], &[]).is_empty());
    }
}
