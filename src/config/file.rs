//! Reading one `wskill.toml`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::schema::{Key, Kind, LimitRules, Rule, SKILL_TABLES, amount_of};
use super::value::{Layer, Origin, Setting, Value, Warning};
use crate::policy::{CommandPolicy, EnvironmentRule, drop_reason};
use crate::repository::nearest;

/// Bytes of the largest file that is read.
const LONGEST: u64 = 1 << 20;

/// What a file says: settings by key.
pub type Settings = BTreeMap<String, Setting>;

/// A file that was read.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Whose it is.
    pub layer: Layer,
    /// Where it is.
    pub path: PathBuf,
    /// What holds for all skills.
    pub general: Settings,
    /// What holds for one skill: `limits.*`, `policy.*` and `env.*`.
    pub skills: BTreeMap<String, Settings>,
    /// What is not used.
    pub warnings: Vec<Warning>,
}

impl ConfigFile {
    /// Reads a file; nothing when there is none.
    pub fn read(path: &Path, layer: Layer, keys: &[Key], rules: &dyn LimitRules) -> Result<Option<Self>, ConfigError> {
        let failed = |error| ConfigError::Io { path: path.into(), error };
        // A pipe would be waited for.
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Ok(metadata) if metadata.is_file() && metadata.len() <= LONGEST => {}
            Ok(_) => return Err(failed(std::io::Error::other(format!("no regular file of at most {LONGEST} bytes")))),
            Err(error) => return Err(failed(error)),
        }
        let mut text = String::new();
        File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text)).map_err(failed)?;
        Self::parse(&text, path, layer, keys, rules).map(Some)
    }

    fn parse(text: &str, path: &Path, layer: Layer, keys: &[Key], rules: &dyn LimitRules) -> Result<Self, ConfigError> {
        let path = path.to_owned();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        let mut reader = Reader { breaks, path: path.clone(), layer, keys, rules, warnings: Vec::new() };
        let root = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            path: path.clone(),
            line: reader.line(error.span().map_or(0, |span| span.start)),
            message: error.message().to_owned(),
        })?;
        let (mut general, mut skills) = (Settings::new(), BTreeMap::new());
        for (name, value) in root.get_ref() {
            if name.get_ref() != "skill" {
                reader.entry("", "", name, value, &mut general)?;
                continue;
            }
            for (skill, value) in reader.table("skill", name, value)? {
                let prefix = format!("skill.{}", skill.get_ref());
                let mut settings = Settings::new();
                for (table, value) in reader.table(&prefix, skill, value)? {
                    if !SKILL_TABLES.contains(&table.get_ref().as_ref()) {
                        return Err(reader.unknown(&prefix, table, &SKILL_TABLES));
                    }
                    reader.entry(&prefix, "", table, value, &mut settings)?;
                }
                skills.insert(skill.get_ref().to_string(), settings);
            }
        }
        Ok(Self { layer, path, general, skills, warnings: reader.warnings })
    }
}

type Name<'a> = Spanned<std::borrow::Cow<'a, str>>;

struct Reader<'t> {
    /// Where lines end: a hostile file has very many keys.
    breaks: Vec<usize>,
    path: PathBuf,
    layer: Layer,
    keys: &'t [Key],
    rules: &'t dyn LimitRules,
    warnings: Vec<Warning>,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> u32 {
        let before = self.breaks.partition_point(|end| *end < at);
        u32::try_from(before).unwrap_or(u32::MAX - 1) + 1
    }

    fn origin(&self, name: &Name<'_>) -> Origin {
        Origin { layer: self.layer, file: self.path.clone(), line: self.line(name.span().start) }
    }

    fn wrong(&self, key: &str, name: &Name<'_>, reason: impl Into<String>) -> ConfigError {
        let line = self.line(name.span().start);
        ConfigError::Value { path: self.path.clone(), line, key: key.into(), reason: reason.into() }
    }

    fn unknown(&self, prefix: &str, name: &Name<'_>, known: &[&str]) -> ConfigError {
        let found = nearest(name.get_ref(), known.iter().copied(), 1);
        ConfigError::Unknown {
            path: self.path.clone(),
            line: self.line(name.span().start),
            key: join(prefix, name.get_ref()),
            nearest: found.first().map(|name| (*name).to_owned()),
            known: known.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn table<'v, 'i>(
        &self,
        key: &str,
        name: &Name<'_>,
        value: &'v Spanned<DeValue<'i>>,
    ) -> Result<&'v DeTable<'i>, ConfigError> {
        value.get_ref().as_table().ok_or_else(|| self.wrong(key, name, format!("a table is wanted: [{key}]")))
    }

    /// Reads a key or a table. `shown` is what stands before it in messages, `prefix` what stands before it in names.
    fn entry(
        &mut self,
        shown: &str,
        prefix: &str,
        name: &Name<'_>,
        value: &Spanned<DeValue<'_>>,
        settings: &mut Settings,
    ) -> Result<(), ConfigError> {
        let (key, full) = (join(prefix, name.get_ref()), join(shown, name.get_ref()));
        if key == "env" && !shown.is_empty() {
            for (name, value) in self.table(&full, name, value)? {
                let full = join(&full, name.get_ref());
                let setting = self.variable(&full, name, value)?;
                settings.insert(format!("env.{}", name.get_ref()), setting);
            }
            return Ok(());
        }
        let keys = self.keys;
        if let Some(known) = keys.iter().find(|known| known.name == key) {
            if let Some(setting) = self.setting(known, &full, name, value)? {
                settings.insert(key, setting);
            }
            return Ok(());
        }
        let below = format!("{key}.");
        if keys.iter().any(|known| known.name.starts_with(&below)) {
            for (name, value) in self.table(&full, name, value)? {
                self.entry(&full, &key, name, value, settings)?;
            }
            return Ok(());
        }
        // What may stand here, each once.
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
        let here = keys.iter().filter_map(|known| known.name.strip_prefix(&prefix)?.split('.').next());
        let mut here: Vec<&str> = here.chain(shown.is_empty().then_some("skill")).collect();
        here.sort_unstable();
        here.dedup();
        Err(self.unknown(shown, name, &here))
    }

    fn variable(&self, key: &str, name: &Name<'_>, value: &Spanned<DeValue<'_>>) -> Result<Setting, ConfigError> {
        let text = value.get_ref().as_str().ok_or_else(|| self.wrong(key, name, "a text is wanted"))?;
        if let Some(reason) = drop_reason(name.get_ref(), text, EnvironmentRule::Open) {
            let dropped = crate::policy::DroppedVariable { name: name.get_ref().to_string(), reason };
            return Err(self.wrong(key, name, dropped.to_string()));
        }
        Ok(Setting { value: Value::Text(text.into()), origins: vec![self.origin(name)], amount: None })
    }

    /// A value as its key wants it; nothing when it is not to be used.
    fn setting(
        &mut self,
        key: &Key,
        full: &str,
        name: &Name<'_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Option<Setting>, ConfigError> {
        let wrong = |reason: String| self.wrong(full, name, reason);
        let value = value.get_ref();
        let mut amount = None;
        let value = match key.kind {
            Kind::Flag => Value::Flag(value.as_bool().ok_or_else(|| wrong("true or false is wanted".into()))?),
            Kind::Text => Value::Text(value.as_str().ok_or_else(|| wrong("a text is wanted".into()))?.into()),
            Kind::Globs => Value::List(texts(value).ok_or_else(|| wrong("a list of texts is wanted".into()))?),
            Kind::Seconds => {
                let seconds = plain(value).and_then(|text| text.parse::<f64>().ok());
                let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
                Value::Seconds(seconds.ok_or_else(|| wrong("seconds are wanted, more than 0".into()))?)
            }
            Kind::Count => {
                let count = plain(value).and_then(|text| text.parse().ok()).filter(|count| *count > 0);
                Value::Number(count.ok_or_else(|| wrong("a number of at least 1 is wanted".into()))?)
            }
            Kind::Size => {
                let size = plain(value).and_then(|text| self.rules.size(&text));
                Value::Number(size.ok_or_else(|| wrong("a number of bytes is wanted, or a text like \"4M\"".into()))?)
            }
            Kind::Limit => {
                let text = plain(value).ok_or_else(|| wrong("a number or a text is wanted".into()))?;
                let limit = key.name.strip_prefix("limits.").unwrap_or(&key.name);
                amount = Some(self.rules.amount(limit, &text).map_err(wrong)?);
                Value::Text(text)
            }
            Kind::Trust => {
                let mode = value.as_str().ok_or_else(|| wrong("one of all, ask and known is wanted".into()))?;
                let mode: crate::policy::TrustMode = mode.parse().map_err(wrong)?;
                Value::Text(mode.to_string())
            }
            Kind::Allowed | Kind::Denied => {
                let list = texts(value).ok_or_else(|| wrong("a list of commands is wanted".into()))?;
                let (allowed, denied) = if key.kind == Kind::Allowed { (list, vec![]) } else { (vec![], list) };
                let policy = CommandPolicy::new(Some(&allowed), &denied).map_err(|error| wrong(error.to_string()))?;
                let both = policy.allowed().into_iter().flatten().chain(policy.denied());
                Value::List(both.cloned().collect())
            }
            Kind::Roots => {
                let list =
                    texts(value).ok_or_else(|| wrong("a list of folders, archives or addresses is wanted".into()))?;
                if list.iter().any(String::is_empty) {
                    return Err(wrong("an entry is empty".into()));
                }
                let given = list.len();
                let roots = self.roots(full, name, list);
                if roots.is_empty() && given > 0 {
                    return Ok(None);
                }
                Value::List(roots)
            }
            Kind::File => {
                let file = value.as_str().filter(|file| !file.is_empty());
                let file = file.ok_or_else(|| wrong("the path of a file is wanted".into()))?;
                Value::Text(self.beside(file).display().to_string())
            }
        };
        if self.layer == Layer::Project && key.rule == Rule::Nothing {
            self.warn(full, name, "only the user's file may set it".into());
            return Ok(None);
        }
        let amount = amount.or_else(|| amount_of(key.kind, &value));
        Ok(Some(Setting { value, origins: vec![self.origin(name)], amount }))
    }

    /// Folders relative to the file's. A project names only what is in it: it could point at anything of the user's.
    fn roots(&mut self, key: &str, name: &Name<'_>, list: Vec<String>) -> Vec<String> {
        let mut roots = Vec::with_capacity(list.len());
        for root in list {
            let inside =
                Path::new(&root).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if self.layer == Layer::Project && (root.contains(':') || !inside) {
                let shown = root.escape_debug();
                self.warn(key, name, format!("a project's roots are folders in the project, and `{shown}` is not"));
            } else if root.contains("://") {
                roots.push(root);
            } else {
                roots.push(self.beside(&root).display().to_string());
            }
        }
        roots
    }

    fn beside(&self, path: &str) -> PathBuf {
        let path = path.strip_prefix("./").unwrap_or(path);
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    fn warn(&mut self, key: &str, name: &Name<'_>, reason: String) {
        self.warnings.push(Warning { origin: self.origin(name), key: key.into(), reason });
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

/// A number as it is written in decimal, or a text.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number.to_string())
        }
        DeValue::Float(float) => Some(float.as_str().to_owned()),
        _ => None,
    }
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
}
