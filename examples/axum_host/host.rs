//! What is said over HTTP.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path as UrlPath};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wskill::Runtime;
use wskill::executor::ExecutorError;
use wskill::repository::{Repository, RepositoryError};
use wskill::session::SessionError;
use wskill::tools::ToolError;

use super::budget::{Budget, Refused};
use super::tenant::{NoSession, Tenant};

/// The largest request, bytes. Input files come as arguments.
const BODY_MAX: usize = 1 << 20;

/// All tenants.
#[derive(Debug)]
pub struct Host {
    runtime: Arc<Runtime>,
    repository: Arc<Repository>,
    files: PathBuf,
    /// By the digests of their tokens: how long it takes to look one up tells nothing of the tokens.
    tenants: HashMap<[u8; 32], Arc<Tenant>>,
}

impl Host {
    /// A host without tenants, whose files will be in a folder.
    pub fn new(runtime: Arc<Runtime>, repository: Arc<Repository>, files: &Path) -> Self {
        Self { runtime, repository, files: files.to_owned(), tenants: HashMap::new() }
    }

    /// Adds a tenant.
    ///
    /// # Errors
    /// When its executor cannot be made.
    pub fn add_tenant(&mut self, name: &str, token: &str, budget: Budget) -> Result<(), SessionError> {
        // A number, as a name may be anything.
        let folder = self.files.join(self.tenants.len().to_string());
        let (runtime, repository) = (Arc::clone(&self.runtime), Arc::clone(&self.repository));
        let tenant = Tenant::new(name, budget, runtime, repository, &folder)?;
        self.tenants.insert(digest(token), Arc::new(tenant));
        Ok(())
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The host's addresses.
pub fn router(host: Arc<Host>) -> Router {
    Router::new()
        .route("/v1/tools", get(list_tools))
        .route("/v1/tools/{name}", post(call_tool))
        .route("/v1/sessions/{name}", delete(delete_session))
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .with_state(host)
}

/// Whoever has sent the request.
struct Caller(Arc<Tenant>);

impl FromRequestParts<Arc<Host>> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, host: &Arc<Host>) -> Result<Self, Failure> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
        let tenant = token.and_then(|token| host.tenants.get(&digest(token)));
        tenant.map(|tenant| Self(Arc::clone(tenant))).ok_or(Failure::Unauthorized)
    }
}

/// A call of a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    session: String,
    #[serde(default = "no_arguments")]
    arguments: Value,
}

fn no_arguments() -> Value {
    json!({})
}

async fn list_tools(Caller(tenant): Caller) -> Result<Json<Value>, Failure> {
    serde_json::to_value(tenant.tools().await?).map(Json).map_err(|error| Failure::internal(&error))
}

async fn call_tool(
    Caller(tenant): Caller,
    UrlPath(name): UrlPath<String>,
    call: Result<Json<ToolCall>, JsonRejection>,
) -> Result<Json<Value>, Failure> {
    let Json(call) = call?;
    let _admitted = tenant.account.admit()?;
    let session = tenant.session(&call.session).await?;
    Ok(Json(session.toolset.call(&name, call.arguments).await?))
}

async fn delete_session(Caller(tenant): Caller, UrlPath(name): UrlPath<String>) -> Result<StatusCode, Failure> {
    match tenant.remove(&name).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure::Wrong(StatusCode::NOT_FOUND, format!("unknown session `{name}`"))),
    }
}

/// Why a request has no answer.
enum Failure {
    Unauthorized,
    /// The caller's fault.
    Wrong(StatusCode, String),
    /// The budget is used up.
    Refused(Refused),
    /// The host's fault, which is in its log.
    Internal,
}

impl Failure {
    fn internal(error: &dyn std::error::Error) -> Self {
        eprintln!("error: {error}");
        Self::Internal
    }
}

impl From<JsonRejection> for Failure {
    fn from(error: JsonRejection) -> Self {
        let status = match error.status() {
            // JSON with a field that is wrong is as wrong as what is no JSON.
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            status => status,
        };
        Self::Wrong(status, error.body_text())
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<NoSession> for Failure {
    fn from(error: NoSession) -> Self {
        match error {
            NoSession::Name(reason) => Self::Wrong(StatusCode::BAD_REQUEST, reason),
            NoSession::Refused(refused) => Self::Refused(refused),
            NoSession::Failed(error) => Self::internal(&error),
        }
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        let status = match &error {
            ToolError::UnknownTool { .. }
            | ToolError::Session(SessionError::Repository(RepositoryError::Unknown { .. })) => StatusCode::NOT_FOUND,
            ToolError::Denied { .. } => StatusCode::FORBIDDEN,
            ToolError::Argument { .. }
            | ToolError::NotLoaded { .. }
            | ToolError::Function { .. }
            | ToolError::Skill(_)
            | ToolError::Executor(ExecutorError::File(_))
            | ToolError::Session(SessionError::Executor(ExecutorError::File(_)) | SessionError::ArtifactName(_)) => {
                StatusCode::BAD_REQUEST
            }
            // Its text may name what is the host's own.
            _ => return Self::internal(&error),
        };
        Self::Wrong(status, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let answer = |status: StatusCode, text: &str| (status, Json(json!({"error": text}))).into_response();
        match self {
            Self::Unauthorized => {
                let text = "the header `Authorization: Bearer TOKEN` is missing, or nobody has this token";
                let mut response = answer(StatusCode::UNAUTHORIZED, text);
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                response
            }
            Self::Wrong(status, text) => answer(status, &text),
            Self::Refused(Refused { reason, after }) => {
                let mut response = answer(StatusCode::TOO_MANY_REQUESTS, reason);
                let seconds = after.saturating_add(Duration::from_millis(999)).as_secs().max(1);
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
                response
            }
            Self::Internal => answer(StatusCode::INTERNAL_SERVER_ERROR, "the host has failed; the error is in its log"),
        }
    }
}
