//! Copying the database of a data directory to a database server, with all positions that continuation tokens contain.
//!
//! Tables are copied in the order of their foreign keys, in batches. Batches that are there already are skipped, so an
//! interrupted copy is continued. Until the copy is marked as complete, the check of the master key in the target has a value that no
//! server accepts ([`super::sql::kit::master_key`]).

mod compare;
mod encoding;
mod insert;
mod layout;
mod range;
mod report;
mod source;
mod tables;
mod target;

use super::options::StoreOptions;
use crate::error::Result;
use crate::files::data_dir::DataDirLock;
use compare::compare;
use insert::insert_missing;
use layout::Layout;
pub use report::{ComparedTable, TableCount, TransferObserver, TransferProgress, TransferStep};
use source::TransferSource;
use target::TransferTarget;

/// A copy from the database in a data directory to a database server.
pub struct Transfer {
    source: TransferSource,
    target: TransferTarget,
    layouts: Vec<Layout>,
}

impl Transfer {
    /// Opens both databases and changes neither. The options are those of the store in the database server.
    /// [`crate::Error::TargetOccupied`] for a database with other data.
    pub async fn open(_lock: &DataDirLock, options: StoreOptions<'_>) -> Result<Self> {
        let mut source = TransferSource::open(&options).await?;
        let mut target = TransferTarget::connect(&options).await?;
        target.refuse_other_data(&mut source).await?;
        let layouts = source.layouts().await?;
        Ok(Self { source, target, layouts })
    }

    /// Counts the rows of all tables.
    pub async fn count(&mut self) -> Result<Vec<TableCount>> {
        let mut counts = Vec::new();
        for layout in &self.layouts {
            let (source_rows, target_rows) = (self.source.count(layout).await?, self.target.count(layout).await?);
            counts.push(TableCount { table: layout.table.name, source_rows, target_rows });
        }
        Ok(counts)
    }

    /// Creates the tables in the target, and copies the rows that it lacks.
    pub async fn copy(&mut self, report: TransferObserver<'_>) -> Result<()> {
        self.target.begin(&mut self.source).await?;
        for layout in &self.layouts {
            insert_missing(&mut self.source, &mut self.target, layout, report).await?;
        }
        Ok(())
    }

    /// Compares all rows. [`crate::Error::CopyDiffers`] names the table and the first row that differs.
    pub async fn compare(&mut self, report: TransferObserver<'_>) -> Result<Vec<ComparedTable>> {
        let mut compared = Vec::new();
        for layout in &self.layouts {
            compared.push(compare(&mut self.source, &mut self.target, layout, report).await?);
        }
        Ok(compared)
    }

    /// Lets servers use the target, whose rows were compared.
    pub async fn complete(&mut self) -> Result<()> {
        self.target.complete().await
    }

    pub async fn close(self) {
        self.source.close().await;
        self.target.close().await;
    }
}

impl std::fmt::Debug for Transfer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Transfer").field("tables", &self.layouts.len()).finish_non_exhaustive()
    }
}
