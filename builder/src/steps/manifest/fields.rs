//! A table of the project file, read key by key. Unknown keys are refused.

use registry::did_you_mean;

use super::node::{Node, Table, TableEntry, Value};
use crate::error::{Error, Location};
use crate::text::show;

/// The stage that refuses a manifest.
pub const STAGE: &str = "manifest";

/// A value with its line.
#[derive(Debug)]
pub struct Located<T> {
    pub line: u32,
    pub value: T,
}

/// The keys of a table that have not been read yet.
pub struct Fields {
    file: &'static str,
    /// The path of the whole table, such as `tool.lathe`.
    root: String,
    /// The path of this table within the whole one: empty, or such as `limits.`.
    prefix: String,
    table: Table,
    /// The keys that have been read.
    known: Vec<String>,
}

impl Fields {
    /// # Errors
    /// When the node is not a table.
    pub fn new(file: &'static str, root: &[&str], node: Option<&Node>) -> Result<Self, Error> {
        let root = root.join(".");
        let table = match node {
            None => Table::new(),
            Some(Node { value: Value::Table(table), .. }) => table.clone(),
            Some(Node { line, .. }) => {
                return Err(
                    Error::failed(STAGE, "lathe", format!("{root} must be a table")).at(Location::line(file, *line))
                );
            }
        };
        Ok(Self { file, root, prefix: String::new(), table, known: Vec::new() })
    }

    /// The table under a key, empty when there is none.
    ///
    /// # Errors
    /// When the value is not a table.
    pub fn take_table(&mut self, key: &str) -> Result<Self, Error> {
        let table = match self.take(key) {
            None => Table::new(),
            Some(Node { value: Value::Table(table), .. }) => table,
            Some(node) => return Err(self.refuse(key, node.line, "must be a table")),
        };
        let (root, prefix) = (self.root.clone(), format!("{}{key}.", self.prefix));
        Ok(Self { file: self.file, root, prefix, table, known: Vec::new() })
    }

    /// The keys that have not been read yet.
    pub fn list_keys(&self) -> Vec<Located<String>> {
        self.table.iter().map(|(key, entry)| Located { line: entry.key_line, value: key.clone() }).collect()
    }

    /// The line of a key that has not been read yet.
    pub fn find_line(&self, key: &str) -> Option<u32> {
        self.table.get(key).map(|entry| entry.key_line)
    }

    /// The tables of a list, each with the line of its beginning.
    ///
    /// # Errors
    /// When the value is not a list of tables.
    pub fn take_tables(&mut self, key: &str) -> Result<Vec<Located<Self>>, Error> {
        let Some(Node { line, value }) = self.take(key) else { return Ok(Vec::new()) };
        let refused = || self.refuse(key, line, "must be a list of tables");
        let Value::List(list) = value else { return Err(refused()) };
        let one = |(index, Node { line, value })| {
            let Value::Table(table) = value else { return Err(refused()) };
            let (root, prefix) = (self.root.clone(), format!("{}{key}[{index}].", self.prefix));
            Ok(Located { line, value: Self { file: self.file, root, prefix, table, known: Vec::new() } })
        };
        list.into_iter().enumerate().map(one).collect()
    }

    /// The entries of a table whose keys the author chooses.
    pub fn into_entries(self) -> impl Iterator<Item = (String, TableEntry)> {
        self.table.into_iter()
    }

    pub fn take_text(&mut self, key: &str) -> Result<Option<Located<String>>, Error> {
        let text = |value| if let Value::Text(text) = value { Some(text) } else { None };
        self.take_value(key, "must be a string", text)
    }

    /// The path of a file of the project.
    pub fn take_file(&mut self, key: &str) -> Result<Option<String>, Error> {
        let Some(Located { line, value: path }) = self.take_text(key)? else { return Ok(None) };
        let is_inside = !path.starts_with('/') && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if is_inside { Ok(Some(path)) } else { Err(self.refuse(key, line, "must be a file of the project")) }
    }

    pub fn take_flag(&mut self, key: &str) -> Result<Option<Located<bool>>, Error> {
        let flag = |value| if let Value::Flag(flag) = value { Some(flag) } else { None };
        self.take_value(key, "must be a boolean, true or false", flag)
    }

    pub fn take_texts(&mut self, key: &str) -> Result<Vec<Located<String>>, Error> {
        match self.take(key) {
            Some(node) => self.read_texts(key, node),
            None => Ok(Vec::new()),
        }
    }

    /// The strings of a list.
    ///
    /// # Errors
    /// When the node is not a list of strings.
    pub fn read_texts(&self, key: &str, node: Node) -> Result<Vec<Located<String>>, Error> {
        let Value::List(list) = node.value else {
            return Err(self.refuse(key, node.line, "must be a list of strings"));
        };
        let one = |Node { line, value }| match value {
            Value::Text(value) => Ok(Located { line, value }),
            _ => Err(self.refuse(key, line, "must be a list of strings")),
        };
        list.into_iter().map(one).collect()
    }

    /// An integer from 1 to `max`.
    pub fn take_number(&mut self, key: &str, max: u64) -> Result<Option<u64>, Error> {
        let Some(Node { line, value }) = self.take(key) else { return Ok(None) };
        let number = match value {
            Value::Integer(number) => u64::try_from(number).ok().filter(|number| (1..=max).contains(number)),
            _ => None,
        };
        let refused = || self.refuse(key, line, &explain_no_number(&value, &format!("between 1 and {max}")));
        number.map(Some).ok_or_else(refused)
    }

    /// A number of seconds, converted to milliseconds.
    pub fn take_seconds(&mut self, key: &str, max_ms: u64) -> Result<Option<u64>, Error> {
        #[expect(clippy::cast_precision_loss, reason = "seconds beyond 2^52 are refused anyway")]
        let seconds = |value: &Value| match value {
            Value::Float(seconds) => Some(*seconds),
            Value::Integer(seconds) => Some(*seconds as f64),
            _ => None,
        };
        let Some(Node { line, value }) = self.take(key) else { return Ok(None) };
        let range = format!("at least 0.001 and at most {}, with at most three decimals", max_ms / 1_000);
        let refused = || self.refuse(key, line, &explain_no_number(&value, &range));
        let within = seconds(&value).and_then(convert_seconds).filter(|found| *found <= max_ms);
        within.map(Some).ok_or_else(refused)
    }

    /// # Errors
    /// When the table has an unknown key.
    pub fn finish(self) -> Result<(), Error> {
        match self.table.first_key_value() {
            Some((key, entry)) => {
                let known = self.known.join(", ");
                let meant = did_you_mean(key, self.known.iter().map(String::as_str));
                Err(self.refuse(key, entry.key_line, &format!("is an unknown key; the known keys are: {known}{meant}")))
            }
            None => Ok(()),
        }
    }

    /// # Errors
    /// When a list has more than `max` entries.
    pub fn bound(&self, key: &str, values: &[Located<String>], max: usize) -> Result<(), Error> {
        match values.get(max) {
            Some(value) => Err(self.refuse(key, value.line, &format!("has more than {max} entries"))),
            None => Ok(()),
        }
    }

    pub fn refuse(&self, key: &str, line: u32, message: &str) -> Error {
        let key = format!("{}{}", self.prefix, show(key));
        Error::failed(STAGE, &key, format!("{}.{key} {message}", self.root)).at(Location::line(self.file, line))
    }

    fn take_value<T>(
        &mut self,
        key: &str,
        otherwise: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<Located<T>>, Error> {
        let Some(Node { line, value }) = self.take(key) else { return Ok(None) };
        let value = read(value).ok_or_else(|| self.refuse(key, line, otherwise))?;
        Ok(Some(Located { line, value }))
    }

    fn take(&mut self, key: &str) -> Option<Node> {
        self.known.push(key.to_owned());
        self.table.remove(key).map(|entry| entry.node)
    }
}

/// The reason why a value is not a number within a range, as the predicate of a message.
fn explain_no_number(value: &Value, range: &str) -> String {
    match value {
        Value::Text(text) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
            format!("is text; write the number {} without quotes, {range}", text.trim())
        }
        Value::Text(_) => format!("is text; write a number {range}"),
        _ => format!("must be {range}"),
    }
}

/// Converts seconds to milliseconds. `None` below a millisecond, above a day, and for a part of a millisecond.
fn convert_seconds(seconds: f64) -> Option<u64> {
    let is_time = (0.001..=86_400.0).contains(&seconds);
    let time = is_time.then(|| std::time::Duration::from_secs_f64(seconds))?;
    let is_whole = time.subsec_nanos().is_multiple_of(1_000_000);
    is_whole.then_some(time.as_millis()).and_then(|time| time.try_into().ok())
}
