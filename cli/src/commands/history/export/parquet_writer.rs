//! Writing records as Parquet, one row group at a time.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use super::columns::{COLUMNS, Values, build_schema};
use super::destination::Destination;
use super::record::Record;

/// Rows of a row group, at most. Readers divide their work by row groups.
const GROUP_ROWS_MAX: usize = 100_000;

/// Bytes of JSON of a row group, which is in memory until it is written: a few times as much. A page of the API adds 8 MiB.
const GROUP_BYTES_MAX: usize = 32 << 20;

pub struct ParquetWriter {
    file: SerializedFileWriter<Destination>,
    group: Vec<Record>,
    group_bytes: usize,
}

impl ParquetWriter {
    pub fn new(destination: Destination) -> anyhow::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("lathe ", env!("CARGO_PKG_VERSION")).to_owned());
        let file = SerializedFileWriter::new(destination, build_schema()?, Arc::new(properties.build()))?;
        Ok(Self { file, group: Vec::new(), group_bytes: 0 })
    }

    pub fn write(&mut self, json: &str) -> anyhow::Result<()> {
        self.group.push(Record::read(json)?);
        self.group_bytes += json.len();
        if self.group.len() >= GROUP_ROWS_MAX || self.group_bytes >= GROUP_BYTES_MAX {
            self.write_group()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> anyhow::Result<Destination> {
        if !self.group.is_empty() {
            self.write_group()?;
        }
        Ok(self.file.into_inner()?)
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &COLUMNS {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, column.values, &self.group)?;
                writer.close()?;
            }
        }
        group.close()?;
        self.group.clear();
        self.group_bytes = 0;
        Ok(())
    }
}

fn write_column(writer: &mut SerializedColumnWriter<'_>, values: Values, records: &[Record]) -> Result<()> {
    let records = records.iter();
    match values {
        Values::Text(read) => {
            let bytes = |text: String| ByteArray::from(text.into_bytes());
            write::<ByteArrayType>(writer, records.map(|record| read(record).map(bytes)))
        }
        Values::Integer(read) | Values::Time(read) => write::<Int64Type>(writer, records.map(read)),
        Values::Boolean(read) => write::<BoolType>(writer, records.map(read)),
    }
}

/// Writes the values of a column that may be null: the level of a value is 1, that of a null is 0.
fn write<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    writer.typed::<T>().write_batch(&present, Some(&levels), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use serde_json::{Value, json};

    use super::super::destination::NewFile;
    use super::*;

    fn build_record(id: &str, status: &Value) -> String {
        json!({
            "id": id, "org_id": "acme", "created_at": "2026-11-20T09:41:00.123Z",
            "updated_at": "2026-11-20T09:41:00.132Z", "duration_ms": 9, "invocation_status": status,
            "invocation_source": {"type": "later", "conversation_id": "c1"}, "origin": "later", "user_id": null,
            "tested_branch": null, "tool_id": "b", "tool_version": {"major": 1, "minor": 2, "patch": 3},
            "inputs": {"city": "京都"}, "invocation_mode": "regular", "nonsensitive_user_variables": {},
            "sensitive_user_variables": {}, "persisted": false, "status_events": [], "logs": "a\u{0}b",
        })
        .to_string()
    }

    /// Writes the records and reads the file: the number of row groups, and each row as JSON.
    fn write_and_read(records: impl IntoIterator<Item = String>) -> (usize, Vec<Value>) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("runs.parquet");
        let file = NewFile::create(&path, false).expect("a file");
        let mut writer = ParquetWriter::new(Destination::File(file)).expect("a writer");
        records.into_iter().for_each(|record| writer.write(&record).expect("a row"));
        writer.finish().and_then(Destination::keep).expect("a file");
        let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| read_fields(&row.expect("a row")));
        (reader.num_row_groups(), rows.collect())
    }

    fn read_fields(row: &parquet::record::Row) -> Value {
        row.get_column_iter().map(|(name, field)| (name.clone(), json!(field.to_string()))).collect()
    }

    #[test]
    fn a_reader_finds_the_values_and_the_nulls() {
        let failed = json!({
            "succeeded": false, "exception_type": "T", "exception_message": "悪い", "exception_stack_trace": ["at 1"],
        });
        let statuses = [json!({"succeeded": true, "output": "o\u{0}"}), failed, Value::Null];
        let (groups, rows) = write_and_read(statuses.iter().map(|status| build_record("r", status)));
        assert_eq!((groups, rows.len()), (1, 3));
        let column = |name: &str| rows.iter().map(|row| row[name].as_str().expect("text")).collect::<Vec<_>>();
        assert_eq!(column("output"), ["\"o\u{0}\"", "null", "null"]);
        assert_eq!(column("exception_message"), ["null", "\"悪い\"", "null"]);
        assert_eq!(column("exception_stack_trace"), ["null", "\"[\"at 1\"]\"", "null"]);
        assert_eq!(column("succeeded"), ["true", "false", "null"]);
        assert_eq!(column("duration_ms"), ["9", "9", "null"]);
        assert_eq!(column("finished_at")[2], "null");
        assert_eq!(column("inputs")[0], "\"{\"city\":\"京都\"}\"");
        assert_eq!([column("tool_version")[0], column("conversation_id")[0]], ["\"1.2.3\"", "\"c1\""]);
        assert!(column("started_at")[0].starts_with("2026-11-20 09:41:00"), "{rows:?}");
    }

    #[test]
    fn a_row_has_the_agent_and_the_refusal_of_a_call() {
        let mut refused: Value = serde_json::from_str(&build_record("r", &Value::Null)).expect("JSON");
        refused["agent_call"] = json!({
            "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "revision": 7, "protocol": "mcp", "client": "claude-code 2.1", "turn_id": null,
        });
        refused["native_tool"] = json!("search_tools");
        refused["refused_at"] = json!("policy");
        let (_, rows) = write_and_read([refused.to_string(), build_record("r", &Value::Null)]);
        for (column, value) in [
            ("agent_id", "\"6ab13d50a3c20f6f6e5d4c3b\""),
            ("agent_revision", "7"),
            ("agent_protocol", "\"mcp\""),
            ("client", "\"claude-code 2.1\""),
            ("turn_id", "null"),
            ("native_tool", "\"search_tools\""),
            ("refused_at", "\"policy\""),
        ] {
            assert_eq!((&rows[0][column], &rows[1][column]), (&json!(value), &json!("null")), "{column}");
        }
    }

    #[test]
    fn a_row_group_is_written_when_it_is_full() {
        let output = "x".repeat(GROUP_BYTES_MAX / 4);
        let large = || build_record("r", &json!({"succeeded": true, "output": output}));
        let (groups, rows) = write_and_read((0..9).map(|_| large()));
        assert_eq!((groups, rows.len()), (3, 9));
        assert_eq!(write_and_read([]).0, 0);
    }
}
