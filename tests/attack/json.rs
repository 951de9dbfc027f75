//! Bodies that are almost JSON, and unexpected JSON.

use fastrand::Rng;
use serde_json::Value;

/// A placeholder that is replaced by raw text.
const HERE: &str = "\u{1}here";

/// Texts that replace a value: hostile, extreme, or of the wrong type.
const VALUES: [&[u8]; 42] = [
    b"null",
    b"true",
    b"0",
    b"-0",
    b"-1",
    b"1.5",
    b"\"\"",
    b"[]",
    b"{}",
    b"[[]]",
    b"[null]",
    b"{\"\":{}}",
    b"1e999",
    b"-1e999",
    b"1e-999",
    b"1E400",
    b"18446744073709551616",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"9007199254740993",
    b"0.1e1",
    b"01",
    b"1.",
    b".5",
    b"+1",
    b"0x10",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"undefined",
    br#""\ud800""#,
    br#""\udfff\ud800""#,
    br#""\u0000""#,
    br#""\x41""#,
    b"\"\0\"",
    b"\"\n\"",
    b"\"\xff\xfe\"",
    b"\"\xc0\xaf\"",
    b"\"\xed\xa0\x80\"",
    b"\"\xf4\x90\x80\x80\"",
    br#""\ud83d\ude00""#,
    b"'single'",
];

/// Additional keys, and replacements of known keys.
const MEMBERS: [&[u8]; 12] = [
    br#""inputs":[],"inputs""#,
    br#""name":1,"name""#,
    br#""__proto__":{"a":1},"x""#,
    br#""\u0000""#,
    br#""""#,
    br#""\ud800""#,
    b"\"\xff\"",
    b"unquoted",
    br#""a":1,"a":2,"a""#,
    b"1",
    b"null",
    br#""tags":{},"tags":{},"b""#,
];

pub fn spoilt(body: &[u8], rng: &mut Rng) -> Vec<u8> {
    match (rng.u8(..10), serde_json::from_slice::<Value>(body)) {
        (0..=4, Ok(valid)) => with_value(valid, rng),
        (5..=6, Ok(valid)) => with_member(valid, rng),
        (7, _) => encoded(body, rng),
        _ => framed(body, rng),
    }
}

fn with_value(mut valid: Value, rng: &mut Rng) -> Vec<u8> {
    let raw = match rng.u8(..6) {
        0 => deep(rng),
        1 => long(rng),
        _ => VALUES[rng.usize(..VALUES.len())].to_vec(),
    };
    *place(&mut valid, rng) = HERE.into();
    replaced(&valid, &Value::from(HERE), &raw)
}

fn with_member(mut valid: Value, rng: &mut Rng) -> Vec<u8> {
    let raw = MEMBERS[rng.usize(..MEMBERS.len())];
    let place = place(&mut valid, rng);
    match place {
        Value::Object(members) => _ = members.insert(HERE.to_owned(), Value::Null),
        other => *other = serde_json::json!({HERE: null}),
    }
    replaced(&valid, &Value::from(HERE), raw)
}

/// Picks a value in the document, possibly the whole document.
fn place<'v>(document: &'v mut Value, rng: &mut Rng) -> &'v mut Value {
    let mut pointers = vec![String::new()];
    collect(document, "", &mut pointers);
    document.pointer_mut(&pointers[rng.usize(..pointers.len())]).expect("a place")
}

fn collect(value: &Value, at: &str, pointers: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| (name.clone(), member)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in inner {
        let pointer = format!("{at}/{name}");
        collect(value, &pointer, pointers);
        pointers.push(pointer);
    }
}

fn replaced(document: &Value, here: &Value, raw: &[u8]) -> Vec<u8> {
    let (text, here) = (document.to_string(), here.to_string());
    let (before, after) = text.split_once(&here).expect("the place");
    [before.as_bytes(), raw, after.as_bytes()].concat()
}

/// Values nested deeper than any stack allows, closed or unclosed.
fn deep(rng: &mut Rng) -> Vec<u8> {
    let depth = [100, 127, 128, 129, 1_000, 10_000, 150_000][rng.usize(..7)];
    let (open, close): (&[u8], &[u8]) =
        [(&b"["[..], &b"]"[..]), (b"{\"a\":", b"}"), (b"[{\"a\":", b"}]")][rng.usize(..3)];
    let closed = if rng.bool() { depth } else { 0 };
    [open.repeat(depth), b"1".to_vec(), close.repeat(closed)].concat()
}

/// Bodies near the size limit, below and above it.
fn long(rng: &mut Rng) -> Vec<u8> {
    let length = [1_000, 65_536, 300_000, 1_100_000][rng.usize(..4)];
    match rng.u8(..4) {
        0 => [b"\"", &b"a".repeat(length)[..], b"\""].concat(),
        1 => b"9".repeat(length),
        2 => [&b"0."[..], &b"3".repeat(length), b"e-5"].concat(),
        _ => [&b"["[..], &b"1,".repeat(length / 2), b"1]"].concat(),
    }
}

/// The same text in another encoding.
fn encoded(body: &[u8], rng: &mut Rng) -> Vec<u8> {
    let wide = |width: usize, is_big: bool| {
        body.iter().flat_map(move |byte| {
            (0..width).map(move |at| if at == if is_big { width - 1 } else { 0 } { *byte } else { 0 })
        })
    };
    match rng.u8(..6) {
        0 => [b"\xef\xbb\xbf", body].concat(),
        1 => b"\xff\xfe".iter().copied().chain(wide(2, false)).collect(),
        2 => b"\xfe\xff".iter().copied().chain(wide(2, true)).collect(),
        3 => wide(2, false).collect(),
        4 => wide(4, true).collect(),
        _ => body.iter().map(|byte| byte | 0x80).collect(),
    }
}

/// Documents that are cut off, or have additional bytes at their start or end.
fn framed(body: &[u8], rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..7) {
        0 => body[..rng.usize(..body.len().max(1))].to_vec(),
        1 => [body, b"}"].concat(),
        2 => [body, body].concat(),
        3 => [b"/* why */", body].concat(),
        4 => b" \t\r\n".repeat(rng.usize(1..1_000)),
        5 => [body, &b"\0".repeat(8)].concat(),
        _ => (0..rng.usize(1..400)).map(|_| rng.u8(..)).collect(),
    }
}
