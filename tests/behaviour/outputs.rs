//! Outputs: lengths, characters and records.

use serde_json::{Value, json};

use super::{Expect, case, check, fails, gives};
use crate::harness::{Run, Team, Tool, input};

/// A tool that returns a character a number of times.
fn repeating<'t>(team: &'t Team, name: &str) -> Tool<'t> {
    team.tool(name).body("return tool_input['character'] * tool_input['times']").published()
}

fn repeat(tool: &Tool<'_>, character: &str, times: usize, persistence: Option<&str>) -> Run {
    let mut body = json!({"inputs": [input(&json!({"character": character, "times": times}))]});
    if let Some(persistence) = persistence {
        body["result_persistence"] = Value::from(persistence);
    }
    tool.invoke_inputs(&body).remove(0)
}

#[test]
fn lengths_are_counted_in_characters() {
    let team = Team::new();
    let tool = repeating(&team, "repeats");
    let fits = |character: &str, times: usize, persistence: Option<&str>, persisted: bool| {
        let run = repeat(&tool, character, times, persistence);
        assert_eq!(run.output(), character.repeat(times));
        assert_eq!(run.is_persisted(), persisted, "{times} {persistence:?}");
        super::recorded(&team, &run);
    };
    let refused = |character: &str, times: usize, persistence: Option<&str>, kind: &str| {
        let run = repeat(&tool, character, times, persistence);
        assert!(!run.is_persisted(), "{times} {persistence:?}");
        super::recorded(&team, &run);
        let failure = run.failure();
        assert_eq!(failure.kind, kind, "{times} {persistence:?}");
        assert!(failure.message.contains(&times.to_string()), "{failure:?}");
    };
    // Characters of one, two, three and four bytes.
    for character in ["x", "é", "語", "😀"] {
        fits(character, 20_000, None, false);
        refused(character, 20_001, None, "output_too_large");
        fits(character, 5_000, None, true);
        fits(character, 5_001, None, false);
    }
    fits("x", 5_000, Some("persisted"), true);
    refused("x", 5_001, Some("persisted"), "output_not_persistable");
    fits("x", 5_000, Some("persisted-preferred"), true);
    fits("x", 5_001, Some("persisted-preferred"), false);
    fits("x", 10, Some("ephemeral"), false);
    fits("x", 20_000, Some("ephemeral"), false);
    refused("x", 20_001, Some("ephemeral"), "output_too_large");
    refused("x", 20_001, Some("persisted"), "output_too_large");
}

#[test]
fn an_output_beyond_the_byte_limit_is_refused() {
    check(&[
        fails("returns_megabytes", "return 'x' * (3 << 20)", "output_too_large", &[]),
        // The host does not copy an output of this size, and stops the guest.
        case(
            "returns_tens_of_megabytes",
            "return 'x' * (30 << 20)",
            Expect::That(|run| {
                assert_eq!(run.failure().kind, "output_too_large", "{run}");
            }),
        ),
        fails("returns_a_long_list", "return list(range(1_000_000))", "output_too_large", &[]),
    ]);
}

#[test]
fn every_character_is_returned() {
    check(&[
        gives("returns_nul", "return 'a\\0b'", "a\0b"),
        gives(
            "returns_controls",
            "return ''.join(map(chr, range(32)))",
            &(0..32_u8).map(char::from).collect::<String>(),
        ),
        gives("returns_emoji", "return '👩‍👩‍👧‍👦 🏴‍☠️'", "👩‍👩‍👧‍👦 🏴‍☠️"),
        gives("returns_the_last_character", "return chr(0x10FFFF) + chr(0xFFFF)", "\u{10ffff}\u{ffff}"),
        gives("returns_quotes", "return {'\"': '\\\\'}", r#"{"\"":"\\"}"#),
        fails("returns_a_lone_surrogate", "return 'a' + chr(0xD800)", "UnserialisableResult", &["Unicode"]),
        fails("returns_a_surrogate_key", "return {chr(0xDFFF): 1}", "UnserialisableResult", &["Unicode"]),
        fails("raises_nul", "raise ValueError('a\\0b')", "ValueError", &["a\0b"]),
        case(
            "raises_a_lone_surrogate",
            "raise ValueError('a' + chr(0xD800) + 'b')",
            Expect::That(|run| {
                let failure = run.failure();
                assert_eq!(failure.kind, "ValueError", "{run}");
                assert!(failure.message.starts_with('a') && failure.message.ends_with('b'), "{run}");
            }),
        ),
        fails("raises_a_strange_name", "raise type('Ärger\\n', (Exception,), {})('x')", "Ärger\n", &["x"]),
    ]);
}

#[test]
fn deep_json_succeeds_or_fails_the_run() {
    check(&[
        case(
            "returns_deep",
            "x = []\nfor _ in range(100):\n    x = [x]\nreturn x",
            Expect::That(|run| {
                assert_eq!(run.output().len(), 202);
            }),
        ),
        case(
            "returns_deeper",
            "x = []\nfor _ in range(100_000):\n    x = [x]\nreturn x",
            Expect::That(|run| {
                run.failure();
            }),
        ),
    ]);
}

#[test]
fn recorded_outputs_can_be_searched() {
    let team = Team::new();
    let tool = repeating(&team, "repeats");
    let run = repeat(&tool, "needle ", 1, None);
    repeat(&tool, "hay\0stack ", 1, None);
    let found = |query: &str| {
        let search = team.request("GET", "/tool/invocation/search");
        let found = search.query(&[("query", query), ("query_against", "invocation_status.output")]).send().expect(200);
        found["tool_invocations"].as_array().expect("a list").clone()
    };
    assert_eq!(found("needle")[0]["id"], run.id());
    assert_eq!(found("stack").len(), 1, "a word after a NUL is found too");
    assert_eq!(found("elsewhere").len(), 0);
}
