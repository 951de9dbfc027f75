//! Every encoding that `docs/explanation/secrets.md` lists, unrelated texts, cuts and numbers.

mod encodings;
mod used_values;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::sandbox::outcome::LOOKAHEAD_BYTES;
use encodings::{all, binary, literals, urls};

fn redactor(secret: &str) -> Redactor {
    Redactor::of(std::iter::once(secret))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The redacted text contains the secret in none of the encodings.
    #[test]
    fn every_listed_encoding_is_found(
        before in "[ -~]{0,9}",
        secret in "[!-~é漢😀\u{8}\u{c}\n\t/~\"'\\\\]{8,40}",
        after in "[ -~]{0,9}",
    ) {
        let redactor = redactor(&secret);
        for (name, text) in all(&format!("{before}{secret}{after}")) {
            let redacted = redactor.text(text.clone());
            prop_assert!(redacted.contains(REDACTED), "{name}: {text:?} -> {redacted:?}");
            for (inner, told) in all(&secret) {
                prop_assert!(!redacted.contains(&told), "{name} tells {inner}: {text:?} -> {redacted:?}");
            }
        }
    }

    #[test]
    fn text_around_a_secret_stays(before in "[a-z ]{0,20}", after in "[a-z ]{0,20}") {
        let redactor = redactor("S3CRET/+~é\"x");
        for text in ["S3CRET/+~é\"x", "S3CRET\\/+~\\u00e9\\\"x", "S3CRET%2f%2B%7E%c3%a9\"x"] {
            let redacted = redactor.text(format!("{before}{text}{after}"));
            prop_assert_eq!(redacted, format!("{before}{REDACTED}{after}"));
        }
    }

    #[test]
    fn other_texts_stay_as_they_are(secret in "[A-Z0-9/+~]{8,20}", text in "[a-z0-9 %+\\\\/\"'\n\r]{0,300}") {
        prop_assert_eq!(redactor(&secret).text(text.clone()), text);
    }

    /// Encodings of other texts are the texts most similar to encodings of a secret.
    #[test]
    fn encodings_of_other_texts_stay_as_they_are(secret in "[!-~é]{12,20}", other in "[!-~é漢😀]{12,40}") {
        prop_assume!(!other.contains(secret.get(..4).unwrap_or(&secret)));
        for (name, text) in all(&other) {
            let redacted = redactor(&secret).text(text.clone());
            prop_assert_eq!(redacted, text, "{}", name);
        }
    }

    #[test]
    fn a_secret_that_was_cut_leaves_at_most_three_bytes(secret in "[A-Za-z]{8,40}", length in 0_usize..40) {
        let told = &secret[..length.min(secret.len() - 1)];
        let redacted = redactor(&secret).text(format!("key {told}{CUT} and more"));
        prop_assert!(redacted.len() <= "key ".len() + 3 + REDACTED.len() + CUT.len() + " and more".len(), "{redacted}");
        prop_assert!(told.len() <= 3 || !redacted.contains(told), "{redacted}");
    }

    /// No part of a secret remains before the bound, in any encoding.
    #[test]
    fn a_secret_across_the_bound_of_a_text_leaves_nothing(
        secret in "[A-Za-zé漢😀\"\\\\]{30,40}",
        bound in 0_usize..400,
    ) {
        let redactor = redactor(&secret);
        for (name, text) in [vec![("as it is", secret.clone())], literals(&secret), binary(&secret), urls(&secret)].concat() {
            let all = format!("key {text} {}", "-".repeat(2 * LOOKAHEAD_BYTES));
            let sent = all[..all.floor_char_boundary(bound + LOOKAHEAD_BYTES)].to_owned();
            let redacted = redactor.within(sent, bound, CUT);
            let told = redacted.trim_end_matches(CUT).replace(REDACTED, "");
            let rest = told.trim_end_matches('-').trim();
            let left: String = rest.strip_prefix("key").unwrap_or(rest).trim().to_owned();
            // The characters at the ends of base64 depend on the text beside it, and quotes are not part of a secret.
            let frame_bytes = if name.contains("within") { 16 } else { 8 };
            prop_assert!(left.len() <= frame_bytes, "{name}, cut at {bound}: {redacted:?}");
        }
    }
}

#[test]
fn a_limit_of_forms_keeps_the_rest_of_a_long_secret_searched() {
    // Parts of more than the limit: their base64 is searched, their UTF-16 is not.
    let lines: Vec<String> =
        (0..300_u32).map(|number| format!("{number:03}-{:010}", number.wrapping_mul(2_654_435_761))).collect();
    let redactor = redactor(&lines.join("\n"));
    for line in &lines {
        for text in [line.clone(), hex::encode(line), format!("a%20{line}")] {
            assert!(!redactor.text(text.clone()).contains(&text[4..]), "{text}");
        }
    }
}

#[test]
fn lines_of_a_long_secret_are_found_alone() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END KEY-----";
    let redacted = redactor(key).text("trace: MIIEvQIBADANBgkqhkiG9w0BAQEF".to_owned());
    assert_eq!(redacted, format!("trace: {REDACTED}"));
}

#[test]
fn overlapping_secrets_are_redacted_together() {
    let redactor = Redactor::of(["abcdefgh", "efghijkl"].into_iter());
    assert_eq!(
        redactor.text("-abcdefghijkl-abcdefghabcdefgh-".to_owned()),
        format!("-{REDACTED}-{REDACTED}{REDACTED}-")
    );
    assert_eq!(self::redactor("aaaaaaaa").text("a".repeat(1_000)), REDACTED);
}

#[test]
fn long_secrets_are_found_and_longer_ones_redact_whole_texts() {
    let long = "0123456789abcdef".repeat(1_000);
    let redacted = redactor(&long).text(format!("is {long}!"));
    assert_eq!(redacted, format!("is {REDACTED}!"));
    assert_eq!(redactor(&long).text(format!("is {}!", json!(long))), format!("is \"{REDACTED}\"!"));
    let longer = long.repeat(5);
    assert_eq!(redactor(&longer).text("harmless".into()), REDACTED);
    assert_eq!(redactor(&longer).text(String::new()), "");
    let many: Vec<String> = (0..9_000).map(|number| format!("secret{number:04}")).collect();
    assert!(matches!(Redactor::of(many.iter().map(String::as_str)), Redactor::Everything));
}

#[test]
fn a_secret_over_several_lines_of_a_trace_is_found() {
    let redactor = redactor("first\nsecond\nthird");
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let trace = redactor.trace(lines(&["at a", "b: first", "second", "third!", "at c"]));
    assert_eq!(trace, lines(&["at a", "b: [redacted]", "!", "at c"]));
    // The third line is beyond the bound, and the runner has sent its start.
    let long = "x".repeat(STACK_TRACE_BYTES_MAX - 20);
    let trace = redactor.trace(lines(&[&long, "first", "second", "third and so much more"]));
    assert_eq!(trace[1..], lines(&[REDACTED, CUT]), "{:?}", &trace[1..]);
}

#[test]
fn numbers_are_secrets_in_data_and_in_texts() {
    let redactor = Redactor::of(["0012345678", "98765432109876543210", "1234.56789"].into_iter());
    let document = StatusDocument {
        message: "98765432109876540000 and 9.876543210987654e+19".into(),
        progress: Some(12_345_678.0),
        total: Some(10.0),
        data: Some(json!([
            12_345_678,
            -12_345_678,
            98_765_432_109_876_543_210_u128 as f64,
            1_234.567_89,
            7,
            "0012345678"
        ])),
    };
    let document = redactor.document(document);
    assert_eq!(document.message, format!("{REDACTED} and {REDACTED}e+19"));
    assert_eq!((document.progress, document.total), (None, Some(10.0)));
    assert_eq!(document.data, Some(json!([REDACTED, REDACTED, REDACTED, REDACTED, 7, REDACTED])));
}

#[test]
fn every_text_of_a_run_is_searched() {
    let redactor = redactor("swordfish");
    let document = StatusDocument {
        message: "is swordfish".into(),
        progress: None,
        total: None,
        data: Some(json!({"a swordfish": [1, "swordfish!"]})),
    };
    let document = redactor.document(document);
    assert_eq!(document.message, format!("is {REDACTED}"));
    assert_eq!(document.data, Some(json!({format!("a {REDACTED}"): [1, format!("{REDACTED}!")]})));
    let failed = Outcome::Failed {
        exception_type: "swordfish".into(),
        exception_message: "swordfish".into(),
        exception_stack_trace: vec!["a".into(), "swordfish".into()],
    };
    let Outcome::Failed { exception_type, exception_message, exception_stack_trace } = redactor.outcome(failed) else {
        panic!("it failed")
    };
    assert_eq!([exception_type.as_str(), &exception_message, &exception_stack_trace[1]], [REDACTED; 3]);
    let printed = Printed { text: "a swordfish".into(), shown: 6, refusals: "refused\n".into() };
    assert_eq!(redactor.logs(printed), format!("a {REDACTED}\n[truncated]refused\n"));
    assert_eq!(redactor.text("swordfis".into()), "swordfis");
    assert_eq!(self::redactor("short").text("short".into()), "short");
}

#[test]
fn a_secret_of_several_lines_across_the_bound_of_a_log_is_found() {
    let secret = "canary-first\ncanary-second\ncanary-third";
    let text = format!("{}{secret}{}", "x".repeat(65_533), "x".repeat(214));
    let logs = redactor(secret).logs(Printed { text, shown: 65_536, refusals: String::new() });
    assert_eq!(&logs[65_520..], format!("{}{REDACTED}\n[truncated]", "x".repeat(13)));
}
