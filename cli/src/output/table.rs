//! Tables as wide as the terminal, with a header and without borders.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

use super::text::{clipped, printable};

/// Maximum length of a cell, so that the other columns stay visible.
const CELL_CHARACTERS_MAX: usize = 100;
/// Longest word that is never broken: the longest name of a tool. Ids have 24 characters.
const WORD_CHARACTERS_MAX: usize = 64;

pub fn table<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let table = unprinted(header, rows);
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// A table whose columns of single words, such as ids and names, keep their width, so that no id is broken over two lines.
/// Columns of text share the rest.
fn unprinted<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(header);
    let mut are_words = [true; COLUMNS];
    for row in rows {
        let row = row.map(|cell| clipped(&printable(&cell).replace('\n', " "), CELL_CHARACTERS_MAX));
        are_words.iter_mut().zip(&row).for_each(|(are_words, cell)| *are_words &= is_word(cell));
        table.add_row(row);
    }
    let columns = table.column_iter_mut().zip(are_words).filter(|(_, are_words)| *are_words);
    columns.for_each(|(column, _)| {
        column.set_constraint(ColumnConstraint::ContentWidth);
    });
    table
}

fn is_word(cell: &str) -> bool {
    !cell.contains(char::is_whitespace) && cell.chars().count() <= WORD_CHARACTERS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_columns() {
        let shown = table(["name", "state"], [["a".to_owned(), "live\u{1b}[2J".to_owned()]]);
        assert_eq!(shown, " name  state\n a     live\u{fffd}[2J");
    }

    #[test]
    fn ids_are_whole_on_a_narrow_terminal() {
        let (id, name) = ("691f3b2a5c1e4d7f8a9b0c1d", "a_tool_with_quite_a_long_name");
        let row = [name.to_owned(), id.to_owned(), "a description of several words ".repeat(3)];
        for width in [20, 40, 80] {
            let mut table = unprinted(["name", "id", "description"], [row.clone()]);
            let shown = table.set_width(width).to_string();
            assert!(shown.contains(id) && shown.contains(name), "{width}:\n{shown}");
        }
    }
}
