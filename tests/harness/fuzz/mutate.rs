//! Mutates examples: changes bytes, moves and repeats pieces, and nests deeply.

use fastrand::Rng;

/// Bytes of an input. Larger inputs take time and find nothing more.
const BYTES_MAX: usize = 256 << 10;
const CHANGES_MAX: usize = 6;
/// The highest number of repetitions of a piece.
const REPEATED_MAX: usize = 60_000;

/// Pieces of the grammars of project files, lock files, markers and schemas.
const PIECES: [&str; 46] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\0",
    "#",
    ";",
    ",",
    ".",
    "=",
    "==",
    ":",
    "@",
    " and ",
    " or ",
    " not in ",
    "os_name == 'nt'",
    "extra == 'a' and ",
    "${HOME}",
    " --hash=sha256:",
    "$ref",
    "{\"a\":",
    "{}",
    "{a=",
    "[[a]]\n",
    "[a.b]\n",
    "a.a.",
    "a = 1\n",
    "\"a\": ",
    "null",
    "1e309",
    "-",
    "1",
    "node_modules/",
    "\u{fffd}",
    "<a href=\"",
    "multipleOf",
];

/// An input from one or two examples.
pub fn input(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = rng.choice(seeds).cloned().unwrap_or_default();
    for _ in 0..rng.usize(0..=CHANGES_MAX) {
        change(rng, &mut bytes, seeds);
        bytes.truncate(BYTES_MAX);
    }
    bytes
}

fn change(rng: &mut Rng, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = rng.usize(0..=bytes.len());
    match rng.u8(0..8) {
        0 if at < bytes.len() => bytes[at] = rng.u8(..),
        1 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(0..8),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at.saturating_add(rng.usize(0..64)).min(bytes.len()))),
        4 => insert(bytes, at, rng.choice(PIECES).unwrap_or_default().as_bytes()),
        5 => {
            let piece = rng.choice(PIECES).unwrap_or_default().repeat(rng.usize(0..=REPEATED_MAX));
            insert(bytes, at, &piece.as_bytes()[..piece.len().min(BYTES_MAX)]);
        }
        6 => {
            let piece = bytes[at..at.saturating_add(rng.usize(0..256)).min(bytes.len())].to_vec();
            let times = rng.usize(0..=BYTES_MAX / (piece.len() + 1)).min(REPEATED_MAX);
            insert(bytes, at, &piece.repeat(times));
        }
        _ => insert(bytes, at, &rng.choice(seeds).cloned().unwrap_or_default()),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(bytes.splice(at..at, piece.iter().copied()));
}
