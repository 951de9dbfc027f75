//! Assignments: the tools of an agent, each with the versions that it accepts and with options for the agent's loop.

use registry::{
    Constraint, Digest, HeapBytes, HumanIntervention, InvalidValue, ResultPersistence, ToolId, ToolName, Version,
    heap_bytes, made_of, text_type,
};
use serde::{Deserialize, Serialize};

text_type! {
    /// An instruction to the model about one tool, besides the tool's description. It can be empty. NUL is refused, because some
    /// databases refuse it.
    Instruction = "additional instruction", "must have at most 4096 bytes, and no NUL", |text| {
        let fits = text.len() <= Instruction::BYTES_MAX && !text.contains('\0');
        fits.then(|| text.to_owned())
    };
}

text_type! {
    /// A sentence that a voice speaks while a tool runs. Surrounding white space is trimmed.
    AudioFiller = "audio filler", "must have 1 to 256 bytes besides surrounding white space, and no NUL", |text| {
        made_of(text.trim(), AudioFiller::BYTES_MAX, |c| c != '\0')
    };
}

impl Instruction {
    /// Length of an instruction: about a page, as for a description.
    pub const BYTES_MAX: usize = 4096;
}

impl AudioFiller {
    /// Length of a filler. A longer one takes longer than most tools.
    pub const BYTES_MAX: usize = 256;
}

/// The audio fillers of an assignment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<AudioFiller>")]
pub struct AudioFillers(Vec<AudioFiller>);

impl AudioFillers {
    /// Fillers of one assignment: enough that a voice does not repeat itself.
    pub const COUNT_MAX: usize = 10;

    pub fn iter(&self) -> impl Iterator<Item = &AudioFiller> {
        self.0.iter()
    }
}

impl TryFrom<Vec<AudioFiller>> for AudioFillers {
    type Error = InvalidValue;

    fn try_from(fillers: Vec<AudioFiller>) -> Result<Self, InvalidValue> {
        let fits = fillers.len() <= Self::COUNT_MAX;
        fits.then_some(Self(fillers)).ok_or(InvalidValue::new("audio fillers", "must be at most 10"))
    }
}

/// The time that a tool runs before the first audio filler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct FillerDelay(u32);

impl FillerDelay {
    /// A filler that comes later than this would surprise the listener.
    pub const MILLISECONDS_MAX: u32 = 10_000;

    pub const fn as_milliseconds(self) -> u32 {
        self.0
    }
}

/// Two seconds: most tools answer sooner, and need no filler.
impl Default for FillerDelay {
    fn default() -> Self {
        Self(2_000)
    }
}

/// Reads milliseconds.
impl TryFrom<u32> for FillerDelay {
    type Error = InvalidValue;

    fn try_from(milliseconds: u32) -> Result<Self, InvalidValue> {
        let fits = (1..=Self::MILLISECONDS_MAX).contains(&milliseconds);
        fits.then_some(Self(milliseconds)).ok_or(InvalidValue::new("audio filler delay", "must be 0.001 to 10 seconds"))
    }
}

impl From<FillerDelay> for u32 {
    fn from(delay: FillerDelay) -> Self {
        delay.0
    }
}

/// A tool of an agent. An agent has at most one assignment of each tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub tool_id: ToolId,
    /// The versions that the agent may call. The highest live one counts.
    pub version_constraint: Constraint,
    pub additional_instruction: Instruction,
    pub audio_fillers: AudioFillers,
    pub audio_filler_triggered_after: FillerDelay,
    pub result_persistence: ResultPersistence,
    /// The digest of the component that the version must have. `None` to accept any component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component_digest: Option<Digest>,
    /// Whether a person confirms calls, besides what the version declares.
    #[serde(default, rename = "humanIntervention", skip_serializing_if = "HumanIntervention::is_empty")]
    pub human_intervention: HumanIntervention,
}

impl Assignment {
    /// Assignments of one agent. Models choose badly among more than about a hundred tools that they see at once. With search
    /// exposure they see the tools that they find, and a catalogue of 500 stays usable.
    pub const COUNT_MAX: u32 = 500;
}

/// The reason why an assignment cannot be deployed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentProblem {
    #[error("the organisation has no such tool; remove the assignment")]
    ToolUnknown,
    #[error("the tool `{name}` is deprecated; remove the assignment")]
    ToolDeprecated { name: ToolName },
    #[error("no live version of the tool `{name}` matches `{constraint}`; publish one, or change version_constraint")]
    VersionMissing { name: ToolName, constraint: Constraint },
    #[error(
        "version {version} of the tool `{name}` has the component {present}, not the pinned {pinned}; pin the digest of a \
        version that you have reviewed, or change version_constraint"
    )]
    DigestDiffers { name: ToolName, version: Version, pinned: Digest, present: Digest },
}

heap_bytes! {
    Assignment { version_constraint, additional_instruction, audio_fillers, human_intervention }
}

impl HeapBytes for AudioFillers {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn assignments_are_stored_and_read_back() {
        let text = json!({
            "tool_id": "6ab13d50a3c20f6f6e5d4c3b", "version_constraint": ">=1.2, <2", "additional_instruction": "",
            "audio_fillers": ["One moment."], "audio_filler_triggered_after": 1500, "result_persistence": "persisted-preferred",
        });
        let read: Assignment = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), text);
        let mut pinned = text.clone();
        pinned["component_digest"] = json!(Digest::of(b"component"));
        let read: Assignment = serde_json::from_value(pinned.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), pinned);
        let mut asked = text.clone();
        asked["humanIntervention"] = json!({"policy": "required", "apis": {"remove": "always"}});
        let read: Assignment = serde_json::from_value(asked.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), asked);
        for (field, wrong) in [
            ("version_constraint", json!("latest")),
            ("audio_fillers", json!([""])),
            ("audio_fillers", json!(vec!["One moment."; 11])),
            ("audio_filler_triggered_after", json!(0)),
            ("audio_filler_triggered_after", json!(10_001)),
            ("additional_instruction", json!("x".repeat(4097))),
            ("result_persistence", json!("forever")),
            ("component_digest", json!("sha256:1")),
            ("humanIntervention", json!("sometimes")),
        ] {
            let mut changed = text.clone();
            changed[field] = wrong;
            assert!(serde_json::from_value::<Assignment>(changed).is_err(), "{field}");
        }
    }

    #[test]
    fn names_of_persistence_are_those_in_json() {
        for persistence in ResultPersistence::ALL {
            assert_eq!(serde_json::to_value(persistence).unwrap(), persistence.as_str());
        }
    }
}
