//! The layers of a confined process, and how far the kernel offers them.

use serde::{Deserialize, Serialize};

/// Layers between a runner and the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// A separate network, file system and shared memory, all empty, and no capabilities.
    pub namespaces: Layer,
    /// Landlock, with nothing granted.
    pub file_access: Layer,
    /// Seccomp, with a list of allowed system calls.
    pub system_calls: Layer,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layer {
    Whole,
    /// Active, except for this part.
    Part(String),
    /// Not available on this kernel, with the reason.
    Absent(String),
}

impl Confinement {
    /// Returns the layers by name.
    #[must_use]
    pub const fn layers(&self) -> [(&'static str, &Layer); 3] {
        [("namespaces", &self.namespaces), ("Landlock", &self.file_access), ("seccomp", &self.system_calls)]
    }

    /// Describes what this kernel does not offer; `None` when all layers are whole.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let lacks = self.layers().into_iter().filter_map(|(name, layer)| match layer {
            Layer::Whole => None,
            Layer::Part(what) => Some(format!("{name} (in part: {what})")),
            Layer::Absent(why) => Some(format!("{name} ({why})")),
        });
        let lacks: Vec<_> = lacks.collect();
        (!lacks.is_empty()).then(|| lacks.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_layers_are_named() {
        let mut confinement =
            Confinement { namespaces: Layer::Whole, file_access: Layer::Whole, system_calls: Layer::Whole };
        assert_eq!(confinement.lacks(), None);
        confinement.namespaces = Layer::Absent("EPERM".into());
        confinement.file_access = Layer::Part("signals".into());
        assert_eq!(confinement.lacks().as_deref(), Some("namespaces (EPERM), Landlock (in part: signals)"));
    }
}
