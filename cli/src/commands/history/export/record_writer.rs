//! Writing records in one of the formats.

use std::io::{BufWriter, IntoInnerError, Write};

use registry::visible_document;
use serde_json::value::RawValue;

use super::destination::Destination;
use super::format::Format;
use super::parquet_writer::ParquetWriter;

pub enum RecordWriter {
    JsonLines(BufWriter<Destination>),
    Parquet(Box<ParquetWriter>),
}

impl RecordWriter {
    pub fn new(format: Format, destination: Destination) -> anyhow::Result<Self> {
        Ok(match format {
            Format::Jsonl => Self::JsonLines(BufWriter::new(destination)),
            Format::Parquet => Self::Parquet(Box::new(ParquetWriter::new(destination)?)),
        })
    }

    pub fn write(&mut self, records: &[Box<RawValue>]) -> anyhow::Result<()> {
        match self {
            Self::JsonLines(lines) => {
                records.iter().try_for_each(|record| writeln!(lines, "{}", join_lines(record.get())))?;
            }
            Self::Parquet(file) => records.iter().try_for_each(|record| file.write(record.get()))?,
        }
        Ok(())
    }

    /// Writes what is buffered.
    pub fn finish(self) -> anyhow::Result<Destination> {
        match self {
            Self::JsonLines(mut lines) => {
                lines.flush()?;
                Ok(lines.into_inner().map_err(IntoInnerError::into_error)?)
            }
            Self::Parquet(file) => file.finish(),
        }
    }
}

/// Line breaks in JSON are white space between its values, since texts have them escaped. Hidden characters of texts are JSON's
/// escapes: stdout may be a terminal.
fn join_lines(json: &str) -> String {
    visible_document(&json.replace(['\n', '\r', '\t'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line() {
        assert_eq!(join_lines("{\n  \"a\": \"\\n\"\r\n}"), "{   \"a\": \"\\n\"  }");
        assert_eq!(join_lines("{\"a\":\"\u{9b}2J\u{202e}\"}"), r#"{"a":"\u009b2J\u202e"}"#);
    }
}
