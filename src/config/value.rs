//! Values of settings, and where they come from.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

/// Whose file a value is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The user's own.
    User,
    /// The project's. Whoever wrote the project wrote it.
    Project,
}

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Whose file.
    pub layer: Layer,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing is set, and nothing is assumed.
    None,
    /// Yes or no.
    Flag(bool),
    /// A number, or a size in bytes.
    Number(u64),
    /// A time in seconds.
    Seconds(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Seconds(seconds) => serializer.serialize_f64(*seconds),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => list.serialize(serializer),
        }
    }
}

/// As TOML writes it; `-` for none.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("-"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Seconds(seconds) => write!(f, "{seconds}"),
            Self::Text(text) => write!(f, "{}", toml::Value::from(text.as_str())),
            Self::List(list) => write!(f, "{}", toml::Value::from(list.clone())),
        }
    }
}

/// How much a value allows, for telling which of two is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amount {
    /// So many: bytes, processes, nanoseconds.
    Finite(u128),
    /// No limit.
    Unlimited,
}

/// A setting as it holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Its value.
    pub value: Value,
    /// Where the value comes from: nowhere for a built-in default, several places where lists were combined.
    pub origins: Vec<Origin>,
    /// How much it allows, for what is a limit.
    #[serde(skip)]
    pub(super) amount: Option<Amount>,
}

impl Setting {
    /// Where the value comes from, in words: `default`, or files with lines.
    pub fn origin(&self) -> String {
        let places: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
        if places.is_empty() { "default".into() } else { places.join(", ") }
    }
}

/// Something in a project's file that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Where it is.
    pub origin: Origin,
    /// The setting.
    pub key: String,
    /// Why it is not used.
    pub reason: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` is not used: {}", self.origin, self.key, self.reason)
    }
}
