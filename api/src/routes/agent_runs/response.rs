//! The answer of a person to a run that waits.

use agents::HumanResponse;
use api_kit::extract::{AnyObject, Boolean, Decoder as _, Fields, FromBody, Text};
use serde_json::{Value, json};

/// Bytes of a text.
const INPUT_BYTES_MAX: usize = 16 << 10;

const INPUT: Text<String> = Text::new(
    || json!({"type": "string", "maxLength": INPUT_BYTES_MAX, "x-bytes-max": INPUT_BYTES_MAX}),
    |text| match text.len() > INPUT_BYTES_MAX {
        true => Err(format!("should have at most {INPUT_BYTES_MAX} bytes")),
        false => Ok(text.to_owned()),
    },
);

pub(crate) struct Response(pub HumanResponse);

impl FromBody for Response {
    const NAME: &'static str = "HumanResponse";

    fn example() -> Value {
        json!({"human_input": "Use the customer C-001.", "approved": true})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let human_input = fields.read_optional("human_input", INPUT.described("What the person answers."));
        let approved = fields.read_optional("approved", Boolean.described("Whether the person agrees."));
        let forms = AnyObject.described("The values of the forms of a tool, by the keys of the forms.");
        let forms = fields.read_optional("forms", forms);
        fields.require_at_least_one(["human_input", "approved", "forms"]);
        Some(Self(HumanResponse { human_input, approved, forms }))
    }
}
