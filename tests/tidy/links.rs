//! Links between documents lead to existing files and headings.

use std::collections::BTreeSet;

use super::{File, files, none, root};

/// Relative targets of the inline links of a Markdown text.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(' ') && !target.starts_with('/'))
}

/// The anchors of a document's headings, as repository hosts make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let headings = text.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        !is_code && line.starts_with('#')
    });
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let anchor = |line: &str| line.trim_start_matches('#').trim().chars().filter(kept).collect::<String>();
    headings.map(|line| anchor(line).to_lowercase().replace(' ', "-")).collect()
}

fn problem(file: &File, link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let directory = root().join(&file.path);
    let target = match path {
        "" => directory,
        path => directory.parent()?.join(path),
    };
    let text = std::fs::read_to_string(&target);
    let is_there = match (&text, anchor) {
        (Ok(text), anchor) if path.ends_with(".md") || path.is_empty() => {
            anchor.is_empty() || anchors(text).contains(anchor)
        }
        _ => target.exists(),
    };
    (!is_there).then(|| format!("{}: {link}", file.path))
}

#[test]
fn links_between_documents_lead_somewhere() {
    let documents: Vec<_> = files().into_iter().filter(|file| file.path.ends_with(".md")).collect();
    let count = documents.iter().flat_map(|file| links(&file.text)).count();
    assert!(count > 100, "only {count} links were found");
    let broken = |file: &File| links(&file.text).filter_map(|link| problem(file, link)).collect::<Vec<_>>();
    none("broken links", &documents.iter().flat_map(broken).collect::<Vec<_>>());
}
