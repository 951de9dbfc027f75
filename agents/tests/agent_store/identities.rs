//! Every column that names a user, and by which id. A user id can be given again after a removal; an account never is. So whatever belongs
//! to a user, or acts for one, names the account, and a user id only tells people who did something.

use std::collections::BTreeSet;

use registry::{NewUser, RoleName, UserId};
use sqlx::{Connection, SqliteConnection};

use crate::database::texts;
use crate::transfer::contents;
use crate::world::World;

/// How a column names users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// By an id that is never given again.
    Account,
    /// By the id that people know. No right comes from it.
    UserId,
}
use Names::{Account, UserId as Id};

/// A new column belongs here with a thought: does anything belong to the user whom it names, or act for that user?
const COLUMNS: [(&str, Names); 37] = [
    ("agent_revisions.deployed_by", Id),
    ("agent_runs.account", Account),
    ("agents.author", Account),
    ("agents.deleted_by", Id),
    ("agents.updated_by", Id),
    ("api_keys.account", Account),
    ("builds.creator", Id),
    // The name in the message of a run that was cancelled.
    ("cancellations.user_id", Id),
    ("conversations.account", Account),
    ("envvars.creator", Id),
    ("envvars.updated_by", Id),
    ("history_hold_releases.released_by", Id),
    ("history_holds.placed_by", Id),
    ("human_requests.answered_by", Id),
    ("inv_started.account", Account),
    // The history is searched by the id that people know. A claimed source has a user of another service.
    ("inv_started.source", Id),
    ("inv_unlinked.unlinked_by", Id),
    ("library_changes.reader", Account),
    ("library_index.owner", Account),
    ("library_items.owner", Account),
    ("library_revisions.owner", Account),
    ("library_scopes.owner", Account),
    ("library_shares.account", Account),
    ("library_usage.owner", Account),
    ("members.account", Account),
    ("members.user_id", Id),
    ("oauth_client_uses.account", Account),
    ("oauth_grants.account", Account),
    ("operations.account", Account),
    ("tokens.account", Account),
    // The name in the refusal of a second publication.
    ("tool_leases.holder", Id),
    ("tools.creator", Id),
    ("tools.updated_by", Id),
    ("user_variables.account", Account),
    ("user_variables.updated_by", Id),
    ("versions.creator", Id),
    ("versions.updated_by", Id),
];

/// Columns whose name suggests a user: the server that holds a lease.
const OF_NO_USER: [&str; 1] = ["repositories.holder"];

/// Columns that the rows of this test do not fill: a cancellation lives until the server that has the run sees it.
const UNFILLED: [&str; 1] = ["cancellations.user_id"];

/// The columns of SQLite whose name or foreign key tells that they name a user. Postgres has the same ones, which `schemas` compares.
const NAMED: &str = "SELECT DISTINCT t.name || '.' || c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
    LEFT JOIN pragma_foreign_key_list(t.name) f ON f.\"table\" = 'members' AND f.\"from\" = c.name
    WHERE t.type = 'table' AND c.name <> 'organization' AND (f.id IS NOT NULL OR c.name LIKE '%\\_by' ESCAPE '\\'
        OR c.name IN ('user', 'user_id', 'users', 'account', 'owner', 'author', 'creator', 'holder', 'member', 'principal', 'person', 'reader'))";

/// All columns with texts, in SQLite and in Postgres. Partitions are parts of their tables.
const TEXTS_OF_SQLITE: &str = "SELECT t.name || '.' || c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
    WHERE t.type = 'table' AND c.type IN ('TEXT', 'BLOB') AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'inv_text%'";
const TEXTS_OF_POSTGRES: &str = "SELECT c.relname || '.' || a.attname FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'inv_text' AND format_type(a.atttypid, NULL) = 'text'";

fn classified(column: &str) -> Option<Names> {
    COLUMNS.iter().find(|(known, _)| *known == column).map(|(_, names)| *names)
}

#[tokio::test]
async fn every_column_that_names_a_user_says_by_which_id() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    for script in std::iter::once(migrations::SQLITE.table).chain(migrations::SQLITE.list.iter().map(|one| one.up)) {
        sqlx::raw_sql(script).execute(&mut connection).await.unwrap();
    }
    let named: Vec<String> = sqlx::query_scalar(NAMED).fetch_all(&mut connection).await.unwrap();
    let known: BTreeSet<_> = COLUMNS.iter().map(|(column, _)| *column).chain(OF_NO_USER).collect();
    let unknown: Vec<_> = named.iter().filter(|column| !known.contains(column.as_str())).collect();
    assert!(unknown.is_empty(), "say in COLUMNS by which id these columns name users: {unknown:?}");
    assert!(named.len() > 25, "only {} columns", named.len());
    let all: Vec<String> = sqlx::query_scalar(TEXTS_OF_SQLITE).fetch_all(&mut connection).await.unwrap();
    let gone: Vec<_> = known.iter().filter(|column| !all.iter().any(|known| known == *column)).collect();
    assert!(gone.is_empty(), "no such columns: {gone:?}");
}

/// Looks at the values of every column of a database that has rows in every table.
#[tokio::test]
async fn columns_have_the_ids_that_they_are_said_to_have() {
    let world = contents::filled().await;
    let ann = world.principal("acme");
    let gone = world.agent(&ann, "gone-too").await;
    world.agent_store.agents().delete_agent(&ann, &gone).await.unwrap();
    let leased = world.tool(&ann, "leased").await;
    world.lease(&ann, &leased).await;
    let is_server = crate::database::is_server();
    let mut filled = BTreeSet::new();
    for column in texts(&world, if is_server { TEXTS_OF_POSTGRES } else { TEXTS_OF_SQLITE }).await {
        let (table, name) = column.split_once('.').unwrap();
        let holds = async |text: &str| {
            let query = format!(
                "SELECT 'found' FROM {table} WHERE CAST({name} AS TEXT) = '{text}'
                    OR CAST({name} AS TEXT) LIKE '%\"{text}\"%' LIMIT 1"
            );
            !texts(&world, &query).await.is_empty()
        };
        for (text, names) in [("ann", Id), ("ada", Id), ("ann#1", Account), ("ben", Id), ("ben#2", Account)] {
            if holds(text).await {
                assert_eq!(classified(&column), Some(names), "{column} has {text}");
                filled.insert(column.clone());
            }
        }
    }
    let never: Vec<_> = COLUMNS.iter().map(|(column, _)| *column).filter(|column| !filled.contains(*column)).collect();
    assert_eq!(never, UNFILLED, "nothing was looked at");
}

/// The position in an account is given once, whoever is removed.
#[tokio::test]
async fn an_account_is_never_given_again() {
    let world = World::new().await;
    let acme = world.organization("acme").await.organization;
    let bob = UserId::parse("bob").unwrap();
    let mut accounts = BTreeSet::new();
    for _ in 0..3 {
        let new = NewUser { id: bob.clone(), role: RoleName::parse("author").unwrap() };
        world.store.access().create_user(&acme, new).await.unwrap();
        let account = world.account(&acme, "bob").await;
        assert_eq!(account.user(), bob);
        assert!(accounts.insert(account.as_str().to_owned()), "{account:?}");
        assert!(world.store.versions().principal(&acme, &account).await.unwrap().is_some());
        world.store.access().remove_user(&acme, &bob).await.unwrap();
        assert!(world.store.versions().principal(&acme, &account).await.unwrap().is_none());
    }
}
