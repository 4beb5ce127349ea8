//! Downloads: one file from one address, with limits, and only from the public internet unless allowed.
//!
//! Decisions:
//!
//! - **Addresses** are checked where they are resolved for the connection, so that a name cannot be public when it is
//!   checked and private when it is used. Numbers in the address, in whatever notation (`0x7f.1`, `2130706433`), never
//!   reach the resolver and are checked as the URL parser of the client reads them. Each redirect is a request of its
//!   own and checked the same way, and what the connection stands to is checked once more before its answer is read.
//! - **Proxies** of the environment are not used: a proxy resolves names itself, and the check would be worth nothing.
//!   [`CacheBuilder::proxy`](super::CacheBuilder::proxy) names one that is trusted with that.
//! - **Certificates** are checked by the system's rules and roots (`SSL_CERT_FILE` works), the cryptography is ring's.
//! - **Encodings** are asked not to be used. A server that compresses all the same has its `gzip` undone, as some are
//!   set up to do so by file name; the digest is that of the archive then.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    LOCATION,
};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use super::address::is_public;
use super::error::SourceError;
use super::limits::{Limits, MAX_REDIRECTS, Timeouts};

/// How to download.
#[derive(Clone, Debug)]
pub struct Options {
    pub allow_private: bool,
    pub limits: Limits,
    pub timeouts: Timeouts,
    pub proxy: Option<String>,
}

/// What is known of a former download, so that an unchanged archive is not sent again.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// What the server answered.
#[derive(Debug)]
pub enum Answer {
    /// It is what [`Known`] describes.
    Unchanged,
    /// It was written.
    New {
        known: Known,
        /// The server compressed it with gzip on its own account.
        is_compressed: bool,
    },
}

/// Downloads `url` into the new file `target`; `progress` is told how many bytes have come, and how many there will be.
pub async fn download(
    url: &str,
    target: &Path,
    known: &Known,
    options: &Options,
    progress: &(dyn Fn(u64, Option<u64>) + Send + Sync),
) -> Result<Answer, SourceError> {
    let all = async {
        let response = request(url, known, options).await?;
        if response.status() == StatusCode::NOT_MODIFIED {
            return Ok(Answer::Unchanged);
        }
        let is_compressed = is_compressed(&response)?;
        let known = Known { etag: text(&response, ETAG), last_modified: text(&response, LAST_MODIFIED) };
        save(response, url, target, options, progress).await?;
        Ok(Answer::New { known, is_compressed })
    };
    match tokio::time::timeout(options.timeouts.total, all).await {
        Ok(answer) => answer,
        Err(_) => Err(SourceError::Timeout { url: url.to_owned(), phase: "the end of the download" }),
    }
}

/// Follows redirects to the answer.
async fn request(first: &str, known: &Known, options: &Options) -> Result<Response, SourceError> {
    let mut url = Url::parse(first)
        .map_err(|error| SourceError::Address { text: first.to_owned(), reason: error.to_string() })?;
    let client = client(&url, options)?;
    for _ in 0..=MAX_REDIRECTS {
        check(&url, options)?;
        let mut headers = HeaderMap::new();
        for (header, value) in [(IF_NONE_MATCH, &known.etag), (IF_MODIFIED_SINCE, &known.last_modified)] {
            if let Some(value) = value.as_ref().and_then(|value| value.parse().ok()) {
                headers.insert(header, value);
            }
        }
        let is_conditional = !headers.is_empty();
        let response = client.get(url.clone()).headers(headers).send().await;
        let response = response.map_err(|error| failure(&url, 0, &error))?;
        if let Some(peer) = response.remote_addr().filter(|_| options.proxy.is_none()) {
            check_address(url.host_str().unwrap_or_default(), peer.ip(), options)?;
        }
        let status = response.status();
        // Nothing else has the whole archive: 206 is a part, 204 nothing.
        if status == StatusCode::OK || (status == StatusCode::NOT_MODIFIED && is_conditional) {
            return Ok(response);
        }
        let target = response.headers().get(LOCATION).and_then(|target| target.to_str().ok());
        let Some(target) = target.filter(|_| is_redirect(status)) else {
            return Err(SourceError::Status { url: url.into(), status: status.as_u16() });
        };
        url = redirected(&url, target)?;
    }
    Err(SourceError::Redirects { url: first.to_owned() })
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where a redirect leads, when it may.
fn redirected(url: &Url, target: &str) -> Result<Url, SourceError> {
    let refuse = |reason| SourceError::Redirect { url: url.to_string(), target: target.to_owned(), reason };
    let next = url.join(target).map_err(|_| refuse("it is no address"))?;
    match next.scheme() {
        "https" => {}
        "http" if url.scheme() == "https" => return Err(refuse("it leads from https to http")),
        "http" => {}
        _ => return Err(refuse("it leads to something else than http or https")),
    }
    if !next.username().is_empty() || next.password().is_some() {
        return Err(refuse("it has a user or password"));
    }
    Ok(next)
}

/// Checks hosts that are numbers; names are checked when they are resolved.
fn check(url: &Url, options: &Options) -> Result<(), SourceError> {
    let host = url.host_str().unwrap_or_default();
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match number {
        Ok(address) => check_address(host, address, options),
        Err(_) => Ok(()),
    }
}

fn check_address(host: &str, address: IpAddr, options: &Options) -> Result<(), SourceError> {
    if options.allow_private || is_public(address) {
        Ok(())
    } else {
        Err(SourceError::PrivateAddress { host: host.to_owned(), address })
    }
}

fn client(url: &Url, options: &Options) -> Result<Client, SourceError> {
    let tls = tls().or_else(|error| match url.scheme() {
        // Without roots every https server is refused, but none is asked for.
        "http" => Ok(without_roots()?),
        _ => Err(error),
    });
    let tls = tls.map_err(|error| SourceError::Tls { url: url.to_string(), reason: error.to_string() })?;
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, reqwest::header::HeaderValue::from_static("*/*"));
    headers.insert(ACCEPT_ENCODING, reqwest::header::HeaderValue::from_static("identity"));
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("wskill/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .redirect(redirect::Policy::none())
        .connect_timeout(options.timeouts.connect)
        .read_timeout(options.timeouts.read)
        .http1_only()
        .no_proxy();
    let refused = |error: reqwest::Error| SourceError::Connection { url: url.to_string(), reason: chain(&error) };
    let client = match &options.proxy {
        Some(proxy) => client.proxy(reqwest::Proxy::all(proxy.as_str()).map_err(refused)?),
        None => client.dns_resolver(Arc::new(PublicResolver { allow_private: options.allow_private })),
    };
    client.build().map_err(refused)
}

fn tls() -> Result<ClientConfig, rustls::Error> {
    Ok(builder()?.with_platform_verifier()?.with_no_client_auth())
}

fn without_roots() -> Result<ClientConfig, rustls::Error> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// The provider is named and not installed for the process, which is the host's business.
fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
}

/// The system's resolver, without the addresses that may not be connected to.
struct PublicResolver {
    allow_private: bool,
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let is_allowed = |address: &SocketAddr| allow_private || is_public(address.ip());
            let allowed: Vec<_> = found.iter().copied().filter(is_allowed).collect();
            match (allowed.is_empty(), found.first()) {
                (true, Some(private)) => Err(PrivateHost { host, address: private.ip() }.into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

/// What the resolver tells through the client's own errors.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{host} is at {address}")]
struct PrivateHost {
    host: String,
    address: IpAddr,
}

/// Whether the server compressed the content. Other encodings are refused.
fn is_compressed(response: &Response) -> Result<bool, SourceError> {
    let Some(encoding) = text(response, CONTENT_ENCODING) else { return Ok(false) };
    match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Ok(false),
        "gzip" | "x-gzip" => Ok(true),
        _ => Err(SourceError::Encoding { url: response.url().to_string(), encoding }),
    }
}

fn text(response: &Response, header: reqwest::header::HeaderName) -> Option<String> {
    response.headers().get(header).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Writes the content, which may have neither announced nor sent more than allowed.
async fn save(
    mut response: Response,
    first: &str,
    target: &Path,
    options: &Options,
    progress: &(dyn Fn(u64, Option<u64>) + Send + Sync),
) -> Result<(), SourceError> {
    let limit = options.limits.download;
    let too_large = || SourceError::DownloadTooLarge { url: first.to_owned(), limit };
    let failed = |error: io::Error| SourceError::io("write", target, error);
    let announced = response.content_length();
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    // Written between two pieces from the network: at most 64 MiB, to the page cache.
    let mut file = BufWriter::new(File::create_new(target).map_err(failed)?);
    let mut received = 0;
    progress(received, announced);
    let url = response.url().clone();
    while let Some(piece) = response.chunk().await.map_err(|error| failure(&url, received, &error))? {
        received += piece.len() as u64;
        if received > limit {
            return Err(too_large());
        }
        file.write_all(&piece).map_err(failed)?;
        progress(received, announced);
    }
    if announced.is_some_and(|length| length != received) {
        return Err(SourceError::Incomplete { url: first.to_owned(), received });
    }
    file.flush().map_err(failed)
}

/// What an error of the client means.
fn failure(url: &Url, received: u64, error: &reqwest::Error) -> SourceError {
    let url = url.to_string();
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        if let Some(host) = error.downcast_ref::<PrivateHost>() {
            return SourceError::PrivateAddress { host: host.host.clone(), address: host.address };
        }
        cause = error.source();
    }
    if error.is_timeout() {
        let phase = match (error.is_connect(), received) {
            (true, _) => "a connection",
            (false, 0) => "an answer",
            (false, _) => "more of the download",
        };
        return SourceError::Timeout { url, phase };
    }
    if error.is_body() || error.is_decode() {
        return SourceError::Incomplete { url, received };
    }
    SourceError::Connection { url, reason: chain(error) }
}

/// An error with its causes. The client's own message repeats the address, which ours has already.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::from(if error.is_connect() { "cannot connect" } else { "the request failed" });
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options { allow_private: false, limits: Limits::default(), timeouts: Timeouts::default(), proxy: None }
    }

    #[test]
    fn numbers_in_any_notation_are_checked() {
        for host in [
            "127.1",
            "0x7f.1",
            "0177.0.0.1",
            "2130706433",
            "0",
            "127.0.0.1.",
            "[::ffff:7f00:1]",
            "[::1]",
            "１２７.0.0.1",
            "%31%32%37.0.0.1",
        ] {
            let url = Url::parse(&format!("http://{host}/x")).unwrap_or_else(|error| unreachable!("{host}: {error}"));
            assert!(matches!(check(&url, &options()), Err(SourceError::PrivateAddress { .. })), "{host} is {url}");
        }
        assert!(Url::parse("http://8.8.8.8/").is_ok_and(|url| check(&url, &options()).is_ok()));
    }

    #[test]
    fn redirects_that_are_followed() {
        for (from, to, wanted) in [
            ("https://h/a/b", "c", Some("https://h/a/c")),
            ("https://h/a", "//g/b", Some("https://g/b")),
            ("http://h/a", "https://h/a", Some("https://h/a")),
            ("http://h/a", "http://g/", Some("http://g/")),
            ("https://h/a", "http://h/a", None),
            ("https://h/a", "file:///etc/passwd", None),
            ("https://h/a", "data:,x", None),
            ("https://h/a", "https://u@h/", None),
            ("https://h/a", "https://", None),
        ] {
            let next = Url::parse(from).ok().and_then(|url| redirected(&url, to).ok());
            assert_eq!(next.as_ref().map(Url::as_str), wanted, "{from} {to}");
        }
    }
}
