//! Both stores of sessions: one suite for both, and for files what processes, kills and damage do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use wskill::session::state::{LoadMode, Selection, State, StateDelta};
use wskill::session::store::{MemoryStore, SessionFilter, SessionKey, SessionStore, SessionUpdate, StoredSession};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}

fn key(session: &str) -> SessionKey {
    SessionKey::new("app", "user", session).unwrap()
}

fn delta(value: Value) -> StateDelta {
    serde_json::from_value(value).unwrap()
}

fn state(value: Value) -> State {
    serde_json::from_value(value).unwrap()
}

/// Runs a test with a store of each kind.
fn with_each<F: Future<Output = ()>>(test: impl Fn(Arc<dyn SessionStore>) -> F) {
    block_on(test(Arc::new(MemoryStore::default())));
    #[cfg(feature = "sqlite")]
    {
        let place = TempDir::new().unwrap();
        let path = place.path().join("a/sessions.db");
        block_on(async { test(Arc::new(wskill::session::store::SqliteStore::open(path).await.unwrap())).await });
    }
}

#[test]
fn changes_are_merged() {
    with_each(|store| async move {
        assert_eq!(store.load(&key("s")).await.unwrap(), StoredSession::default());
        let before = SystemTime::now() - Duration::from_millis(1);
        store.apply(&key("s"), &delta(json!({"a": 1, "b": {"c": ["ü\n\u{0}", null, 1.5]}, "d": "x"}))).await.unwrap();
        store.apply(&key("s"), &delta(json!({"a": null, "d": "y", "gone": null}))).await.unwrap();
        store.apply(&key("t"), &delta(json!({"a": 2}))).await.unwrap();
        let stored = store.load(&key("s")).await.unwrap();
        assert_eq!(stored.state, state(json!({"b": {"c": ["ü\n\u{0}", null, 1.5]}, "d": "y"})));
        let info = stored.info.unwrap();
        assert_eq!((&info.key, &info.workspace, &info.title), (&key("s"), &None, &None));
        assert!(before <= info.created && info.created <= info.updated && info.updated <= SystemTime::now());
    });
}

#[test]
fn a_session_goes_on_where_it_was() {
    with_each(|store| async move {
        let skills = async || store.load(&key("s")).await.unwrap().state;
        let load = skills().await.skills("a/b", LoadMode::Turn).load("pdf", &Selection::All, &Selection::None);
        store.apply(&key("s"), &load).await.unwrap();
        let loaded = skills().await.skills("a/b", LoadMode::Turn).loaded();
        assert_eq!((loaded[0].name.as_str(), &loaded[0].documents), ("pdf", &Selection::All));
        let turn = skills().await.skills("a/b", LoadMode::Turn).begin_turn();
        store.apply(&key("s"), &turn).await.unwrap();
        assert!(skills().await.is_empty());
    });
}

#[test]
fn facts_about_sessions() {
    with_each(|store| async move {
        let update = |workspace: Option<&str>, title: Option<&str>| SessionUpdate {
            workspace: workspace.map(str::to_owned),
            title: title.map(str::to_owned),
        };
        store.update(&key("s"), &update(Some("/w/1"), None)).await.unwrap();
        store.apply(&key("s"), &delta(json!({"a": 1}))).await.unwrap();
        let created = store.load(&key("s")).await.unwrap().info.unwrap().created;
        tokio::time::sleep(Duration::from_millis(3)).await;
        store.update(&key("s"), &update(None, Some("Taxes"))).await.unwrap();
        let stored = store.load(&key("s")).await.unwrap();
        assert_eq!(stored.state, state(json!({"a": 1})));
        let info = stored.info.unwrap();
        assert_eq!((info.workspace.as_deref(), info.title.as_deref()), (Some("/w/1"), Some("Taxes")));
        assert_eq!(info.created, created);
        assert!(info.updated > created);
    });
}

#[test]
fn listing_and_deleting() {
    with_each(|store| async move {
        let keys =
            [("b", "anna", "s-1"), ("a", "ben", "s-2"), ("a", "anna", "s_3"), ("a", "anna", "S-4"), ("", "", "é%")];
        for (app, user, session) in keys {
            let key = SessionKey::new(app, user, session).unwrap();
            store.apply(&key, &delta(json!({"a": 1}))).await.unwrap();
        }
        let list = async |app: Option<&str>, user: Option<&str>, prefix: &str| {
            let (app, user, prefix) = (app.map(str::to_owned), user.map(str::to_owned), prefix.to_owned());
            let infos = store.list(&SessionFilter { app, user, prefix }).await.unwrap();
            infos.iter().map(|info| info.key.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(list(None, None, "").await, ["é%", "a/anna/S-4", "a/anna/s_3", "a/ben/s-2", "b/anna/s-1"]);
        assert_eq!(list(Some("a"), None, "").await, ["a/anna/S-4", "a/anna/s_3", "a/ben/s-2"]);
        assert_eq!(list(None, Some("anna"), "s").await, ["a/anna/s_3", "b/anna/s-1"]);
        assert_eq!(list(None, None, "s-").await, ["a/ben/s-2", "b/anna/s-1"]);
        assert_eq!(list(Some(""), Some(""), "é%").await, ["é%"]);
        assert_eq!(list(None, None, "%").await, Vec::<String>::new());

        let gone = SessionKey::new("a", "ben", "s-2").unwrap();
        assert!(store.delete(&gone).await.unwrap());
        assert!(!store.delete(&gone).await.unwrap());
        assert_eq!(store.load(&gone).await.unwrap(), StoredSession::default());
        assert_eq!(list(Some("a"), None, "").await, ["a/anna/S-4", "a/anna/s_3"]);
        // One of the same name is a new one.
        store.apply(&gone, &delta(json!({"b": 1}))).await.unwrap();
        assert_eq!(store.load(&gone).await.unwrap().state, state(json!({"b": 1})));
    });
}

#[test]
fn two_hundred_sessions_at_once() {
    with_each(|store| async move {
        let sessions: Vec<_> = (0..200)
            .map(|number| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    let key = key(&format!("s-{number}"));
                    for step in 0..5 {
                        let skill = format!("skill-{number}-{step}");
                        let state = store.load(&key).await.unwrap().state;
                        let load = state.skills("", LoadMode::Turn).load(&skill, &Selection::All, &Selection::None);
                        store.apply(&key, &load).await.unwrap();
                    }
                })
            })
            .collect();
        for session in sessions {
            session.await.unwrap();
        }
        for number in 0..200 {
            let state = store.load(&key(&format!("s-{number}"))).await.unwrap().state;
            let loaded = state.skills("", LoadMode::Turn).loaded();
            let names: Vec<&str> = loaded.iter().map(|loaded| loaded.name.as_str()).collect();
            let expected: Vec<String> = (0..5).map(|step| format!("skill-{number}-{step}")).collect();
            assert_eq!(names, expected);
        }
        assert_eq!(store.list(&SessionFilter::default()).await.unwrap().len(), 200);
    });
}

#[test]
fn one_session_at_once() {
    with_each(|store| async move {
        let writers: Vec<_> = (0..32)
            .map(|number| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for step in 0..5 {
                        let change = json!({format!("own-{number}-{step}"): step, "shared": number, "also": number});
                        store.apply(&key("s"), &delta(change)).await.unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let state = store.load(&key("s")).await.unwrap().state;
        assert_eq!(state.entries().count(), 32 * 5 + 2);
        // Each change is merged as a whole.
        assert_eq!(state.get("shared"), state.get("also"));
    });
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::fs;
    use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use wskill::session::store::{SqliteStore, StoreError};

    use super::*;

    const PLACE: &str = "WSKILL_TEST_SESSIONS";
    const WRITER: &str = "WSKILL_TEST_WRITER";

    /// What each of the processes does; without the variables it is no test.
    #[test]
    fn process() {
        let (Ok(place), Ok(writer)) = (std::env::var(PLACE), std::env::var(WRITER)) else { return };
        block_on(async {
            let store = SqliteStore::open(place).await.unwrap();
            for step in 0.. {
                let change = json!({format!("own-{writer}-{step}"): "x".repeat(2000), "shared": step, "also": step});
                store.apply(&key("s"), &delta(change)).await.unwrap();
                println!("stored {step}");
            }
        });
    }

    fn start(place: &Path, writer: &str) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["sqlite::process", "--exact", "--nocapture"])
            .env(PLACE, place)
            .env(WRITER, writer)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Reads `stored STEP`, which the test harness may have begun the line of.
    fn step(line: &str) -> Option<u64> {
        line.split_once("stored ")?.1.parse().ok()
    }

    #[test]
    fn a_kill_loses_nothing_that_was_stored() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("sessions.db");
        let mut expected = Vec::new();
        for round in 0..6 {
            let writers = [format!("{round}-a"), format!("{round}-b")];
            // Both make the file in the first round.
            let mut children: Vec<Child> = writers.iter().map(|writer| start(&path, writer)).collect();
            for (child, writer) in children.iter_mut().zip(&writers) {
                let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
                let seen: Vec<_> =
                    lines.by_ref().filter_map(|line| step(&line.unwrap())).take(10 + round * 7).collect();
                child.kill().unwrap();
                child.wait().unwrap();
                let rest = lines.filter_map(|line| step(&line.unwrap()));
                let last = seen.into_iter().chain(rest).max().expect("the process stored something");
                expected.extend((0..=last).map(|step| format!("own-{writer}-{step}")));
            }
        }
        block_on(async {
            let state = SqliteStore::open(&path).await.unwrap().load(&key("s")).await.unwrap().state;
            for name in &expected {
                assert_eq!(state.get(name).and_then(Value::as_str).map(str::len), Some(2000), "{name}");
            }
            assert_eq!(state.get("shared"), state.get("also"));
        });
        assert!(expected.len() > 200);
    }

    #[test]
    fn two_handles_see_each_other() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("sessions.db");
        block_on(async {
            let (one, other) = tokio::join!(SqliteStore::open(&path), SqliteStore::open(&path));
            let (one, other) = (one.unwrap(), other.unwrap());
            one.apply(&key("s"), &delta(json!({"a": 1, "b": 1}))).await.unwrap();
            other.apply(&key("s"), &delta(json!({"b": 2, "c": 2}))).await.unwrap();
            let expected = state(json!({"a": 1, "b": 2, "c": 2}));
            assert_eq!(one.load(&key("s")).await.unwrap().state, expected);
            assert_eq!(other.load(&key("s")).await.unwrap().state, expected);
            drop(one);
            // And so does one that comes later.
            assert_eq!(SqliteStore::open(&path).await.unwrap().load(&key("s")).await.unwrap().state, expected);
        });
    }

    #[test]
    fn a_writer_waits_for_another() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("sessions.db");
        block_on(async {
            let store = SqliteStore::open(&path).await.unwrap();
            let other = rusqlite::Connection::open(&path).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            let writer = store.clone();
            let change = tokio::spawn(async move { writer.apply(&key("s"), &delta(json!({"a": 1}))).await });
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert!(!change.is_finished());
            // Who only reads does not wait for other processes.
            let reader = SqliteStore::open(&path).await.unwrap();
            assert!(reader.load(&key("s")).await.unwrap().state.is_empty());
            other.execute_batch("COMMIT").unwrap();
            change.await.unwrap().unwrap();
            assert_eq!(reader.load(&key("s")).await.unwrap().state, state(json!({"a": 1})));
        });
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private() {
        use std::os::unix::fs::PermissionsExt;

        let place = TempDir::new().unwrap();
        let path = place.path().join("new/sessions.db");
        block_on(async {
            let store = SqliteStore::open(&path).await.unwrap();
            store.apply(&key("s"), &delta(json!({"a": 1}))).await.unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(path.parent().unwrap()), 0o700);
            let files: Vec<_> =
                fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert_eq!(files.len(), 3, "{files:?}");
            for file in files {
                assert_eq!(mode(&file), 0o600, "{}", file.display());
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            SqliteStore::open(&path).await.unwrap();
            assert_eq!(mode(&path), 0o600);
        });
    }

    #[test]
    fn files_that_are_no_database_of_sessions() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("sessions.db");
        let other = rusqlite_file(place.path(), "CREATE TABLE t (a); INSERT INTO t VALUES (1);");
        let newer = rusqlite_file(place.path(), "PRAGMA application_id = 0x77736b6c; PRAGMA user_version = 2;");
        let garbage = b"this is a letter, and no database at all ".repeat(200);
        for (content, message) in [
            (garbage, "is damaged (file is not a database); nothing was changed: move it away, or restore a copy"),
            (other, "it is the database of another program; choose another file"),
            (newer, "it has version 2 and needs a newer wskill; this one reads 1"),
        ] {
            fs::write(&path, &content).unwrap();
            let error = block_on(SqliteStore::open(&path)).unwrap_err();
            assert!(error.to_string().ends_with(message), "{error}");
            assert!(fs::read(&path).unwrap() == content, "{message}");
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        }
        let error = block_on(SqliteStore::open(place.path())).unwrap_err();
        assert!(error.to_string().contains("unable to open database file"), "{error}");
        // An empty file is a new database.
        fs::write(&path, "").unwrap();
        block_on(SqliteStore::open(&path)).unwrap();
    }

    #[test]
    fn a_damaged_file_is_told_and_kept() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("sessions.db");
        block_on(async {
            let store = SqliteStore::open(&path).await.unwrap();
            for number in 0..50 {
                let change = json!({"text": "x".repeat(3000), "number": number});
                store.apply(&key(&format!("s-{number}")), &delta(change)).await.unwrap();
            }
        });
        let size = fs::metadata(&path).unwrap().len();
        assert!(size > 100_000, "closing has emptied the log");
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(8192)).unwrap();
        file.write_all(&vec![0xa5; 65_536]).unwrap();
        drop(file);
        let before = fs::read(&path).unwrap();
        block_on(async {
            let store = SqliteStore::open(&path).await.unwrap();
            let mut damaged = 0;
            for number in 0..50 {
                match store.load(&key(&format!("s-{number}"))).await {
                    Err(StoreError::Damaged { .. }) => damaged += 1,
                    Err(other) => panic!("{other}"),
                    Ok(_) => {}
                }
            }
            assert!(damaged > 0);
        });
        assert!(fs::read(&path).unwrap() == before);
    }

    /// What SQLite makes of some statements.
    fn rusqlite_file(place: &Path, statements: &str) -> Vec<u8> {
        let path = place.join("other.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
        let content = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        content
    }
}
