//! Sessions in a file.

mod schema;

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{
    SessionFilter, SessionInfo, SessionKey, SessionStore, SessionUpdate, StoreError, StoredSession, milliseconds,
};
use crate::session::state::{State, StateDelta};
use schema::SchemaError;

/// How long a process waits for another to finish its change, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The columns of [`info`].
const COLUMNS: &str = "app, user, session, created, updated, workspace, title";

/// Keeps sessions in an SQLite file, which many processes may use at once. What a method has stored survives a kill of
/// the process at any point; after a loss of power the last changes may be missing, and what is there is whole.
#[derive(Clone)]
pub struct SqliteStore {
    connection: Arc<Mutex<Connection>>,
    path: PathBuf,
}

impl SqliteStore {
    /// Opens a file, and makes it when it is not there, with its folder: for its owner alone.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] and [`StoreError::Foreign`] for a file that is no database of sessions; it is not
    /// changed. [`StoreError::Io`] when it cannot be made.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let (place, shown) = (path.clone(), path.clone());
        let connection = tokio::task::spawn_blocking(move || connect(&place)).await;
        let connection = connection.unwrap_or_else(|error| Err(ended(&shown, error)))?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)), path })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs something that blocks. Who waits for the connection waits as a task, not as a thread.
    async fn with<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut connection = Arc::clone(&self.connection).lock_owned().await;
        let done = tokio::task::spawn_blocking(move || run(&mut connection)).await;
        done.map_err(|error| ended(&self.path, error))?.map_err(|error| refused(&self.path, error))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError> {
        let key = key.clone();
        self.with(move |connection| {
            // One transaction, so that facts and state are of one moment.
            let transaction = connection.transaction()?;
            let by_key = format!("SELECT {COLUMNS}, id FROM sessions WHERE app = ?1 AND user = ?2 AND session = ?3");
            let found = transaction
                .query_row(&by_key, params![key.app(), key.user(), key.session()], |row| {
                    Ok((info(row, key.clone())?, row.get::<_, i64>("id")?))
                })
                .optional()?;
            let Some((info, id)) = found else { return Ok(StoredSession::default()) };
            let mut statement = transaction.prepare("SELECT key, value FROM state WHERE session_id = ?1")?;
            let entries = statement.query_map([id], |row| {
                let text: String = row.get(1)?;
                // What is no JSON was not written here; it stays what it is, for who reads the state to warn of.
                let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
                Ok((row.get::<_, String>(0)?, value))
            })?;
            Ok(StoredSession::new(entries.collect::<rusqlite::Result<State>>()?, info))
        })
        .await
    }

    async fn apply(&self, key: &SessionKey, delta: &StateDelta) -> Result<(), StoreError> {
        let (key, delta) = (key.clone(), delta.clone());
        self.with(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let id = stored(&transaction, &key)?;
            {
                let mut set = transaction.prepare(
                    "INSERT INTO state (session_id, key, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT (session_id, key) DO UPDATE SET value = excluded.value",
                )?;
                let mut remove = transaction.prepare("DELETE FROM state WHERE session_id = ?1 AND key = ?2")?;
                for (name, value) in delta.changes() {
                    match value {
                        Some(value) => set.execute(params![id, name, value.to_string()])?,
                        None => remove.execute(params![id, name])?,
                    };
                }
            }
            transaction.commit()
        })
        .await
    }

    async fn update(&self, key: &SessionKey, update: &SessionUpdate) -> Result<(), StoreError> {
        let (key, update) = (key.clone(), update.clone());
        self.with(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let id = stored(&transaction, &key)?;
            transaction.execute(
                "UPDATE sessions SET workspace = coalesce(?2, workspace), title = coalesce(?3, title) WHERE id = ?1",
                params![id, update.workspace, update.title],
            )?;
            transaction.commit()
        })
        .await
    }

    async fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionInfo>, StoreError> {
        let filter = filter.clone();
        self.with(move |connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM sessions
                 WHERE (?1 IS NULL OR app = ?1) AND (?2 IS NULL OR user = ?2)
                   AND substr(session, 1, length(?3)) = ?3
                 ORDER BY app, user, session"
            ))?;
            let rows = statement.query_map(params![filter.app, filter.user, filter.prefix], |row| {
                let key = SessionKey::new(
                    row.get::<_, String>("app")?,
                    row.get::<_, String>("user")?,
                    row.get::<_, String>("session")?,
                );
                key.ok().map(|key| info(row, key)).transpose()
            })?;
            rows.filter_map(Result::transpose).collect()
        })
        .await
    }

    async fn delete(&self, key: &SessionKey) -> Result<bool, StoreError> {
        let key = key.clone();
        self.with(move |connection| {
            let by_key = "DELETE FROM sessions WHERE app = ?1 AND user = ?2 AND session = ?3";
            Ok(connection.execute(by_key, params![key.app(), key.user(), key.session()])? > 0)
        })
        .await
    }
}

/// The row of a session, made when it was not there, with the time of its last change.
fn stored(connection: &Connection, key: &SessionKey) -> rusqlite::Result<i64> {
    connection.query_row(
        "INSERT INTO sessions (app, user, session, created, updated) VALUES (?1, ?2, ?3, ?4, ?4)
         ON CONFLICT (app, user, session) DO UPDATE SET updated = max(updated, excluded.updated)
         RETURNING id",
        params![key.app(), key.user(), key.session(), milliseconds::of(SystemTime::now())],
        |row| row.get(0),
    )
}

fn info(row: &Row<'_>, key: SessionKey) -> rusqlite::Result<SessionInfo> {
    Ok(SessionInfo {
        key,
        created: milliseconds::from(row.get("created")?),
        updated: milliseconds::from(row.get("updated")?),
        workspace: row.get("workspace")?,
        title: row.get("title")?,
    })
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    // A file that is made is closed again, and not while another connection of this process has locks on it.
    static OPENING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    make_private(path)?;
    let refused = |error| refused(path, error);
    // The connection is behind a lock of our own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(refused)?;
    connection.busy_timeout(PATIENCE).map_err(refused)?;
    // Deleting a session deletes its state.
    connection.pragma_update(None, "foreign_keys", true).map_err(refused)?;
    schema::prepare(&mut connection).map_err(|error| match error {
        SchemaError::Foreign(reason) => StoreError::Foreign { path: path.to_owned(), reason },
        SchemaError::Database(error) => refused(error),
    })?;
    write_ahead(&connection).map_err(refused)?;
    // With a write-ahead log a kill loses nothing; only a loss of power can take the last changes.
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(refused)?;
    Ok(connection)
}

/// Turns the write-ahead log on, with which readers and a writer do not wait for each other. File systems that cannot
/// have it keep the rollback journal.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        // SQLite does not wait for other processes here.
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error) if is_busy(&error) && begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
            result => return result,
        }
    }
}

/// Makes the file, with its folder, for its owner alone. SQLite gives the files beside it the same rights.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let fault = |action, path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Io { action, path, source }
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(folder).map_err(fault("make", folder))?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => narrow(path).map_err(fault("open", path)),
        Err(error) => Err(fault("make", path)(error)),
        Ok(_) => Ok(()),
    }
}

/// Takes the rights of others away. By its path: whoever closes a file takes the process's locks on it away, those of
/// other connections too.
#[cfg(unix)]
fn narrow(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path)?;
    if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn narrow(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn refused(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        _ if is_busy(&error) => StoreError::Busy { path },
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Damaged { path, reason: error.to_string() }
        }
        _ => StoreError::Database { path, reason: error.to_string() },
    }
}

fn ended(path: &Path, error: tokio::task::JoinError) -> StoreError {
    StoreError::Io { action: "use", path: path.to_owned(), source: io::Error::other(error) }
}
