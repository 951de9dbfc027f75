//! Says which field of a cron expression is wrong, and what the field takes.

use croner::parser::CronParser;
use runner::cut_text;

/// Bytes of a field that a message repeats.
const FIELD_BYTES_MAX: usize = 40;

/// The fields in their order, with their values.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day of the month", "1 to 31, or L for the last one"),
    ("month", "1 to 12, or JAN to DEC"),
    ("day of the week", "0 to 7 with 0 and 7 for Sunday, or SUN to SAT"),
];
const EXAMPLE: &str = "such as `30 9 * * MON-FRI`";

/// Describes what is wrong with an expression that the parser refuses. `reason` is the parser's own message.
pub(super) fn describe(parser: &CronParser, expression: &str, reason: &str) -> String {
    let fields: Vec<&str> = expression.split_whitespace().collect();
    if expression.trim_start().starts_with('@') {
        return "no such name: use @hourly, @daily, @weekly, @monthly or @yearly, or five fields".to_owned();
    }
    if fields.len() != FIELDS.len() {
        let names: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
        let count = fields.len();
        return format!("an expression has five fields ({}), {EXAMPLE}, and this one has {count}", names.join(", "));
    }
    let is_wrong = |index: &usize| {
        let alone: Vec<_> = (0..FIELDS.len()).map(|other| if other == *index { fields[*index] } else { "*" }).collect();
        parser.parse(&alone.join(" ")).is_err()
    };
    match (0..FIELDS.len()).find(is_wrong) {
        Some(index) => {
            let ((name, values), field) = (FIELDS[index], cut_text(fields[index].to_owned(), FIELD_BYTES_MAX));
            format!(
                "the {name} `{field}` is wrong: it takes {values}, lists (1,2), ranges (1-5), steps (*/2) and *, {EXAMPLE}"
            )
        }
        None => format!("{reason}; an expression has five fields, {EXAMPLE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cron::check_cron;

    #[test]
    fn the_wrong_field_is_named_with_its_values() {
        let told = |expression: &str| check_cron(expression).unwrap_err();
        for (expression, expected) in [
            ("61 * * * *", "the minute `61` is wrong: it takes 0 to 59"),
            ("0 24 * * *", "the hour `24` is wrong: it takes 0 to 23"),
            ("0 9 32 * *", "the day of the month `32` is wrong"),
            ("0 9 * 13 *", "the month `13` is wrong: it takes 1 to 12"),
            ("0 9 * * 8", "the day of the week `8` is wrong: it takes 0 to 7"),
            ("0 9 * *", "this one has 4"),
            ("0 0 9 * * *", "this one has 6"),
            ("", "this one has 0"),
            ("@sometimes", "use @hourly"),
        ] {
            assert!(told(expression).contains(expected), "{expression}: {}", told(expression));
        }
        assert!(told(&format!("{} * * * *", "9".repeat(100_000))).len() < 300);
        assert_eq!(check_cron("*/20 9-17 * * MON"), Ok(()));
    }
}
