//! An HTTP host for several tenants: `cargo run --release --example axum_host -- [ADDRESS:PORT [SKILLS_FOLDER]]`.
//!
//! One runtime and one repository of skills serve all tenants. A tenant is told by its bearer token; sessions, files
//! and state are its own, and so is its budget: how many calls at once, what a run may use, how many instructions a
//! minute, how many sessions.
//!
//! ```text
//! GET    /v1/tools            the tools with their JSON Schemas
//! POST   /v1/tools/{name}     {"session": "s1", "arguments": {…}} → what the tool answers
//! DELETE /v1/sessions/{name}  deletes a session with its files
//! ```
//!
//! Errors are `{"error": "…"}`: 400 for a wrong call, 401 without a token that is known, 404 for an unknown tool, skill
//! or session, 429 with `Retry-After` when the budget is used up. A command that fails is an answer.
//!
//! `HOST_TENANTS` has names and tokens, as `anna=TOKEN,ben=TOKEN`; without it two tenants with new tokens are made and
//! printed. Ctrl-C lets the calls that are being served end. A real host would stand behind TLS.

#[path = "axum_host/budget.rs"]
mod budget;
#[path = "axum_host/host.rs"]
mod host;
#[path = "axum_host/meter.rs"]
mod meter;
#[path = "axum_host/tenant.rs"]
mod tenant;

use std::sync::Arc;

use tokio::net::TcpListener;
use wskill::Runtime;
use wskill::repository::Repository;

pub use budget::Budget;
pub use host::{Host, router};

type Error = Box<dyn std::error::Error>;

#[allow(dead_code, reason = "a test has this file as a module")]
#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let skills = arguments.next().unwrap_or_else(|| "skills".to_owned());
    let tenants = tenants()?;

    let files = tempfile::Builder::new().prefix("wskill-host-").tempdir()?;
    let repository = Arc::new(Repository::builder().root(skills).build());
    let mut host = Host::new(Runtime::shared()?, repository, files.path());
    for (name, token) in &tenants {
        host.add_tenant(name, token, Budget::default())?;
    }
    let listener = TcpListener::bind(address).await?;
    eprintln!("listening at http://{}", listener.local_addr()?);
    let stopped = async {
        // Without a handler the first Ctrl-C ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        eprintln!("stopping; calls that are being served go on to their end");
    };
    axum::serve(listener, router(Arc::new(host))).with_graceful_shutdown(stopped).await?;
    Ok(())
}

/// The names of tenants and their tokens.
fn tenants() -> Result<Vec<(String, String)>, Error> {
    if let Ok(text) = std::env::var("HOST_TENANTS") {
        let pair = |part: &str| part.trim().split_once('=').map(|(name, token)| (name.to_owned(), token.to_owned()));
        let pairs: Option<Vec<_>> = text.split(',').map(pair).collect();
        return Ok(pairs.ok_or("HOST_TENANTS: must be NAME=TOKEN, with `,` between them")?);
    }
    let mut tenants = Vec::new();
    for name in ["anna", "ben"] {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("tenant {name}: token {token}");
        tenants.push((name.to_owned(), token));
    }
    Ok(tenants)
}
