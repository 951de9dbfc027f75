//! Landlock: refuses to open files, to bind or connect to ports, and to signal other processes.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope,
};

use super::layer::Layer;

/// Rights known to Linux 6.15. Older kernels refuse those that they know.
const KNOWN: ABI = ABI::V7;

/// Refuses all rights that Landlock knows.
pub fn refuse() -> Layer {
    match try_refuse() {
        Ok(RulesetStatus::FullyEnforced) => Layer::Whole,
        Ok(RulesetStatus::PartiallyEnforced) => Layer::Part("the kernel is older than Linux 6.12".into()),
        Ok(RulesetStatus::NotEnforced) => Layer::Absent("this kernel has no Landlock, or it is disabled".into()),
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
