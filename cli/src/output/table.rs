//! Tables as wide as the terminal, with a header and without borders. Each row has one line.
//!
//! Columns of single words, such as ids and names, keep their width; columns of text share the rest. If the rest is too
//! narrow, the last columns are on lines of their own below each row, as few of them as possible.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::text::{clip, escape_hidden};

/// Maximum length of a cell, so that the other columns stay visible.
const CELL_CHARACTERS_MAX: usize = 100;
/// Longest word that is never broken: the longest name of a tool. Ids have 24 characters.
const WORD_CHARACTERS_MAX: usize = 64;
/// Least width of a column of text whose cells have that many characters, and of the last column.
const TEXT_CHARACTERS_MIN: u16 = 24;
/// Characters of padding in each column.
const PADDING: u16 = 2;
/// Indentation of the columns on lines of their own.
const INDENTATION: &str = "     ";
/// The space between two columns on a line below a row.
const SEPARATOR: &str = "  ";
/// The width of a terminal that reports none.
const WIDTH_DEFAULT: u16 = 80;

pub fn render_table<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> String {
    let cell = |text: String| clip(&escape_hidden(&text).replace(['\n', '\t'], " "), CELL_CHARACTERS_MAX);
    let mut lines = vec![header.map(str::to_owned).to_vec()];
    lines.extend(rows.into_iter().map(|row| row.map(cell).to_vec()));
    Cells { lines, has_others_below: false }.render(measure_terminal())
}

/// The width of the terminal. `None` if stdout is none: programs read whole cells.
fn measure_terminal() -> Option<u16> {
    Table::new().width().map(|width| if width == 0 { WIDTH_DEFAULT } else { width })
}

/// The cells of a table, with the header as the first line.
struct Cells {
    lines: Vec<Vec<String>>,
    /// Whether further columns are below, the text of the last one among them.
    has_others_below: bool,
}

impl Cells {
    fn render(mut self, width: Option<u16>) -> String {
        let below = width.map(|width| self.take_columns_beyond(width)).unwrap_or_default();
        let laid_out = self.lay_out(width);
        let line_max = width.map_or(CELL_CHARACTERS_MAX, usize::from).saturating_sub(INDENTATION.len());
        let mut below = below.into_iter();
        let with_below = laid_out.lines().flat_map(|line| {
            let others = wrap(below.next().unwrap_or_default(), line_max);
            [line.trim_end().to_owned()]
                .into_iter()
                .chain(others.into_iter().map(|line| format!("{INDENTATION}{line}")))
        });
        with_below.collect::<Vec<_>>().join("\n")
    }

    /// Takes columns from the end until the others fit. Returns the cells that are taken from each line.
    fn take_columns_beyond(&mut self, width: u16) -> Vec<Vec<String>> {
        let mut taken = vec![Vec::new(); self.lines.len()];
        while self.columns() > 1 && self.measure_min() > u32::from(width) {
            for (cells, line) in taken.iter_mut().zip(&mut self.lines) {
                cells.extend(line.pop());
            }
            self.has_others_below = true;
        }
        taken.iter_mut().for_each(|cells: &mut Vec<String>| cells.reverse());
        taken
    }

    fn columns(&self) -> usize {
        self.lines.first().map_or(0, Vec::len)
    }

    fn column(&self, index: usize) -> impl Iterator<Item = &String> {
        self.lines.iter().filter_map(move |line| line.get(index))
    }

    /// Whether all cells of a column are single words. The last column of a table with others is text.
    fn has_words(&self, index: usize) -> bool {
        let is_text_elsewhere = self.has_others_below || self.columns() == 1;
        // A header may have several words.
        (is_text_elsewhere || index + 1 < self.columns()) && self.column(index).skip(1).all(|cell| is_word(cell))
    }

    /// The width that a column needs at least, with its padding.
    fn measure_column_min(&self, index: usize) -> u16 {
        let longest = self.column(index).map(|cell| cell.chars().count()).max().unwrap_or_default();
        let longest = u16::try_from(longest).unwrap_or(u16::MAX - PADDING);
        PADDING + if self.has_words(index) { longest } else { longest.min(TEXT_CHARACTERS_MIN) }
    }

    fn measure_min(&self) -> u32 {
        (0..self.columns()).map(|index| u32::from(self.measure_column_min(index))).sum()
    }

    fn lay_out(&self, width: Option<u16>) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING).set_truncation_indicator("…");
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::DynamicFullWidth).set_width(width);
        }
        for line in &self.lines {
            table.add_row(line).row_iter_mut().for_each(|row| {
                row.max_height(1);
            });
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_constraint(if self.has_words(index) {
                ColumnConstraint::ContentWidth
            } else {
                ColumnConstraint::LowerBoundary(Width::Fixed(self.measure_column_min(index)))
            });
        }
        table.to_string()
    }
}

/// Puts cells on as few lines as possible. A text that is longer than a line is shortened, and a word never is.
fn wrap(cells: Vec<String>, line_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for cell in cells {
        let cell = if is_word(&cell) { cell } else { clip(&cell, line_max) };
        match lines.last_mut() {
            Some(line) if line.chars().count() + SEPARATOR.len() + cell.chars().count() <= line_max => {
                line.push_str(SEPARATOR);
                line.push_str(&cell);
            }
            _ => lines.push(cell),
        }
    }
    lines
}

fn is_word(cell: &str) -> bool {
    !cell.contains(char::is_whitespace) && cell.chars().count() <= WORD_CHARACTERS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_shown<const COLUMNS: usize>(width: u16, header: [&str; COLUMNS], row: [&str; COLUMNS]) -> String {
        let lines = [header, row].map(|line| line.map(str::to_owned).to_vec()).to_vec();
        let shown = Cells { lines, has_others_below: false }.render(Some(width));
        let is_fit = |line: &str| line.chars().count() <= usize::from(width);
        assert!(shown.lines().all(is_fit), "more than {width} characters:\n{shown}");
        shown
    }

    #[test]
    fn a_table_keeps_its_columns() {
        let shown = render_table(["name", "state"], [["a".to_owned(), "live\u{1b}[2J".to_owned()]]);
        assert_eq!(shown, " name  state\n a     live\\u{1b}[2J");
    }

    #[test]
    fn records_of_runs_are_readable_on_eighty_columns() {
        let header = ["id", "when", "tool", "version", "origin", "ms", "result"];
        let result = r#"{"greetings":["Hello, Ada!"],"delivered":true,"more":"and more"}"#;
        let row = ["691f3b2a5c1e4d7f8a9b0c1d", "2026-11-20T09:41:00Z", "greet", "1.0.0", "direct", "12", result];
        let text = render_shown(80, header, row);
        assert_eq!(text.lines().count(), 4, "{text}");
        for whole in &row {
            assert!(text.contains(whole), "{whole} in\n{text}");
        }
        let wide = render_shown(160, header, row);
        assert_eq!(wide.lines().count(), 2, "{wide}");
        assert!(wide.contains(result), "{wide}");
    }

    #[test]
    fn tools_are_readable_on_eighty_columns() {
        let header = ["name", "id", "tags", "variables", "state", "description"];
        let description = "Returns the weather of a city, and the forecast of the next days, in any language";
        let row = ["greet", "691f3b2a5c1e4d7f8a9b0c1d", "team=sales, beta", "A, B (secret)", "live", description];
        let text = render_shown(80, header, row);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains(row[1]) && text.contains(row[2]) && text.contains(row[3]), "{text}");
        assert!(text.ends_with('…') && text.contains("Returns the weather of a city"), "{text}");
    }

    #[test]
    fn many_words_are_on_several_lines_of_eighty_columns() {
        let header = ["id", "user", "name", "created", "expires", "last used", "revoked"];
        let (id, time) = ("Ab3dEf6hIj9l", "2026-11-20T09:41:00Z");
        let text = render_shown(80, header, [id, "ada@example.com", "laptop of the office", time, time, time, "-"]);
        assert_eq!(text.matches(time).count(), 3, "{text}");
        assert!(text.contains(id) && text.contains("last used"), "{text}");
        let ids = ["691f3b2a5c1e4d7f8a9b0c1d", "high", "approval", "open", time, "691f3b2a5c1e4d7f8a9b0c1e"];
        let header = ["id", "urgency", "kind", "status", "asked", "run", "question"];
        let [one, two, three, four, five, six] = ids;
        let text = render_shown(
            80,
            header,
            [one, two, three, four, five, six, "Which John Smith do you mean, of all of them?"],
        );
        assert!(ids.iter().all(|word| text.contains(word)) && text.contains("of all of them?"), "{text}");
    }

    #[test]
    fn a_text_has_the_rest_of_the_line() {
        let text = render_shown(60, ["name", "description"], ["greet", &"several words ".repeat(20)]);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.ends_with('…') && text.lines().nth(1).is_some_and(|line| line.len() > 50), "{text}");
    }

    #[test]
    fn ids_are_whole_on_a_narrow_terminal() {
        let (id, name) = ("691f3b2a5c1e4d7f8a9b0c1d", "a_tool_with_quite_a_long_name");
        for width in [20, 40] {
            let lines = [["name", "id", "text"], [name, id, "several words"]];
            let lines = lines.map(|line| line.map(str::to_owned).to_vec()).to_vec();
            let shown = Cells { lines, has_others_below: false }.render(Some(width));
            assert!(shown.contains(id) && shown.contains(name), "{width}:\n{shown}");
        }
    }
}
