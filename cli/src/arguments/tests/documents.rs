//! Every command of `lathe` in documents and messages is one of the command line.

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Documents that tell what commands were or might be.
const NOT_READ: [&str; 2] = ["CHANGELOG.md", "docs/decisions"];
/// Crates whose messages name commands.
const CRATES: [&str; 7] =
    ["agents/src", "api/src", "builder/src", "cli/src", "registry/src", "repository/src", "runner/src"];

/// How much of a command a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A line to run, complete but for placeholders.
    Line,
    /// Part of a sentence, which may leave arguments out.
    Mention,
}

fn find_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files below a directory with an extension.
fn list_files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|found| found == extension));
    let mut all: Vec<_> =
        files.chain(directories.iter().flat_map(|inner| self::list_files(inner, extension))).collect();
    all.sort();
    all
}

fn list_documents() -> Vec<PathBuf> {
    let root = find_root();
    let own = std::fs::read_dir(&root).expect("the root").map(|entry| entry.expect("an entry").path());
    let own = own.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let is_read = |path: &PathBuf| !NOT_READ.iter().any(|not_read| path.starts_with(root.join(not_read)));
    own.chain(list_files(&root.join("docs"), "md")).filter(is_read).collect()
}

/// Splits a line of a shell into commands of words. Quotes are removed, and a comment ends the line.
fn parse_commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let quoted: String = letters.by_ref().take_while(|next| *next != letter).collect();
                word.get_or_insert_default().push_str(&quoted);
            }
            '#' if word.is_none() => break,
            '|' | ';' | '&' | '>' => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    commands.push(words);
    // A sentence may leave arguments out, or show which are optional.
    let written = |word: String| word.replace(['[', ']'], "");
    let commands =
        commands.into_iter().map(|words| words.into_iter().map(written).filter(|word| word != "…").collect());
    commands.collect()
}

/// The words of each command of `lathe` in a line, with the name of the program first.
fn parse_own_commands(line: &str) -> Vec<Vec<String>> {
    let own = |words: Vec<String>| {
        let start = words.iter().rposition(|word| word == "lathe")?;
        // The program may run in a container, or as another user.
        let after_program = ["--", "exec", "node-1", "lathe", "$", "runuser"];
        let is_program = words[..start].last().is_none_or(|before| after_program.contains(&before.as_str()));
        is_program.then(|| words[start..].to_vec())
    };
    parse_commands(line).into_iter().filter_map(own).collect()
}

/// The commands in the blocks of code of a document.
fn join_lines(text: &str) -> Vec<String> {
    let (mut lines, mut is_shell, mut is_code) = (Vec::<String>::new(), false, false);
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_code = !is_code;
            is_shell = is_code && matches!(language, "sh" | "console" | "bash");
        } else if is_shell {
            match lines.last_mut() {
                Some(last) if last.ends_with('\\') => {
                    last.pop();
                    last.push_str(line.trim());
                }
                _ => lines.push(line.trim_start().trim_start_matches("$ ").to_owned()),
            }
        }
    }
    lines
}

/// The texts between backticks that begin with the name of the program.
fn find_mentions(text: &str) -> Vec<String> {
    let begun = text.match_indices("`lathe ").map(|(start, _)| &text[start + 1..]);
    begun
        .filter_map(|rest| rest.split_once('`'))
        .map(|(mention, _)| mention.replace('\n', " ").replace("\\|", "|"))
        .collect()
}

/// Whether a value stands for one that the reader has.
fn is_placeholder(value: &str) -> bool {
    let is_capital =
        |letter: char| letter.is_ascii_uppercase() || matches!(letter, '_' | '-') || letter.is_ascii_digit();
    value.contains('…') || value.contains("...") || value.chars().all(is_capital)
}

/// The reason why a command is none of the command line.
fn find_problem(words: &[String], form: Form) -> Option<String> {
    let error = super::build_command().try_get_matches_from(words).err()?;
    let is_part = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let is_short = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::TooFewValues
            | ErrorKind::WrongNumberOfValues
    );
    let is_of_reader = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue)
        && match error.get(ContextKind::InvalidValue) {
            Some(ContextValue::String(value)) => form == Form::Mention || is_placeholder(value),
            _ => form == Form::Mention,
        };
    let is_any = matches!(
        error.get(ContextKind::InvalidSubcommand),
        Some(ContextValue::String(name)) if is_placeholder(name)
    );
    let is_accepted = is_any || is_part || is_of_reader || (form == Form::Mention && is_short);
    (!is_accepted).then(|| super::summarize(&error.to_string()).to_owned())
}

#[test]
fn every_command_in_a_document_is_one_of_the_command_line() {
    let (mut problems, mut count) = (Vec::new(), 0);
    for path in list_documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        let told = join_lines(&text).into_iter().map(|line| (line, Form::Line));
        let told = told.chain(find_mentions(&text).into_iter().map(|mention| (mention, Form::Mention)));
        for (line, form) in told {
            for words in parse_own_commands(&line) {
                count += 1;
                let problem =
                    find_problem(&words, form).map(|problem| format!("{}: `{line}`: {problem}", path.display()));
                problems.extend(problem);
            }
        }
    }
    assert!(count > 300, "only {count} commands were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_command_in_a_message_is_one_of_the_command_line() {
    let (mut problems, mut count) = (Vec::new(), 0);
    let is_product = |path: &PathBuf| !path.components().any(|part| part.as_os_str() == "tests");
    for path in CRATES.iter().flat_map(|directory| list_files(&find_root().join(directory), "rs")).filter(is_product) {
        let source = std::fs::read_to_string(&path).expect("a source file");
        // A string may go on in the next line.
        let source: String = source.split("\\\n").map(|part| part.trim_start_matches(' ')).collect();
        for mention in find_mentions(&source) {
            let mention = mention.replace("\\\"", "\"");
            // Values that the message fills in.
            let filled: String = mention
                .split('{')
                .map(|part| part.split_once('}').map_or(part, |(_, rest)| rest))
                .collect::<Vec<_>>()
                .join("X");
            for words in parse_own_commands(&filled) {
                count += 1;
                let problem = find_problem(&words, Form::Mention);
                problems.extend(problem.map(|problem| format!("{}: `{mention}`: {problem}", path.display())));
            }
        }
    }
    assert!(count > 100, "only {count} commands were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_command_that_is_none_is_found() {
    let problem_of = |line: &str, form| parse_own_commands(line).iter().find_map(|words| find_problem(words, form));
    assert!(problem_of("lathe key create laptop", Form::Line).is_some());
    assert!(problem_of("lathe tool publsh greet", Form::Mention).is_some());
    assert!(problem_of("lathe tool list --jsn", Form::Mention).is_some());
    assert!(problem_of("lathe user create bob   # without a role", Form::Line).is_some());
    assert_eq!(problem_of("lathe user create", Form::Mention), None);
    assert_eq!(problem_of("lathe replay INVOCATION_ID --version '>=2'   # another", Form::Line), None);
    assert_eq!(parse_own_commands("runuser --user lathe -- lathe org create acme --user ada")[0][1], "org");
    assert_eq!(parse_own_commands("lathe --json tool show x | jq .lathe")[0].len(), 5);
}
