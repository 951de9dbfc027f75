//! The table `annotations` and the key `tasks`: what a version declares for models and clients.

use registry::{Annotations, TaskSupport, ToolTitle};

use super::fields::{Fields, Located};
use crate::error::Error;

/// Reads the annotations. A tool cannot be both read-only and destructive.
pub fn read(mut annotations: Fields) -> Result<Annotations, Error> {
    let value = |found: Option<Located<bool>>| found.map(|found| found.value);
    let title = title(&mut annotations)?;
    let read_only = value(annotations.flag("read_only")?);
    let destructive = annotations.flag("destructive")?;
    let line = destructive.as_ref().map(|found| found.line);
    let found = Annotations {
        title,
        read_only,
        destructive: value(destructive),
        idempotent: value(annotations.flag("idempotent")?),
        open_world: value(annotations.flag("open_world")?),
    };
    match line.filter(|_| found.is_contradictory()) {
        Some(line) => Err(annotations.refuse("destructive", line, "must not be true with `read_only = true`")),
        None => annotations.finish().map(|()| found),
    }
}

/// Reads whether a call over MCP becomes a task.
pub fn task_support(lathe: &mut Fields) -> Result<TaskSupport, Error> {
    let key = "tasks";
    let Some(Located { line, value }) = lathe.text(key)? else { return Ok(TaskSupport::default()) };
    value.parse().map_err(|_| lathe.refuse(key, line, "must be \"never\", \"optional\" or \"required\""))
}

fn title(annotations: &mut Fields) -> Result<Option<ToolTitle>, Error> {
    let Some(Located { line, value }) = annotations.text("title")? else { return Ok(None) };
    let refused = |error: registry::InvalidValue| annotations.refuse("title", line, error.reason);
    ToolTitle::parse(&value).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{parsed, refused};
    use super::*;

    fn lathe(lines: &str) -> String {
        format!("[project]\nname = 'w'\n[tool.lathe]\n{lines}\n")
    }

    #[test]
    fn annotations_are_what_the_author_declares() {
        let nothing = parsed(&lathe("")).unwrap();
        assert_eq!((nothing.annotations, nothing.task_support), (Annotations::default(), TaskSupport::Never));
        let all = "tasks = 'optional'\n[tool.lathe.annotations]\n\
            title = ' Cancel an order '\nread_only = false\ndestructive = true\nidempotent = true\nopen_world = false";
        let manifest = parsed(&lathe(all)).unwrap();
        let expected = Annotations {
            title: ToolTitle::parse("Cancel an order").ok(),
            read_only: Some(false),
            destructive: Some(true),
            idempotent: Some(true),
            open_world: Some(false),
        };
        assert_eq!((manifest.annotations, manifest.task_support), (expected, TaskSupport::Optional));
        assert_eq!(parsed(&lathe("tasks = 'required'")).unwrap().task_support, TaskSupport::Required);
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        let table = |lines: &str| lathe(&format!("[tool.lathe.annotations]\n{lines}"));
        let both = "pyproject.toml:6: tool.lathe.annotations.destructive must not be true with `read_only = true`";
        refused(&table("read_only = true\ndestructive = true"), both);
        assert!(parsed(&table("read_only = true\ndestructive = false")).is_ok());
        for wrong in ["title = ''", "title = 3", "title = '  '", &format!("title = '{}'", "a".repeat(129))] {
            refused(&table(wrong), "pyproject.toml:5: ");
        }
        refused(&table("readonly = true"), "is an unknown key; the known keys are: title, read_only, destructive");
        refused(&table("idempotent = 'yes'"), "must be a boolean");
        refused(&lathe("annotations = true"), "pyproject.toml:4: tool.lathe.annotations must be a table");
        refused(&lathe("tasks = 'always'"), "pyproject.toml:4: tool.lathe.tasks must be \"never\", \"optional\"");
        refused(&lathe("tasks = true"), "pyproject.toml:4: tool.lathe.tasks must be a string");
    }
}
