//! The HTTP client. Certificates are checked by the system's rules and roots, the cryptography is ring's.

use std::sync::Arc;

use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use rustls_platform_verifier::BuilderVerifierExt;

use super::super::error::ClientError;
use super::super::settings::Settings;
use super::Timeouts;
use super::failure::chain;

/// A client for the API of `settings`.
///
/// Proxies of the environment are used, as the API is where the user says. Redirects are not followed: the key goes
/// nowhere else.
pub fn http_client(settings: &Settings, timeouts: Timeouts) -> Result<reqwest::Client, ClientError> {
    let failed = |reason| ClientError::Setup { base_url: settings.base_url().to_owned(), reason };
    // Without roots every https server is refused, but none is asked for.
    let is_plain = settings.base_url().starts_with("http:");
    let tls = verified().or_else(|error| if is_plain { without_roots() } else { Err(error) });
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.map_err(|error| failed(error.to_string()))?)
        .user_agent(concat!("wskill/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(timeouts.connect)
        .read_timeout(timeouts.idle)
        .http1_only();
    let client = if settings.is_local() { client.no_proxy() } else { client };
    client.build().map_err(|error| failed(chain(&error)))
}

fn verified() -> Result<ClientConfig, rustls::Error> {
    Ok(builder()?.with_platform_verifier()?.with_no_client_auth())
}

fn without_roots() -> Result<ClientConfig, rustls::Error> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// The provider is named and not installed for the process, which is the host's business.
fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
}
