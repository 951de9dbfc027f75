//! Landlock: no file may be opened, no port be bound or connected to, nobody outside be signalled.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope,
};

use super::confinement::Layer;

/// What there is to refuse, as of Linux 6.15. Of older kernels it is what they know.
const KNOWN: ABI = ABI::V7;

/// Refuses all that Landlock knows of, and grants nothing.
pub fn refuse() -> Layer {
    match try_refuse() {
        Ok(RulesetStatus::FullyEnforced) => Layer::Whole,
        Ok(RulesetStatus::PartiallyEnforced) => Layer::Part("the kernel is older than Linux 6.12".into()),
        Ok(RulesetStatus::NotEnforced) => Layer::Absent("not in this kernel, or switched off".into()),
        Err(error) => Layer::Absent(error.to_string()),
    }
}

fn try_refuse() -> Result<RulesetStatus, RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?;
    Ok(ruleset.restrict_self()?.ruleset)
}
