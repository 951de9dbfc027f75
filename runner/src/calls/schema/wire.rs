//! The protocol between the server and schema workers: two frames for a request, one for its response,
//! each a message in postcard. Values are sent in their binary form, since a float
//! could change when it is written as JSON text.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::error::{Error, SchemaViolation};

/// The largest request: ten inputs of the size of the largest HTTP request body, in binary form.
pub const REQUEST_BYTES_MAX: usize = 64 << 20;
/// The largest response: twenty violations with pointers as long as names in an input.
pub const RESPONSE_BYTES_MAX: usize = 32 << 20;

/// A serialised schema. Clones share its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document(Arc<[u8]>);

/// A request, as frames.
pub struct Call {
    pub schema: Document,
    pub inputs: Vec<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum MatchResponse {
    Violations(Vec<WireViolation>),
    /// The reason why the schema does not compile.
    Refused(String),
}

/// A [`SchemaViolation`] with an index of fixed size.
#[derive(Debug, Serialize, Deserialize)]
pub struct WireViolation {
    input_index: u32,
    pointer: String,
    message: String,
}

impl From<WireViolation> for SchemaViolation {
    fn from(missed: WireViolation) -> Self {
        let WireViolation { input_index, pointer, message } = missed;
        Self { input_index: input_index as usize, pointer, message }
    }
}

impl From<SchemaViolation> for WireViolation {
    fn from(violation: SchemaViolation) -> Self {
        let SchemaViolation { input_index, pointer, message } = violation;
        Self { input_index: u32::try_from(input_index).unwrap_or(u32::MAX), pointer, message }
    }
}

impl Document {
    pub fn of(schema: &Value) -> Result<Self, postcard::Error> {
        Ok(Self(postcard::to_stdvec(&Borrowed(schema))?.into()))
    }

    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn read_value(&self) -> Result<Value, postcard::Error> {
        postcard::from_bytes::<Owned>(&self.0).map(Value::from)
    }
}

impl Call {
    pub fn new(schema: Document, inputs: &[Value]) -> Result<Self, Error> {
        let unsent = |problem: String| Error::internal(format!("inputs cannot be sent to a schema worker: {problem}"));
        let inputs = postcard::to_stdvec(&Items(inputs)).map_err(|error| unsent(error.to_string()))?;
        if inputs.len() > REQUEST_BYTES_MAX {
            return Err(unsent(format!("{} bytes exceed the limit of {REQUEST_BYTES_MAX}", inputs.len())));
        }
        Ok(Self { schema, inputs })
    }
}

/// Reads the inputs of a request.
pub fn read_inputs(bytes: &[u8]) -> Result<Vec<Value>, postcard::Error> {
    Ok(postcard::from_bytes::<Vec<Owned>>(bytes)?.into_iter().map(Value::from).collect())
}

impl From<Vec<SchemaViolation>> for MatchResponse {
    fn from(violations: Vec<SchemaViolation>) -> Self {
        Self::Violations(violations.into_iter().map(WireViolation::from).collect())
    }
}

/// A borrowed value, serialised in the form of [`Owned`].
struct Borrowed<'v>(&'v Value);
struct Items<'v>(&'v [Value]);
struct Members<'v>(&'v Map<String, Value>);

/// A value that is read.
#[derive(Deserialize)]
enum Owned {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    Items(Vec<Owned>),
    Members(Vec<(String, Owned)>),
}

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAME: &str = "Owned";
        match self.0 {
            Value::Null => serializer.serialize_unit_variant(NAME, 0, "Null"),
            Value::Bool(value) => serializer.serialize_newtype_variant(NAME, 1, "Bool", value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => serializer.serialize_newtype_variant(NAME, 2, "Unsigned", &value),
                (_, Some(value)) => serializer.serialize_newtype_variant(NAME, 3, "Signed", &value),
                _ => serializer.serialize_newtype_variant(NAME, 4, "Float", &number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => serializer.serialize_newtype_variant(NAME, 5, "Text", text),
            Value::Array(items) => serializer.serialize_newtype_variant(NAME, 6, "Items", &Items(items)),
            Value::Object(members) => serializer.serialize_newtype_variant(NAME, 7, "Members", &Members(members)),
        }
    }
}

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Borrowed))
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(name, value)| (name, Borrowed(value))))
    }
}

impl From<Owned> for Value {
    fn from(value: Owned) -> Self {
        match value {
            Owned::Null => Self::Null,
            Owned::Bool(value) => Self::Bool(value),
            Owned::Unsigned(value) => Self::Number(value.into()),
            Owned::Signed(value) => Self::Number(value.into()),
            Owned::Float(value) => Number::from_f64(value).map_or(Self::Null, Self::Number),
            Owned::Text(text) => Self::String(text),
            Owned::Items(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Owned::Members(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, Self::from(value))).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_arrive_unchanged() {
        let deep = (0..126).fold(json!(1), |inner, _| json!([inner]));
        for value in [
            json!(null),
            json!([true, 0, -1, u64::MAX, i64::MIN, -0.0, 0.1, 5e-324, 1.797_693_134_862_315_7e308]),
            json!({"a": {"ä": "text", "": []}, "b": {}}),
            deep,
        ] {
            let document = Document::of(&value).unwrap();
            assert_eq!(document.read_value().unwrap(), value);
            let call = Call::new(document, &[value.clone(), value.clone()]).unwrap();
            assert_eq!(read_inputs(&call.inputs).unwrap(), [value.clone(), value]);
        }
        assert!(read_inputs(&[1, 99]).is_err());
    }
}
