//! The readings of a text: the plain text, and texts with layers of encoding decoded. These encodings give a secret
//! more spellings than can be listed.

use std::borrow::Cow;
use std::ops::Range;

/// Layers that are decoded one after the other, such as JSON within JSON or within a URL. A text has at most 13
/// readings, and as many without line breaks.
const LAYERS_MAX: usize = 2;

/// An encoding that a reading decodes.
#[derive(Clone, Copy)]
enum Layer {
    /// Escapes in literals of JSON, JavaScript, Python and Rust.
    Escapes,
    /// Percent-encoding.
    Percent,
    /// Percent-encoding with `+` for a space.
    Form,
}

/// A decoded text, with the range of the original text for each of its bytes.
pub(super) struct Reading<'t> {
    pub bytes: Cow<'t, [u8]>,
    /// Ranges of the original text; empty for the plain text.
    sources: Vec<(u32, u32)>,
}

/// Visits the readings of a text. `has_spaces` says whether a secret has spaces, so that `+` may encode one.
pub(super) fn visit_readings(text: &str, has_spaces: bool, visit: impl FnMut(&Reading<'_>)) {
    let plain = Reading { bytes: Cow::Borrowed(text.as_bytes()), sources: Vec::new() };
    let layers: &[Layer] =
        if has_spaces { &[Layer::Escapes, Layer::Percent, Layer::Form] } else { &[Layer::Escapes, Layer::Percent] };
    Decoder { layers, visit }.descend(&plain, LAYERS_MAX);
}

/// A text without its escapes; `None` when it has none.
pub(super) fn unescape(text: &str) -> Option<String> {
    let plain = Reading { bytes: Cow::Borrowed(text.as_bytes()), sources: Vec::new() };
    String::from_utf8(plain.decode(Layer::Escapes)?.bytes.into_owned()).ok()
}

/// Decodes the given layers, and visits every reading.
struct Decoder<'l, V> {
    layers: &'l [Layer],
    visit: V,
}

impl<V: FnMut(&Reading<'_>)> Decoder<'_, V> {
    fn descend(&mut self, reading: &Reading<'_>, depth: usize) {
        (self.visit)(reading);
        reading.join_lines().iter().for_each(&mut self.visit);
        for layer in self.layers.iter().filter(|_| depth > 0) {
            if let Some(decoded) = reading.decode(*layer) {
                self.descend(&decoded, depth - 1);
            }
        }
    }
}

impl Reading<'_> {
    /// The range of the original text for a range of the reading.
    pub fn source(&self, range: Range<usize>) -> Range<usize> {
        let at = |index: usize| self.sources.get(index).map(|(start, end)| (*start as usize, *end as usize));
        match (at(range.start), range.end.checked_sub(1).and_then(at)) {
            (Some((start, _)), Some((_, end))) => start..end,
            _ => range,
        }
    }

    /// Decodes a layer; `None` when the text has no marks of it.
    fn decode(&self, layer: Layer) -> Option<Reading<'static>> {
        let is_marked = |byte: &u8| match layer {
            Layer::Escapes => *byte == b'\\',
            Layer::Percent => *byte == b'%',
            Layer::Form => *byte == b'+',
        };
        if !self.bytes.iter().any(is_marked) {
            return None;
        }
        Some(self.rewrite(|rest| match (layer, rest.first()?) {
            (Layer::Escapes, b'\\') => escape(rest),
            (Layer::Percent | Layer::Form, b'%') => {
                Some((Units::byte(parse_hex(rest.get(1..3)?)?.try_into().ok()?), 3))
            }
            (Layer::Form, b'+') => Some((Units::byte(b' '), 1)),
            _ => None,
        }))
    }

    /// Removes line breaks and the indentation after them; `None` when there are none.
    fn join_lines(&self) -> Option<Reading<'static>> {
        let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
        if !self.bytes.iter().copied().any(is_break) {
            return None;
        }
        Some(self.rewrite(|rest| {
            let blanks = || rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            is_break(*rest.first()?).then(|| (Units::default(), blanks()))
        }))
    }

    /// Rewrites the text. `replace` returns the replacement for the start of the rest, and the length that it replaces.
    fn rewrite(&self, replace: impl Fn(&[u8]) -> Option<(Units, usize)>) -> Reading<'static> {
        let (mut bytes, mut sources) = (Vec::with_capacity(self.bytes.len()), Vec::with_capacity(self.bytes.len()));
        let position = |index: usize| u32::try_from(index).unwrap_or(u32::MAX); // texts have some megabytes
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (units, length) = replace(rest).unwrap_or_else(|| (Units::byte(rest[0]), 1));
            let Range { start, end } = self.source(at..at + length);
            bytes.extend_from_slice(units.as_slice());
            sources.extend(std::iter::repeat_n((position(start), position(end)), units.as_slice().len()));
            at += length;
        }
        // Distinguishes an empty reading from the plain text.
        if sources.is_empty() {
            sources.push((0, 0));
        }
        Reading { bytes: Cow::Owned(bytes), sources }
    }
}

/// The decoded bytes of an escape.
#[derive(Default)]
struct Units {
    bytes: [u8; 4],
    length: usize,
}

impl Units {
    const fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }

    fn character(character: char) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Decodes an escape, and returns its length. An escaped byte becomes the character with its number.
fn escape(rest: &[u8]) -> Option<(Units, usize)> {
    let (character, length) = match *rest.get(1)? {
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'v' => ('\u{b}', 2),
        b'a' => ('\u{7}', 2),
        b'0' if !rest.get(2).is_some_and(u8::is_ascii_digit) => ('\0', 2),
        b'x' => (char::from_u32(parse_hex(rest.get(2..4)?)?)?, 4),
        b'U' => (char::from_u32(parse_hex(rest.get(2..10)?)?)?, 10),
        b'u' if rest.get(2) == Some(&b'{') => {
            let digits = rest.get(3..)?.iter().take(7).position(|byte| *byte == b'}')?;
            (char::from_u32(parse_hex(rest.get(3..3 + digits)?)?)?, digits + 4)
        }
        b'u' => read_code_units(rest)?,
        mark if mark.is_ascii_punctuation() => (char::from(mark), 2),
        _ => return None,
    };
    Some((Units::character(character), length))
}

/// Decodes one `\uXXXX`, or the two of a surrogate pair.
fn read_code_units(rest: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::try_from(parse_hex(digits)?).ok()
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let pair = char::decode_utf16([first, unit(6)?]).next()?.ok()?;
    Some((pair, 12))
}

fn parse_hex(digits: &[u8]) -> Option<u32> {
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()
}
