//! The extension for skills: `skills/list` and `skills/get` have the skills of the Library, each as a directory with the file
//! `SKILL.md`, which is read as a resource.

use agents::LibraryItem;
use registry::LibraryItemId;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, GetSkillRequestParams, GetSkillResult, ListSkillsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResult, ResourceContents, Skill, SkillFrontmatter, SkillResource,
    SkillResources,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::library_items::{LibraryItems, read_fields};
use super::library_reads::{ItemReader, ReadTool};
use super::library_uris::{build_skill_uri, parse_skill_id, refuse_uri};
use super::mixed_list::MixedList;
use super::pages::TTL_MS;

const MEDIA_TYPE: &str = "text/markdown";

const GET: ReadTool = ReadTool { name: "skill_get", id: "skill_id" };

/// The fields of a skill that the protocol shows.
#[derive(Deserialize)]
struct LibrarySkill {
    name: String,
    description: Option<String>,
    content: String,
}

/// Returns one page of the skills.
pub async fn list(
    list: &MixedList<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<ListSkillsResult, ErrorData> {
    let page = list.read_page(request).await?;
    let mut skills = Vec::with_capacity(page.items.len());
    // An entry has the digest of its file. The contents are read one after the other, so that one is in memory at a time.
    for item in page.items {
        if let Some(whole) = list.read_item(&item.id).await? {
            skills.push(render_skill(whole)?);
        }
    }
    let result = ListSkillsResult::with_all_items(skills).with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private);
    Ok(ListSkillsResult { next_cursor: page.next_cursor, ..result })
}

/// Returns the entry of one skill.
pub async fn get(items: &LibraryItems, request: GetSkillRequestParams) -> Result<GetSkillResult, ErrorData> {
    let refused = || ErrorData::invalid_params("Skill not found", Some(json!({"uri": request.uri})));
    let id = parse_skill_id(&request.uri).ok_or_else(refused)?;
    let skill = render_skill(items.read_item(&id).await?.ok_or_else(refused)?)?;
    if skill.uri != request.uri {
        return Err(refused());
    }
    Ok(GetSkillResult::new(skill))
}

/// Returns the file of a skill, as a call of the tool that reads skills.
pub async fn read(
    reader: &ItemReader<'_>,
    id: LibraryItemId,
    request: ReadResourceRequestParams,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = request.uri;
    let read = reader.read(&GET, &id).await?.ok_or_else(|| refuse_uri(&uri))?;
    let skill: LibrarySkill = read_fields(read.data)?;
    if build_skill_uri(&id, &skill.name) != uri {
        return Err(refuse_uri(&uri));
    }
    let contents = ResourceContents::text(skill.render_file(), uri).with_mime_type(MEDIA_TYPE);
    let mut result = ReadResourceResult::new(vec![contents]);
    result.meta = Some(read.meta);
    Ok(result)
}

fn render_skill(item: LibraryItem) -> Result<Skill, ErrorData> {
    let skill: LibrarySkill = read_fields(Value::Object(item.body))?;
    let uri = build_skill_uri(&item.id, &skill.name);
    let file = SkillResource::from_bytes(uri.as_str(), skill.render_file().as_bytes());
    let front = SkillFrontmatter::new(skill.name.as_str(), skill.describe());
    Ok(Skill::new(uri, front, SkillResources::Files(vec![file])))
}

impl LibrarySkill {
    /// Clients choose a skill by its description, so that none is without.
    fn describe(&self) -> String {
        self.description.clone().unwrap_or_else(|| format!("The skill {}.", self.name))
    }

    /// The instructions after name and description in YAML, in which a text may be written as in JSON.
    fn render_file(&self) -> String {
        let (name, description) = (json!(self.name), json!(self.describe()));
        format!("---\nname: {name}\ndescription: {description}\n---\n\n{}", self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_begins_with_name_and_description() {
        let skill = |description: Option<&str>| LibrarySkill {
            name: "refunds".into(),
            description: description.map(Into::into),
            content: "# Refunds".into(),
        };
        let file = skill(Some("Says \"no\":\nä")).render_file();
        assert_eq!(file, "---\nname: \"refunds\"\ndescription: \"Says \\\"no\\\":\\nä\"\n---\n\n# Refunds");
        assert!(skill(None).render_file().contains("description: \"The skill refunds.\""));
    }
}
