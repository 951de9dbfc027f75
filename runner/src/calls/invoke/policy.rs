//! Step 6 of a call: the policies that hold for every organisation.

use super::target::TrustClass;
use crate::calls::call::CallOrigin;
use crate::depth::Depth;
use crate::error::Error;

/// Refuses a call that tools made within tools too many times. The server's own tools call no tools.
pub(super) const fn refuse_deep_call(trust_class: TrustClass, depth: Depth, origin: &CallOrigin) -> Result<(), Error> {
    let is_too_deep = match origin {
        CallOrigin::Client | CallOrigin::Checkpointed => depth.is_too_deep_for_http(),
        CallOrigin::Run(_) => depth.is_too_deep(),
    };
    match trust_class {
        TrustClass::Governed if is_too_deep => Err(Error::LoopDetected),
        TrustClass::Governed | TrustClass::Platform => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::call::{CallTree, ParentRun};

    #[test]
    fn only_tools_of_authors_can_be_a_loop() {
        let parent =
            ParentRun { tree: CallTree::default(), secrets: Vec::new(), recorded_arguments: std::sync::Arc::default() };
        let run = CallOrigin::Run(parent);
        for (depth, origin, is_refused) in [
            ("3", &CallOrigin::Client, false),
            ("4", &CallOrigin::Client, true),
            ("4", &run, false),
            ("8", &run, false),
            ("9", &run, true),
        ] {
            assert_eq!(
                refuse_deep_call(TrustClass::Governed, Depth::of(depth), origin).is_err(),
                is_refused,
                "{depth} {origin:?}"
            );
            assert!(refuse_deep_call(TrustClass::Platform, Depth::of(depth), origin).is_ok());
        }
    }
}
