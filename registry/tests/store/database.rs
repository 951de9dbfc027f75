//! The database of a test: a file, or a database of its own on a server whose URL is in `LATHE_TEST_DATABASE_URL`.

use registry::{DatabaseLocation, SecretValue};
use sqlx::{Connection, PgConnection, Row, SqliteConnection};

use crate::fixtures::World;

const SERVER: &str = "LATHE_TEST_DATABASE_URL";

/// Whether the tests run on a database server.
pub fn is_server() -> bool {
    std::env::var_os(SERVER).is_some()
}

/// Returns a new database of the server, or the file.
pub async fn fresh() -> DatabaseLocation {
    let Ok(server) = std::env::var(SERVER) else { return DatabaseLocation::DataDirectory };
    let name = format!("test_{}", hex::encode(rand::random::<[u8; 8]>()));
    let mut connection = PgConnection::connect(&server).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE template0"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    let (base, _) = server.rsplit_once('/').unwrap();
    DatabaseLocation::Url(SecretValue::new(format!("{base}/{name}")))
}

/// Runs a statement behind the store's back. Byte strings look like `x'00'`.
pub async fn execute(world: &World, statement: &str) -> Result<u64, sqlx::Error> {
    match &world.database {
        DatabaseLocation::DataDirectory => {
            let mut connection = SqliteConnection::connect(&file(world)).await?;
            let done = sqlx::query(sqlx::AssertSqlSafe(statement.to_owned())).execute(&mut connection).await;
            connection.close().await?;
            Ok(done?.rows_affected())
        }
        DatabaseLocation::Url(url) => {
            let mut connection = PgConnection::connect(url.expose()).await?;
            let statement = sqlx::AssertSqlSafe(statement.replace("x'", "'\\x"));
            let done = sqlx::query(statement).execute(&mut connection).await;
            connection.close().await?;
            Ok(done?.rows_affected())
        }
    }
}

/// Returns the number in the first column of the first row.
pub async fn number(world: &World, query: &str) -> i64 {
    let query = sqlx::AssertSqlSafe(query.to_owned());
    match &world.database {
        DatabaseLocation::DataDirectory => {
            let mut connection = SqliteConnection::connect(&file(world)).await.unwrap();
            let number = sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            number
        }
        DatabaseLocation::Url(url) => {
            let mut connection = PgConnection::connect(url.expose()).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
        }
    }
}

/// Returns the texts in the first column.
pub async fn texts(world: &World, query: &str) -> Vec<String> {
    let query = sqlx::AssertSqlSafe(query.to_owned());
    match &world.database {
        DatabaseLocation::DataDirectory => {
            let mut connection = SqliteConnection::connect(&file(world)).await.unwrap();
            let texts = sqlx::query_scalar(query).fetch_all(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            texts
        }
        DatabaseLocation::Url(url) => {
            let mut connection = PgConnection::connect(url.expose()).await.unwrap();
            sqlx::query_scalar(query).fetch_all(&mut connection).await.unwrap()
        }
    }
}

/// Returns all values of all tables, texts and bytes.
pub async fn values(world: &World) -> Vec<u8> {
    let DatabaseLocation::Url(url) = &world.database else {
        let files = std::fs::read_dir(world.data.root()).unwrap().map(|entry| entry.unwrap().path());
        return files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect();
    };
    let mut connection = PgConnection::connect(url.expose()).await.unwrap();
    let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'";
    let mut found = Vec::new();
    for table in sqlx::query(tables).fetch_all(&mut connection).await.unwrap() {
        let rows = sqlx::AssertSqlSafe(format!("SELECT t::text FROM {} t", table.get::<&str, _>(0)));
        for row in sqlx::query(rows).fetch_all(&mut connection).await.unwrap() {
            let text: &str = row.get(0);
            found.extend_from_slice(text.as_bytes());
            for hexadecimal in text.split("\\x").skip(1) {
                let end = hexadecimal.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hexadecimal.len());
                found.extend(hex::decode(&hexadecimal[..end]).unwrap_or_default());
            }
        }
    }
    found
}

fn file(world: &World) -> String {
    format!("sqlite://{}", world.data.database().display())
}
