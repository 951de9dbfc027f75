//! Creating, reading, changing, sharing and deleting items of the Library.

use registry::statements::{
    Connection, Query, Row, get, parse_column, parse_optional_column, read_timestamp, read_unsigned, require_changed,
    to_json, to_signed,
};
use registry::{Error, LibraryItemId, Result, Timestamp, UserId};

use super::content::{StoredFields, read_fields};
use super::index::{IndexEntry, remove_from_index};
use super::revisions::{drop_revisions, keep_revision, query_revision};
use super::shelf::{LibraryShelf, is_of_shelf};
use super::usage::{LibraryLimits, LibraryUsage};
use crate::domain::library::{LibraryContent, LibraryFamily, LibraryItem, LibraryScope, Provenance};
use crate::error;
use crate::store::AgentStore;

/// The condition that an item is of the scope, or shared with its user.
macro_rules! is_visible {
    () => {
        " FROM library_items i
        WHERE organization = $1 AND family = $2 AND item = $5 AND deleted_at IS NULL AND (owner = $3 AND app = $4
            OR EXISTS (SELECT 1 FROM library_shares s
                WHERE s.organization = $1 AND s.account = $3 AND s.family = $2 AND s.item = i.item))"
    };
}

const GET: &str = concat!("SELECT *", is_visible!());

const REVISION: &str = concat!("SELECT revision, key", is_visible!());

const FIND: &str = concat!("SELECT * FROM library_items WHERE ", is_of_shelf!(), " AND key = $5");

const INSERT: &str =
    "INSERT INTO library_items (organization, family, owner, app, item, key, label, tags, body, revision,
        invocation, agent, workflow, is_trusted, due_at, created_at, updated_at, content_bytes, content)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, $11, $12, $13, $14, $15, $15, $16, $17)";

const UPDATE: &str = concat!(
    "UPDATE library_items SET key = $6, label = $7, tags = $8, body = $9, invocation = $10, agent = $11, workflow = $12,
        is_trusted = $13, due_at = $14, updated_at = $15, content_bytes = $16, content = $17,
        revision = revision + 1 WHERE ",
    is_of_shelf!(),
    " AND item = $5 AND revision = $18"
);

/// The row stays for a while, without what the item was: deleted bytes are free at once.
const DELETE: &str = concat!(
    "UPDATE library_items SET deleted_at = $6, due_at = NULL, tags = '[]', body = '{}', content_bytes = 0, content = NULL
    WHERE ",
    is_of_shelf!(),
    " AND item = $5"
);

const END_SHARES: &str = "DELETE FROM library_shares WHERE organization = $1 AND item = $2";

const SHARE: &str = concat!(
    "INSERT INTO library_shares (organization, item, account, family)
    SELECT organization, item, $6, family FROM library_items WHERE ",
    is_of_shelf!(),
    " AND item = $5 ON CONFLICT DO NOTHING"
);

const IS_OWN: &str = concat!("SELECT 1 AS found FROM library_items WHERE ", is_of_shelf!(), " AND item = $5");

const MEMBER: &str = "SELECT account FROM members WHERE organization = $1 AND user_id = $2";

/// A revision of an item that is to be written.
struct Write {
    shelf: LibraryShelf,
    item: LibraryItemId,
    content: LibraryContent,
    provenance: Provenance,
    now: Timestamp,
}

/// The Library as a user sees it, within one application. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Library {
    pub(in crate::store) store: AgentStore,
    pub(in crate::store) scope: LibraryScope,
    /// The provenance of everything that is written.
    provenance: Provenance,
}

impl AgentStore {
    pub fn library(&self, scope: LibraryScope, provenance: Provenance) -> Library {
        Library { store: self.clone(), scope, provenance }
    }
}

impl Library {
    /// Whether what is written counts as written by the user.
    pub const fn is_trusted(&self) -> bool {
        self.provenance.is_trusted
    }

    /// Creates an item. [`Error::Exists`] when another live item of the family has the key, [`error::Error::LibraryFull`] and
    /// [`Error::TooMany`] at the limits of the user and of the organisation.
    pub async fn create(&self, family: LibraryFamily, content: LibraryContent) -> Result<LibraryItem, error::Error> {
        let write = self.build_write(family, LibraryItemId::new(self.store.clock()), content)?;
        let limits = LibraryLimits::of(self.store.config());
        self.store
            .write_or_refuse(move |connection| {
                Box::pin(async move {
                    write.require_free_key(connection).await?;
                    let before = LibraryUsage::read(&write.shelf, connection).await?;
                    write.query(INSERT)?.execute(&mut *connection).await?;
                    let after = LibraryUsage::read(&write.shelf, connection).await?;
                    limits.require(&write.shelf.scope, before, after)?;
                    write.index(connection).await?;
                    write.shelf.announce(connection, &write.item).await?;
                    Ok(write.read_stored(connection).await?)
                })
            })
            .await
            .inspect(|_| self.store.0.memory_written.notify_one())
    }

    /// Finds an item that the user owns or that was shared with the user.
    pub async fn get(&self, family: LibraryFamily, item: &LibraryItemId) -> Result<Option<LibraryItem>> {
        let query = self.shelf(family).query(GET).bind(item.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Finds an item that the user owns or that was shared with the user, as it was in a revision. `None` also for a revision that is
    /// not kept any more.
    pub async fn get_revision(
        &self,
        family: LibraryFamily,
        item: &LibraryItemId,
        revision: u64,
    ) -> Result<Option<LibraryItem>> {
        // First, since an update moves the present revision to the earlier ones.
        let Some(present) = self.get(family, item).await? else { return Ok(None) };
        if present.revision == revision {
            return Ok(Some(present));
        }
        let query = query_revision(&self.scope.organization, item, revision);
        let Some(row) = query.fetch_optional(self.store.readers()).await? else { return Ok(None) };
        let (body, content_bytes) = read_fields(&row, family)?;
        Ok(Some(LibraryItem {
            body,
            content_bytes,
            revision: read_unsigned(&row, "revision")?,
            provenance: parse_provenance(&row)?,
            updated_at: read_timestamp(&row, "written_at")?,
            ..present
        }))
    }

    /// Returns the revision of an item and its key, without its content. An item without a key has an empty one.
    pub async fn revision_and_key(&self, family: LibraryFamily, item: &LibraryItemId) -> Result<Option<(u64, String)>> {
        let query = self.shelf(family).query(REVISION).bind(item.as_str());
        let row = query.fetch_optional(self.store.readers()).await?;
        row.map(|row| Ok((read_unsigned(&row, "revision")?, get::<Option<String>>(&row, "key")?.unwrap_or_default())))
            .transpose()
    }

    /// Finds the item of the user with a key.
    pub async fn find(&self, family: LibraryFamily, key: &str) -> Result<Option<LibraryItem>> {
        if key.contains('\0') {
            return Ok(None);
        }
        let query = self.shelf(family).query(FIND).bind(key);
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }

    /// Writes the next revision of an item of the user, and keeps the present one of a skill or a prompt. [`error::Error::Changed`] when
    /// `revision` is not the present one, [`Error::Exists`] when another live item of the family has the key, [`error::Error::LibraryFull`] when
    /// there is no room for more bytes.
    pub async fn update(
        &self,
        family: LibraryFamily,
        item: &LibraryItemId,
        revision: u64,
        content: LibraryContent,
    ) -> Result<LibraryItem, error::Error> {
        let write = self.build_write(family, item.clone(), content)?;
        let limits = LibraryLimits::of(self.store.config());
        self.store
            .write_or_refuse(move |connection| {
                Box::pin(async move {
                    require_own(connection, &write.shelf, &write.item).await?;
                    // Those who saw an artifact may not see its next revision.
                    write.shelf.announce(connection, &write.item).await?;
                    let before = LibraryUsage::read(&write.shelf, connection).await?;
                    write.require_free_key(connection).await?;
                    if keeps_revisions(family) {
                        keep_revision(connection, &write.shelf, &write.item, revision).await?;
                    }
                    let query = write.query(UPDATE)?.bind(to_signed(revision));
                    if query.execute(&mut *connection).await? == 0 {
                        return Err(error::Error::Changed { what: "item" });
                    }
                    let after = LibraryUsage::read(&write.shelf, connection).await?;
                    limits.require(&write.shelf.scope, before, after)?;
                    write.index(connection).await?;
                    write.shelf.announce(connection, &write.item).await?;
                    Ok(write.read_stored(connection).await?)
                })
            })
            .await
            .inspect(|_| self.store.0.memory_written.notify_one())
    }

    /// Deletes an item of the user with its earlier revisions and shares, and frees its key and its bytes. [`Error::NotFound`] when the user
    /// has no such item.
    pub async fn delete(&self, family: LibraryFamily, item: &LibraryItemId) -> Result<()> {
        let now = self.store.clock().now().as_milliseconds();
        let query = self.shelf(family).query(DELETE).bind(item.as_str()).bind(now);
        let (shelf, item) = (self.shelf(family), item.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    // Before the deletion, which removes what tells who sees the item.
                    shelf.announce(connection, &item).await?;
                    require_changed(query.execute(&mut *connection).await?, "item")?;
                    let organization = &shelf.scope.organization;
                    drop_revisions(connection, organization, &item).await?;
                    let shares = Query::new(END_SHARES).bind(organization.as_str()).bind(item.as_str());
                    shares.execute(&mut *connection).await?;
                    if is_searched(family) { remove_from_index(&shelf.scope, &item, connection).await } else { Ok(()) }
                })
            })
            .await
    }

    /// Lets another user of the organisation read an item of the user.
    pub async fn share(&self, family: LibraryFamily, item: &LibraryItemId, with: &UserId) -> Result<()> {
        let (shelf, item, with) = (self.shelf(family), item.clone(), with.clone());
        self.store
            .write(move |connection| {
                Box::pin(async move {
                    require_own(connection, &shelf, &item).await?;
                    let member = Query::new(MEMBER).bind(shelf.scope.organization.as_str()).bind(with.as_str());
                    let Some(row) = member.fetch_optional(&mut *connection).await? else {
                        return Err(Error::UserUnknown { user: with });
                    };
                    let account: &str = get(&row, "account")?;
                    shelf.query(SHARE).bind(item.as_str()).bind(account).execute(&mut *connection).await?;
                    shelf.announce(connection, &item).await
                })
            })
            .await
    }

    /// The time on the clock of this server.
    pub fn now(&self) -> Timestamp {
        self.store.clock().now()
    }

    pub(super) fn shelf(&self, family: LibraryFamily) -> LibraryShelf {
        LibraryShelf { scope: self.scope.clone(), family }
    }

    fn build_write(&self, family: LibraryFamily, item: LibraryItemId, content: LibraryContent) -> Result<Write> {
        content.require_storable()?;
        let (shelf, provenance) = (self.shelf(family), self.provenance.clone());
        Ok(Write { shelf, item, content, provenance, now: self.store.clock().now() })
    }
}

impl Write {
    /// Binds everything that [`INSERT`] and [`UPDATE`] write.
    fn query(&self, statement: &'static str) -> Result<Query> {
        let Self { shelf, item, content, provenance, now } = self;
        let stored = StoredFields::of(shelf.family, &content.body)?;
        let query = shelf.query(statement).bind(item.as_str());
        let query = query.bind(content.key.clone()).bind(content.label.clone());
        let query = query.bind(to_json(&content.tags)?).bind(stored.body);
        let query = query.bind(provenance.invocation.as_ref().map(ToString::to_string));
        let query = query.bind(provenance.agent.as_ref().map(ToString::to_string));
        let query = query.bind(provenance.workflow.as_ref().map(ToString::to_string));
        let due_at = content.due_at.map(Timestamp::as_milliseconds);
        let query = query.bind(provenance.is_trusted).bind(due_at).bind(now.as_milliseconds());
        Ok(query.bind(stored.content_bytes).bind(stored.content))
    }

    async fn require_free_key(&self, connection: &mut Connection) -> Result<()> {
        let Some(key) = &self.content.key else { return Ok(()) };
        let found = self.shelf.query(FIND).bind(key.as_str()).fetch_optional(connection).await?;
        let other = found.as_ref().map(read).transpose()?.is_some_and(|found| found.id != self.item);
        if other { Err(Error::Exists { what: self.shelf.family.as_str(), name: key.clone() }) } else { Ok(()) }
    }

    async fn index(&self, connection: &mut Connection) -> Result<()> {
        let Self { shelf, item, content, now, .. } = self;
        if !is_searched(shelf.family) {
            return Ok(());
        }
        IndexEntry::new(item, &content.body, *now).write(&shelf.scope, connection).await
    }

    async fn read_stored(&self, connection: &mut Connection) -> Result<LibraryItem> {
        let row = self.shelf.query(GET).bind(self.item.as_str()).fetch_optional(connection).await?;
        row.as_ref().map(read).transpose()?.ok_or(Error::NotFound { what: "item" })
    }
}

/// Whether items of a family are found by searches.
const fn is_searched(family: LibraryFamily) -> bool {
    matches!(family, LibraryFamily::Memory)
}

/// Whether earlier revisions of items of a family can be read.
const fn keeps_revisions(family: LibraryFamily) -> bool {
    matches!(family, LibraryFamily::Skills | LibraryFamily::Prompts)
}

async fn require_own(connection: &mut Connection, shelf: &LibraryShelf, item: &LibraryItemId) -> Result<()> {
    let found = shelf.query(IS_OWN).bind(item.as_str()).fetch_optional(connection).await?;
    found.map(drop).ok_or(Error::NotFound { what: "item" })
}

pub(super) fn read(row: &Row) -> Result<LibraryItem> {
    let app: &str = get(row, "app")?;
    let family = parse_column(row, "family")?;
    let (body, content_bytes) = read_fields(row, family)?;
    Ok(LibraryItem {
        id: parse_column(row, "item")?,
        family,
        owner: parse_column(row, "owner")?,
        app: if app.is_empty() { None } else { Some(parse_column(row, "app")?) },
        body,
        content_bytes,
        revision: read_unsigned(row, "revision")?,
        provenance: parse_provenance(row)?,
        created_at: read_timestamp(row, "created_at")?,
        updated_at: read_timestamp(row, "updated_at")?,
    })
}

/// Reads the origin of a revision.
fn parse_provenance(row: &Row) -> Result<Provenance> {
    Ok(Provenance {
        invocation: parse_optional_column(row, "invocation")?,
        agent: parse_optional_column(row, "agent")?,
        workflow: parse_optional_column(row, "workflow")?,
        is_trusted: get(row, "is_trusted")?,
    })
}
