//! Environment markers: whether a pinned package is for the platform that tools run on.
//!
//! The grammar is that of PEP 508 with a short list of variables. A marker is evaluated in a single pass from left to
//! right, so that its cost is linear in its length. The length also bounds its nesting.

use std::str::FromStr;

use pep440_rs::{Operator, Version, VersionPattern, VersionSpecifier};

use crate::text::quote;

/// Bytes of a marker; those that `uv export` writes have a few hundred.
const MARKER_BYTES_MAX: usize = 1 << 10;
/// Levels of nested parentheses. Each takes a few stack frames.
const DEPTH_MAX: usize = 16;
const OPERATORS: [&str; 9] = ["===", "==", "!=", "<=", ">=", "~=", "<", ">", "in"];

/// The platform of tools, for people.
pub const PLATFORM: &str = "Python 3.14, WASI";
/// The platform of tools: CPython 3.14 on WASI. Versions are compared as versions, other values as text.
const PYTHON: &str = "3.14.0";
const TEXTS: [(&str, &str); 6] = [
    ("implementation_name", "cpython"),
    ("os_name", "posix"),
    ("platform_machine", "wasm32"),
    ("platform_python_implementation", "CPython"),
    ("platform_system", "WASI"),
    ("sys_platform", "wasi"),
];
const VERSIONS: [(&str, &str); 3] =
    [("python_version", "3.14"), ("python_full_version", PYTHON), ("implementation_version", PYTHON)];

/// Whether a marker is true of the platform.
///
/// # Errors
/// The reason why the text is not a supported marker.
pub fn applies(marker: &str) -> Result<bool, String> {
    if marker.len() > MARKER_BYTES_MAX {
        return Err(format!("a marker has at most {MARKER_BYTES_MAX} bytes"));
    }
    let mut reader = Reader { rest: marker, depth: 0 };
    let applies = reader.parse_alternatives()?;
    match reader.rest.trim() {
        "" => Ok(applies),
        _ => Err("a marker ends with a comparison".into()),
    }
}

struct Reader<'m> {
    rest: &'m str,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Operand<'m> {
    Literal(&'m str),
    Text(&'static str),
    Version(&'static str),
}

impl<'m> Reader<'m> {
    fn parse_alternatives(&mut self) -> Result<bool, String> {
        let mut any = self.parse_conditions()?;
        while self.take_word("or") {
            any |= self.parse_conditions()?;
        }
        Ok(any)
    }

    fn parse_conditions(&mut self) -> Result<bool, String> {
        let mut all = self.parse_condition()?;
        while self.take_word("and") {
            all &= self.parse_condition()?;
        }
        Ok(all)
    }

    fn parse_condition(&mut self) -> Result<bool, String> {
        if !self.take("(") {
            return self.parse_comparison();
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("a marker has at most {DEPTH_MAX} parentheses within each other"));
        }
        let inside = self.parse_alternatives()?;
        self.depth -= 1;
        if self.take(")") { Ok(inside) } else { Err("a parenthesis of the marker is not closed".into()) }
    }

    fn parse_comparison(&mut self) -> Result<bool, String> {
        let left = self.parse_operand()?;
        let is_negated = self.take_word("not");
        let operator = self.parse_operator()?;
        let right = self.parse_operand()?;
        match (is_negated, operator) {
            (is_negated, "in") => contains(right, left).map(|contains| contains != is_negated),
            (true, _) => Err("`not` of a marker stands before `in`".into()),
            (false, operator) => compare_operands(left, operator, right),
        }
    }

    fn parse_operand(&mut self) -> Result<Operand<'m>, String> {
        self.rest = self.rest.trim_start();
        if let Some(quote) = self.rest.chars().next().filter(|letter| matches!(letter, '\'' | '"')) {
            let (literal, rest) = self.rest[1..].split_once(quote).ok_or("a string of the marker is not closed")?;
            self.rest = rest;
            return Ok(Operand::Literal(literal));
        }
        let end = self.rest.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let of =
            |table: &[(&str, &'static str)]| table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        of(&TEXTS).map(Operand::Text).or_else(|| of(&VERSIONS).map(Operand::Version)).ok_or_else(|| {
            let known: Vec<_> = TEXTS.iter().chain(&VERSIONS).map(|(known, _)| *known).collect();
            format!("a marker of a lock file compares one of {} with a string", known.join(", "))
        })
    }

    fn parse_operator(&mut self) -> Result<&'static str, String> {
        let found = OPERATORS.into_iter().find(|operator| match *operator {
            "in" => self.take_word("in"),
            sign => self.take(sign),
        });
        found.ok_or_else(|| format!("a marker compares with one of {}", OPERATORS.join(" ")))
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take_word(&mut self, word: &str) -> bool {
        let ends = |rest: &&str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = self.rest.trim_start().strip_prefix(word).filter(ends);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// Whether the container, a string, contains the other operand.
fn contains(container: Operand<'_>, inside: Operand<'_>) -> Result<bool, String> {
    match (container, inside) {
        (Operand::Literal(container), Operand::Text(inside)) => Ok(container.contains(inside)),
        (Operand::Text(container), Operand::Literal(inside)) => Ok(container.contains(inside)),
        _ => Err("`in` of a marker compares a string with a variable that is not a version".into()),
    }
}

fn compare_operands(left: Operand<'_>, operator: &str, right: Operand<'_>) -> Result<bool, String> {
    match (left, right) {
        (Operand::Version(ours), Operand::Literal(theirs)) => compare_versions(ours, operator, theirs),
        (Operand::Literal(theirs), Operand::Version(ours)) => compare_versions(ours, mirror(operator)?, theirs),
        (Operand::Text(ours), Operand::Literal(theirs)) | (Operand::Literal(theirs), Operand::Text(ours)) => {
            match operator {
                "==" | "===" => Ok(ours == theirs),
                "!=" => Ok(ours != theirs),
                _ => Err(format!("`{operator}` of a marker compares versions")),
            }
        }
        _ => Err("a marker compares a variable with a string".into()),
    }
}

fn compare_versions(ours: &str, operator: &str, theirs: &str) -> Result<bool, String> {
    let refused = || format!("`{operator}` of a marker does not take the version {}", quote(theirs));
    let operator = Operator::from_str(operator).map_err(|_| refused())?;
    let pattern = VersionPattern::from_str(theirs.trim()).map_err(|_| refused())?;
    let specifier = VersionSpecifier::from_pattern(operator, pattern).map_err(|_| refused())?;
    Version::from_str(ours).map(|ours| specifier.contains(&ours)).map_err(|_| refused())
}

/// The operator with its operands swapped.
fn mirror(operator: &str) -> Result<&str, String> {
    match operator {
        "<" => Ok(">"),
        ">" => Ok("<"),
        "<=" => Ok(">="),
        ">=" => Ok("<="),
        "==" | "!=" => Ok(operator),
        _ => Err(format!("`{operator}` of a marker has its version on the right")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markers_of_lock_files_are_true_or_false() {
        for (marker, expected) in [
            ("sys_platform == 'win32'", false),
            ("sys_platform != \"win32\"", true),
            ("python_full_version < '3.13'", false),
            ("python_version >= '3.8' and python_version < '4'", true),
            ("python_version == '3.14'", true),
            ("python_version == '3.*'", true),
            ("python_version ~= '3.9'", true),
            ("'3.9' <= python_version", true),
            ("'3.9' > python_version", false),
            ("os_name == 'nt' or (sys_platform == 'wasi' and implementation_name == 'cpython')", true),
            ("(platform_machine == 'x86_64' and sys_platform == 'linux') or platform_system == 'Windows'", false),
            ("platform_system in 'WASI Linux'", true),
            ("platform_system not in 'WASI Linux'", false),
            ("platform_python_implementation != 'PyPy'", true),
            ("os_name=='posix'and(os_name=='posix')", true),
            ("os_name == 'nt' and os_name == 'nt' or os_name == 'posix'", true),
        ] {
            assert_eq!(applies(marker), Ok(expected), "{marker}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for marker in [
            "",
            "extra == 'socks'",
            "platform_release == '5'",
            "sys_platform",
            "sys_platform ==",
            "sys_platform == 'x",
            "sys_platform == win32",
            "sys_platform < 'x'",
            "'a' == 'a'",
            "python_version == os_name",
            "python_version in '3.8 3.9'",
            "python_version < 'x'",
            "'3.9' ~= python_version",
            "not os_name == 'nt'",
            "(os_name == 'nt'",
            "os_name == 'nt')",
            "os_name == 'nt' os_name == 'nt'",
            "os_name == 'nt' xor os_name == 'nt'",
            "os_name == '${HOME}' ;",
        ] {
            assert!(applies(marker).is_err(), "{marker}");
        }
        let nested = |depth: usize| format!("{}os_name == 'nt'{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(applies(&nested(DEPTH_MAX)), Ok(false));
        assert!(applies(&nested(DEPTH_MAX + 1)).unwrap_err().contains("within each other"));
        assert!(applies(&" ".repeat(MARKER_BYTES_MAX + 1)).unwrap_err().contains("at most"));
    }

    proptest! {
        /// The same expression, computed while it is generated.
        #[test]
        fn a_marker_evaluates_as_its_parts_do((text, expected) in expression(3)) {
            prop_assume!(text.len() <= MARKER_BYTES_MAX);
            prop_assert_eq!(applies(&text), Ok(expected), "{}", text);
        }
    }

    fn expression(depth: u32) -> BoxedStrategy<(String, bool)> {
        let comparison = any::<bool>().prop_map(|is_true| {
            let platform = if is_true { "wasi" } else { "win32" };
            (format!("sys_platform == '{platform}'"), is_true)
        });
        if depth == 0 {
            return comparison.boxed();
        }
        let inner = || expression(depth - 1).prop_map(|(text, value)| (format!("({text})"), value));
        let joined = (inner(), any::<bool>(), inner()).prop_map(|((left, a), is_and, (right, b))| match is_and {
            true => (format!("{left} and {right}"), a && b),
            false => (format!("{left} or {right}"), a || b),
        });
        prop_oneof![comparison, inner(), joined].boxed()
    }
}
