//! Redirects, and proxies.

use tempfile::tempdir;
use wskill::source::{Source, SourceError};

use crate::archives::SKILL;
use crate::download::quick;
use crate::server::{Reply, Server};
use crate::{block_on, cache_in};

fn resolve(url: &str) -> Result<(), SourceError> {
    let place = tempdir().unwrap();
    block_on(cache_in(&place, quick).resolve(&Source::parse(url).unwrap())).map(drop)
}

/// `/5` leads to `/4`, and so on to `/0`, which has the skill.
fn countdown(status: u16) -> Server {
    Server::start(move |request| match request.target.trim_start_matches('/').parse::<u32>() {
        Ok(0) | Err(_) => Reply::ok(SKILL),
        Ok(left) => Reply::status(status, &[("location", &format!("/{}", left - 1))]),
    })
}

#[test]
fn five_are_followed() {
    for status in [301, 302, 303, 307, 308] {
        let server = countdown(status);
        resolve(&server.url("/5")).unwrap();
        assert_eq!(server.count(), 6);
        assert!(matches!(resolve(&server.url("/6")), Err(SourceError::Redirects { .. })));
        assert_eq!(server.count(), 12);
    }
    let to_itself = Server::fixed(Reply::status(302, &[("location", "")]));
    assert!(matches!(resolve(&to_itself.url("/x")), Err(SourceError::Redirects { .. })));
}

#[test]
fn redirects_that_lead_nowhere() {
    for status in [300, 304, 305, 306] {
        let server = Server::fixed(Reply::status(status, &[("location", "/x")]));
        assert!(matches!(resolve(&server.url("/")), Err(SourceError::Status { .. })), "{status}");
    }
    let without = Server::fixed(Reply::status(302, &[]));
    assert!(matches!(resolve(&without.url("/")), Err(SourceError::Status { status: 302, .. })));
    for target in ["file:///etc/passwd", "ftp://h/x", "data:text/plain,x", "http://u:p@h/", "http://[", "javascript:0"]
    {
        let server = Server::fixed(Reply::status(302, &[("location", target)]));
        assert!(matches!(resolve(&server.url("/")), Err(SourceError::Redirect { .. })), "{target}");
        assert_eq!(server.count(), 1);
    }
}

#[test]
fn conditions_are_kept_and_names_are_the_first_address() {
    let server = countdown(302);
    let place = tempdir().unwrap();
    let folder = block_on(cache_in(&place, quick).resolve(&Source::parse(&server.url("/2")).unwrap())).unwrap();
    assert!(folder.ends_with("2"), "{}", folder.display());
}

/// With a proxy the first address can be a public one without the internet.
#[test]
fn a_redirect_to_a_private_address_is_refused() {
    for target in ["http://127.0.0.1/x", "http://169.254.169.254/latest/", "http://[::1]/", "http://0x0a000001/"] {
        let proxy = Server::fixed(Reply::status(302, &[("location", target)]));
        let place = tempdir().unwrap();
        let cache = cache_in(&place, |cache| cache.proxy(proxy.url("")));
        let result = block_on(cache.resolve(&Source::parse("http://skills.example/a.zip").unwrap()));
        assert!(matches!(result, Err(SourceError::PrivateAddress { .. })), "{target}: {result:?}");
        assert_eq!(proxy.count(), 1);
        assert_eq!(proxy.requests()[0].target, "http://skills.example/a.zip");
    }
}

#[test]
fn a_proxy_is_used_when_it_is_named() {
    let proxy = Server::fixed(Reply::ok(SKILL));
    let place = tempdir().unwrap();
    let cache = cache_in(&place, |cache| cache.proxy(proxy.url("")));
    block_on(cache.resolve(&Source::parse("http://skills.example/SKILL.md").unwrap())).unwrap();
    assert_eq!(proxy.count(), 1);
}
