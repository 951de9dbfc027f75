//! {{tool_name}}: greets somebody by name. Replace the body. The input schema is derived from the type of `input`.

use lathe::{Context, Error, StatusEvent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whom to greet, and how often.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The name of the person
    name: String,
    /// How many greetings to write
    #[serde(default = "once")]
    times: u32,
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

/// Returns the greetings. A string becomes the output unchanged, any other value compact JSON.
fn run_tool(input: Input, context: &Context) -> Result<Greetings, Error> {
    if input.times < 1 {
        return Err(Error::new("OutOfRange", format!("times must be at least 1, not {}", input.times)));
    }
    let event = StatusEvent::new(format!("greeting {}", input.name));
    context.send_status_event(event.progress(0.0, input.times.into()));
    let greeting = format!("Hello, {}!", input.name);
    let greetings = vec![greeting; input.times as usize];
    Ok(Greetings { delivered: deliver(&greetings, context), greetings })
}

/// A real tool has its side effects here, such as sending a message. A simulated conversation must have none.
fn deliver(greetings: &[String], context: &Context) -> bool {
    !context.metadata.is_simulation() && !greetings.is_empty()
}

#[cfg(test)]
mod tests {
    use lathe::testing;

    use super::*;

    #[test]
    fn greets_as_often_as_asked() {
        let input = Input { name: "Ada".into(), times: 2 };
        let greetings = run_tool(input, &testing::context()).expect("greetings").greetings;
        assert_eq!(greetings, ["Hello, Ada!", "Hello, Ada!"]);
        assert_eq!(testing::take_status_events().len(), 1);
    }

    #[test]
    fn refuses_to_greet_less_than_once() {
        let input = Input { name: "Ada".into(), times: 0 };
        let error = run_tool(input, &testing::context()).err().expect("an error");
        assert_eq!(error.kind(), "OutOfRange");
    }
}
