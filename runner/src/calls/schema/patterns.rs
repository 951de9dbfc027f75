//! The cost of a regular expression, computed from its text.
//!
//! The engine visits each state of the automaton at most once for each byte of a text. So the price of a pattern is an
//! upper bound of its states. One pass over the text computes it, without compiling the pattern.

/// Bytes of one compiled pattern.
pub const COMPILED_BYTES_MAX: usize = 64 * 1024;
/// States of a pattern within [`COMPILED_BYTES_MAX`]. Each state takes at least 24 bytes.
const STATES_MAX: u64 = (COMPILED_BYTES_MAX / 24) as u64;

/// States of a character: up to four bytes of UTF-8, and the transition to them.
const CHARACTER: u64 = 5;
/// States of `[a-z]` without its members.
const SET: u64 = 8;
/// States of a set with few ranges beyond ASCII: `.`, `\s`, `\W`, `[^a]`.
const SMALL_SET: u64 = 32;
/// States of a Unicode set, `\p{…}`.
const UNICODE_SET: u64 = 1_000;
/// Factor for a case-insensitive pattern.
const CASELESS: u64 = 4;

/// Steps of building one state.
const BUILD_STATE: u64 = 20;
/// Steps of building one Unicode set, a tenth of a millisecond.
const BUILD_UNICODE_SET: u64 = 20_000;
/// Steps of parsing a byte of a pattern. Each `\c` is replaced, and the pattern is parsed again.
const READ_BYTE: u64 = 20;

/// The price of one pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Steps for each byte of a matched text.
    pub states: u64,
    /// Steps of compiling the pattern.
    pub compile: u64,
}

impl Price {
    pub fn of(pattern: &str) -> Self {
        let count = |part: &str| pattern.matches(part).count() as u64;
        let (sets, readings) = (count(r"\p") + count(r"\P"), 1 + count(r"\c"));
        // Flags follow `(?`. So do the kinds of groups, none of which contains an `i`.
        let is_caseless = pattern.split("(?").skip(1).any(|flags| {
            flags.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').any(|byte| byte == b'i')
        });
        let factor = if is_caseless { CASELESS } else { 1 };
        let states = States::of(pattern).saturating_mul(factor).min(STATES_MAX);
        let build = states * BUILD_STATE + sets * factor * BUILD_UNICODE_SET;
        Self { states, compile: build + readings * pattern.len() as u64 * READ_BYTE }
    }
}

/// States of the pattern read so far: for each open group, and for the last item, which a repetition repeats.
#[derive(Default)]
struct States {
    open: Vec<u64>,
    sum: u64,
    last: u64,
}

impl States {
    fn of(pattern: &str) -> u64 {
        let mut states = Self::default();
        let mut rest = pattern.chars();
        while let Some(character) = rest.next() {
            match character {
                '\\' => states.add(read_escaped(&mut rest)),
                '[' => states.add(read_set(&mut rest)),
                '.' => states.add(SMALL_SET),
                '(' => states.open.push(std::mem::take(&mut states.sum)),
                ')' => states.close(),
                '{' => {
                    if let Some(times) = read_repetitions(&mut rest) {
                        states.repeat(times);
                    } else {
                        states.add(CHARACTER);
                    }
                }
                '*' | '+' | '?' => states.repeat(1),
                _ => states.add(CHARACTER),
            }
        }
        while !states.open.is_empty() {
            states.close();
        }
        states.sum.saturating_add(CHARACTER)
    }

    const fn add(&mut self, states: u64) {
        self.sum = self.sum.saturating_add(states);
        self.last = states;
    }

    fn close(&mut self) {
        let group = self.sum.saturating_add(CHARACTER);
        self.sum = self.open.pop().unwrap_or_default();
        self.add(group);
    }

    /// Each repetition is a copy with a transition.
    const fn repeat(&mut self, times: u64) {
        let repeated = self.last.saturating_add(1).saturating_mul(times).saturating_add(1);
        self.sum = self.sum.saturating_sub(self.last).saturating_add(repeated);
        self.last = repeated;
    }
}

fn read_escaped(rest: &mut std::str::Chars<'_>) -> u64 {
    match rest.next() {
        Some('p' | 'P') => UNICODE_SET,
        Some('s' | 'S' | 'w' | 'W' | 'd' | 'D') => SMALL_SET,
        _ => CHARACTER,
    }
}

/// Reads up to the end of a set, and returns its states.
fn read_set(rest: &mut std::str::Chars<'_>) -> u64 {
    let (mut states, mut is_first) = (SET, true);
    while let Some(character) = rest.next() {
        match character {
            ']' if !is_first => return states,
            // An escaped character may end a range beyond ASCII.
            '\\' => states = states.saturating_add(read_escaped(rest).max(SMALL_SET)),
            '^' if is_first => {
                states = states.saturating_add(SMALL_SET);
                continue;
            }
            _ if character.is_ascii() => states = states.saturating_add(1),
            _ => states = states.saturating_add(SMALL_SET),
        }
        is_first = false;
    }
    states
}

/// The highest number of copies for `{2}`, `{2,}` or `{2,5}`. `None`, with nothing consumed, when the brace is a
/// character.
fn read_repetitions(rest: &mut std::str::Chars<'_>) -> Option<u64> {
    let (inside, _) = rest.as_str().split_once('}')?;
    let mut times = 0;
    for number in inside.splitn(2, ',').filter(|number| !number.trim().is_empty()) {
        times = u64::max(times, number.trim().parse().ok()?);
    }
    rest.nth(inside.chars().count());
    Some(times.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use regex_automata::nfa::thompson::{Compiler, Config};

    use super::*;

    /// Patterns as authors write them, and some that are written to be expensive.
    const PATTERNS: [&str; 26] = [
        "[^a-z]{3}",
        "[a-\u{10ffff}]{2}",
        r"[\u{80}-\u{ffff}]{3}",
        "(?i)[k-sſ]{2}",
        "",
        "^[a-z]+$",
        "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(?:[A-Z]{2}|\d{3,5})+$",
        "a|b|cd|é",
        "(a|b)*c{3,}",
        "(((a{3}){3}){3})+",
        "[^]x]{9}",
        r"[\]\\a-f]+",
        "(?i)straße{2}",
        "^.{1,40}$",
        r"\s+\S*\w?\W",
        "{,5}",
        "x{",
        "[αβγ]{3,7}",
        r"^\$\{[A-Z_]+\}$",
        "(?i:abc){4}",
        "((a?){20}){10}",
        "a*?b+?c??",
        r"\u{1F600}|\x41",
        "^$",
    ];

    #[test]
    fn an_automaton_has_no_more_states_than_its_pattern_was_priced_for() {
        for pattern in PATTERNS {
            let config = Config::new().nfa_size_limit(Some(COMPILED_BYTES_MAX));
            let translated = jsonschema_regex::to_rust_regex(pattern);
            let Ok(automaton) =
                translated.and_then(|text| Compiler::new().configure(config).build(&text).map_err(drop))
            else {
                continue;
            };
            let (states, price) = (automaton.states().len() as u64, Price::of(pattern).states);
            assert!(states <= price, "{pattern:?} has {states} states and was priced for {price}");
        }
    }

    #[test]
    fn ordinary_patterns_are_cheap() {
        for (pattern, most) in [("^[a-z]+$", 100), ("^[a-z0-9-]{1,16}$", 900), ("^(true|false)$", 100)] {
            let price = Price::of(pattern).states;
            assert!(price <= most, "{pattern:?} is priced for {price} states");
        }
        assert_eq!(Price::of(&"(a{100}){100}".repeat(9)).states, STATES_MAX);
        assert!(Price::of(&r"\p{L}".repeat(100)).compile > 100 * BUILD_UNICODE_SET);
        assert!(Price::of(&r"\cA".repeat(1_000)).compile > 1_000 * 3_000);
    }
}
