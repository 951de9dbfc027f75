//! Source maps (<https://tc39.es/ecma426/>), as far as esbuild uses them.

use serde::Deserialize;

/// Digits of a number of 31 bits with its sign, and some more.
const DIGITS_MAX: u32 = 8;

/// A position in a source file, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

#[derive(Deserialize)]
struct SourceMap {
    sources: Vec<String>,
    mappings: String,
}

/// The beginning of a part of the script, and where it comes from: columns and lines from 0.
#[derive(Clone, Copy, Default)]
struct Segment {
    column: i64,
    source: i64,
    line: i64,
    source_column: i64,
}

/// The locations in source files of positions in the script, which are lines and columns from 1. `None` for code of the bundler's.
pub fn locate(map: &[u8], positions: &[(u32, u32)]) -> Vec<Option<Location>> {
    let mut found = vec![None; positions.len()];
    if let Ok(map) = serde_json::from_slice::<SourceMap>(map) {
        // `None` where the mappings are malformed: the locations before are true.
        let _: Option<()> = locate_each(&map, positions, |index, location| found[index] = location);
    }
    found
}

/// Reads the mappings once, which may be as long as the script.
fn locate_each(map: &SourceMap, positions: &[(u32, u32)], mut add: impl FnMut(usize, Option<Location>)) -> Option<()> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by_key(|index| positions[*index]);
    let mut wanted = order.into_iter().peekable();
    let mut segment = Segment::default();
    for (line, texts) in (1_u32..).zip(map.mappings.split(';')) {
        segment.column = 0;
        let mut last = None;
        for text in texts.split(',').filter(|text| !text.is_empty()) {
            let has_source = segment.advance(text)?;
            // The segment before has the positions before this one.
            let is_before = |(at, column)| at < line || (at == line && i64::from(column) <= segment.column);
            while let Some(index) = wanted.next_if(|index| is_before(positions[*index])) {
                add(index, last.and_then(|last: Segment| last.find_location(&map.sources)));
            }
            last = has_source.then_some(segment);
        }
        while let Some(index) = wanted.next_if(|index| positions[*index].0 <= line) {
            add(index, last.and_then(|last| last.find_location(&map.sources)));
        }
        wanted.peek()?;
    }
    Some(())
}

impl Segment {
    /// Adds the differences of the next segment. Returns whether it has a source.
    fn advance(&mut self, text: &str) -> Option<bool> {
        let mut numbers = Numbers(text.as_bytes());
        self.column = self.column.checked_add(numbers.read_next()??)?;
        let Some(source) = numbers.read_next()? else { return Some(false) };
        self.source = self.source.checked_add(source)?;
        self.line = self.line.checked_add(numbers.read_next()??)?;
        self.source_column = self.source_column.checked_add(numbers.read_next()??)?;
        Some(true)
    }

    fn find_location(self, sources: &[String]) -> Option<Location> {
        let file = sources.get(usize::try_from(self.source).ok()?)?.clone();
        let from_1 = |number| u32::try_from(number).ok()?.checked_add(1);
        Some(Location { file, line: from_1(self.line)?, column: from_1(self.source_column)? })
    }
}

/// Numbers in groups of five bits, lowest first, of which each is a digit of Base64. The lowest bit of a number is its sign.
struct Numbers<'t>(&'t [u8]);

impl Numbers<'_> {
    /// The next number; `Some(None)` at the end, and `None` if the text is malformed.
    fn read_next(&mut self) -> Option<Option<i64>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let mut value = 0_i64;
        for index in 0..DIGITS_MAX {
            let (digit, rest) = self.0.split_first()?;
            self.0 = rest;
            let digit = decode_digit(*digit)?;
            value |= (digit & 31) << (5 * index);
            if digit & 32 == 0 {
                return Some(Some(if value & 1 == 0 { value >> 1 } else { -(value >> 1) }));
            }
        }
        None
    }
}

const fn decode_digit(digit: u8) -> Option<i64> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(map: &str, positions: &[(u32, u32)], expected: &[&str]) {
        let found = locate(map.as_bytes(), positions).into_iter();
        let found = found.map(|found| match found {
            Some(Location { file, line, column }) => format!("{file}:{line}:{column}"),
            None => String::new(),
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{map}");
    }

    #[test]
    fn positions_are_those_of_the_segment_before() {
        // Line 1: code of the bundler's, then a.ts:1:1, code of the bundler's from column 17; line 3: b.ts:3:5, a.ts:2:1.
        let map = r#"{"version":3,"sources":["a.ts","b.ts"],"mappings":"A,EAAA,gB;;ACEI,IDDJ"}"#;
        let positions = [(3, 5), (1, 1), (1, 3), (1, 19), (2, 1), (3, 1), (3, 4), (1, 18), (4, 1), (3, 5)];
        let expected = ["a.ts:2:1", "", "a.ts:1:1", "", "", "b.ts:3:5", "b.ts:3:5", "a.ts:1:1", "", "a.ts:2:1"];
        check(map, &positions, &expected);
    }

    #[test]
    fn what_is_malformed_has_no_location() {
        check("", &[(1, 1)], &[""]);
        check(r#"{"sources":["a"],"mappings":"AAAA;!;AAAA"}"#, &[(1, 1), (3, 1)], &["a:1:1", ""]);
        check(r#"{"sources":["a"],"mappings":"AAA"}"#, &[(1, 1)], &[""]);
        check(r#"{"sources":["a"],"mappings":"ACAA"}"#, &[(1, 1)], &[""]);
        check(r#"{"sources":["a"],"mappings":"AADA"}"#, &[(1, 1)], &[""]);
    }

    proptest! {
        #[test]
        fn no_mappings_do_harm(mappings in "[A-Za-z0-9+/,;!]{0,60}", positions: Vec<(u32, u32)>) {
            let map = format!(r#"{{"sources":["a","b"],"mappings":"{mappings}"}}"#);
            prop_assert_eq!(locate(map.as_bytes(), &positions).len(), positions.len());
        }
    }
}
