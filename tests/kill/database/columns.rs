//! Rows of both databases, read in the same way.

use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

/// Columns by their names. `None` stands for NULL.
pub trait Columns {
    fn text(&self, name: &str) -> Option<String>;
    fn bytes(&self, name: &str) -> Option<Vec<u8>>;
    fn number(&self, name: &str) -> Option<i64>;
}

macro_rules! columns {
    ($row:ty) => {
        impl Columns for $row {
            fn text(&self, name: &str) -> Option<String> {
                self.get(name)
            }

            fn bytes(&self, name: &str) -> Option<Vec<u8>> {
                self.get(name)
            }

            fn number(&self, name: &str) -> Option<i64> {
                self.get(name)
            }
        }
    };
}

columns!(SqliteRow);
columns!(PgRow);

pub fn boxed<R: Columns + 'static>(rows: Vec<R>) -> Vec<Box<dyn Columns>> {
    rows.into_iter().map(|row| Box::new(row) as Box<dyn Columns>).collect()
}
