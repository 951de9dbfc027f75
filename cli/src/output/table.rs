//! Tables as wide as the terminal, with a header and without borders.

use comfy_table::{ContentArrangement, Table, presets};

use super::text::{clipped, printable};

/// Maximum length of a cell, so that the other columns stay visible.
const CELL_CHARACTERS_MAX: usize = 100;

pub fn table<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_header(header);
    for row in rows {
        table.add_row(row.map(|cell| clipped(&printable(&cell).replace('\n', " "), CELL_CHARACTERS_MAX)));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_columns() {
        let shown = table(["name", "state"], [["a".to_owned(), "live\u{1b}[2J".to_owned()]]);
        assert_eq!(shown, " name  state\n a     live\u{fffd}[2J");
    }
}
