//! Files with variables: a line NAME=VALUE for each, as `docker run --env-file` and many other programs read them.

use std::collections::BTreeMap;

use crate::failure::Failure;
use crate::text_input;

const HINT: &str = "write NAME=VALUE on each line; a value may be in single or double quotes, # begins a comment line";

/// Reads the variables of a file, or of stdin for `-`. Nothing in a value is expanded: a secret may contain `$`.
pub fn read(file: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let text = match file {
        "-" => text_input::read_stdin()?,
        file => text_input::read_file(file.as_ref())?,
    };
    let mut variables = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let refused = |problem: &str| Failure::usage(format!("{file}:{number}: {problem}"), HINT);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or_else(|| refused("there is no value"))?;
        let value = unquote(value.trim()).ok_or_else(|| refused("the quotes do not end with the line"))?;
        if variables.insert(name.trim().to_owned(), value).is_some() {
            return Err(refused(&format!("{} is given twice", name.trim())));
        }
    }
    Ok(variables)
}

/// Removes the quotes of a value. Within double quotes, a backslash stands before a quote, a backslash, n, r or t. `None` if the quotes
/// do not end.
fn unquote(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.strip_suffix('\'').filter(|text| !text.contains('\'')).map(str::to_owned);
    }
    let Some(rest) = value.strip_prefix('"') else { return Some(value.to_owned()) };
    let (mut text, mut characters) = (String::new(), rest.chars());
    loop {
        match characters.next()? {
            '"' => return characters.as_str().is_empty().then_some(text),
            '\\' => match characters.next()? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                escaped @ ('"' | '\\') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            character => text.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_removed_and_nothing_is_expanded() {
        for (value, expected) in [
            ("plain $HOME # text", Some("plain $HOME # text")),
            ("'a \"b\" $c'", Some("a \"b\" $c")),
            (r#""a\n\"b\" \d""#, Some("a\n\"b\" \\d")),
            ("", Some("")),
            ("'open", None),
            ("\"open", None),
            ("\"a\" b", None),
        ] {
            assert_eq!(unquote(value).as_deref(), expected, "{value}");
        }
    }
}
