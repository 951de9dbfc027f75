//! What git refuses by itself, before the hook or after it, explained to its client.
//!
//! git's answer to a push is a sequence of packets: its text for the user in one band, the result of each branch in another one. This reads
//! the answer as it passes, and adds a text before the packet that ends it.

use crate::push::advise_without_history;

/// Bytes of a packet's length.
const LENGTH_BYTES: usize = 4;
/// Bands of a packet: git's result, text for the user, and the text of an end without a result.
const RESULT: u8 = 1;
const TEXT: u8 = 2;
const FAILURE: u8 = 3;
/// Bytes of git's words that are kept. A refusal is in the last ones.
const WORDS_BYTES_MAX: usize = 16 * 1024;
/// Bytes of an added text, in one packet.
const ADVICE_BYTES_MAX: usize = 4 * 1024;

/// Reads the answer to a push, and adds what its client does next.
#[derive(Debug)]
pub(super) struct PushAdvice {
    organization: String,
    part: Part,
    words: Words,
}

/// The end of what git said.
#[derive(Debug, Default)]
struct Words {
    to_user: Vec<u8>,
    result: Vec<u8>,
}

/// The part of a packet that comes next.
#[derive(Debug)]
enum Part {
    Length(Vec<u8>),
    Band {
        bytes: usize,
    },
    Content {
        bytes: usize,
        band: u8,
    },
    /// What follows is not in packets with bands: the client asked for none.
    Unknown,
}

impl PushAdvice {
    pub(super) fn new(organization: &str) -> Self {
        Self { organization: organization.to_owned(), part: Part::Length(Vec::new()), words: Words::default() }
    }

    /// Appends the input to `output`, with the added text.
    pub(super) fn pass(&mut self, mut input: &[u8], output: &mut Vec<u8>) {
        while !input.is_empty() {
            let taken = self.step(input, output);
            input = &input[taken..];
        }
    }

    /// Appends what was held back at the end of an answer.
    pub(super) fn finish(&mut self, output: &mut Vec<u8>) {
        if let Part::Length(held) = &mut self.part {
            output.append(held);
        }
    }

    /// Passes the first bytes on, and returns their number.
    fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> usize {
        match &mut self.part {
            Part::Length(held) => {
                // Held back, since a text comes before the packet that ends the answer.
                let taken = input.len().min(LENGTH_BYTES - held.len());
                held.extend_from_slice(&input[..taken]);
                if held.len() == LENGTH_BYTES {
                    let length = std::mem::take(held);
                    self.begin_packet(&length, output);
                }
                taken
            }
            Part::Band { bytes } => {
                let (band, bytes) = (input[0], *bytes - 1);
                output.push(band);
                self.part = match (band, bytes) {
                    (RESULT | TEXT | FAILURE, 0) => Part::Length(Vec::new()),
                    (RESULT | TEXT | FAILURE, bytes) => Part::Content { bytes, band },
                    _ => Part::Unknown,
                };
                1
            }
            Part::Content { bytes, band } => {
                let (taken, band) = (input.len().min(*bytes), *band);
                *bytes -= taken;
                if *bytes == 0 {
                    self.part = Part::Length(Vec::new());
                }
                output.extend_from_slice(&input[..taken]);
                self.words.keep(band, &input[..taken]);
                taken
            }
            Part::Unknown => {
                output.extend_from_slice(input);
                input.len()
            }
        }
    }

    fn begin_packet(&mut self, length: &[u8], output: &mut Vec<u8>) {
        let number = std::str::from_utf8(length).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        self.part = match number {
            Some(0) => {
                self.add(output);
                Part::Length(Vec::new())
            }
            Some(bytes) if bytes > LENGTH_BYTES => Part::Band { bytes: bytes - LENGTH_BYTES },
            _ => Part::Unknown,
        };
        output.extend_from_slice(length);
    }

    /// Adds the text for what git said, if there is one.
    fn add(&mut self, output: &mut Vec<u8>) {
        let words = std::mem::take(&mut self.words);
        let Some(mut advice) = words.explain(&self.organization) else { return };
        advice.truncate(advice.floor_char_boundary(ADVICE_BYTES_MAX));
        advice.push('\n');
        output.extend_from_slice(format!("{:04x}", LENGTH_BYTES + 1 + advice.len()).as_bytes());
        output.push(TEXT);
        output.extend_from_slice(advice.as_bytes());
    }
}

impl Words {
    fn keep(&mut self, band: u8, words: &[u8]) {
        let kept = if band == RESULT { &mut self.result } else { &mut self.to_user };
        kept.extend_from_slice(words);
        let beyond = kept.len().saturating_sub(WORDS_BYTES_MAX);
        kept.drain(..beyond);
    }

    /// What the words mean, and what the client's user does next. `None` for a push that git accepted, and for one that the hook
    /// refused, which has said why.
    fn explain(&self, organization: &str) -> Option<String> {
        let [to_user, result] = [&self.to_user, &self.result].map(|words| String::from_utf8_lossy(words));
        let is_refused = !result.contains("unpack ok") || result.contains("ng refs/");
        if !is_refused || result.contains("pre-receive hook declined") {
            return None;
        }
        Some(explain(&format!("{to_user}\n{result}"), organization))
    }
}

/// What the words of a refusal mean, and what the client's user does next.
fn explain(words: &str, organization: &str) -> String {
    let parts = format!(
        "Push the history in parts, older commits first: git push origin COMMIT:refs/heads/releases/{organization}, with the id of a commit \
        in its middle."
    );
    if words.contains("shallow update not allowed") {
        return format!(
            "The push is refused because this clone is shallow: it lacks commits that this repository does not have either. Run `git fetch \
            --unshallow` with the remote that it was cloned from (in CI, check out with the whole history: fetch-depth: 0), and push again. {}",
            advise_without_history(organization)
        );
    }
    if words.contains("fsck error") {
        let object = find_malformed_object(words).unwrap_or_else(|| "an object".to_owned());
        return format!(
            "The push is refused because git finds {object} of its history malformed, as the line above says. `git fsck` shows the same in \
            your clone. {}",
            advise_without_history(organization)
        );
    }
    if words.contains("exceeds maximum allowed size") {
        return format!(
            "The push is refused because one push has at most 100 MiB. {parts} Large files of the history stay in it after their deletion. {}",
            advise_without_history(organization)
        );
    }
    if words.contains("exists; cannot create") {
        return "The push is refused because git keeps branches as files, and a name cannot be that of a file and of a directory. Delete the one that is \
            in the way first, in a push of its own: git push origin --delete BRANCH"
            .to_owned();
    }
    if words.contains("cannot lock ref") || words.contains("failed to update ref") {
        let why = "The branch has not changed, because another push changed it or its neighbours at the same moment.";
        return format!("{why} Run `git fetch`, and push again.");
    }
    if words.contains("missing necessary objects") || words.contains("did not send all necessary objects") {
        return format!(
            "The push is refused because your clone does not have all objects of these commits: it may be damaged or partial. Run `git fsck`, \
            or clone again, and push again. {}",
            advise_without_history(organization)
        );
    }
    if !words.contains("unpack ok") {
        return format!(
            "The push is refused because git could not read it within 60 s of computing time and 512 MiB. {parts}"
        );
    }
    "A branch has not changed. Push again; if it is refused again, ask the operator of this service.".to_owned()
}

/// The object that git names, such as `object 1234…`.
fn find_malformed_object(words: &str) -> Option<String> {
    let (_, rest) = words.split_once("error: object ")?;
    let id: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    (!id.is_empty()).then(|| format!("the object {id}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(band: u8, text: &str) -> Vec<u8> {
        [format!("{:04x}", text.len() + 5).as_bytes(), &[band], text.as_bytes()].concat()
    }

    /// The answer after it has passed in pieces of a size.
    fn pass_in_pieces(answer: &[u8], size: usize) -> Vec<u8> {
        let (mut advice, mut output) = (PushAdvice::new("acme"), Vec::new());
        answer.chunks(size).for_each(|piece| advice.pass(piece, &mut output));
        advice.finish(&mut output);
        output
    }

    fn refusal(text: &str, result: &str) -> Vec<u8> {
        [packet(TEXT, text), packet(RESULT, result), b"0000".to_vec()].concat()
    }

    #[test]
    fn a_refusal_of_git_gets_a_text_before_its_end() {
        for (text, result, word) in [
            (
                "error: object 12ab: badDate: bad\nfatal: fsck error in packed object\n",
                "unpack index-pack abnormal exit\n",
                "object 12ab of",
            ),
            ("", "unpack ok\nng refs/heads/x shallow update not allowed\n", "git fetch --unshallow"),
            (
                "fatal: pack exceeds maximum allowed size (100.00 MiB)\n",
                "unpack index-pack abnormal exit\n",
                "at most 100 MiB",
            ),
            (
                "error: cannot lock ref 'refs/heads/x/y': 'refs/heads/x' exists; cannot create 'refs/heads/x/y'\n",
                "unpack ok\nng refs/heads/x/y atomic transaction failed\n",
                "in a push of its own",
            ),
            (
                "error: cannot lock ref 'refs/heads/x'\n",
                "unpack ok\nng refs/heads/x failed to update ref\n",
                "Run `git fetch`",
            ),
            ("", "unpack ok\nng refs/heads/x missing necessary objects\n", "damaged or partial"),
            ("fatal: Out of memory\n", "unpack index-pack abnormal exit\n", "in parts"),
            ("", "unpack ok\nng refs/heads/x unknown\n", "Push again"),
        ] {
            let answer = refusal(text, result);
            let output = pass_in_pieces(&answer, 7);
            let added = output.strip_prefix(&answer[..answer.len() - 4]).and_then(|rest| rest.strip_suffix(b"0000"));
            let added = String::from_utf8_lossy(added.expect("the answer, a text, and its end"));
            let bytes = usize::from_str_radix(&added[..4], 16).expect("a length");
            assert!(bytes == added.len() && added.ends_with('\n') && added.contains(word), "{word}: {added}");
        }
    }

    #[test]
    fn an_accepted_push_and_a_refusal_of_the_hook_pass_unchanged() {
        for answer in [
            refusal("", "unpack ok\nok refs/heads/x\n"),
            refusal("main belongs to the service\n", "unpack ok\nng refs/heads/main pre-receive hook declined\n"),
            b"000eunpack ok\n0000".to_vec(),
            b"zzzz".to_vec(),
            b"00".to_vec(),
        ] {
            assert_eq!(pass_in_pieces(&answer, 3), answer, "{}", answer.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_pass_in_pieces_of_any_size(answer: Vec<u8>, size in 1_usize..9) {
            prop_assert_eq!(pass_in_pieces(&answer, size), pass_in_pieces(&answer, usize::MAX));
        }
    }
}
