//! Which model is asked, where, and with which key.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::environment::{Environment, Origin};
use super::error::SettingsError;
use super::secret::Secret;

/// Where the API is when nothing else is said.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";
const DEFAULT_SKILLS_ROOT: &str = "skills";

const KEY: [&str; 2] = ["TRPC_AGENT_API_KEY", "OPENAI_API_KEY"];
const BASE_URL: [&str; 2] = ["TRPC_AGENT_BASE_URL", "OPENAI_BASE_URL"];
const MODEL: [&str; 2] = ["TRPC_AGENT_MODEL_NAME", "OPENAI_MODEL"];

/// What an agent has to know. The key is a [`Secret`].
///
/// | variable | else | default | meaning |
/// |---|---|---|---|
/// | `TRPC_AGENT_API_KEY` | `OPENAI_API_KEY` | must be set | the key of the API; any text for servers that want none |
/// | `TRPC_AGENT_BASE_URL` | `OPENAI_BASE_URL` | `https://api.openai.com/v1` | what stands before `/chat/completions` |
/// | `TRPC_AGENT_MODEL_NAME` | `OPENAI_MODEL` | must be set | the model |
/// | `SKILLS_ROOT` | | `skills` | where the skills are, one or more |
/// | `SKILLS_CACHE_DIR` | | the platform's | where archives of skills are unpacked |
///
/// Each is taken from the process, else from `.env`, see [`Environment`]. As a folder that one works in may belong to
/// others, its `.env` cannot send a key of the process elsewhere: with a base URL of `.env`, which is not on this
/// machine, the key has to stand there too.
#[derive(Clone, Debug)]
pub struct Settings {
    api_key: Secret,
    base_url: Url,
    model: String,
    skills_root: OsString,
    skills_cache_dir: Option<PathBuf>,
}

impl Settings {
    /// Settings of the process and of `.env` in the current folder.
    ///
    /// # Errors
    ///
    /// What is missing or wrong, and how to set it; never with the key.
    pub fn load() -> Result<Self, SettingsError> {
        Self::from_environment(&Environment::load()?)
    }

    /// Settings of an environment.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_environment(environment: &Environment) -> Result<Self, SettingsError> {
        let (key, base_url, model) = (find(environment, KEY)?, find(environment, BASE_URL)?, find(environment, MODEL)?);
        let (Some(key), Some(model)) = (&key, &model) else {
            let missing = [(key.is_none(), "API key", KEY), (model.is_none(), "model", MODEL)];
            let missing = missing.into_iter().filter(|(is_missing, ..)| *is_missing);
            let missing = missing.map(|(_, what, names)| (what, names)).collect();
            return Err(SettingsError::Missing { missing, file: environment.file().to_owned() });
        };
        let (base_name, base_text) = match &base_url {
            Some(found) => (found.name, found.value.as_str()),
            None => (BASE_URL[0], DEFAULT_BASE_URL),
        };
        let mut settings = Self::named([key.name, base_name, model.name], &key.value, base_text, &model.value)?;
        if let Some(base) = base_url.filter(|base| base.origin == Origin::File && key.origin == Origin::Process)
            && !is_local(&settings.base_url)
        {
            let file = environment.file().to_owned();
            return Err(SettingsError::ForeignBaseUrl { key: key.name, base_url: base.name, file });
        }
        if let Some(root) = environment.get("SKILLS_ROOT") {
            settings.skills_root = root.to_owned();
        }
        settings.skills_cache_dir = environment.get("SKILLS_CACHE_DIR").map(PathBuf::from);
        Ok(settings)
    }

    /// Settings of an embedder, with the defaults for skills.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Value`] for a key that no header can carry, and for a base URL that is none.
    pub fn new(api_key: &Secret, base_url: &str, model: &str) -> Result<Self, SettingsError> {
        Self::named(["the API key", "the base URL", "the model"], api_key.expose(), base_url, model)
    }

    /// Settings whose values have names, which errors tell.
    fn named(names: [&'static str; 3], key: &str, base_url: &str, model: &str) -> Result<Self, SettingsError> {
        let [key_name, base_name, model_name] = names;
        let wrong = |name, reason| SettingsError::Value { name, reason };
        // `$(cat key)` and editors add ends of lines.
        let (key, model) = (key.trim(), model.trim());
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(key_name, "it must be of visible ASCII characters, without spaces"));
        }
        if model.is_empty() || model.chars().any(char::is_control) {
            return Err(wrong(model_name, "it must be the name of a model"));
        }
        Ok(Self {
            api_key: Secret::new(key),
            base_url: read_base_url(base_url).map_err(|reason| wrong(base_name, reason))?,
            model: model.to_owned(),
            skills_root: DEFAULT_SKILLS_ROOT.into(),
            skills_cache_dir: None,
        })
    }

    /// The key of the API.
    pub fn api_key(&self) -> &Secret {
        &self.api_key
    }

    /// What stands before `/chat/completions`, without a slash at its end. An address without a path has got `/v1`.
    pub fn base_url(&self) -> &str {
        self.base_url.as_str().trim_end_matches('/')
    }

    /// The name of the model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Where the skills are, as `SKILLS_ROOT` has it. Default `skills`, in the current folder.
    pub fn skills_root(&self) -> &OsStr {
        &self.skills_root
    }

    /// Where archives of skills are unpacked. Default `None`, the platform's place.
    pub fn skills_cache_dir(&self) -> Option<&Path> {
        self.skills_cache_dir.as_deref()
    }

    /// Whether the API is on this machine, where no proxy leads to.
    pub(super) fn is_local(&self) -> bool {
        is_local(&self.base_url)
    }
}

struct Found {
    name: &'static str,
    value: String,
    origin: Origin,
}

/// The first of two variables that is set.
fn find(environment: &Environment, names: [&'static str; 2]) -> Result<Option<Found>, SettingsError> {
    let found = names.into_iter().find_map(|name| environment.find(name).map(|found| (name, found)));
    let Some((name, (value, origin))) = found else { return Ok(None) };
    let value = value.to_str().ok_or(SettingsError::Value { name, reason: "it is not UTF-8" })?;
    Ok(Some(Found { name, value: value.to_owned(), origin }))
}

/// Reads a base URL. The errors do not have it, as it may have a password.
fn read_base_url(text: &str) -> Result<Url, &'static str> {
    let mut url = Url::parse(text.trim()).map_err(|_| "it must be an address such as https://api.openai.com/v1")?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("it must be an address such as https://api.openai.com/v1");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must have no user or password: the key is set apart");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it must end with its path, without `?` and `#`");
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path).trim_end_matches('/');
    let path = if path.is_empty() { "/v1" } else { path }.to_owned();
    url.set_path(&path);
    Ok(url)
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let number = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || number.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn base_urls() {
        for (text, wanted) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
            ("https://api.openai.com/v1//", "https://api.openai.com/v1"),
            ("https://api.openai.com", "https://api.openai.com/v1"),
            (" https://api.openai.com/\n", "https://api.openai.com/v1"),
            ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
            ("https://api.openai.com/chat/completions/", "https://api.openai.com/v1"),
            ("https://h/api/v3", "https://h/api/v3"),
            ("https://h/v1beta/openai/", "https://h/v1beta/openai"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
            ("http://[::1]:1/v1", "http://[::1]:1/v1"),
        ] {
            let settings = Settings::new(&Secret::new("k"), text, "m").unwrap();
            assert_eq!(settings.base_url(), wanted, "{text}");
        }
        for text in ["", "api.openai.com/v1", "ftp://h/", "file:///v1", "https://", "https://u:p@h/", "https://h/?a=b"]
        {
            let error = Settings::new(&Secret::new("k"), text, "m").unwrap_err().to_string();
            assert!(error.starts_with("the base URL: it must "), "{text}: {error}");
        }
    }

    #[test]
    fn hosts_on_this_machine() {
        for (text, wanted) in [
            ("http://localhost:1/", true),
            ("http://127.8.9.1/", true),
            ("http://[::1]/", true),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
            ("https://127.0.0.1.example/", false),
        ] {
            assert_eq!(is_local(&Url::parse(text).unwrap()), wanted, "{text}");
        }
    }
}
