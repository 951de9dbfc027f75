//! Continuation tokens: the position of a row in its table as an opaque number that is valid for one list with one filter and order only.
//!
//! A position counts the rows of all organisations, so it is permuted with a key: four rounds of a Feistel network whose
//! key depends on the list. A token of another list, or a guessed token, decodes to a position that most likely does not
//! exist. A guess that decodes to an existing position finds a row of the caller's own list.
//!
//! Generated clients hold the token in a signed 32-bit integer. The first billion positions are therefore permuted among
//! themselves. Later positions take up to 53 bits, which every JSON parser keeps exactly.

use crate::secrets::{KeyRing, build_associated_data, compute_keyed_hash};

/// Bits of one half in the Feistel network, for the range of the first billion positions and for the range of later ones.
const HALF_BITS: [u32; 2] = [15, 26];
const ROUNDS: u8 = 4;

/// Returns the name of a filter with its order, as a part of the names of a list. Two values of a filter have different names.
pub fn filter_name(filter: &impl std::fmt::Debug) -> String {
    format!("{filter:?}")
}

/// Encodes and decodes the tokens of all lists.
pub(super) struct PageTokens([u8; 32]);

impl PageTokens {
    pub(super) fn new(keys: &KeyRing) -> Self {
        Self(keys.derive("page tokens"))
    }

    /// Encodes a position in the list that the names identify. Never 0, which stands for the first page.
    pub(super) fn seal(&self, list: &[&str], position: u64) -> u64 {
        let [small, large] = self.build_permutations(list);
        match position {
            small_one if small_one < small.size() => 1 + small.permute(position),
            _ => 1 + small.size() + large.permute(position & (large.size() - 1)),
        }
    }

    /// Decodes a token of the list. Returns `None` for a number that no list returns.
    pub(super) fn open(&self, list: &[&str], token: u64) -> Option<u64> {
        let [small, large] = self.build_permutations(list);
        let value = token.checked_sub(1)?;
        match value.checked_sub(small.size()) {
            None => Some(small.restore(value)),
            Some(value) if value < large.size() => {
                Some(large.restore(value)).filter(|position| *position >= small.size())
            }
            Some(_) => None,
        }
    }

    fn build_permutations(&self, list: &[&str]) -> [Permutation; 2] {
        let key = compute_keyed_hash(&self.0, &build_associated_data("list", list));
        HALF_BITS.map(|half_bits| Permutation { key, half_bits })
    }
}

/// A keyed permutation of the numbers with twice `half_bits` bits.
struct Permutation {
    key: [u8; 32],
    half_bits: u32,
}

impl Permutation {
    const fn size(&self) -> u64 {
        1 << (2 * self.half_bits)
    }

    fn permute(&self, value: u64) -> u64 {
        let start = self.split(value);
        let (left, right) = (0..ROUNDS).fold(start, |(left, right), round| (right, left ^ self.scramble(round, right)));
        (left << self.half_bits) | right
    }

    fn restore(&self, value: u64) -> u64 {
        let rounds = (0..ROUNDS).rev();
        let (left, right) =
            rounds.fold(self.split(value), |(left, right), round| (right ^ self.scramble(round, left), left));
        (left << self.half_bits) | right
    }

    const fn split(&self, value: u64) -> (u64, u64) {
        (value >> self.half_bits, value & ((1 << self.half_bits) - 1))
    }

    fn scramble(&self, round: u8, value: u64) -> u64 {
        let mut message = value.to_be_bytes().to_vec();
        message.push(round);
        let hash = compute_keyed_hash(&self.key, &message);
        let bits = hash.iter().take(8).fold(0, |bits, byte| (bits << 8) | u64::from(*byte));
        bits & ((1 << self.half_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKENS: PageTokens = PageTokens([7; 32]);

    proptest! {
        #[test]
        fn a_token_decodes_to_its_position(bits in 0..52_u32, number in any::<u64>()) {
            let position = number & ((1 << 52) - 1) >> bits;
            let token = TOKENS.seal(&["history", "acme"], position);
            prop_assert!((1..1 << 53).contains(&token));
            prop_assert_eq!(token <= i32::MAX.unsigned_abs().into(), position < 1 << 30);
            prop_assert_eq!(TOKENS.open(&["history", "acme"], token), Some(position));
        }

        #[test]
        fn any_number_can_be_decoded(token in any::<u64>()) {
            if let Some(position) = TOKENS.open(&["tools", "acme"], token) {
                prop_assert_eq!(TOKENS.seal(&["tools", "acme"], position), token);
            }
        }
    }

    #[test]
    fn tokens_of_different_lists_differ() {
        let lists: [&[&str]; 4] = [&["tools", "acme"], &["tools", "acm"], &["history", "acme"], &["tools", "a", "cme"]];
        let tokens: std::collections::BTreeSet<u64> = lists.iter().map(|list| TOKENS.seal(list, 1)).collect();
        assert_eq!(tokens.len(), lists.len());
        assert_ne!(TOKENS.open(lists[1], TOKENS.seal(lists[0], 1)), Some(1));
        assert_eq!(TOKENS.open(lists[0], 0), None);
    }
}
