//! The log of a conversation: its contents, its order, and reverted turns.

use serde_json::{Value, json};

use crate::harness::{Run, Team, Tool, input};

const CONVERSATION: &str = "c0c0c0c0c0c0c0c0c0c0c0c0";
const FIRST_TURN: &str = "f1f1f1f1f1f1f1f1f1f1f1f1";
const SECOND_TURN: &str = "f2f2f2f2f2f2f2f2f2f2f2f2";

fn source(conversation: &str, interaction: &str) -> Value {
    json!({
        "type": "regular-conversation", "user_id": "u", "conversation_id": conversation,
        "interaction_id": interaction,
        "invocation_metadata": {
            "type": "engage-user", "current_state_machine_and_version": ["greeting", 1], "tool_call_round_index": 0,
        },
    })
}

/// A tool that repeats `character`, fails for a count of zero, and fails with a long message for a negative count.
fn repeater(team: &Team) -> Tool<'_> {
    let body = "
        if tool_input['times'] <= 0:
            raise ValueError('none' * (1 - 2000 * tool_input['times']))
        return tool_input['character'] * tool_input['times']
    ";
    team.tool("repeats").body(body).published()
}

struct Turn {
    character: &'static str,
    times: i32,
    persistence: &'static str,
    interaction: &'static str,
}

impl Turn {
    fn of(character: &'static str, times: i32) -> Self {
        Self { character, times, persistence: "persisted-preferred", interaction: FIRST_TURN }
    }

    fn persistence(self, persistence: &'static str) -> Self {
        Self { persistence, ..self }
    }

    fn second(self) -> Self {
        Self { interaction: SECOND_TURN, ..self }
    }

    fn run(&self, tool: &Tool<'_>) -> Run {
        let parameters = json!({"character": self.character, "times": self.times});
        let body = json!({
            "inputs": [input(&parameters)], "result_persistence": self.persistence,
            "invocation_source": source(CONVERSATION, self.interaction),
        });
        tool.invoke_inputs(&body).remove(0)
    }
}

/// Returns the ids in the conversation's log, oldest first.
fn log(team: &Team, persisted: &str) -> Vec<String> {
    let query = format!("persisted={persisted}&conversation_id={CONVERSATION}&sort_by=%2Bcreated_at");
    let log = team.get(&format!("/tool/invocation?{query}"));
    let records = log["tool_invocations"].as_array().expect("a list");
    records.iter().map(|record| record["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn the_log_has_the_kept_turns_in_order() {
    let team = Team::new();
    let tool = repeater(&team);
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (turn, is_kept) in [
        (Turn::of("x", 1), true),
        (Turn::of("😀", 5_000), true),
        (Turn::of("😀", 5_001), false),
        (Turn::of("é", 5_000).persistence("persisted"), true),
        (Turn::of("x", 5_001).persistence("persisted"), false),
        (Turn::of("x", 1).persistence("ephemeral"), false),
        (Turn::of("語", 20_000), false),
        (Turn::of("語", 20_001), false),
        (Turn::of("x", 0), true),
        (Turn::of("x", 0).persistence("ephemeral"), false),
        (Turn::of("x", -1), false),
        (Turn::of("x", -1).persistence("persisted"), false),
        (Turn::of("x", 2).second(), true),
    ] {
        let run = turn.run(&tool);
        let is_right = run.is_persisted() == is_kept;
        assert!(is_right, "{} times {}, {}: {run}", turn.times, turn.character, turn.persistence);
        if is_kept { &mut kept } else { &mut left_out }.push(run.id().to_owned());
    }
    tool.invoke(json!({"character": "x", "times": 1}));
    assert_eq!(log(&team, "true"), kept);
    assert_eq!(log(&team, "false"), left_out);
    let content = team.get(&format!("/tool/invocation/{}", kept[1]));
    assert_eq!(content["invocation_status"]["output"], "😀".repeat(5_000));
    assert_eq!(content["invocation_source"], source(CONVERSATION, FIRST_TURN));
}

fn roll_back(team: &Team, body: &Value) -> Value {
    team.post("/tool/invocation/rollback", body).expect(200)
}

#[test]
fn turns_are_taken_back_and_stay_in_the_history() {
    let team = Team::new();
    let tool = repeater(&team);
    let first = Turn::of("x", 1).run(&tool).id().to_owned();
    let second = Turn::of("x", 2).second().run(&tool).id().to_owned();
    let ephemeral = Turn::of("x", 3).second().persistence("ephemeral").run(&tool).id().to_owned();
    let one = json!({"conversation_id": CONVERSATION, "interaction_id": SECOND_TURN});
    assert_eq!(roll_back(&team, &one), json!({"rolled_back": 2}));
    assert_eq!(roll_back(&team, &one), json!({"rolled_back": 0}), "once is enough");
    assert_eq!(log(&team, "true"), std::slice::from_ref(&first));
    for id in [&second, &ephemeral] {
        let record = team.get(&format!("/tool/invocation/{id}"));
        let unlinked = &record["invocation_source"];
        assert_eq!((&unlinked["conversation_id"], &unlinked["interaction_id"]), (&Value::Null, &Value::Null));
        assert_eq!((&unlinked["type"], &unlinked["user_id"]), (&json!("regular-conversation"), &json!("u")));
        assert_eq!(record["invocation_status"]["succeeded"], true);
    }
    let whole = json!({"conversation_id": CONVERSATION, "interaction_id": null});
    assert_eq!(roll_back(&team, &whole), json!({"rolled_back": 1}));
    assert_eq!(log(&team, "true"), [""; 0]);
    assert_eq!(team.history().len(), 3);
    let again = Turn::of("x", 4).run(&tool).id().to_owned();
    assert_eq!(log(&team, "true"), [again], "the conversation may go on");
}

#[test]
fn a_simulation_is_taken_back() {
    let team = Team::new();
    let tool = repeater(&team);
    let simulated = |run_id: &str| {
        let source = json!({
            "type": "simulation-conversation", "simulation_unit_test_set_run_id": run_id,
            "unit_test_id": "f".repeat(24), "run_index": 3,
            "invocation_metadata": source(CONVERSATION, FIRST_TURN)["invocation_metadata"],
        });
        let body = json!({"inputs": [input(&json!({"character": "x", "times": 1}))], "invocation_source": source});
        tool.invoke_inputs(&body).remove(0).id().to_owned()
    };
    let runs = |run_id: &str| {
        let list = team.get(&format!("/tool/invocation?simulation_unit_test_set_run_id={run_id}"));
        list["tool_invocations"].as_array().expect("a list").len()
    };
    let [one, other] = ["e1".repeat(12), "e2".repeat(12)];
    let ids = [simulated(&one), simulated(&one)];
    simulated(&other);
    Turn::of("x", 1).run(&tool);
    let whole = json!({"simulation_unit_test_set_run_id": one});
    assert_eq!(roll_back(&team, &whole), json!({"rolled_back": 2}));
    assert_eq!(roll_back(&team, &whole), json!({"rolled_back": 0}));
    assert_eq!((runs(&one), runs(&other), log(&team, "true").len()), (0, 1, 1));
    let unlinked = team.get(&format!("/tool/invocation/{}", ids[0]))["invocation_source"].clone();
    for name in ["simulation_unit_test_set_run_id", "unit_test_id", "run_index"] {
        assert!(unlinked[name].is_null(), "{unlinked}");
    }
}

#[test]
fn a_rollback_of_a_colleague_leaves_the_turns_and_one_of_an_administrator_takes_them() {
    let team = Team::new();
    let tool = repeater(&team);
    Turn::of("x", 1).run(&tool);
    let bob = team.joined_by("bob", "author");
    let whole = json!({"conversation_id": CONVERSATION});
    assert_eq!(roll_back(&bob, &whole), json!({"rolled_back": 0}));
    assert_eq!(log(&team, "true").len(), 1);
    let id = tool.id().to_owned();
    Turn::of("x", 2).run(&bob.tool("repeater").with_id(&id));
    assert_eq!(roll_back(&bob, &whole), json!({"rolled_back": 1}), "that of bob");
    assert_eq!(log(&team, "true").len(), 1);
    Turn::of("x", 3).run(&bob.tool("repeater").with_id(&id));
    assert_eq!(roll_back(&team, &whole), json!({"rolled_back": 2}), "an administrator");
}

#[test]
fn a_rollback_reaches_its_own_conversation_alone() {
    let team = Team::new();
    let tool = repeater(&team);
    Turn::of("x", 1).run(&tool);
    let other = json!({"conversation_id": "d0".repeat(12)});
    assert_eq!(roll_back(&team, &other), json!({"rolled_back": 0}));
    let of_no_turn = json!({"conversation_id": CONVERSATION, "interaction_id": SECOND_TURN});
    assert_eq!(roll_back(&team, &of_no_turn), json!({"rolled_back": 0}));
    let stranger = Team::on(&team.server);
    assert_eq!(roll_back(&stranger, &json!({"conversation_id": CONVERSATION})), json!({"rolled_back": 0}));
    assert_eq!(log(&team, "true").len(), 1);
    let simulation = "e1".repeat(12);
    for bad in [
        json!({}),
        json!({"conversation_id": "x"}),
        json!({"conversation_id": CONVERSATION, "interaction_id": 3}),
        json!({"conversation_id": CONVERSATION, "simulation_unit_test_set_run_id": simulation}),
        json!({"interaction_id": FIRST_TURN, "simulation_unit_test_set_run_id": simulation}),
        json!({"interaction_id": FIRST_TURN}),
    ] {
        team.post("/tool/invocation/rollback", &bad).expect(422);
    }
}
