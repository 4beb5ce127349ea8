//! The tables, and bringing a file to their newest version.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as this kind of database: `wskl`.
const APPLICATION: i64 = 0x7773_6b6c;

/// What brings a file from version to version; the version is how many of these were run. They are never changed, only
/// added to.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        app TEXT NOT NULL,
        user TEXT NOT NULL,
        session TEXT NOT NULL,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        workspace TEXT,
        title TEXT,
        UNIQUE (app, user, session)
    ) STRICT;
    CREATE TABLE state (
        session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (session_id, key)
    ) STRICT, WITHOUT ROWID;
"];

/// Why the tables cannot be used.
pub enum SchemaError {
    /// The file is not for us.
    Foreign(String),
    /// The database refused.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for SchemaError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Refuses files of others, before anything is written to this one, and makes or updates the tables.
pub fn prepare(connection: &mut Connection) -> Result<(), SchemaError> {
    if version(connection)? == MIGRATIONS.len() {
        return Ok(());
    }
    // Another process may have begun too; whoever has the lock looks again.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = version(&transaction)?;
    for migration in &MIGRATIONS[done..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", i64::try_from(MIGRATIONS.len()).unwrap_or_default())?;
    transaction.commit()?;
    Ok(())
}

/// How many migrations were run.
fn version(connection: &Connection) -> Result<usize, SchemaError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application == APPLICATION {
        let newest = MIGRATIONS.len();
        return usize::try_from(version).ok().filter(|version| *version <= newest).ok_or_else(|| {
            SchemaError::Foreign(format!("it has version {version} and needs a newer wskill; this one reads {newest}"))
        });
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && version == 0 && tables == 0 {
        Ok(0)
    } else {
        Err(SchemaError::Foreign("it is the database of another program; choose another file".to_owned()))
    }
}
