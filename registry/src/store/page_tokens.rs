//! Page tokens: the position of a row in its table, as a number that tells nothing and is good for one list only.
//!
//! Positions count the rows of all organisations, so they are permuted under a key: by four rounds of a Feistel
//! network, whose key depends on the list. A token of another list, or an invented one, leads to a position where
//! most likely nothing is; whoever guesses one that exists has found a row of their own list.
//!
//! Clients made by generators keep the token in 32 signed bits. So the first billion positions are permuted among
//! themselves; later ones take up to 53 bits, which every JSON reader keeps exactly.

use crate::secrets::{KeyRing, associated_data, keyed_hash};

/// Half the bits of each range of positions, the small one first.
const HALVES: [u32; 2] = [15, 26];
const ROUNDS: u8 = 4;

/// Makes and reads the tokens of all lists.
pub(super) struct PageTokens([u8; 32]);

impl PageTokens {
    pub(super) fn new(keys: &KeyRing) -> Self {
        Self(keys.derive("page tokens"))
    }

    /// The token of a position in the list that these names single out. Never 0, which stands for the first page.
    pub(super) fn seal(&self, list: &[&str], position: u64) -> u64 {
        let key = self.key(list);
        let [small, large] = HALVES;
        match position {
            small_one if small_one < size(small) => 1 + permuted(&key, small, position),
            _ => 1 + size(small) + permuted(&key, large, position & (size(large) - 1)),
        }
    }

    /// The position that the token stands for in this list, if it can be one.
    pub(super) fn open(&self, list: &[&str], token: u64) -> Option<u64> {
        let key = self.key(list);
        let [small, large] = HALVES;
        let value = token.checked_sub(1)?;
        match value.checked_sub(size(small)) {
            None => Some(restored(&key, small, value)),
            Some(value) if value < size(large) => {
                Some(restored(&key, large, value)).filter(|position| *position >= size(small))
            }
            Some(_) => None,
        }
    }

    fn key(&self, list: &[&str]) -> [u8; 32] {
        keyed_hash(&self.0, &associated_data("list", list))
    }
}

/// Numbers of twice `half` bits.
const fn size(half: u32) -> u64 {
    1 << (2 * half)
}

fn permuted(key: &[u8; 32], half: u32, value: u64) -> u64 {
    let (left, right) =
        (0..ROUNDS).fold(split(half, value), |(left, right), round| (right, left ^ scrambled(key, half, round, right)));
    (left << half) | right
}

fn restored(key: &[u8; 32], half: u32, value: u64) -> u64 {
    let (left, right) = (0..ROUNDS)
        .rev()
        .fold(split(half, value), |(left, right), round| (right ^ scrambled(key, half, round, left), left));
    (left << half) | right
}

const fn split(half: u32, value: u64) -> (u64, u64) {
    (value >> half, value & ((1 << half) - 1))
}

fn scrambled(key: &[u8; 32], half: u32, round: u8, value: u64) -> u64 {
    let mut message = value.to_be_bytes().to_vec();
    message.push(round);
    let hash = keyed_hash(key, &message);
    let bits = hash.iter().take(8).fold(0, |bits, byte| (bits << 8) | u64::from(*byte));
    bits & ((1 << half) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKENS: PageTokens = PageTokens([7; 32]);

    proptest! {
        #[test]
        fn a_token_leads_back(bits in 0..52_u32, number in any::<u64>()) {
            let position = number & (size(26) - 1) >> bits;
            let token = TOKENS.seal(&["history", "acme"], position);
            prop_assert!((1..1 << 53).contains(&token));
            prop_assert_eq!(token <= i32::MAX.unsigned_abs().into(), position < 1 << 30);
            prop_assert_eq!(TOKENS.open(&["history", "acme"], token), Some(position));
        }

        #[test]
        fn no_number_upsets_it(token in any::<u64>()) {
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
