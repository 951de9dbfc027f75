//! The demo tool's second version in each template: a language to choose, and a guest list that may refuse.

use anyhow::Context;
use scaffold::Template;

pub struct SecondVersion {
    template: &'static str,
    pub code: &'static str,
    /// A word of the stack trace of Mallory's refusal: the function, or in Rust the file, because a Rust error
    /// records only where it was made.
    pub stack_trace_word: &'static str,
}

const SECOND_VERSIONS: [SecondVersion; 4] = [
    SecondVersion {
        template: "python",
        code: include_str!("second_version/tool.py"),
        stack_trace_word: "consult_guest_list",
    },
    SecondVersion {
        template: "typescript",
        code: include_str!("second_version/index.ts"),
        stack_trace_word: "consultGuestList",
    },
    SecondVersion {
        template: "javascript",
        code: include_str!("second_version/index.js"),
        stack_trace_word: "consultGuestList",
    },
    SecondVersion { template: "rust", code: include_str!("second_version/lib.rs"), stack_trace_word: "src/lib.rs" },
];

/// Returns the second version for a template.
pub fn of(template: &Template) -> anyhow::Result<&'static SecondVersion> {
    let found = SECOND_VERSIONS.iter().find(|version| version.template == template.name);
    found.with_context(|| format!("the demo has no second version for the template {}", template.name))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_template_has_a_second_version() {
        assert!(scaffold::TEMPLATES.iter().all(|template| super::of(template).is_ok()));
    }
}
