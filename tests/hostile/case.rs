//! One hostile tool, and what has to come of it.

use registry::RunBounds;
use serde_json::{Value, json};

use super::installed::Settings;
use crate::harness::Run;

/// A guest of `guests/`. One that is not there does not compile.
macro_rules! guest {
    ($name:literal) => {
        ($name, include_str!(concat!("guests/", $name, ".wat")))
    };
}
pub(super) use guest;

pub struct Case {
    /// In the list at the head of `tests/hostile.rs`.
    pub number: u32,
    pub guest: (&'static str, &'static str),
    /// What the guest reads in its input; siblings have none.
    pub n: u64,
    pub settings: Settings,
    pub persistence: Option<&'static str>,
    pub siblings: Siblings,
    pub expect: Expect,
    pub bound: Option<Bound>,
}

/// What stops the run, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    Wall(u64),
    Cpu(u64),
}

/// Who else is in the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Siblings {
    /// Nine inputs of the same tool, well-behaved.
    Fine,
    /// Nine inputs with the same fate, since the tool is hostile before it sees its input.
    Alike,
}

pub enum Expect {
    Output(String),
    /// A failure of this type, with these words in its message.
    Fails(&'static str, &'static [&'static str]),
    /// No run begins: 400 `component_rejected` with these words.
    Refused(&'static [&'static str]),
    /// Whatever this accepts of the run and its record.
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

    /// Stopped at this deadline.
    pub fn wall_ms(mut self, timeout_ms: u64) -> Self {
        self.settings.timeout_ms = timeout_ms;
        self.bound = Some(Bound::Wall(timeout_ms));
        self
    }

    /// Stopped after computing so long.
    pub fn cpu_ms(self, cpu_ms: u64) -> Self {
        let case = self.bounds(RunBounds { cpu_ms: Some(cpu_ms), ..RunBounds::default() });
        Self { bound: Some(Bound::Cpu(cpu_ms)), ..case }
    }

    pub fn bounds(mut self, limits: RunBounds) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Of its tool; no other case has it.
    pub fn name(&self) -> String {
        let persistence = self.persistence.map_or(String::new(), |name| format!("_{}", name.replace('-', "_")));
        format!("{}_{}_{}{persistence}", self.number, self.guest.0, self.n)
    }

    /// The input that makes the guest hostile: thirteen bytes.
    pub fn input(&self) -> Value {
        json!({"n": format!("{:05}", self.n)})
    }
}
