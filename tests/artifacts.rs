//! Both stores of artifacts: one suite for both, and for folders what processes, links and damage do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use wskill::artifact::{
    Artifact, ArtifactError, ArtifactName, ArtifactStore, FolderArtifacts, MAX_ARTIFACT_BYTES, MemoryArtifacts,
    SessionKey,
};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}

fn name(text: &str) -> ArtifactName {
    ArtifactName::new(text).unwrap()
}

fn key(session: &str) -> SessionKey {
    SessionKey::new("app", "user", session).unwrap()
}

/// Runs a test with a store of each kind that takes artifacts of at most `limit` bytes.
fn with_each<F: Future<Output = ()>>(limit: u64, test: impl Fn(Arc<dyn ArtifactStore>) -> F) {
    let place = TempDir::new().unwrap();
    let folder = FolderArtifacts::open(place.path().join("a/b")).unwrap().with_limit(limit);
    block_on(test(Arc::new(MemoryArtifacts::default().with_limit(limit))));
    block_on(test(Arc::new(folder.clone())));
    // Nothing is left over.
    assert_eq!(fs::read_dir(folder.folder().join("drafts")).unwrap().count(), 0);
}

#[test]
fn versions_from_zero() {
    with_each(MAX_ARTIFACT_BYTES, |store| async move {
        let (session, report) = (key("s"), name("out/report.txt"));
        assert_eq!(store.versions(&session, &report).await.unwrap(), Vec::<u64>::new());
        for (version, content) in ["zero", "", "two"].into_iter().enumerate() {
            let saved = store.save(&session, &report, content.into(), "text/plain").await.unwrap();
            assert_eq!(saved, version as u64);
        }
        assert_eq!(store.versions(&session, &report).await.unwrap(), [0, 1, 2]);
        for (version, expected) in [(None, "two"), (Some(0), "zero"), (Some(1), ""), (Some(2), "two")] {
            let expected = Artifact::new(expected.into(), "text/plain", version.unwrap_or(2));
            assert_eq!(store.load(&session, &report, version).await.unwrap(), expected);
        }
        for (asked, version, message) in [
            (&report, Some(3), "there is no artifact `out/report.txt` in version 3; there are 3 versions from 0 to 2"),
            (&name("x"), None, "there is no artifact `x`; nothing was saved under this name"),
            (&name("x"), Some(0), "there is no artifact `x` in version 0; nothing was saved under this name"),
        ] {
            let error = store.load(&session, asked, version).await.unwrap_err();
            assert!(matches!(error, ArtifactError::NotFound { .. }));
            assert_eq!(error.to_string(), message);
        }
    });
}

#[test]
fn names_and_sessions_are_apart() {
    with_each(MAX_ARTIFACT_BYTES, |store| async move {
        let long = "ü/".repeat(300) + "end";
        let names = [
            "A.txt", "a.txt", "a-txt", "a/txt", "con", "nul.txt", "C:", "a:b", "a.", ".a", "-", "~", "..a", "a@2",
            &long,
        ];
        let sessions = [
            SessionKey::new("app", "user", "s").unwrap(),
            SessionKey::new("app", "user", "S").unwrap(),
            SessionKey::new("app", "", "user").unwrap(),
            SessionKey::new("", "app", "user").unwrap(),
            SessionKey::new("app", "..", "../../..").unwrap(),
            SessionKey::new("/etc", "user", "drafts").unwrap(),
        ];
        for session in &sessions {
            for text in names {
                let content = format!("{session} {text}");
                assert_eq!(store.save(session, &name(text), content.into(), "text/plain").await.unwrap(), 0);
            }
        }
        let mut sorted: Vec<ArtifactName> = names.into_iter().map(name).collect();
        sorted.sort();
        for session in &sessions {
            assert_eq!(store.names(session).await.unwrap(), sorted);
            for text in names {
                let artifact = store.load(session, &name(text), None).await.unwrap();
                assert_eq!(String::from_utf8(artifact.bytes).unwrap(), format!("{session} {text}"));
            }
        }
        assert_eq!(store.names(&key("other")).await.unwrap(), []);
    });
}

#[test]
fn deleting() {
    with_each(MAX_ARTIFACT_BYTES, |store| async move {
        let (session, other) = (key("s"), key("t"));
        for (session, text) in [(&session, "a"), (&session, "a"), (&session, "b"), (&other, "a")] {
            store.save(session, &name(text), b"x".to_vec(), "text/plain").await.unwrap();
        }
        assert!(store.delete(&session, &name("a")).await.unwrap());
        assert!(!store.delete(&session, &name("a")).await.unwrap());
        assert_eq!(store.names(&session).await.unwrap(), [name("b")]);
        assert_eq!(store.save(&session, &name("a"), b"y".to_vec(), "text/plain").await.unwrap(), 0);
        assert!(store.delete_session(&session).await.unwrap());
        assert!(!store.delete_session(&session).await.unwrap());
        assert_eq!(store.names(&session).await.unwrap(), []);
        assert_eq!(store.names(&other).await.unwrap(), [name("a")]);
    });
}

#[test]
fn what_is_not_taken() {
    with_each(10, |store| async move {
        let session = key("s");
        let save = async |bytes: usize, mime: &str| {
            let error = store.save(&session, &name("a"), vec![0; bytes], mime).await;
            error.map_err(|error| error.to_string())
        };
        let too_large = "the artifact `a` has 11 bytes, more than the 10 that are allowed; save a smaller file";
        assert_eq!(save(11, "text/plain").await, Err(too_large.to_owned()));
        let media_type = "the artifact `a` needs a media type of at most 512 bytes, such as text/plain";
        for mime in ["", "text/plain\n", &"x".repeat(513)] {
            assert_eq!(save(1, mime).await, Err(media_type.to_owned()));
        }
        assert_eq!(store.names(&session).await.unwrap(), []);
        assert_eq!(save(10, "text/plain").await, Ok(0));
    });
    assert_eq!(MAX_ARTIFACT_BYTES, 64 * 1024 * 1024);
}

#[test]
fn thirty_two_savers_at_once() {
    with_each(MAX_ARTIFACT_BYTES, |store| async move {
        let savers: Vec<_> = (0..32)
            .map(|number: u64| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    let content = vec![number as u8; 1000];
                    (number, store.save(&key("s"), &name("out/a.bin"), content, "text/plain").await.unwrap())
                })
            })
            .collect();
        let mut versions = BTreeSet::new();
        for saver in savers {
            let (number, version) = saver.await.unwrap();
            versions.insert(version);
            let artifact = store.load(&key("s"), &name("out/a.bin"), Some(version)).await.unwrap();
            assert_eq!(artifact.bytes, vec![number as u8; 1000]);
        }
        assert_eq!(versions, (0..32).collect());
    });
}

#[test]
fn saving_while_others_delete() {
    with_each(MAX_ARTIFACT_BYTES, |store| async move {
        let tasks: Vec<_> = (0..16)
            .map(|number| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for _ in 0..20 {
                        match number % 8 {
                            0 => drop(store.delete(&key("s"), &name("a")).await.unwrap()),
                            1 => drop(store.delete_session(&key("s")).await.unwrap()),
                            2 => match store.load(&key("s"), &name("a"), None).await {
                                Ok(artifact) => assert_eq!(artifact.bytes, b"x"),
                                Err(error) => assert!(matches!(error, ArtifactError::NotFound { .. }), "{error}"),
                            },
                            3 => assert!(store.names(&key("s")).await.unwrap().len() <= 1),
                            _ => drop(store.save(&key("s"), &name("a"), b"x".to_vec(), "text/plain").await.unwrap()),
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let version = store.save(&key("s"), &name("a"), b"last".to_vec(), "text/plain").await.unwrap();
        assert_eq!(store.load(&key("s"), &name("a"), Some(version)).await.unwrap().bytes, b"last");
    });
}

const PLACE: &str = "WSKILL_TEST_ARTIFACTS";

/// What each of the processes does; without the variable it is no test.
#[test]
fn process() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let store = FolderArtifacts::open(place).unwrap();
    block_on(async {
        for number in 0_u64.. {
            let content = number.to_le_bytes().repeat(20_000);
            let version = store.save(&key("s"), &name("out/a.bin"), content, "x/y").await.unwrap();
            println!("saved {version} {number}");
        }
    });
}

#[test]
fn a_kill_leaves_what_was_finished() {
    let place = TempDir::new().unwrap();
    let mut finished = Vec::new();
    for round in 0..6 {
        let mut children: Vec<_> = (0..2)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["process", "--exact", "--nocapture"])
                    .env(PLACE, place.path())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in &mut children {
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            for line in lines.by_ref().take(10 + round * 3) {
                finished.extend(saved(&line.unwrap()));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            finished.extend(lines.filter_map(|line| saved(&line.unwrap())));
        }
    }
    assert!(finished.len() > 100, "{}", finished.len());
    let store = FolderArtifacts::open(place.path()).unwrap();
    block_on(async {
        // No number was given twice, and every version that can be seen is whole.
        let told: BTreeSet<u64> = finished.iter().map(|(version, _)| *version).collect();
        assert_eq!(told.len(), finished.len());
        let versions = store.versions(&key("s"), &name("out/a.bin")).await.unwrap();
        assert!(told.iter().all(|version| versions.contains(version)));
        assert_eq!(versions, (0..versions.len() as u64).collect::<Vec<_>>());
        for version in versions {
            let artifact = store.load(&key("s"), &name("out/a.bin"), Some(version)).await.unwrap();
            assert_eq!(artifact.bytes.len(), 160_000);
            if let Some((_, number)) = finished.iter().find(|(told, _)| *told == version) {
                assert_eq!(artifact.bytes, number.to_le_bytes().repeat(20_000));
            }
        }
    });
}

/// Reads `saved VERSION NUMBER`, which the test harness may have begun the line of.
fn saved(line: &str) -> Option<(u64, u64)> {
    let (version, number) = line.split_once("saved ")?.1.split_once(' ')?;
    Some((version.parse().ok()?, number.parse().ok()?))
}

/// A store with versions 0 and 1 of `a`, and the folder of `a`.
async fn two_versions(place: &Path) -> (FolderArtifacts, PathBuf) {
    let store = FolderArtifacts::open(place.join("store")).unwrap();
    for content in ["zero", "one"] {
        store.save(&key("s"), &name("a"), content.into(), "text/plain").await.unwrap();
    }
    (store, place.join("store/sessions/app/user/s/a"))
}

#[test]
fn what_was_not_finished_is_invisible() {
    block_on(async {
        let place = TempDir::new().unwrap();
        let (store, folder) = two_versions(place.path()).await;
        // What a killed save leaves, and what others may have put there.
        fs::create_dir(place.path().join("store/drafts/left")).unwrap();
        fs::write(place.path().join("store/drafts/left/data"), "half").unwrap();
        for stranger in ["x", "07", "-1", "18446744073709551616"] {
            fs::create_dir(folder.join(stranger)).unwrap();
        }
        fs::write(folder.join("3"), "a file").unwrap();
        fs::create_dir(folder.parent().unwrap().join("empty")).unwrap();
        fs::create_dir(folder.parent().unwrap().join("b~00000000000000000000000000000000")).unwrap();
        assert_eq!(store.names(&key("s")).await.unwrap(), [name("a")]);
        assert_eq!(store.versions(&key("s"), &name("a")).await.unwrap(), [0, 1]);
        // What is no version keeps its name.
        assert_eq!(store.save(&key("s"), &name("a"), b"four".to_vec(), "text/plain").await.unwrap(), 4);
        assert_eq!(store.versions(&key("s"), &name("a")).await.unwrap(), [0, 1, 4]);
    });
}

/// Only Unix sets the time of a folder through a file.
#[cfg(unix)]
#[test]
fn old_drafts_go_when_the_store_is_opened() {
    let place = TempDir::new().unwrap();
    FolderArtifacts::open(place.path()).unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 60 * 60);
    for draft in ["left", "new"] {
        fs::create_dir(place.path().join("drafts").join(draft)).unwrap();
        fs::write(place.path().join("drafts").join(draft).join("data"), "half").unwrap();
    }
    fs::File::open(place.path().join("drafts/left")).unwrap().set_modified(old).unwrap();
    FolderArtifacts::open(place.path()).unwrap();
    assert!(!place.path().join("drafts/left").exists());
    assert!(place.path().join("drafts/new").exists());
}

#[test]
fn damage_is_told() {
    block_on(async {
        let place = TempDir::new().unwrap();
        let (store, folder) = two_versions(place.path()).await;
        let meta = folder.join("1/meta.json");
        let good = fs::read_to_string(&meta).unwrap();
        let load = async || store.load(&key("s"), &name("a"), None).await;
        let damaged = async || match load().await {
            Err(ArtifactError::Damaged { version: 1, reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        fs::write(&meta, &good[..20]).unwrap();
        assert!(damaged().await.starts_with("meta.json: EOF while parsing"));
        fs::write(&meta, good.replace("\"a\"", "\"b\"")).unwrap();
        assert_eq!(damaged().await, "its meta.json is another artifact's");
        fs::write(&meta, "x".repeat(70_000)).unwrap();
        assert_eq!(damaged().await, "meta.json is no file of at most 65536 bytes");
        fs::write(&meta, &good).unwrap();
        for content in ["on", "onE"] {
            fs::write(folder.join("1/data"), content).unwrap();
            assert_eq!(damaged().await, "its content has another digest than when it was saved");
        }
        fs::write(folder.join("1/data"), "more").unwrap();
        assert_eq!(damaged().await, "data is no file of at most 3 bytes");
        fs::remove_file(folder.join("1/data")).unwrap();
        assert!(damaged().await.starts_with("data: "));
        fs::write(folder.join("1/data"), "one").unwrap();
        assert_eq!(load().await.unwrap().bytes, b"one");
        // What is larger than is taken now is not loaded.
        let error = store.clone().with_limit(2).load(&key("s"), &name("a"), None).await.unwrap_err();
        assert!(matches!(error, ArtifactError::TooLarge { size: 3, limit: 2, .. }));
    });
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    block_on(async {
        let place = TempDir::new().unwrap();
        let (store, folder) = two_versions(place.path()).await;
        assert_eq!(fs::metadata(store.folder()).unwrap().permissions().mode() & 0o777, 0o700);
        let secret = place.path().join("secret");
        fs::create_dir(&secret).unwrap();
        fs::copy(folder.join("0/meta.json"), secret.join("meta.json")).unwrap();
        fs::copy(folder.join("0/data"), secret.join("data")).unwrap();

        // A version, an artifact, a session, and the content itself.
        symlink(&secret, folder.join("2")).unwrap();
        symlink("0", folder.join("3")).unwrap();
        assert_eq!(store.versions(&key("s"), &name("a")).await.unwrap(), [0, 1]);
        assert_eq!(store.save(&key("s"), &name("a"), b"x".to_vec(), "text/plain").await.unwrap(), 4);
        assert!(store.load(&key("s"), &name("a"), Some(2)).await.is_err());
        let session = folder.parent().unwrap();
        symlink(&secret, session.join("link")).unwrap();
        symlink(session, session.parent().unwrap().join("other")).unwrap();
        assert_eq!(store.names(&key("s")).await.unwrap(), [name("a")]);
        assert_eq!(store.names(&key("other")).await.unwrap(), []);
        assert!(store.load(&key("other"), &name("a"), None).await.is_err());
        for (session, text) in [("s", "link"), ("other", "a")] {
            assert!(store.save(&key(session), &name(text), b"x".to_vec(), "text/plain").await.is_err());
        }
        fs::remove_file(folder.join("1/data")).unwrap();
        symlink(secret.join("data"), folder.join("1/data")).unwrap();
        let error = store.load(&key("s"), &name("a"), Some(1)).await.unwrap_err();
        assert!(error.to_string().contains("data is no file of at most 3 bytes"), "{error}");

        // Deleting deletes links, not what they lead to.
        assert!(!store.delete(&key("s"), &name("link")).await.unwrap());
        store.delete_session(&key("other")).await.unwrap();
        assert!(store.delete_session(&key("s")).await.unwrap());
        assert_eq!(fs::read_dir(&secret).unwrap().count(), 2);
        assert_eq!(fs::read_dir(store.folder().join("drafts")).unwrap().count(), 0);
    });
}
