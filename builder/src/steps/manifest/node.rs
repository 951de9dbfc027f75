//! A project file as a tree of values with their lines, the same for TOML and JSON.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::text::quote;

/// Levels of tables and lists in a project file. Project files in use have fewer than ten.
const DEPTH_MAX: usize = 64;
/// Levels of nodes in a child's answer: dotted keys that nest as deeply as they may, with lists in the innermost table that
/// do so as well, and the document and a value.
const LEVELS_MAX: usize = 2 * DEPTH_MAX + 2;

#[derive(Debug, Clone, Serialize)]
pub struct Node {
    /// The line, counted from 1.
    pub line: u32,
    pub value: Value,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
    /// A value that no key takes: a date, `null`, a number beyond 64 bits.
    Other,
}

pub type Table = BTreeMap<String, TableEntry>;

impl Node {
    /// The value as JSON; `None` if no key takes it, or a part of it.
    pub fn into_json(self) -> Option<serde_json::Value> {
        match self.value {
            Value::Text(text) => Some(text.into()),
            Value::Integer(number) => Some(number.into()),
            Value::Float(number) => serde_json::Number::from_f64(number).map(serde_json::Value::Number),
            Value::Flag(flag) => Some(flag.into()),
            Value::List(list) => list.into_iter().map(Self::into_json).collect(),
            Value::Table(table) => table.into_iter().map(|(key, entry)| Some((key, entry.node.into_json()?))).collect(),
            Value::Other => None,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TableEntry {
    pub key_line: u32,
    pub node: Node,
}

/// The reason why a text cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Malformed {
    pub message: String,
    pub line: Option<u32>,
}

thread_local! {
    /// The levels of nodes that this thread is reading.
    static LEVELS: Cell<usize> = const { Cell::new(0) };
}

/// A level of nodes, which ends when it is dropped.
struct Level;

impl Level {
    fn begin() -> Option<Self> {
        let levels = LEVELS.get();
        (levels < LEVELS_MAX).then(|| {
            LEVELS.set(levels + 1);
            Self
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        LEVELS.set(LEVELS.get() - 1);
    }
}

/// Reads a child's answer, whose levels are bounded here again.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let _level = Level::begin().ok_or_else(|| D::Error::custom(too_deep()))?;
        let (line, value) = Deserialize::deserialize(deserializer)?;
        Ok(Self { line, value })
    }
}

impl Node {
    /// The node at a path of keys.
    #[must_use]
    pub fn find(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| match &node.value {
            Value::Table(table) => table.get(*key).map(|entry| &entry.node),
            _ => None,
        })
    }
}

/// Parses TOML. The parser bounds neither its time nor its memory, so an author's text is parsed in a child process
/// only (`documents/child.rs`).
///
/// # Errors
/// When the text is not TOML, or is nested too deeply.
pub fn from_toml(text: &str) -> Result<Node, Malformed> {
    let lines = LineIndex::of(text);
    if let Some((offset, message)) = find_refused_bracket(text) {
        return Err(Malformed { message, line: Some(lines.find_line(offset)) });
    }
    let malformed = |error: toml::de::Error| Malformed {
        message: error.message().trim().into(),
        line: error.span().map(|span| lines.find_line(span.start)),
    };
    let document = DeTable::parse(text).map_err(malformed)?;
    lines.read_toml_table(document.get_ref(), 1, 0)
}

/// The offset of the first bracket for which a text is refused, and the reason: it opens more levels than a project file
/// may have, or closes another bracket than the innermost one. The parser goes on after both, and its own count of levels
/// falls at each `{}` without a key, so it would recurse without a bound on `a = {{}{}{}…a={a={a={…`.
fn find_refused_bracket(text: &str) -> Option<(usize, String)> {
    let mut open = Vec::new();
    Source::new(text).lex().find_map(|token| {
        let reason = match token.kind() {
            TokenKind::LeftSquareBracket => open_level(&mut open, TokenKind::RightSquareBracket),
            TokenKind::LeftCurlyBracket => open_level(&mut open, TokenKind::RightCurlyBracket),
            kind @ (TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket) => {
                (open.pop() != Some(kind)).then(|| format!("unexpected {}", kind.description()))
            }
            _ => None,
        };
        reason.map(|reason| (token.span().start(), reason))
    })
}

fn open_level(open: &mut Vec<TokenKind>, closing: TokenKind) -> Option<String> {
    open.push(closing);
    (open.len() > DEPTH_MAX).then(too_deep)
}

/// Parses JSON. Its time grows with the text's length times the depth, which is bounded.
///
/// # Errors
/// When the text is not JSON, is nested too deeply, or has a duplicate key in an object.
pub fn from_json(text: &str) -> Result<Node, Malformed> {
    let malformed = |error: &serde_json::Error| Malformed {
        message: error.to_string(),
        line: u32::try_from(error.line()).ok().filter(|line| *line > 0),
    };
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    LineIndex::of(text)
        .read_json(whole, 0)
        .map_err(|(error, line)| Malformed { message: error.to_string(), line: Some(line) })
}

/// A text with the offsets of its lines, so that the line of an offset is found by binary search.
struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

fn too_deep() -> String {
    format!("nested deeper than {DEPTH_MAX} levels")
}

impl<'a> LineIndex<'a> {
    fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, starts: ends.map(|(at, _)| at + 1).collect() }
    }

    fn find_line(&self, offset: usize) -> u32 {
        let before = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(before).unwrap_or(u32::MAX - 1) + 1
    }

    fn read_toml_table(&self, table: &DeTable<'_>, line: u32, depth: usize) -> Result<Node, Malformed> {
        if depth > DEPTH_MAX {
            return Err(Malformed { message: too_deep(), line: Some(line) });
        }
        let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let key_line = self.find_line(key.span().start);
            Ok((key.get_ref().to_string(), TableEntry { key_line, node: self.read_toml(value, depth + 1)? }))
        };
        Ok(Node { line, value: Value::Table(table.iter().map(entry).collect::<Result<_, _>>()?) })
    }

    fn read_toml(&self, value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Malformed> {
        let line = self.find_line(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Other, Value::Integer)
            }
            DeValue::Float(number) => number.as_str().parse().map_or(Value::Other, Value::Float),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            // The parser itself bounds the depth of lists.
            DeValue::Array(list) => {
                Value::List(list.iter().map(|one| self.read_toml(one, depth + 1)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => return self.read_toml_table(table, line, depth),
            DeValue::Datetime(_) => Value::Other,
        };
        Ok(Node { line, value })
    }

    fn read_json(&self, raw: &RawValue, depth: usize) -> Result<Node, (serde_json::Error, u32)> {
        let text = raw.get();
        let line = self.find_line((text.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize));
        self.read_json_value(text, depth)
            .map(|value| Node { line, value })
            .map_err(|(error, inner)| (error, inner.unwrap_or(line)))
    }

    fn read_json_value(&self, text: &str, depth: usize) -> Result<Value, (serde_json::Error, Option<u32>)> {
        let own = |error| (error, None);
        let inner = |(error, line)| (error, Some(line));
        if depth > DEPTH_MAX {
            return Err(own(serde_json::Error::custom(too_deep())));
        }
        match text.as_bytes().first() {
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text).map_err(own)?;
                let entry = |(key, raw): (String, &RawValue)| {
                    let node = self.read_json(raw, depth + 1)?;
                    Ok((key, TableEntry { key_line: node.line, node }))
                };
                members.into_iter().map(entry).collect::<Result<_, _>>().map(Value::Table).map_err(inner)
            }
            Some(b'[') => {
                let list: Vec<&RawValue> = serde_json::from_str(text).map_err(own)?;
                list.into_iter()
                    .map(|raw| self.read_json(raw, depth + 1))
                    .collect::<Result<_, _>>()
                    .map(Value::List)
                    .map_err(inner)
            }
            _ => serde_json::from_str(text).map(read_json_scalar).map_err(own),
        }
    }
}

fn read_json_scalar(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Bool(flag) => Value::Flag(flag),
        serde_json::Value::Number(number) => {
            number.as_i64().map(Value::Integer).or_else(|| number.as_f64().map(Value::Float)).unwrap_or(Value::Other)
        }
        _ => Value::Other,
    }
}

/// An object whose keys are all different.
struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            if members.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key {} is used twice", quote(&key))));
            }
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_syntaxes_make_the_same_tree_with_lines() {
        let toml = from_toml("a = 1\n[b]\nc = ['x',\n 'y']\nd = 1.5\n").unwrap();
        let json = from_json("{\"a\": 1, \"b\": {\n\n\"c\": [\"x\",\n \"y\"], \"d\": 1.5}}").unwrap();
        for node in [toml, json] {
            assert!(matches!(node.find(&["a"]), Some(Node { line: 1, value: Value::Integer(1) })));
            let Some(Node { line: 3, value: Value::List(list) }) = node.find(&["b", "c"]) else { panic!("{node:?}") };
            assert!(matches!(&list[1], Node { line: 4, value: Value::Text(text) } if text == "y"));
            assert!(matches!(node.find(&["b", "d"]).unwrap().value, Value::Float(_)));
            assert!(node.find(&["b", "e"]).is_none() && node.find(&["a", "b"]).is_none());
        }
    }

    #[test]
    fn malformed_texts_are_refused_with_their_line() {
        assert_eq!(from_toml("a = 1\nb = \n").unwrap_err().line, Some(2));
        assert_eq!(from_json("{\n\n\"a\": }").unwrap_err().line, Some(3));
        let twice = from_json("{\n\"a\": {\"b\": 1,\n \"b\": 2}}").unwrap_err();
        assert!(twice.message.contains("\"b\" is used twice"), "{twice:?}");
    }

    #[test]
    fn deep_documents_are_refused_in_both_syntaxes() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(from_json(&deep).unwrap_err().message.contains("nested deeper"));
        // Headers and dotted keys are bounded one by one, and together they nest more deeply.
        let keys = |count| vec!["a"; count].join(".");
        for text in [format!("[{0}]\n{0} = 1\n", keys(40)), format!("[{}]\n", keys(100_000))] {
            assert!(from_toml(&text).is_err(), "{} bytes", text.len());
        }
        // Each level of an inline table may have a key of 80 parts.
        let inline = format!("{} 1 {}", format!("{{ {} = ", keys(79)).repeat(60), "}".repeat(60));
        // The parser counts a table without a key as a level less.
        let keyless = format!("a = {{{}{}", "{}".repeat(50_000), "a={".repeat(50_000));
        for text in [format!("a = {inline}"), keyless] {
            let refused = from_toml(&text).unwrap_err().message;
            assert!(refused.contains("nested deeper"), "{} bytes: {refused}", text.len());
        }
    }

    #[test]
    fn a_childs_answer_has_as_many_levels_as_the_deepest_document() {
        let (keys, lists) = (vec!["a"; DEPTH_MAX].join("."), DEPTH_MAX - 1);
        let deepest = from_toml(&format!("[{keys}]\na = {}1{}\n", "[".repeat(lists), "]".repeat(lists))).unwrap();
        assert!(postcard::from_bytes::<Node>(&postcard::to_allocvec(&deepest).unwrap()).is_ok());
        let list = |node| Node { line: 1, value: Value::List(vec![node]) };
        let deeper = (0..LEVELS_MAX).fold(Node { line: 1, value: Value::Other }, |node, _| list(node));
        assert!(postcard::from_bytes::<Node>(&postcard::to_allocvec(&deeper).unwrap()).is_err());
        assert_eq!(LEVELS.get(), 0);
    }

    /// The parser stays in a table at `]`, and in a list at `}`.
    #[test]
    fn brackets_that_close_another_are_refused() {
        for (open, reason) in [("a={]", "unexpected `]`"), ("a=[}", "unexpected `}`")] {
            let keyless = format!("\na = {{{}{}", "{}".repeat(50_000), open.repeat(50_000));
            for text in [format!("\n{open}"), keyless] {
                let refused = from_toml(&text).unwrap_err();
                assert_eq!((refused.message.as_str(), refused.line), (reason, Some(2)), "{} bytes", text.len());
            }
        }
        assert_eq!(from_toml("a = 1\n]").unwrap_err().line, Some(2));
        assert!(from_toml("a = [']', \"}\", { b = [] }] # ]}\n[[c]]\n").is_ok());
    }
}
