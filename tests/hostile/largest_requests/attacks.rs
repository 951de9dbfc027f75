//! Attacks on what all organisations share, besides the largest request of each operation.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::methods::Message;
use super::shapes::{BODY_BYTES, Shape, filled};
use super::wire::Sent;
use super::world::World;
use super::{Attack, Scale};
use crate::harness::input;

/// Time that a connection is held which would last longer.
const HELD_FOR: Duration = Duration::from_secs(4);
/// Runs of an organisation at the same time, and how long each of them sleeps.
const PERMITS: usize = 24;
/// Bytes of a form of OAuth.
const FORM_BYTES: usize = 16 << 10;
const SLEEPS_MS: &str = "03000";

/// All attacks, with what they need of the server.
pub fn attacks(world: &World, scale: &Scale) -> Vec<Attack> {
    let mut attacks = vec![multiplied_prompt(world, scale)];
    attacks.extend(searches(world, scale));
    attacks.extend(catalogues(world, scale));
    attacks.push(constraints(world, scale));
    attacks.push(shelf(world, scale));
    attacks.push(waiting_runs(world, scale));
    attacks.push(confirmations(world, scale));
    attacks.push(dates(world, scale));
    attacks.push(listeners(world, scale));
    attacks.push(silent_clients(scale));
    attacks.push(unfinished_forms(scale));
    attacks.push(registrations(scale));
    attacks.push(pushes(world, scale));
    attacks
}

impl Attack {
    fn of(name: &str, count: usize, request: impl Fn(usize) -> Sent) -> Self {
        Self { name: name.to_owned(), requests: (0..count).map(request).collect(), succeeds: false }
    }
}

/// An argument of a megabyte for each of 26,000 variables of a prompt.
fn multiplied_prompt(world: &World, scale: &Scale) -> Attack {
    let params = json!({"name": world.prompt_name, "arguments": {"x": "y".repeat(BODY_BYTES - 1_000)}});
    Attack::of("a prompt that multiplies", scale.at_once, |number| {
        Message { method: "prompts/get", params: params.clone(), number }.plain(world)
    })
}

/// Searches for a megabyte of words in all tools.
fn searches(world: &World, scale: &Scale) -> Vec<Attack> {
    world.add_agent("finder", &json!({"tool_exposure": "search"}), &json!({}));
    let word = |number: usize| format!("{number:x}");
    let words = (0..BODY_BYTES / 5).map(word).collect::<Vec<_>>().join(" ");
    let of = |name: &str, query: String| {
        let params = json!({"name": "search_tools", "arguments": {"query": query, "limit": 50}});
        Attack::of(name, scale.at_once, |number| {
            Message { method: "tools/call", params: params.clone(), number }.at(world, "finder")
        })
    };
    let most = words[..BODY_BYTES - 1_000].to_owned();
    vec![of("a search for many words", most), of("a search for one long word", "w".repeat(BODY_BYTES - 1_000))]
}

/// The tools of many agents, of which the server keeps a catalogue each.
fn catalogues(world: &World, scale: &Scale) -> Vec<Attack> {
    let names: Vec<_> = (0..scale.agents).map(|number| format!("listed{number}")).collect();
    let ids: Vec<_> = names.iter().map(|name| world.add_agent(name, &json!({}), &json!({}))).collect();
    let message = |number: usize| Message { method: "tools/list", params: json!({}), number };
    let organization = world.team.organization.clone();
    vec![
        Attack::of("catalogues of many agents", names.len(), |number| message(number).at(world, &names[number])),
        Attack::of("lists of tools for model APIs", scale.at_once, |number| {
            let target = format!("/v1/{organization}/agent/{}/tools?format=openai", ids[number % ids.len()]);
            world.json_request("GET", &target, Vec::new())
        }),
    ]
}

/// One constraint in many spellings.
fn constraints(world: &World, scale: &Scale) -> Attack {
    let body = json!({"inputs": [input(&json!({}))]}).to_string().into_bytes();
    Attack::of("spellings of a constraint", scale.spellings, |number| {
        let (organization, tool) = (&world.team.organization, &world.ids["tool_id"]);
        let target = format!("/v1/{organization}/tool/{tool}/version/%3E%3D0,%21%3D{number}.7.9/invoke");
        world.json_request("POST", &target, body.clone())
    })
}

/// Lists of prompts of a user who has many large ones.
fn shelf(world: &World, scale: &Scale) -> Attack {
    for number in 0..scale.items {
        let variables: Vec<_> =
            (0..64).map(|variable| json!({"name": format!("v{variable}"), "description": "d".repeat(1_000)})).collect();
        let prompt = json!({"name": format!("shelf {number}"), "content": "c".repeat(131_072), "variables": variables});
        let sent = world.json_request("POST", "/api/v1/prompts", prompt.to_string().into_bytes());
        let made = sent.send(world.server.address());
        assert!([201, 429].contains(&made.status), "{} {}", made.status, made.text());
    }
    Attack::of("a shelf of large prompts", scale.at_once, |number| {
        Message { method: "prompts/list", params: json!({}), number }.plain(world)
    })
}

/// Runs that hold all permits of their organisation for a while, and runs that wait for these, each with an input of a megabyte.
fn waiting_runs(world: &World, scale: &Scale) -> Attack {
    let target =
        |tool: &str| format!("/v1/{}/tool/{}/version/%3E%3D0/invoke", world.team.organization, world.ids[tool]);
    let inputs = |parameters: Value| json!({"inputs": [input(&parameters)]});
    let large: Arc<[u8]> = filled(&inputs(json!({})), "/inputs/0/input_parameters", Shape::Lists, BODY_BYTES).into();
    let authorization = world.authorization();
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    Attack::of("waiting runs with large inputs", scale.waiting_runs, |number| {
        let sent = match number < PERMITS {
            true => Sent::new(
                "POST",
                &target("sleeper"),
                &headers,
                inputs(json!({"n": SLEEPS_MS})).to_string().into_bytes(),
            ),
            false => Sent::new("POST", &target("tool_id"), &headers, large.clone()),
        };
        sent.for_a_while(HELD_FOR)
    })
}

/// A question whether a call with a megabyte of arguments is wanted.
fn confirmations(world: &World, scale: &Scale) -> Attack {
    world.add_agent("careful", &json!({}), &json!({"humanIntervention": "required"}));
    let arguments = json!({"text": "\u{202e}<b>".repeat(BODY_BYTES / 12)});
    let params = json!({"name": "small", "arguments": arguments});
    Attack::of("long confirmations", scale.at_once, |number| {
        Message { method: "tools/call", params: params.clone(), number }.at(world, "careful")
    })
}

/// Expressions without any date.
fn dates(world: &World, scale: &Scale) -> Attack {
    Attack::of("cron expressions without a date", scale.at_once * 10, |number| {
        let body = json!({"description": "d", "recurrence": "cron", "cron": format!("{} 0 30 2 *", number % 60)});
        world.json_request("POST", "/api/v1/tasks", body.to_string().into_bytes())
    })
}

/// Streams that listen to changes.
fn listeners(world: &World, scale: &Scale) -> Attack {
    let params = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    Attack::of("listeners on all connections", scale.connections, |number| {
        Message { method: "subscriptions/listen", params: params.clone(), number }.plain(world).for_a_while(HELD_FOR)
    })
}

/// Clients of OAuth whose host says nothing.
fn silent_clients(scale: &Scale) -> Attack {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // Connections wait in the kernel's queue: nobody accepts them.
    std::mem::forget(listener);
    Attack::of("clients of silent hosts", scale.connections, |number| {
        let client = format!("https%3A%2F%2Flocalhost%3A{port}%2F{number}");
        let target =
            format!("/oauth/authorize?response_type=code&client_id={client}&redirect_uri=http%3A%2F%2Flocalhost%2F");
        Sent::new("GET", &target, &[], Vec::new()).for_a_while(HELD_FOR)
    })
}

/// Forms that are never complete, as long as they may be.
fn unfinished_forms(scale: &Scale) -> Attack {
    let body: Arc<[u8]> = vec![b'a'; FORM_BYTES - 1].into();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let whole = Sent::new("POST", "/oauth/token", &form, vec![b'a'; FORM_BYTES]);
    Attack::of("unfinished forms without credentials", scale.connections, |_| Sent {
        head: whole.head.clone(),
        body: body.clone(),
        reads_for: HELD_FOR,
    })
}

/// Registrations of clients of OAuth.
fn registrations(scale: &Scale) -> Attack {
    Attack::of("registrations of clients", scale.registrations, |number| {
        let client: Value = json!({"client_name": format!("n{number}"), "redirect_uris": ["http://localhost/a"]});
        Sent::new("POST", "/oauth/register", &[("content-type", "application/json")], client.to_string().into_bytes())
    })
}

/// Pushes of a commit of many large files, each to a branch of its own.
fn pushes(world: &World, scale: &Scale) -> Attack {
    let (commit, pack) = world.commit_of(scale.push_bytes);
    let target = format!("/v1/{}/tool/git/tools.git/git-receive-pack", world.team.organization);
    let authorization = world.authorization();
    let content = "application/x-git-receive-pack-request";
    let headers = [("authorization", authorization.as_str()), ("content-type", content)];
    let attack = Attack::of("the largest pushes", scale.at_once, |number| {
        let command = format!("{} {commit} refs/heads/largest/{number}\0 report-status\n", "0".repeat(40));
        let mut body = format!("{:04x}{command}0000", command.len() + 4).into_bytes();
        body.extend_from_slice(&pack);
        Sent::new("POST", &target, &headers, body)
    });
    Attack { succeeds: true, ..attack }
}
