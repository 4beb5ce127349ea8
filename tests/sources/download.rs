//! Downloads from a server that behaves, and from ones that do not.

use std::fs;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};
use wskill::source::{Cache, CacheBuilder, Limits, Progress, Sha256Sum, Source, SourceError, Timeouts};

use crate::archives::*;
use crate::server::{Reply, Server};
use crate::{block_on, cache_in, files, leftovers, tree};

/// Long enough for a loopback connection on a busy machine, short enough to wait for.
const PATIENCE: Duration = Duration::from_millis(700);
const LONG: Duration = Duration::from_secs(60);

pub fn quick(cache: CacheBuilder) -> CacheBuilder {
    let mut timeouts = Timeouts::default();
    timeouts.connect = 10 * PATIENCE;
    timeouts.read = PATIENCE;
    timeouts.total = 10 * PATIENCE;
    cache.allow_private(true).timeouts(timeouts)
}

fn source(text: &str) -> Source {
    Source::parse(text).unwrap()
}

/// Resolves `url` in a fresh cache; when that fails nothing may be left.
fn resolve(
    url: &str,
    change: impl FnOnce(CacheBuilder) -> CacheBuilder,
) -> (TempDir, Result<Vec<String>, SourceError>) {
    let place = tempdir().unwrap();
    let cache = cache_in(&place, |cache| change(quick(cache)));
    let result = block_on(cache.resolve(&source(url)));
    assert_eq!(leftovers(&cache), [""; 0], "{url}");
    if result.is_err() {
        let kept: Vec<_> = files(cache.folder()).into_iter().filter(|name| !name.ends_with("/.lock")).collect();
        assert_eq!(kept, [""; 0], "{url}");
    }
    (place, result.map(|folder| files(&folder)))
}

fn fails(url: &str, fits: impl FnOnce(&SourceError) -> bool) {
    match resolve(url, |cache| cache).1 {
        Err(error) => assert!(fits(&error), "{error:?}"),
        Ok(files) => panic!("{files:?}"),
    }
}

#[test]
fn every_kind_by_extension_and_by_magic() {
    let zip = zip_of(&[("demo/SKILL.md", SKILL)]);
    let tar = tar_of(&[("./demo/SKILL.md", SKILL)]);
    let packed = gzip(&tar);
    let rows: [(&str, &[u8], &str); 12] = [
        ("/a.zip", &zip, "demo/SKILL.md"),
        ("/a.skill", &zip, "demo/SKILL.md"),
        ("/a.tar", &tar, "demo/SKILL.md"),
        ("/a.tar.gz", &packed, "demo/SKILL.md"),
        ("/a.tgz?x=1", &packed, "demo/SKILL.md"),
        ("/pdf/SKILL.md", SKILL, "SKILL.md"),
        ("/zip", &zip, "demo/SKILL.md"),
        ("/tar", &tar, "demo/SKILL.md"),
        ("/gz", &packed, "demo/SKILL.md"),
        ("/text", SKILL, "SKILL.md"),
        ("/text?file=a.zip", SKILL, "SKILL.md"),
        ("/bom", &[b"\xef\xbb\xbf\r\n", SKILL].concat(), "SKILL.md"),
    ];
    for (path, body, wanted) in rows {
        let (body, server_body) = (body, body.to_vec());
        let server = Server::fixed(Reply::ok(&server_body));
        let (_place, found) = resolve(&server.url(path), |cache| cache);
        assert_eq!(found.unwrap(), [wanted], "{path} {}", body.len());
        let request = &server.requests()[0];
        assert_eq!(request.headers["accept-encoding"], "identity");
        assert!(request.headers["user-agent"].starts_with("wskill/"));
    }
}

#[test]
fn what_is_there_is_not_asked_for_again() {
    let server = Server::fixed(Reply::ok(SKILL));
    let place = tempdir().unwrap();
    let cache = cache_in(&place, quick);
    let url = source(&server.url("/pdf/SKILL.md"));
    let folder = block_on(cache.resolve(&url)).unwrap();
    assert!(folder.ends_with("pdf"));
    for _ in 0..3 {
        assert_eq!(block_on(cache.resolve(&url)).unwrap(), folder);
    }
    assert_eq!(block_on(cache_in(&place, quick).resolve(&url)).unwrap(), folder);
    assert_eq!(server.count(), 1);
    // The sentinel tells what it was.
    let entry = folder.parent().unwrap().parent().unwrap();
    assert!(entry.ends_with(Sha256Sum::of(server.url("/pdf/SKILL.md").as_bytes()).to_string()));
    let ready = fs::read_to_string(entry.join(".ready")).unwrap();
    for wanted in [server.url("/pdf/SKILL.md"), Sha256Sum::of(SKILL).to_string(), "fetched".to_owned()] {
        assert!(ready.contains(&wanted), "{ready}");
    }
    // Another address is another entry.
    block_on(cache.resolve(&source(&server.url("/pdf/SKILL.md?x")))).unwrap();
    assert_eq!(server.count(), 2);
}

#[test]
fn a_damaged_entry_is_made_again() {
    let server = Server::fixed(Reply::ok(SKILL));
    let place = tempdir().unwrap();
    let cache = cache_in(&place, quick);
    let url = source(&server.url("/SKILL.md"));
    let folder = block_on(cache.resolve(&url)).unwrap();
    let version = folder.parent().unwrap();
    let ready = version.parent().unwrap().join(".ready");
    fs::write(&ready, "{").unwrap();
    assert_eq!(block_on(cache.resolve(&url)).unwrap(), folder);
    fs::remove_file(&ready).unwrap();
    assert_eq!(block_on(cache.resolve(&url)).unwrap(), folder);
    fs::remove_dir_all(version).unwrap();
    assert_eq!(block_on(cache.resolve(&url)).unwrap(), folder);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(block_on(cache.resolve(&url)).unwrap(), folder);
    assert_eq!(files(&folder), ["SKILL.md"]);
    assert_eq!(server.count(), 5);
    assert_eq!(leftovers(&cache), [""; 0]);
}

#[test]
fn servers_that_stall() {
    let begin = Instant::now();
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n";
    for (reply, phase) in [
        (Reply::default().wait(LONG), "an answer"),
        (Reply::raw("HTTP/1.1 200 OK\r\ncont").wait(LONG), "an answer"),
        (Reply::raw(head).then("some").wait(LONG), "more of the download"),
    ] {
        let server = Server::fixed(reply);
        fails(&server.url("/a.zip"), |error| matches!(error, SourceError::Timeout { phase: is, .. } if *is == phase));
    }
    // Always a little, never the end.
    let mut drip = Reply::raw(head);
    for _ in 0..60 {
        drip = drip.then("x").wait(PATIENCE / 3);
    }
    let server = Server::fixed(drip);
    fails(&server.url("/a.zip"), |error| {
        matches!(error, SourceError::Timeout { phase: "the end of the download", .. })
    });
    assert!(begin.elapsed() < LONG / 2);
}

#[test]
fn servers_that_are_not_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    fails(&format!("http://127.0.0.1:{port}/a.zip"), |error| matches!(error, SourceError::Connection { .. }));
    fails("http://no-such-host.invalid/a.zip", |error| matches!(error, SourceError::Connection { .. }));
    // TLS with a server that has none; a machine without roots says so before.
    let server = Server::fixed(Reply::raw("no TLS"));
    fails(&format!("https://127.0.0.1:{}/a.zip", server.port()), |error| {
        matches!(error, SourceError::Connection { .. } | SourceError::Tls { .. } | SourceError::Timeout { .. })
    });
    let server = Server::fixed(Reply::raw("SSH-2.0-OpenSSH\r\n"));
    fails(&server.url("/a.zip"), |error| matches!(error, SourceError::Connection { .. }));
    let server = Server::fixed(Reply::default());
    fails(&server.url("/a.zip"), |error| matches!(error, SourceError::Connection { .. }));
}

#[test]
fn lengths_that_are_not_true() {
    let zip = zip_of(&[("SKILL.md", SKILL)]);
    let announce = |length: usize| Reply::raw(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n"));
    let short = Server::fixed(announce(zip.len() + 1).then(&zip));
    fails(&short.url("/a.zip"), |error| matches!(error, SourceError::Incomplete { .. }));
    let dropped = Server::fixed(announce(zip.len()).then(&zip[..zip.len() / 2]));
    fails(&dropped.url("/a.zip"), |error| matches!(error, SourceError::Incomplete { .. }));
    // What is beyond the announced length is not part of the answer.
    let long = Server::fixed(announce(zip.len() - 1).then(&zip));
    fails(&long.url("/a.zip"), |error| matches!(error, SourceError::Archive { .. }));
    let more = Server::fixed(announce(zip.len()).then([&zip[..], b"HTTP/1.1 200 OK"].concat()));
    resolve(&more.url("/a.zip"), |cache| cache).1.unwrap();
    let chunked = Reply::raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunk = |data: &[u8]| [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat();
    let whole = Server::fixed(chunked.clone().then(chunk(&zip)).then("0\r\n\r\n"));
    resolve(&whole.url("/a.zip"), |cache| cache).1.unwrap();
    let cut = Server::fixed(chunked.clone().then(chunk(&zip)));
    fails(&cut.url("/a.zip"), |error| matches!(error, SourceError::Incomplete { .. }));
    let nonsense = Server::fixed(chunked.then("nonsense\r\n"));
    fails(&nonsense.url("/a.zip"), |error| matches!(error, SourceError::Incomplete { .. }));
    // Without a length the end of the connection is the end, and only the archive can tell.
    let endless = Reply::raw("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
    resolve(&Server::fixed(endless.clone().then(&zip)).url("/a.zip"), |cache| cache).1.unwrap();
    let cut = Server::fixed(endless.then(&zip[..zip.len() - 1]));
    fails(&cut.url("/a.zip"), |error| matches!(error, SourceError::Archive { .. }));
}

#[test]
fn downloads_that_are_too_large() {
    let limited = |cache: CacheBuilder| {
        let mut limits = Limits::default();
        limits.download = 10_000;
        cache.limits(limits)
    };
    let too_large = |result| matches!(result, Err(SourceError::DownloadTooLarge { limit: 10_000, .. }));
    let announced = Server::fixed(Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n").wait(LONG));
    assert!(too_large(resolve(&announced.url("/a.zip"), limited).1));
    let streamed = Server::fixed(Reply::raw("HTTP/1.1 200 OK\r\n\r\n").then(vec![b'x'; 10_001]).wait(LONG));
    assert!(too_large(resolve(&streamed.url("/a.zip"), limited).1));
    let packed = Server::fixed(Reply::with(&gzip(&vec![b'x'; 20_000]), &[("content-encoding", "gzip")]));
    assert!(matches!(resolve(&packed.url("/a.zip"), limited).1, Err(SourceError::Archive { .. })));
}

#[test]
fn answers_that_are_no_archive() {
    for status in [204, 206, 304, 400, 401, 403, 404, 410, 429, 500, 503] {
        let server = Server::fixed(Reply::status(status, &[]));
        fails(&server.url("/a.zip"), |error| matches!(error, SourceError::Status { status: is, .. } if *is == status));
    }
    let page = Server::fixed(Reply::ok(b"<!doctype html><p>Sign in"));
    fails(&page.url("/a.zip"), |error| error.to_string().contains("<!doctype html>"));
}

#[test]
fn contents_that_the_server_compressed() {
    let zip = zip_of(&[("SKILL.md", SKILL)]);
    let tgz = gzip(&tar_of(&[("SKILL.md", SKILL)]));
    for (path, body, encoding) in [
        ("/a.zip", gzip(&zip), "gzip"),
        ("/a.zip", gzip(&zip), "X-GZip"),
        ("/a", gzip(&zip), "gzip"),
        ("/SKILL.md", gzip(SKILL), "gzip"),
        // Set up by file name, a server calls an archive encoded that is just that.
        ("/a.tar.gz", tgz.clone(), "x-gzip"),
        ("/a.zip", zip.clone(), "identity"),
        ("/a.zip", zip.clone(), "gzip"),
    ] {
        let server = Server::fixed(Reply::with(&body, &[("content-encoding", encoding)]));
        assert_eq!(resolve(&server.url(path), |cache| cache).1.unwrap(), ["SKILL.md"], "{path} {encoding}");
    }
    // A pin is the archive's digest, not that of its encoding.
    let server = Server::fixed(Reply::with(&gzip(&zip), &[("content-encoding", "gzip")]));
    resolve(&format!("{}#sha256={}", server.url("/a.zip"), Sha256Sum::of(&zip)), |cache| cache).1.unwrap();
    for encoding in ["br", "zstd", "gzip, br"] {
        let server = Server::fixed(Reply::with(&zip, &[("content-encoding", encoding)]));
        fails(&server.url("/a.zip"), |error| matches!(error, SourceError::Encoding { .. }));
    }
}

/// A server whose archive can be replaced; it answers 304 to whoever has it.
fn tagged(kind: &'static str) -> (Server, Arc<Mutex<Vec<u8>>>) {
    let body = Arc::new(Mutex::new(zip_of(&[("SKILL.md", SKILL), ("a", b"1")])));
    let current = body.clone();
    let server = Server::start(move |request| {
        let body = current.lock().unwrap().clone();
        let (header, condition) = match kind {
            "etag" => ("etag", "if-none-match"),
            _ => ("last-modified", "if-modified-since"),
        };
        let tag = format!("\"{}\"", Sha256Sum::of(&body));
        match request.headers.get(condition) {
            Some(has) if *has == tag => Reply::status(304, &[]),
            _ => Reply::with(&body, &[(header, &tag)]),
        }
    });
    (server, body)
}

#[test]
fn refreshing_asks_only_for_what_is_new() {
    for kind in ["etag", "last-modified"] {
        let (server, body) = tagged(kind);
        let place = tempdir().unwrap();
        let cache = cache_in(&place, quick);
        let fresh = cache_in(&place, |cache| quick(cache).refresh(true));
        let url = source(&server.url("/a.zip"));
        let first = block_on(fresh.resolve(&url)).unwrap();
        assert_eq!(block_on(fresh.resolve(&url)).unwrap(), first);
        assert_eq!(server.count(), 2, "{kind}");
        assert!(server.requests()[1].headers.keys().any(|name| name.starts_with("if-")), "{kind}");
        *body.lock().unwrap() = zip_of(&[("SKILL.md", SKILL), ("a", b"2")]);
        assert_eq!(block_on(cache.resolve(&url)).unwrap(), first);
        assert_eq!(server.count(), 2);
        let second = block_on(fresh.resolve(&url)).unwrap();
        assert_eq!(tree(&second)["a"], b"2");
        // Whoever still uses the former one keeps it.
        assert_eq!(tree(&first)["a"], b"1");
        assert_eq!(block_on(cache.resolve(&url)).unwrap(), second);
        assert_eq!(server.count(), 3);
        // A server that is gone is an error for who asked, and none for others.
        *body.lock().unwrap() = b"no archive".to_vec();
        assert!(block_on(fresh.resolve(&url)).is_err());
        assert_eq!(block_on(cache.resolve(&url)).unwrap(), second);
        assert_eq!(leftovers(&cache), [""; 0]);
    }
}

#[test]
fn pins() {
    let (server, body) = tagged("etag");
    let first_sum = Sha256Sum::of(&body.lock().unwrap());
    let place = tempdir().unwrap();
    let fresh = cache_in(&place, |cache| quick(cache).refresh(true));
    let pinned = source(&format!("{}#sha256={first_sum}", server.url("/a.zip")));
    let first = block_on(fresh.fetch(&pinned)).unwrap();
    assert_eq!(first.sha256, Some(first_sum));
    assert_eq!(block_on(fresh.fetch(&pinned)).unwrap(), first);
    assert_eq!(server.count(), 1, "what is pinned never changes");
    // Now the server has another.
    *body.lock().unwrap() = zip_of(&[("SKILL.md", SKILL), ("a", b"2")]);
    let second = block_on(fresh.fetch(&source(&server.url("/a.zip")))).unwrap();
    assert_ne!(second.folder, first.folder);
    assert_eq!(block_on(fresh.fetch(&pinned)).unwrap(), first);
    fails(&format!("{}#sha256={first_sum}", server.url("/a.zip")), |error| {
        matches!(error, SourceError::PinMismatch { expected, actual, .. }
            if *expected == first_sum && Some(*actual) == second.sha256)
    });
    // The entry has another archive: the pinned one is asked for without conditions.
    let third_body = zip_of(&[("SKILL.md", SKILL), ("a", b"3")]);
    *body.lock().unwrap() = third_body.clone();
    let third = source(&format!("{}#sha256={}", server.url("/a.zip"), Sha256Sum::of(&third_body)));
    assert_eq!(tree(&block_on(fresh.resolve(&third)).unwrap())["a"], b"3");
}

#[test]
fn private_addresses_are_not_connected_to() {
    let server = Server::fixed(Reply::ok(SKILL));
    let port = server.port();
    for host in
        ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"]
    {
        let place = tempdir().unwrap();
        let cache = cache_in(&place, |cache| cache);
        let error = block_on(cache.resolve(&source(&format!("http://{host}:{port}/SKILL.md")))).unwrap_err();
        assert!(matches!(error, SourceError::PrivateAddress { .. }), "{host}: {error:?}");
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn progress_is_told() {
    let server = Server::fixed(Reply::ok(&zip_of(&[("SKILL.md", SKILL)])));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (_place, found) = resolve(&server.url("/a.zip"), |cache| {
        let seen = seen.clone();
        cache.on_progress(move |progress| {
            seen.lock().unwrap().push(match progress {
                Progress::Downloading { received, total, .. } => (received, total),
                _ => (u64::MAX, None),
            });
        })
    });
    found.unwrap();
    let seen = seen.lock().unwrap();
    let length = zip_of(&[("SKILL.md", SKILL)]).len() as u64;
    assert_eq!(seen.first(), Some(&(0, Some(length))));
    assert!(seen.contains(&(length, Some(length))));
    assert_eq!(seen.last(), Some(&(u64::MAX, None)));
}

#[test]
fn a_download_that_is_given_up() {
    let server = Server::fixed(Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n").then("some").wait(LONG));
    let place = tempdir().unwrap();
    let cache: Cache = cache_in(&place, |cache| cache.allow_private(true));
    let url = source(&server.url("/a.zip"));
    block_on(async {
        let waiting = tokio::time::timeout(PATIENCE, cache.resolve(&url)).await;
        assert!(waiting.is_err());
    });
    assert_eq!(server.count(), 1);
    assert_eq!(leftovers(&cache), [""; 0]);
}
