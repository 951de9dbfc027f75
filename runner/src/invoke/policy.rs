//! Step 6 of a call: the policies that hold for every organisation.

use super::target::TrustClass;
use crate::depth::Depth;
use crate::error::Error;

/// Refuses a call that tools made within tools too many times. The server's own tools call no tools.
pub(super) const fn policy(trust_class: TrustClass, depth: Depth) -> Result<(), Error> {
    match trust_class {
        TrustClass::Governed if depth.is_too_deep() => Err(Error::LoopDetected),
        TrustClass::Governed | TrustClass::Platform => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_of_authors_can_be_a_loop() {
        let deep = Depth::of("9");
        assert!(matches!(policy(TrustClass::Governed, deep), Err(Error::LoopDetected)));
        assert!(policy(TrustClass::Platform, deep).is_ok() && policy(TrustClass::Governed, Depth::of("3")).is_ok());
    }
}
