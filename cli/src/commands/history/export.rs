//! `lathe history export`: writes records to a file or to stdout, page by page.

mod columns;
mod destination;
mod format;
mod parquet_writer;
mod record;
mod record_writer;

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;

use clap::Args;
use nix::sys::signal::Signal;
use serde_json::json;

use self::destination::{Destination, NewFile};
use self::format::Format;
use self::record_writer::RecordWriter;
use super::filter::ListFilterArguments;
use crate::client::{Client, RecordPages};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, Spinner};
use crate::server::Signals;

/// The value of `--output` that stands for stdout.
const STDOUT: &str = "-";

#[derive(Debug, Args)]
pub struct ExportArguments {
    #[command(flatten)]
    filter: ListFilterArguments,
    /// Format of the export
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// File to write; it gets its name when it is complete [default: stdout]
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

pub async fn run(client: &Client, arguments: ExportArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let path = arguments.output.filter(|path| path.as_os_str() != STDOUT);
    let format = arguments.format;
    let Some(path) = path else {
        refuse_terminal(format)?;
        let pages = client.list_record_pages(&arguments.filter.read(client).await?);
        export(pages, RecordWriter::new(format, Destination::Stdout(stdout()))?).await?;
        return Ok(Outcome::Done);
    };
    // Before the file is made: a signal that ends the process in between would leave it behind.
    let mut signals = Signals::catch()?;
    let file = NewFile::create(&path, arguments.force)?;
    let to_file = async {
        let pages = client.list_record_pages(&arguments.filter.read(client).await?);
        export(pages, RecordWriter::new(format, Destination::File(file))?).await
    };
    let count = tokio::select! {
        exported = to_file => exported?,
        signal = signals.next() => return Err(explain_interrupt(signal)),
    };
    let path = path.display().to_string();
    let document = json!({"records": count, "format": format.as_str(), "output": path});
    screen.answer(&document, || format!("{count} records written to {path}"))
}

/// Writes all pages. Returns the number of records.
async fn export(mut pages: RecordPages<'_>, mut writer: RecordWriter) -> anyhow::Result<u64> {
    let progress = Spinner::start("exporting");
    let mut count = 0;
    while let Some(records) = pages.next().await? {
        writer.write(&records)?;
        count += records.len() as u64;
        progress.show(format!("{count} records"));
    }
    writer.finish()?.keep()?;
    Ok(count)
}

fn refuse_terminal(format: Format) -> anyhow::Result<()> {
    if format == Format::Parquet && stdout().is_terminal() {
        let advice = "write it to a file: `--output runs.parquet`";
        return Err(Failure::usage("Parquet is a binary format, and stdout is a terminal", advice));
    }
    Ok(())
}

fn explain_interrupt(signal: Signal) -> anyhow::Error {
    Failure::coded("interrupted", format!("interrupted by {signal}; no file was written"), "run the command again")
}
