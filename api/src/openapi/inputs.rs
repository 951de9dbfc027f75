//! What a handler reads of a request, taken from the types of its own parameters: there is nothing to keep in step.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use serde_json::Value;

use super::Parameter;
use crate::app::App;

/// What a client sends that a handler reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RequestBody>,
    /// Whether the client may have its answer as a stream of events.
    pub(crate) streams: bool,
}

/// A JSON body: the name and the form of the type that it is read into.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) example: Value,
}

/// A type that a handler takes, and what it reads of a request.
#[diagnostic::on_unimplemented(
    message = "the OpenAPI document does not know what `{Self}` reads of a request",
    note = "write `impl Reads for {Self}` beside the type, with `inputs.parameters.push(Parameter::header(…))` for a header",
    note = "or with an empty body, when it reads nothing that a client sends"
)]
pub(crate) trait Reads {
    fn reads(inputs: &mut Inputs);
}

/// The parameters of a handler, as axum's `Handler` lists them.
pub(crate) trait Signature {
    fn inputs() -> Inputs;
}

macro_rules! signature {
    ($($read:ident)*) => {
        impl<M, $($read: Reads,)*> Signature for (M, $($read,)*) {
            fn inputs() -> Inputs {
                Inputs::of(&[$($read::reads),*])
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
    fn of(reads: &[fn(&mut Self)]) -> Self {
        let mut inputs = Self::default();
        for read in reads {
            read(&mut inputs);
        }
        inputs
    }
}

impl Reads for State<App> {
    fn reads(_: &mut Inputs) {}
}

/// A handler that takes the whole request describes in words what it reads of it.
impl Reads for Request {
    fn reads(_: &mut Inputs) {}
}

/// Likewise the headers.
impl Reads for HeaderMap {
    fn reads(_: &mut Inputs) {}
}
