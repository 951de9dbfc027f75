//! The result of one run.

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Run(pub Value);

/// How a run failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: String,
    pub message: String,
    pub trace: Vec<String>,
}

impl Run {
    /// The output of a run that succeeded.
    #[track_caller]
    pub fn output(&self) -> &str {
        assert_eq!(self.0["succeeded"], true, "{self}");
        self.0["output"].as_str().expect("a string")
    }

    /// The output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(self.output()).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    #[track_caller]
    pub fn failure(&self) -> Failure {
        assert_eq!(self.0["succeeded"], false, "{self}");
        let text = |name: &str| self.0[name].as_str().expect("a string").to_owned();
        let lines = self.0["exception_stack_trace"].as_array().expect("a list");
        let trace = lines.iter().map(|line| line.as_str().expect("a string").to_owned()).collect();
        Failure { kind: text("exception_type"), message: text("exception_message"), trace }
    }

    pub fn id(&self) -> &str {
        self.0["invocation_id"].as_str().expect("an id")
    }

    pub fn is_persisted(&self) -> bool {
        self.0["persisted"].as_bool().expect("a boolean")
    }

    pub fn duration_ms(&self) -> u64 {
        self.0["duration_ms"].as_u64().expect("a number")
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.to_string();
        write!(formatter, "{}", text.chars().take(4_000).collect::<String>())
    }
}
