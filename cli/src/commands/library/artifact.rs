//! `lathe artifact`: reports, dashboards, plans and other results.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, json};

use super::content::ContentArguments;
use super::family::{Family, ItemArguments, ListArguments, ScopeArguments, ShowArguments, list_given_fields};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

const ARTIFACTS: Family = Family {
    noun: "artifact",
    plural: "artifacts",
    list_command: "`lathe artifact list`",
    path: "artifacts",
    id: "artifact_id",
    key: None,
    columns: ["artifact_type", "content_type", "title"],
    content: "content",
};

#[derive(Debug, Subcommand)]
pub enum ArtifactCommand {
    /// Create an artifact, which never changes
    Create(CreateArguments),
    /// List artifacts, newest first
    List(ArtifactListArguments),
    /// Show an artifact with its content
    Show(ArtifactShowArguments),
    /// Let another user read an artifact
    Share(ShareArguments),
    /// Delete an artifact; its links end
    Delete(ItemArguments),
}

#[derive(Debug, Args)]
pub struct CreateArguments {
    #[command(flatten)]
    fields: ArtifactFields,
    #[command(flatten)]
    content: ContentArguments,
    #[command(flatten)]
    scope: ScopeArguments,
}

#[derive(Debug, Args, Serialize)]
struct ArtifactFields {
    /// Title of the artifact
    title: String,
    /// Type, such as report, dashboard, plan or document
    #[arg(long = "type", value_name = "TYPE", default_value = "document")]
    artifact_type: String,
    /// Media type of the content
    #[arg(long, value_name = "MEDIA_TYPE", default_value = "text/plain")]
    content_type: String,
    /// Summary
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Tag; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Let everyone in the organisation read the artifact by its id
    #[arg(long)]
    shared_to_org: bool,
    /// Let everyone who has a link read the artifact, until it is deleted
    #[arg(long = "public")]
    is_public: bool,
}

#[derive(Debug, Args)]
pub struct ArtifactListArguments {
    #[command(flatten)]
    list: ListArguments,
    /// Only artifacts of this type
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<String>,
}

#[derive(Debug, Args)]
pub struct ArtifactShowArguments {
    #[command(flatten)]
    show: ShowArguments,
    /// Add a link to the content for a person without a token, which works for fifteen minutes
    #[arg(long)]
    link: bool,
}

#[derive(Debug, Args)]
pub struct ShareArguments {
    #[command(flatten)]
    item: ItemArguments,
    /// User who reads the artifact from then on
    #[arg(long)]
    user: String,
}

pub async fn run(command: ArtifactCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        ArtifactCommand::Create(CreateArguments { fields: given, content, scope }) => {
            let mut fields = list_given_fields(&given)?;
            let (content, is_base64) = content.require_text_or_bytes()?;
            fields.insert("content".to_owned(), json!(content));
            fields.extend(is_base64.then(|| ("content_encoding".to_owned(), json!("base64"))));
            let created = ARTIFACTS.items(client, &scope).create(fields).await?;
            ARTIFACTS.confirm("created", &created, screen)
        }
        ArtifactCommand::List(ArtifactListArguments { list, artifact_type }) => {
            let mut filter = list.build_filter();
            filter.extend(artifact_type.map(|artifact_type| ("artifact_type", artifact_type)));
            ARTIFACTS.list(client, &list.amount, &filter, screen).await
        }
        ArtifactCommand::Show(ArtifactShowArguments { show, link }) => {
            let query: Vec<_> = link.then(|| ("with_download_url", "true".to_owned())).into_iter().collect();
            ARTIFACTS.show_with(client, &show, &query, screen).await
        }
        ArtifactCommand::Share(ShareArguments { item, user }) => {
            let fields = Map::from_iter([("user_id".to_owned(), json!(user))]);
            let (shared, said) = ARTIFACTS.act(client, &item, "share", "shared with this user:", fields).await?;
            screen.answer(&shared, || said)
        }
        ArtifactCommand::Delete(arguments) => ARTIFACTS.delete(client, &arguments, screen).await,
    }
}
