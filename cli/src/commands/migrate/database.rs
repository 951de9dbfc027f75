//! Copying the database of a data directory to a database server.

use registry::{
    Clock, ComparedTable, Config, DataDir, DataDirLock, DatabaseLocation, KeyRing, StoreOptions, TableCount, Transfer,
    TransferProgress, TransferStep,
};
use serde_json::json;

use crate::failure::Outcome;
use crate::output::{Progress, Screen, table};

/// The database of a locked data directory, and the database that receives its rows.
pub struct DatabaseMove<'a> {
    pub data: &'a DataDir,
    pub lock: &'a DataDirLock,
    pub target: &'a DatabaseLocation,
}

impl DatabaseMove<'_> {
    /// Shows the numbers of rows, and changes nothing.
    pub async fn show(&self, screen: Screen) -> anyhow::Result<Outcome> {
        let mut transfer = self.open().await?;
        let counts = transfer.count().await?;
        transfer.close().await;
        let one = |TableCount { table, source_rows, target_rows }: &TableCount| json!({"table": table, "rows": source_rows, "rows_copied": target_rows});
        let tables: Vec<_> = counts.iter().map(one).collect();
        screen.answer(&json!({"data": self.data.root(), "dry_run": true, "tables": tables}), || counts_text(&counts))
    }

    /// Copies the rows, compares them, and shows a digest for each table.
    pub async fn run(&self, screen: Screen) -> anyhow::Result<Outcome> {
        let mut transfer = self.open().await?;
        let progress = Progress::start("migrating");
        let report = |step: TransferProgress| show_progress(&progress, step);
        transfer.copy(&report).await?;
        let compared = transfer.compare(&report).await?;
        transfer.close().await;
        drop(progress);
        let one = |ComparedTable { table, rows, digest }: &ComparedTable| json!({"table": table, "rows": rows, "digest": digest});
        let tables: Vec<_> = compared.iter().map(one).collect();
        let document = json!({"data": self.data.root(), "dry_run": false, "tables": tables});
        screen.answer(&document, || self.text(&compared))
    }

    async fn open(&self) -> anyhow::Result<Transfer> {
        let options = StoreOptions {
            data: self.data,
            database: self.target.clone(),
            keys: &KeyRing::load(self.data)?,
            clock: Clock::system(),
            config: Config::default(),
        };
        Ok(Transfer::open(self.lock, options).await?)
    }

    fn text(&self, compared: &[ComparedTable]) -> String {
        let row = |ComparedTable { table, rows, digest }: &ComparedTable| {
            [(*table).to_owned(), rows.to_string(), digest.to_string()]
        };
        let (data, url) = (self.data.root().display(), shown(self.target));
        let tables = table(["table", "rows", "digest"], compared.iter().map(row));
        format!(
            "{tables}\n\nall rows were copied and are the same in both databases\n\
            {data} still has the keys, the repositories and the artifacts; its {} is no longer used, so move it elsewhere\n\
            start the server: lathe serve --data {data} --database {url}",
            file_name(self.data)
        )
    }
}

fn file_name(data: &DataDir) -> String {
    data.database().file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn counts_text(counts: &[TableCount]) -> String {
    let row = |TableCount { table, source_rows, target_rows }: &TableCount| {
        [(*table).to_owned(), source_rows.to_string(), target_rows.to_string()]
    };
    table(["table", "rows", "rows copied"], counts.iter().map(row))
}

/// Shows each batch on a terminal, and each table elsewhere.
fn show_progress(progress: &Progress, TransferProgress { step, table, rows, is_complete }: TransferProgress) {
    let verb = match step {
        TransferStep::Copy => "copied",
        TransferStep::Compare => "compared",
    };
    let line = format!("{table}: {rows} rows {verb}");
    if is_complete { progress.finish_step(line) } else { progress.show(line) }
}

/// The URL of the database for a message, without a password.
fn shown(database: &DatabaseLocation) -> &str {
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
