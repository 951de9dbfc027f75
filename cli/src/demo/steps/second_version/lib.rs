//! greet_guests: greets guests in their language and refuses whoever is not on the list.

use lathe::{Context, Error, StatusEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const STRANGERS: [&str; 1] = ["Mallory"];

/// Whom to greet, how often, and in which language.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of the person
    name: String,
    /// How many greetings to write
    #[serde(default = "once")]
    times: u32,
    #[serde(default)]
    language: Language,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Language {
    #[default]
    En,
    De,
    Fr,
}

fn once() -> u32 {
    1
}

#[derive(Serialize)]
struct Greetings {
    greetings: Vec<String>,
    delivered: bool,
}

lathe::tool!(run_tool);

fn run_tool(input: Input, context: &Context) -> Result<Greetings, Error> {
    if input.times < 1 {
        return Err(Error::new("OutOfRange", format!("times must be at least 1, not {}", input.times)));
    }
    consult_guest_list(&input.name)?;
    let event = StatusEvent::new(format!("greeting {}", input.name));
    context.send_status_event(event.progress(0.0, input.times.into()));
    let word = match input.language {
        Language::En => "Hello",
        Language::De => "Guten Tag",
        Language::Fr => "Bonjour",
    };
    let greeting = format!("{word}, {}!", input.name);
    Ok(Greetings { greetings: vec![greeting; input.times as usize], delivered: !context.metadata.is_simulation() })
}

/// Refuses strangers.
fn consult_guest_list(name: &str) -> Result<(), Error> {
    if STRANGERS.contains(&name) {
        return Err(Error::new("LookupError", format!("{name} is not on the guest list")));
    }
    Ok(())
}
