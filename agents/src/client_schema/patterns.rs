//! Patterns of output schemas that engines of JavaScript read. The official SDK for TypeScript compiles the schemas of all outputs when it
//! lists the tools, and has no list at all if one pattern is none of JavaScript's, such as `(?i)a` or `\-`.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value, json};

use super::keywords::for_each_part;

/// Moves patterns that JavaScript does not read into the descriptions of their schemas.
pub(super) fn move_foreign_patterns(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    if let Some(pattern) = members.get("pattern").and_then(Value::as_str).filter(|pattern| !is_portable(pattern)) {
        let told = format!("Matches {pattern}");
        members.remove("pattern");
        describe(members, &told);
    }
    let patterns = members.get("patternProperties").and_then(Value::as_object);
    if patterns.is_some_and(|patterns| !patterns.keys().all(|pattern| is_portable(pattern))) {
        let moved = members.remove("patternProperties").unwrap_or_default();
        // Other properties are those that match no pattern.
        members.remove("additionalProperties");
        members.remove("unevaluatedProperties");
        describe(members, &format!("Properties by the patterns of their names: {moved}"));
    }
    for_each_part(members, |_, part| move_foreign_patterns(part));
}

fn describe(members: &mut Map<String, Value>, text: &str) {
    let description = match members.get("description").and_then(Value::as_str) {
        Some(own) => format!("{own}\n\n{text}"),
        None => text.to_owned(),
    };
    members.insert("description".to_owned(), json!(description));
}

/// Whether a pattern is one of ECMAScript with the flag `u`, as far as its groups, escapes and repetitions tell.
fn is_portable(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let (mut in_set, mut can_repeat) = (false, false);
    while let Some(character) = rest.next() {
        let is_right = match character {
            '\\' => is_escape(&mut rest, in_set),
            ']' if in_set => {
                in_set = false;
                true
            }
            _ if in_set => true,
            '[' => {
                in_set = true;
                true
            }
            '(' => rest.next_if_eq(&'?').is_none() || is_group(&mut rest),
            '{' => can_repeat && is_count(&mut rest),
            '*' | '+' | '?' => can_repeat,
            ']' | '}' => false,
            _ => true,
        };
        if !is_right {
            return false;
        }
        let repeats = !in_set && matches!(character, '*' | '+' | '?' | '{');
        if repeats {
            // A lazy repetition.
            rest.next_if_eq(&'?');
        }
        can_repeat = !repeats && !matches!(character, '(' | '|' | '^' | '$');
    }
    !in_set
}

/// The escapes that JavaScript has. It refuses all others.
fn is_escape(rest: &mut Peekable<Chars<'_>>, in_set: bool) -> bool {
    match rest.next() {
        Some('x') => are_hexadecimal(rest, 2),
        Some('u') if rest.peek() == Some(&'{') => read_braces(rest).is_some(),
        Some('u') => are_hexadecimal(rest, 4),
        Some('p' | 'P') => read_braces(rest).is_some_and(|name| name.contains('=') || name.len() <= 2),
        Some('c') => rest.next().is_some_and(|c| c.is_ascii_alphabetic()),
        Some('-') => in_set,
        Some('B') => !in_set,
        Some('0') => !rest.peek().is_some_and(char::is_ascii_digit),
        Some(escaped) => "dDwWsSbfnrtv^$\\.*+?()[]{}|/".contains(escaped),
        None => false,
    }
}

/// Reads so many digits.
fn are_hexadecimal(rest: &mut Peekable<Chars<'_>>, count: usize) -> bool {
    (0..count).all(|_| rest.next().is_some_and(|digit| digit.is_ascii_hexdigit()))
}

/// Reads `{…}` after `\u` or `\p`.
fn read_braces(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    rest.next_if_eq(&'{')?;
    let name: String = rest.by_ref().take_while(|c| *c != '}').collect();
    (!name.is_empty()).then_some(name)
}

/// Reads the kind of a group after `(?`.
fn is_group(rest: &mut Peekable<Chars<'_>>) -> bool {
    match rest.next() {
        Some(':' | '=' | '!') => true,
        Some('<') => rest.peek().is_some_and(|c| matches!(c, '=' | '!' | '_' | '$') || c.is_alphabetic()),
        _ => false,
    }
}

/// Reads the numbers of a repetition after `{`.
fn is_count(rest: &mut Peekable<Chars<'_>>) -> bool {
    let numbers: String = rest.by_ref().take_while(|c| *c != '}').collect();
    let (least, most) = numbers.split_once(',').unwrap_or((&numbers, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_javascript_are_told_from_others() {
        for pattern in [
            "",
            "^a$",
            r"^[\w\-.]+@[^@\s]+$",
            "a{2}b{2,}c{2,3}?",
            "(?:a|b)+",
            "(?<year>[0-9]{4})",
            "(?<=a)b(?!c)",
            r"\p{L}\p{Script=Greek}\u{1F600}\u0041\x41\cA\0",
            r"\$\^\.\*\+\?\(\)\[\]\{\}\|\/\\",
            "[a}]{1}",
            "a*?b",
        ] {
            assert!(is_portable(pattern), "{pattern}");
        }
        for pattern in [
            "(?i)a",
            "(?P<year>a)",
            "(?#a)",
            "(?>a)",
            r"\A",
            r"a\z",
            r"a\Z",
            r"\-",
            r"\@",
            r"\pL",
            r"\p{Greek}",
            "a{",
            "}",
            "]",
            "[a",
            "a**",
            "a++",
            "*a",
            r"\x4",
            r"\_",
            "a{,2}",
            r"a\",
        ] {
            assert!(!is_portable(pattern), "{pattern}");
        }
    }

    #[test]
    fn foreign_patterns_become_descriptions() {
        let mut schema = json!({"type": "object", "properties": {
            "kept": {"type": "string", "pattern": "^a$"},
            "moved": {"type": "string", "description": "A phone.", "pattern": r"^\d{3}\-\d{4}$"},
            "map": {"type": "object", "patternProperties": {"(?i)^x": {"type": "string"}}, "additionalProperties": false},
        }});
        move_foreign_patterns(&mut schema);
        let properties = &schema["properties"];
        assert_eq!(properties["kept"], json!({"type": "string", "pattern": "^a$"}));
        assert_eq!(properties["moved"]["description"], "A phone.\n\nMatches ^\\d{3}\\-\\d{4}$");
        assert!(properties["moved"].get("pattern").is_none());
        let map = properties["map"].as_object().unwrap();
        assert!(!map.contains_key("patternProperties") && !map.contains_key("additionalProperties"), "{map:?}");
    }
}
