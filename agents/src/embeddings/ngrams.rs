//! Vectors of words from their letters: words with the same parts, such as `invoice` and `invoices`, are similar.
//!
//! Each part of a word stands for a few numbers of the vector, chosen by a hash. The hash never changes: stored vectors depend on it.

/// Numbers of a vector.
pub(super) const DIMENSIONS: usize = 256;

/// Characters of a part of a word.
const PART_CHARACTERS: std::ops::RangeInclusive<usize> = 3..=5;
/// Characters of a word from which parts are taken.
const WORD_CHARACTERS_MAX: usize = 32;
/// Numbers that a part stands for.
const NUMBERS_OF_A_PART: u32 = 4;

/// The vector of a word, of length one: half from the word itself, half from its parts.
pub(super) fn build_vector(word: &str) -> [f32; DIMENSIONS] {
    let (mut whole, mut parts) = ([0.0; DIMENSIONS], [0.0; DIMENSIONS]);
    add(&mut whole, word);
    let marked: Vec<char> = std::iter::once('<').chain(word.chars().take(WORD_CHARACTERS_MAX)).chain(['>']).collect();
    for length in PART_CHARACTERS {
        marked.windows(length).for_each(|part| add(&mut parts, &part.iter().collect::<String>()));
    }
    scale(&mut whole);
    scale(&mut parts);
    whole.iter_mut().zip(parts).for_each(|(number, part)| *number += part);
    scale(&mut whole);
    whole
}

/// Scales a vector to length one, unless it is zero.
pub(super) fn scale(vector: &mut [f32; DIMENSIONS]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > f32::EPSILON {
        vector.iter_mut().for_each(|number| *number /= length);
    }
}

fn add(vector: &mut [f32; DIMENSIONS], part: &str) {
    let mut hash = hash(part);
    for _ in 0..NUMBERS_OF_A_PART {
        hash = mix(hash);
        let [number, sign, ..] = hash.to_le_bytes();
        vector[usize::from(number)] += if sign & 1 == 0 { 1.0 } else { -1.0 };
    }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The step of SplitMix64.
const fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        build_vector(a).iter().zip(build_vector(b)).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn words_with_the_same_parts_are_similar() {
        assert!(cosine("invoice", "invoice") > 0.999);
        assert!(cosine("invoice", "invoices") > 0.3, "{}", cosine("invoice", "invoices"));
        assert!(cosine("invoice", "garden").abs() < 0.25, "{}", cosine("invoice", "garden"));
    }

    #[test]
    fn words_of_any_length_and_script_have_vectors() {
        for word in ["a", "京", "é", &"x".repeat(1_000)] {
            assert!((build_vector(word).iter().map(|number| number * number).sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn the_hash_is_that_of_stored_vectors() {
        assert_eq!((hash("invoice"), mix(1)), (0x2358_484a_9453_4cf0, 0x910a_2dec_8902_5cc1));
    }
}
