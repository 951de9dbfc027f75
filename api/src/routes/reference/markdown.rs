//! Renders Markdown as HTML, with an anchor for each heading: its error codes, or else its words. Links to other files of
//! the repository become plain text, since the server does not have these files.
//!
//! The text is part of the repository, so it is not sanitised.

use std::collections::HashMap;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

pub(super) fn render_markdown(text: &str) -> String {
    let mut page = String::with_capacity(2 * text.len());
    let events = strip_file_links(Parser::new_ext(text, Options::ENABLE_TABLES));
    html::push_html(&mut page, add_anchors(events).into_iter());
    page
}

/// Removes links to files. Links do not nest, so the end of a link belongs to the last start.
fn strip_file_links<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let mut is_kept = true;
    let kept = events.filter(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            is_kept = dest_url.starts_with('#');
            is_kept
        }
        Event::End(TagEnd::Link) => is_kept,
        _ => true,
    });
    kept.collect()
}

/// Adds an id to every heading. A heading with several codes gets an anchor for each code.
fn add_anchors(events: Vec<Event>) -> Vec<Event> {
    let mut anchored = Vec::with_capacity(events.len());
    let mut taken = HashMap::new();
    let mut rest = events.into_iter();
    while let Some(event) = rest.next() {
        let Event::Start(Tag::Heading { .. }) = event else {
            anchored.push(event);
            continue;
        };
        let inner: Vec<Event> = rest.by_ref().take_while(|event| !is_end(event)).collect();
        let level = find_level(&event);
        anchored.extend(render_heading(event, inner, &mut taken));
        anchored.extend(level.map(|level| Event::End(TagEnd::Heading(level))));
    }
    anchored
}

const fn is_end(event: &Event) -> bool {
    matches!(event, Event::End(TagEnd::Heading(_)))
}

const fn find_level(start: &Event) -> Option<pulldown_cmark::HeadingLevel> {
    match start {
        Event::Start(Tag::Heading { level, .. }) => Some(*level),
        _ => None,
    }
}

fn render_heading<'a>(start: Event<'a>, inner: Vec<Event<'a>>, taken: &mut HashMap<String, usize>) -> Vec<Event<'a>> {
    let mut ids = find_ids(&inner).into_iter().map(|id| number_uses(id, taken));
    let first = ids.next().unwrap_or_default();
    let others = ids.map(|id| Event::InlineHtml(format!("<a id=\"{id}\"></a>").into()));
    let link = Event::InlineHtml(format!("<a href=\"#{first}\">").into());
    let mut heading = vec![add_id(start, first.into())];
    heading.extend(others);
    heading.push(link);
    heading.extend(inner);
    heading.push(Event::InlineHtml("</a>".into()));
    heading
}

fn add_id<'a>(start: Event<'a>, id: CowStr<'a>) -> Event<'a> {
    match start {
        Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
            Event::Start(Tag::Heading { level, id: Some(id), classes, attrs })
        }
        other => other,
    }
}

/// The ids of a heading: its codes, or its words.
fn find_ids(inner: &[Event]) -> Vec<String> {
    let codes = inner.iter().filter_map(|event| match event {
        Event::Code(code) => Some(code.to_string()),
        _ => None,
    });
    let codes: Vec<String> = codes.collect();
    if codes.is_empty() { vec![build_slug(inner)] } else { codes }
}

/// The words of a heading in lower case, with hyphens between them.
fn build_slug(inner: &[Event]) -> String {
    let text = inner.iter().filter_map(|event| if let Event::Text(text) = event { Some(text.as_ref()) } else { None });
    let text = text.collect::<String>().to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Adds a number to the second and later uses of an id.
fn number_uses(id: String, taken: &mut HashMap<String, usize>) -> String {
    let count = taken.entry(id.clone()).or_default();
    *count += 1;
    if *count == 1 { id } else { format!("{id}-{count}") }
}

#[cfg(test)]
mod tests {
    use super::render_markdown;

    #[test]
    fn only_links_within_the_page_stay() {
        let page = render_markdown("[a `b`](c.md), [d](#e)\n");
        assert_eq!(page, "<p>a <code>b</code>, <a href=\"#e\">d</a></p>\n");
    }

    #[test]
    fn headings_have_anchors() {
        let check = |text, expected| assert_eq!(render_markdown(text), expected);
        check(
            "## Failed builds: why\n",
            "<h2 id=\"failed-builds-why\"><a href=\"#failed-builds-why\">Failed builds: why</a></h2>\n",
        );
        check(
            "# `a`, `b`\n# `a`\n",
            "<h1 id=\"a\"><a id=\"b\"></a><a href=\"#a\"><code>a</code>, <code>b</code></a></h1>\n\
            <h1 id=\"a-2\"><a href=\"#a-2\"><code>a</code></a></h1>\n",
        );
    }
}
