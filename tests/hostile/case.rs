//! A hostile tool and its expected outcome.

use registry::RunBounds;
use serde_json::{Value, json};

use super::installed::Settings;
use crate::harness::Run;

/// Includes a guest of `guests/`. A missing guest does not compile.
macro_rules! guest {
    ($name:literal) => {
        ($name, include_str!(concat!("guests/", $name, ".wat")))
    };
}
pub(super) use guest;

pub struct Case {
    /// Number in the list at the head of `tests/hostile.rs`.
    pub number: u32,
    pub guest: (&'static str, &'static str),
    /// Number in the hostile input; siblings have none.
    pub n: u64,
    pub settings: Settings,
    pub persistence: Option<&'static str>,
    pub siblings: Siblings,
    pub expect: Expect,
    pub bound: Option<Bound>,
}

/// Limit that stops the run, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    Wall(u64),
    Cpu(u64),
}

/// The other inputs of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siblings {
    /// Nine well-behaved inputs of the same tool.
    Fine,
    /// Nine inputs with the same outcome, since the tool is hostile before it reads its input.
    Alike,
}

pub enum Expect {
    Output(String),
    /// A failure of this type, with these words in its message.
    Fails(&'static str, &'static [&'static str]),
    /// No run begins: 400 `component_rejected` with these words.
    Refused(&'static [&'static str]),
    /// Checked by a function of the run and its record.
    That(fn(&Run, &Value)),
}

pub fn case(number: u32, guest: (&'static str, &'static str), expect: Expect) -> Case {
    let settings = Settings::default();
    Case { number, guest, n: 0, settings, persistence: None, siblings: Siblings::Fine, expect, bound: None }
}

pub fn fails(kind: &'static str, words: &'static [&'static str]) -> Expect {
    Expect::Fails(kind, words)
}

pub fn gives(output: impl Into<String>) -> Expect {
    Expect::Output(output.into())
}

impl Case {
    pub fn n(self, n: u64) -> Self {
        Self { n, ..self }
    }

    pub fn alike(self) -> Self {
        Self { siblings: Siblings::Alike, ..self }
    }

    pub fn persistence(self, persistence: &'static str) -> Self {
        Self { persistence: Some(persistence), ..self }
    }

    /// Expects the run to be stopped at this deadline.
    pub fn wall_ms(mut self, timeout_ms: u64) -> Self {
        self.settings.timeout_ms = timeout_ms;
        self.bound = Some(Bound::Wall(timeout_ms));
        self
    }

    /// Expects the run to be stopped after this computing time.
    pub fn cpu_ms(self, cpu_ms: u64) -> Self {
        let case = self.bounds(RunBounds { cpu_ms: Some(cpu_ms), ..RunBounds::default() });
        Self { bound: Some(Bound::Cpu(cpu_ms)), ..case }
    }

    pub fn bounds(mut self, limits: RunBounds) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Unique name of the tool.
    pub fn name(&self) -> String {
        let persistence = self.persistence.map_or(String::new(), |name| format!("_{}", name.replace('-', "_")));
        format!("{}_{}_{}{persistence}", self.number, self.guest.0, self.n)
    }

    /// The input that makes the guest hostile: thirteen bytes.
    pub fn input(&self) -> Value {
        json!({"n": format!("{:05}", self.n)})
    }
}
