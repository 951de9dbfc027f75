//! Outputs that are too large, not text, or problematic for other programs.
//!
//! An output is text. The host neither parses nor repairs it, so text that is not JSON, or JSON that parsers disagree about, is
//! returned unchanged. Python's serialiser refuses to make such JSON (`python.rs`).

use serde_json::Value;

use super::case::{Case, Expect, case, fails, gives, guest};
use crate::harness::Run;

pub fn cases() -> Vec<Case> {
    let much = |n| guest_of(guest!("says_much"), n);
    let too_large = || fails("output_too_large", &[]);
    vec![
        case(25, guest!("says_much"), gives("x".repeat(20_000))).n(20_000),
        case(25, guest!("says_much"), fails("output_too_large", &["20001"])).n(20_001),
        case(26, guest!("says_much_in_emoji"), gives("😀".repeat(20_000))).n(20_000),
        case(26, guest!("says_much_in_emoji"), too_large()).n(20_001),
        case(27, guest!("says_much"), too_large()).n(1_000_000),
        case(27, guest!("says_much"), too_large()).n(9_000_000),
        case(28, guest!("lies_about_lengths"), fails("trap", &["out of bounds"])).n(1),
        case(28, guest!("lies_about_lengths"), fails("trap", &["out of bounds"])).n(3),
        case(29, guest!("lies_about_lengths"), fails("trap", &["out of bounds"])).n(2),
        case(30, guest!("says_no_utf8"), fails("trap", &["utf-8"])),
        case(32, guest!("says_half_a_surrogate"), gives("\"\\ud800\"")),
        case(33, guest!("says_nul"), gives("a\0b")),
        case(34, guest!("says_nan"), gives("[NaN,Infinity]")),
        case(35, guest!("says_a_huge_number"), gives("1e400")),
        case(35, guest!("says_many_digits"), gives("9".repeat(10_000))).n(10_000),
        case(36, guest!("nests_brackets"), gives("[".repeat(129) + &"]".repeat(129))).n(129),
        case(36, guest!("nests_brackets"), too_large()).n(1_000_000),
        case(37, guest!("says_a_key_twice"), gives("{\"a\":1,\"a\":2}")),
        // Output schemas are not declared yet, so that no output can miss one.
        case(38, guest!("counts_its_environment"), gives("0")),
        case(39, guest!("commands_the_terminal"), Expect::That(commanded)),
        case(40, guest!("says_markup"), gives("</script><script>alert(1)</script>\u{202e}txt.exe")),
        much(4_999).persistence("persisted"),
        much(5_000).persistence("persisted"),
        case(41, guest!("says_much"), fails("output_not_persistable", &["5001"])).n(5_001).persistence("persisted"),
        much(5_000).persistence("persisted-preferred"),
        much(5_001).persistence("persisted-preferred"),
        case(42, guest!("raises_much"), Expect::That(trace_was_cut)).n(1_000_000),
        case(42, guest!("raises_much"), too_large()).n(10_000_000),
    ]
}

/// An output that is persisted up to 5,000 characters, and only answered beyond.
fn guest_of(guest: (&'static str, &'static str), n: u64) -> Case {
    let persisted = |run: &Run, record: &Value| {
        let fits = run.output().len() <= 5_000;
        assert_eq!((run.is_persisted(), &record["persisted"]), (fits, &Value::from(fits)), "{run}");
    };
    case(41, guest, Expect::That(persisted)).n(n)
}

/// The text is stored unchanged.
fn commanded(run: &Run, record: &Value) {
    let failure = run.failure();
    assert!(failure.kind.starts_with("\u{1b}[2J") && failure.kind.ends_with("\r\n"), "{run}");
    assert_eq!(failure.message, failure.kind);
    assert_eq!(record["logs"].as_str(), Some(failure.kind.as_str()));
}

fn trace_was_cut(run: &Run, _: &Value) {
    let failure = run.failure();
    assert_eq!(failure.trace.last().map(String::as_str), Some("[truncated]"), "{run}");
    assert!(failure.trace.concat().len() < 70_000, "{run}");
}

#[test]
fn outputs_are_text_within_bounds() {
    super::check::check(&cases());
}
