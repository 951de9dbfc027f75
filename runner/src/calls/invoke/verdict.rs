//! Step 11 of a call: the trust in its result.

use registry::Trust;

use super::target::TrustClass;

/// Returns the trust in a result. A result of an author's code may repeat what a stranger wrote on some page.
pub(super) const fn give_verdict(trust_class: TrustClass) -> Trust {
    match trust_class {
        TrustClass::Platform => Trust::Trusted,
        TrustClass::Governed => Trust::Untrusted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_of_the_server_are_trusted() {
        assert_eq!(give_verdict(TrustClass::Platform), Trust::Trusted);
        assert_eq!(give_verdict(TrustClass::Governed), Trust::Untrusted);
    }
}
