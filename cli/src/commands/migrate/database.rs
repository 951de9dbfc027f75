//! Copying the database of a data directory to a database server.

use registry::{
    ComparedTable, DataDirLock, DatabaseLocation, StoreOptions, TableCount, Transfer, TransferProgress, TransferStep,
};
use serde_json::json;

use super::part::Part;
use crate::output::{Spinner, render_table};

/// The database of a locked data directory, and the database that receives its rows.
pub struct DatabaseMove<'a> {
    /// Those of the receiving database.
    pub options: &'a StoreOptions<'a>,
    pub lock: &'a DataDirLock,
}

impl DatabaseMove<'_> {
    /// Shows the numbers of rows, and changes nothing.
    pub async fn plan(&self) -> anyhow::Result<Part> {
        let mut transfer = self.open().await?;
        let counts = transfer.count().await?;
        transfer.close().await;
        let one = |TableCount { table, source_rows, target_rows }: &TableCount| json!({"table": table, "rows": source_rows, "rows_copied": target_rows});
        Ok(Part { key: "tables", document: counts.iter().map(one).collect(), text: render_counts(&counts) })
    }

    /// Refuses a database that cannot receive the rows, and changes nothing.
    pub async fn check(&self) -> anyhow::Result<()> {
        self.open().await?.close().await;
        Ok(())
    }

    /// Copies the rows, and compares them.
    pub async fn run(&self) -> anyhow::Result<Part> {
        let mut transfer = self.open().await?;
        let progress = Spinner::start("migrating");
        let report = |step: TransferProgress| show_progress(&progress, step);
        transfer.copy(&report).await?;
        let compared = transfer.compare(&report).await?;
        transfer.close().await;
        let one = |ComparedTable { table, rows, digest }: &ComparedTable| json!({"table": table, "rows": rows, "digest": digest});
        Ok(Part { key: "tables", document: compared.iter().map(one).collect(), text: render_compared(&compared) })
    }

    /// Lets servers use the database.
    pub async fn complete(&self) -> anyhow::Result<()> {
        let mut transfer = self.open().await?;
        transfer.complete().await?;
        transfer.close().await;
        Ok(())
    }

    async fn open(&self) -> anyhow::Result<Transfer> {
        Ok(Transfer::open(self.lock, self.options.clone()).await?)
    }
}

fn render_compared(compared: &[ComparedTable]) -> String {
    let row = |ComparedTable { table, rows, digest }: &ComparedTable| {
        [(*table).to_owned(), rows.to_string(), digest.to_string()]
    };
    render_table(["table", "rows", "digest"], compared.iter().map(row))
}

fn render_counts(counts: &[TableCount]) -> String {
    let row = |TableCount { table, source_rows, target_rows }: &TableCount| {
        [(*table).to_owned(), source_rows.to_string(), target_rows.to_string()]
    };
    render_table(["table", "rows", "rows copied"], counts.iter().map(row))
}

/// Shows each batch on a terminal, and each table elsewhere.
fn show_progress(progress: &Spinner, TransferProgress { step, table, rows, is_complete }: TransferProgress) {
    let verb = match step {
        TransferStep::Copy => "copied",
        TransferStep::Compare => "compared",
    };
    let line = format!("{table}: {rows} rows {verb}");
    if is_complete { progress.finish_step(line) } else { progress.show(line) }
}

/// The URL of the database for a message, without a password.
pub fn show_location(database: &DatabaseLocation) -> &str {
    match database {
        DatabaseLocation::Url(url) if !has_password(url.expose()) => url.expose(),
        _ => "URL",
    }
}

fn has_password(url: &str) -> bool {
    let (authority, rest) = url.split_once('@').unwrap_or(("", url));
    let user = authority.split_once("://").map_or("", |(_, user)| user);
    user.contains(':') || rest.contains("password")
}

#[cfg(test)]
mod tests {
    use super::has_password;

    #[test]
    fn passwords_are_found() {
        for (url, expected) in [
            ("postgres://lathe@127.0.0.1:5432/lathe", false),
            ("postgres://127.0.0.1:5432/lathe", false),
            ("postgres://lathe:secret@host/lathe", true),
            ("postgres://host/lathe?user=lathe&password=secret", true),
            ("postgres://lathe@host/lathe?sslpassword=secret", true),
        ] {
            assert_eq!(has_password(url), expected, "{url}");
        }
    }
}
