//! The fragments of a statement that each database writes in its own way.
//!
//! | fragment | stands for |
//! |---|---|
//! | `{now}` | the database's clock in milliseconds |
//! | `{begin}` | the statement that begins a transaction of the record of runs |
//! | `{begin alone}` | the statement that begins a transaction beside which no other of its kind runs |
//! | `{notify text}` | sends a text to other servers, when the transaction commits |
//! | `{members $1}` | the texts of a JSON array, as a table with the column `value` |
//! | `{records $1 name TEXT, size INTEGER, sealed BYTES}` | the objects of a JSON array as rows; bytes are hexadecimal |
//! | `{field s.source user_id}` | a field of a JSON object |
//! | `{words scope words}` | words separated by spaces, as the full-text index takes those of a scope |
//! | `{index name}` | reads the table before it through an index, where the planner would not |
//! | `{each name condition}` | the runs `s` that meet the condition, for each row of the table before, through an index |
//! | `{for each}` | evaluates the subquery that it ends for each row, where the planner would rather join all of its rows |
//! | `{skip locked}` | locks the rows that are read, and leaves out those that another transaction has locked |
//! | `{touch}` | a write that reaches the disk and changes no data |

use std::borrow::Cow;

/// Returns the text before the next fragment, the fragment and the text after it. A fragment begins with a letter.
fn find_next(text: &str) -> Option<(&str, &str, &str)> {
    let is_fragment =
        |(start, _): &(usize, &str)| text[start + 1..].starts_with(|next: char| next.is_ascii_lowercase());
    let (start, _) = text.match_indices('{').find(is_fragment)?;
    let (fragment, after) = text[start + 1..].split_once('}')?;
    Some((&text[..start], fragment, after))
}

/// Replaces the fragments of a statement with what `write` returns for a name and its arguments.
pub(in crate::store) fn expand(text: Cow<'static, str>, write: fn(&str, &str) -> String) -> Cow<'static, str> {
    if !text.contains('{') {
        return text;
    }
    let mut expanded = String::with_capacity(2 * text.len());
    let mut rest = &*text;
    while let Some((before, fragment, after)) = find_next(rest) {
        let (name, arguments) = fragment.split_once(' ').unwrap_or((fragment, ""));
        expanded.push_str(before);
        expanded.push_str(&write(name, arguments));
        rest = after;
    }
    expanded.push_str(rest);
    Cow::Owned(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_replaced() {
        let write = |name: &str, arguments: &str| format!("[{name}|{arguments}]");
        for (text, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("{now}", "[now|]"),
            (r#"'{"a":1}' {now}"#, r#"'{"a":1}' [now|]"#),
            ("{now", "{now"),
            ("a {members $1} b {records $2 x TEXT, y BYTES}", "a [members|$1] b [records|$2 x TEXT, y BYTES]"),
        ] {
            assert_eq!(expand(Cow::Borrowed(text), write), expected);
        }
    }
}
