//! Rows that a statement gets as one value, so that a group of them costs one statement.

/// A JSON array of rows that are JSON.
#[derive(Default)]
pub struct List(String);

impl List {
    pub fn push(&mut self, row: &str) {
        self.0.push(if self.0.is_empty() { '[' } else { ',' });
        self.0.push_str(row);
    }

    /// Returns the value to bind; `None` for an empty list.
    pub fn bound(mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push(']');
        Some(self.0)
    }
}

impl<'a> FromIterator<&'a String> for List {
    fn from_iter<I: IntoIterator<Item = &'a String>>(rows: I) -> Self {
        let mut list = Self::default();
        rows.into_iter().for_each(|row| list.push(row));
        list
    }
}
