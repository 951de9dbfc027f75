//! A project file as a tree of values, each with the line it stands on. What
//! reads it need not know whether it was TOML or JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Deeper than this nobody nests a project file.
const DEPTH_MAX: usize = 64;

#[derive(Debug, Clone)]
pub struct Node {
    /// From 1.
    pub line: u32,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
    /// What no key asks for: a date, `null`, a number beyond 64 bits.
    Other,
}

pub type Table = BTreeMap<String, Entry>;

#[derive(Debug, Clone)]
pub struct Entry {
    pub key_line: u32,
    pub node: Node,
}

/// Why a text is no document.
#[derive(Debug)]
pub struct Malformed {
    pub message: String,
    pub line: Option<u32>,
}

impl Node {
    /// What lies behind a path of keys.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| match &node.value {
            Value::Table(table) => table.get(*key).map(|entry| &entry.node),
            _ => None,
        })
    }
}

/// # Errors
/// When the text is no TOML.
pub fn from_toml(text: &str) -> Result<Node, Malformed> {
    let lines = Lines { text };
    let malformed = |error: toml::de::Error| Malformed {
        message: error.message().trim().into(),
        line: error.span().map(|span| lines.at(span.start)),
    };
    Ok(lines.toml_table(DeTable::parse(text).map_err(malformed)?.get_ref(), 1))
}

/// # Errors
/// When the text is no JSON, or an object in it has a key twice.
pub fn from_json(text: &str) -> Result<Node, Malformed> {
    let malformed = |error: &serde_json::Error| Malformed {
        message: error.to_string(),
        line: u32::try_from(error.line()).ok().filter(|line| *line > 0),
    };
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    Lines { text }.json(whole, 0).map_err(|(error, line)| Malformed { message: error.to_string(), line: Some(line) })
}

struct Lines<'a> {
    text: &'a str,
}

impl Lines<'_> {
    fn at(&self, offset: usize) -> u32 {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(lines).unwrap_or(u32::MAX - 1) + 1
    }

    fn toml_table(&self, table: &DeTable<'_>, line: u32) -> Node {
        let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let key_line = self.at(key.span().start);
            (key.get_ref().to_string(), Entry { key_line, node: self.toml(value) })
        };
        Node { line, value: Value::Table(table.iter().map(entry).collect()) }
    }

    fn toml(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let line = self.at(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Other, Value::Integer)
            }
            DeValue::Float(number) => number.as_str().parse().map_or(Value::Other, Value::Float),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Array(list) => Value::List(list.iter().map(|one| self.toml(one)).collect()),
            DeValue::Table(table) => return self.toml_table(table, line),
            DeValue::Datetime(_) => Value::Other,
        };
        Node { line, value }
    }

    fn json(&self, raw: &RawValue, depth: usize) -> Result<Node, (serde_json::Error, u32)> {
        let text = raw.get();
        let line = self.at((text.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize));
        self.json_value(text, depth)
            .map(|value| Node { line, value })
            .map_err(|(error, inner)| (error, inner.unwrap_or(line)))
    }

    fn json_value(&self, text: &str, depth: usize) -> Result<Value, (serde_json::Error, Option<u32>)> {
        let own = |error| (error, None);
        let inner = |(error, line)| (error, Some(line));
        if depth > DEPTH_MAX {
            return Err(own(serde_json::Error::custom(format!("nested deeper than {DEPTH_MAX}"))));
        }
        match text.as_bytes().first() {
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text).map_err(own)?;
                let entry = |(key, raw): (String, &RawValue)| {
                    let node = self.json(raw, depth + 1)?;
                    Ok((key, Entry { key_line: node.line, node }))
                };
                members.into_iter().map(entry).collect::<Result<_, _>>().map(Value::Table).map_err(inner)
            }
            Some(b'[') => {
                let list: Vec<&RawValue> = serde_json::from_str(text).map_err(own)?;
                list.into_iter()
                    .map(|raw| self.json(raw, depth + 1))
                    .collect::<Result<_, _>>()
                    .map(Value::List)
                    .map_err(inner)
            }
            _ => serde_json::from_str(text).map(json_scalar).map_err(own),
        }
    }
}

fn json_scalar(value: serde_json::Value) -> Value {
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
                return Err(A::Error::custom(format!("the key {key:?} stands there twice")));
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
            assert!(matches!(node.at(&["a"]), Some(Node { line: 1, value: Value::Integer(1) })));
            let Some(Node { line: 3, value: Value::List(list) }) = node.at(&["b", "c"]) else { panic!("{node:?}") };
            assert!(matches!(&list[1], Node { line: 4, value: Value::Text(text) } if text == "y"));
            assert!(matches!(node.at(&["b", "d"]).unwrap().value, Value::Float(_)));
            assert!(node.at(&["b", "e"]).is_none() && node.at(&["a", "b"]).is_none());
        }
    }

    #[test]
    fn what_is_no_document_says_where() {
        assert_eq!(from_toml("a = 1\nb = \n").unwrap_err().line, Some(2));
        assert_eq!(from_json("{\n\n\"a\": }").unwrap_err().line, Some(3));
        let twice = from_json("{\n\"a\": {\"b\": 1,\n \"b\": 2}}").unwrap_err();
        assert!(twice.message.contains("\"b\" stands there twice"), "{twice:?}");
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(from_json(&deep).unwrap_err().message.contains("nested deeper"));
    }
}
