//! Takes secrets out of what a run said, before it is stored, indexed or sent.
//!
//! A secret is found as it is, and in the forms that programs give texts on their way: JSON and Python literals, base64 at
//! any alignment and base64url, hexadecimal, percent-encoding, UTF-16. This is a net for accidents: whoever may change a
//! tool's code can always write a secret in a form of their own.

mod forms;

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use registry::{REDACTED, SecretValue};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::Outcome;
use crate::host::StatusDocument;
use crate::outcome::CUT;

/// Shorter secrets are not looked for, since they would be found in every other word.
const SECRET_BYTES_MIN: usize = 8;
/// So much of a form that the end of a text cut off may tell.
const REMNANT_BYTES_MAX: usize = 3;
/// The longest beginning of a form that is looked for there.
const REMNANT_LOOKED_FOR_MAX: usize = 1_024;
/// Secrets of a run together that are looked for in all forms. Their automaton takes some ten megabytes while it runs.
const ALL_FORMS_BYTES_MAX: usize = 8 * 1024;
const PLENTY: usize = ALL_FORMS_BYTES_MAX + 1;
/// Beyond this much of secrets nothing is looked for, and nothing that the run said is told.
const SECRETS_BYTES_MAX: usize = 64 * 1024;

/// What is taken out of the runs of a call.
pub(crate) struct Redaction {
    secrets: Vec<SecretValue>,
    of_answers: bool,
}

/// What is taken out of one run: sensitive user variables too of what is stored; their sender has them.
#[derive(Clone, Default)]
pub(crate) struct Redactors {
    pub stored: Redactor,
    pub answered: Redactor,
}

impl Redaction {
    pub const fn of(secrets: Vec<SecretValue>, of_answers: bool) -> Self {
        Self { secrets, of_answers }
    }

    /// For hosts, which are in lower case.
    pub fn of_hosts(&self, sensitive: &[SecretValue]) -> Redactor {
        let lower: Vec<_> =
            self.secrets.iter().chain(sensitive).map(|secret| Zeroizing::new(secret.expose().to_lowercase())).collect();
        Redactor::of(lower.iter().map(|secret| secret.as_str()))
    }

    /// Made when a run begins, since many may wait.
    pub fn with(&self, sensitive: &[SecretValue]) -> Redactors {
        let stored = Redactor::of(self.secrets.iter().chain(sensitive).map(SecretValue::expose));
        let answered = match (self.of_answers, sensitive.is_empty()) {
            (false, _) => Redactor::default(),
            (true, true) => stored.clone(),
            (true, false) => Redactor::of(self.secrets.iter().map(SecretValue::expose)),
        };
        Redactors { stored, answered }
    }
}

/// Knows the forms of some secrets. Clones share them.
#[derive(Clone, Default)]
pub(crate) enum Redactor {
    /// There is no secret.
    #[default]
    Nothing,
    Forms(Arc<Forms>),
    /// There are too many, or too long ones, to look for.
    Everything,
}

pub(crate) struct Forms {
    automaton: AhoCorasick,
    texts: Vec<String>,
}

impl Redactor {
    pub fn of<'s>(secrets: impl Iterator<Item = &'s str>) -> Self {
        let secrets: Vec<&str> = secrets.filter(|secret| secret.len() >= SECRET_BYTES_MIN).collect();
        let mut texts: Vec<String> = match secrets.iter().map(|secret| secret.len()).sum() {
            0 => return Self::Nothing,
            1..=ALL_FORMS_BYTES_MAX => secrets.into_iter().flat_map(forms::of).collect(),
            PLENTY..=SECRETS_BYTES_MAX => secrets.into_iter().flat_map(forms::most_likely).collect(),
            _ => return Self::Everything,
        };
        texts.sort_unstable();
        texts.dedup();
        // Made for one call: the kind that is made fastest.
        let builder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(&texts);
        builder.map_or(Self::Everything, |automaton| Self::Forms(Arc::new(Forms { automaton, texts })))
    }

    pub fn text(&self, text: String) -> String {
        let forms = match self {
            Self::Nothing => return text,
            Self::Forms(forms) => forms,
            Self::Everything if text.is_empty() => return text,
            Self::Everything => return REDACTED.to_owned(),
        };
        let text = match forms.automaton.is_match(&text) {
            true => forms.replaced(&text),
            false => text,
        };
        forms.without_remnant(text)
    }

    pub fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Succeeded { output } => Outcome::Succeeded { output: self.text(output) },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => Outcome::Failed {
                exception_type: self.text(exception_type),
                exception_message: self.text(exception_message),
                exception_stack_trace: exception_stack_trace.into_iter().map(|line| self.text(line)).collect(),
            },
        }
    }

    pub fn document(&self, document: StatusDocument) -> StatusDocument {
        if matches!(self, Self::Nothing) {
            return document;
        }
        let StatusDocument { message, progress, total, data } = document;
        StatusDocument { message: self.text(message), progress, total, data: data.map(|data| self.value(data)) }
    }

    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, value)| (self.text(name), self.value(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            other => other,
        }
    }
}

impl Forms {
    fn replaced(&self, text: &str) -> String {
        let (mut redacted, mut end) = (String::with_capacity(text.len()), 0);
        for found in self.automaton.find_iter(text) {
            redacted.push_str(text.get(end..found.start()).unwrap_or_default());
            redacted.push_str(REDACTED);
            end = found.end();
        }
        redacted.push_str(text.get(end..).unwrap_or_default());
        redacted
    }

    /// A text may have been cut in the middle of a secret.
    fn without_remnant(&self, text: String) -> String {
        let Some(before) = text.strip_suffix(CUT) else { return text };
        let kept = before.trim_end_matches('\n');
        let remnant = |form: &String| {
            let begins = |length: &usize| form.get(..*length).is_some_and(|part| kept.ends_with(part));
            (REMNANT_BYTES_MAX + 1..form.len().min(REMNANT_LOOKED_FOR_MAX)).rev().find(begins)
        };
        match self.texts.iter().filter_map(remnant).max() {
            Some(length) => format!("{}{REDACTED}{}{CUT}", &kept[..kept.len() - length], &before[kept.len()..]),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redactor(secret: &str) -> Redactor {
        Redactor::of(std::iter::once(secret))
    }

    /// Everything that the documentation says is found, with the secret somewhere in a longer text.
    fn encoded(before: &str, secret: &str, after: &str) -> Vec<String> {
        let text = format!("{before}{secret}{after}");
        vec![
            text.clone(),
            json!(text).to_string(),
            json!({"a": [text]}).to_string(),
            STANDARD.encode(&text),
            STANDARD_NO_PAD.encode(&text),
            URL_SAFE.encode(&text),
            URL_SAFE_NO_PAD.encode(&text),
            hex::encode(&text),
            hex::encode_upper(&text),
            percent_encoding::utf8_percent_encode(&text, percent_encoding::NON_ALPHANUMERIC).to_string(),
            text.chars().flat_map(|character| [character, '\0']).collect(),
        ]
    }

    /// What of an encoded secret would tell it: the middle, whatever stands beside it.
    fn tells(text: &str, secret: &str) -> bool {
        let codes = [secret.to_owned(), hex::encode(secret), hex::encode_upper(secret)];
        let plain = codes.iter().any(|code| text.contains(code.as_str()));
        let decoded = |engine: &base64::engine::GeneralPurpose| {
            engine
                .decode(text.trim_end_matches('='))
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(secret))
        };
        plain || decoded(&STANDARD_NO_PAD) || decoded(&URL_SAFE_NO_PAD)
    }

    proptest! {
        #[test]
        fn no_listed_form_stays(before in "[ -~]{0,9}", secret in "[!-~é😀]{8,40}", after in "[ -~]{0,9}") {
            let redactor = redactor(&secret);
            for text in encoded(&before, &secret, &after) {
                let redacted = redactor.text(text.clone());
                prop_assert!(!tells(&redacted, &secret), "{text:?} -> {redacted:?}");
                prop_assert!(redacted.contains(REDACTED), "{text:?} -> {redacted:?}");
            }
        }

        #[test]
        fn other_texts_stay_as_they_are(secret in "[A-Z]{8,20}", text in "[a-z0-9 ]{0,200}") {
            prop_assert_eq!(redactor(&secret).text(text.clone()), text);
        }

        #[test]
        fn a_secret_that_was_cut_leaves_at_most_three_bytes(secret in "[A-Za-z]{8,40}", length in 0_usize..40) {
            let told = &secret[..length.min(secret.len() - 1)];
            let redacted = redactor(&secret).text(format!("key {told}{CUT}"));
            prop_assert!(redacted.len() <= "key ".len() + 3 + REDACTED.len() + CUT.len(), "{redacted}");
            prop_assert!(told.len() <= 3 || !redacted.contains(told), "{redacted}");
        }
    }

    #[test]
    fn forms_that_other_languages_write_are_found() {
        let redactor = redactor("pä\"ss\nwörd\\1'");
        for text in [
            r#"'pä"ss\nwörd\\1\''"#,
            r#""p\u00e4\"ss\nw\u00f6rd\\1'""#,
            r#"p\u00E4\"ss\nw\u00F6rd\\1'"#,
            "p%C3%A4%22ss%0Aw%C3%B6rd%5C1%27",
            "p%c3%a4%22ss%0aw%c3%b6rd%5c1'",
        ] {
            assert!(redactor.text(text.to_owned()).contains(REDACTED), "{text}");
        }
        let form = self::redactor("two words & more").text("q=two+words+%26+more&x=1".to_owned());
        assert_eq!(form, format!("q={REDACTED}&x=1"));
    }

    #[test]
    fn lines_of_a_long_secret_are_found_alone() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\nAASCBKcwggSjAgEAAoIBAQC7VJTU\n-----END KEY-----";
        let redacted = redactor(key).text("trace: MIIEvQIBADANBgkqhkiG9w0BAQEF".to_owned());
        assert_eq!(redacted, format!("trace: {REDACTED}"));
    }

    #[test]
    fn long_secrets_are_found_as_they_are_and_longer_ones_end_all_talk() {
        let long = "0123456789abcdef".repeat(1_000);
        let redacted = redactor(&long).text(format!("is {long}!"));
        assert_eq!(redacted, format!("is {REDACTED}!"));
        assert_eq!(redactor(&long).text(format!("is {}!", json!(long))), format!("is \"{REDACTED}\"!"));
        let longer = long.repeat(5);
        assert_eq!(redactor(&longer).text("harmless".into()), REDACTED);
        assert_eq!(redactor(&longer).text(String::new()), "");
        let many: Vec<String> = (0..9_000).map(|number| format!("secret{number:04}")).collect();
        assert!(matches!(Redactor::of(many.iter().map(String::as_str)), Redactor::Everything));
    }

    #[test]
    fn every_part_of_what_a_run_says_is_looked_at() {
        let redactor = redactor("swordfish");
        let document = StatusDocument {
            message: "is swordfish".into(),
            progress: None,
            total: None,
            data: Some(json!({"a swordfish": [1, "swordfish!"]})),
        };
        let document = redactor.document(document);
        assert_eq!(document.message, format!("is {REDACTED}"));
        assert_eq!(document.data, Some(json!({format!("a {REDACTED}"): [1, format!("{REDACTED}!")]})));
        let failed = Outcome::Failed {
            exception_type: "swordfish".into(),
            exception_message: "swordfish".into(),
            exception_stack_trace: vec!["a".into(), "swordfish".into()],
        };
        let Outcome::Failed { exception_type, exception_message, exception_stack_trace } = redactor.outcome(failed)
        else {
            panic!("it failed")
        };
        assert_eq!([exception_type.as_str(), &exception_message, &exception_stack_trace[1]], [REDACTED; 3]);
        assert_eq!(redactor.text("swordfis".into()), "swordfis");
        assert_eq!(self::redactor("short").text("short".into()), "short");
    }
}
