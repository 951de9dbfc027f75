//! The inputs of an operation, taken from the parameter types of its handler.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use serde_json::Value;

use super::Parameter;

/// Parameters and body of an operation.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub parameters: Vec<Parameter>,
    pub body: Option<RequestBody>,
    /// Whether the client may ask for the response as a stream of events.
    pub streams: bool,
}

/// The schema of a JSON body and its name in the document.
#[derive(Clone, Debug)]
pub struct RequestBody {
    pub name: &'static str,
    pub schema: Value,
    pub example: Option<Value>,
    /// Whether a request without a body is refused.
    pub is_required: bool,
}

/// A type that a handler takes and that describes the parts of a request that it reads.
#[diagnostic::on_unimplemented(
    message = "the OpenAPI document does not know what `{Self}` reads of a request",
    note = "write `impl DocumentedInput for {Self}` beside the type, with `inputs.parameters.push(Parameter::header(…))` for a header",
    note = "or with an empty `describe`, when it reads nothing that a client sends"
)]
pub trait DocumentedInput {
    fn describe(inputs: &mut Inputs);
}

/// The parameters of a handler, as axum's `Handler` lists them.
pub trait Signature {
    fn inputs() -> Inputs;
}

macro_rules! signature {
    ($($input:ident)*) => {
        impl<M, $($input: DocumentedInput,)*> Signature for (M, $($input,)*) {
            fn inputs() -> Inputs {
                Inputs::of(&[$($input::describe),*])
            }
        }
    };
}

signature!();
signature!(A);
signature!(A B);
signature!(A B C);
signature!(A B C D);
signature!(A B C D E);
signature!(A B C D E F);
signature!(A B C D E F G);
signature!(A B C D E F G H);

impl Inputs {
    fn of(descriptions: &[fn(&mut Self)]) -> Self {
        let mut inputs = Self::default();
        for describe in descriptions {
            describe(&mut inputs);
        }
        inputs
    }
}

impl<S> DocumentedInput for State<S> {
    fn describe(_: &mut Inputs) {}
}

/// The description of an operation lists the inputs that its handler takes from the request itself.
impl DocumentedInput for Request {
    fn describe(_: &mut Inputs) {}
}

/// The description of an operation lists the headers that its handler reads.
impl DocumentedInput for HeaderMap {
    fn describe(_: &mut Inputs) {}
}
