//! The table `annotations` and the key `tasks`: what a version declares for models and clients.

use registry::{Annotations, TaskSupport, ToolTitle};

use super::fields::{Fields, Located};
use crate::error::Error;

/// Reads the annotations. A tool cannot be both read-only and destructive.
pub fn read(mut annotations: Fields) -> Result<Annotations, Error> {
    let value = |found: Option<Located<bool>>| found.map(|found| found.value);
    let title = read_title(&mut annotations)?;
    let read_only = value(annotations.take_flag("read_only")?);
    let destructive = annotations.take_flag("destructive")?;
    let line = destructive.as_ref().map(|found| found.line);
    let found = Annotations {
        title,
        read_only,
        destructive: value(destructive),
        idempotent: value(annotations.take_flag("idempotent")?),
        open_world: value(annotations.take_flag("open_world")?),
    };
    match line.filter(|_| found.is_contradictory()) {
        Some(line) => Err(annotations.refuse("destructive", line, "must not be true with `read_only = true`")),
        None => annotations.finish().map(|()| found),
    }
}

/// Reads whether a call over MCP becomes a task.
pub fn read_task_support(lathe: &mut Fields) -> Result<TaskSupport, Error> {
    let key = "tasks";
    let Some(Located { line, value }) = lathe.take_text(key)? else { return Ok(TaskSupport::default()) };
    value.parse().map_err(|_| lathe.refuse(key, line, "must be \"never\", \"optional\" or \"required\""))
}

fn read_title(annotations: &mut Fields) -> Result<Option<ToolTitle>, Error> {
    let Some(Located { line, value }) = annotations.take_text("title")? else { return Ok(None) };
    let refused = |error: registry::InvalidValue| annotations.refuse("title", line, error.reason);
    ToolTitle::parse(&value).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_refused, parse};
    use super::*;

    fn lathe(lines: &str) -> String {
        format!("[project]\nname = 'w'\n[tool.lathe]\n{lines}\n")
    }

    #[test]
    fn annotations_are_what_the_author_declares() {
        let nothing = parse(&lathe("")).unwrap();
        assert_eq!((nothing.annotations, nothing.task_support), (Annotations::default(), TaskSupport::Never));
        let all = "tasks = 'optional'\n[tool.lathe.annotations]\n\
            title = ' Cancel an order '\nread_only = false\ndestructive = true\nidempotent = true\nopen_world = false";
        let manifest = parse(&lathe(all)).unwrap();
        let expected = Annotations {
            title: ToolTitle::parse("Cancel an order").ok(),
            read_only: Some(false),
            destructive: Some(true),
            idempotent: Some(true),
            open_world: Some(false),
        };
        assert_eq!((manifest.annotations, manifest.task_support), (expected, TaskSupport::Optional));
        assert_eq!(parse(&lathe("tasks = 'required'")).unwrap().task_support, TaskSupport::Required);
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        let table = |lines: &str| lathe(&format!("[tool.lathe.annotations]\n{lines}"));
        let both = "pyproject.toml:6: tool.lathe.annotations.destructive must not be true with `read_only = true`";
        assert_refused(&table("read_only = true\ndestructive = true"), both);
        assert!(parse(&table("read_only = true\ndestructive = false")).is_ok());
        for wrong in ["title = ''", "title = 3", "title = '  '", &format!("title = '{}'", "a".repeat(129))] {
            assert_refused(&table(wrong), "pyproject.toml:5: ");
        }
        assert_refused(
            &table("readonly = true"),
            "is an unknown key; the known keys are: title, read_only, destructive",
        );
        assert_refused(&table("idempotent = 'yes'"), "must be a boolean");
        assert_refused(&lathe("annotations = true"), "pyproject.toml:4: tool.lathe.annotations must be a table");
        assert_refused(
            &lathe("tasks = 'always'"),
            "pyproject.toml:4: tool.lathe.tasks must be \"never\", \"optional\"",
        );
        assert_refused(&lathe("tasks = true"), "pyproject.toml:4: tool.lathe.tasks must be a string");
    }
}
