//! A user and a project with a file each.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use wskill::config::{Amount, Config, ConfigError, LimitRules, Places, Settings};

/// Rules with one limit of each kind.
pub struct Rules;

impl LimitRules for Rules {
    fn names(&self) -> Vec<&'static str> {
        vec!["fuel", "memory", "wall_time"]
    }

    fn default_text(&self, name: &str) -> String {
        match name {
            "fuel" => "off",
            "memory" => "1G",
            _ => "300",
        }
        .into()
    }

    fn amount(&self, name: &str, value: &str) -> Result<Amount, String> {
        match (name, value) {
            ("fuel" | "wall_time", "off") => Ok(Amount::Unlimited),
            ("memory", size) => wskill::parse_size(size).map(|size| Amount::Finite(size.into())).ok_or("a size".into()),
            ("wall_time", time) => {
                time.parse::<f64>().map(|s| Amount::Finite((s * 1e9) as u128)).map_err(|_| "s".into())
            }
            (_, number) => number.parse().map(Amount::Finite).map_err(|_| "a number".into()),
        }
    }

    fn size(&self, text: &str) -> Option<u64> {
        wskill::parse_size(text)
    }
}

pub struct Files {
    pub folder: TempDir,
}

impl Files {
    pub fn new(user: &str, project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("user", user), ("project", project)] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("wskill.toml"), text).unwrap();
        }
        Self { folder }
    }

    pub fn path(&self, of: &str) -> PathBuf {
        self.folder.path().join(of).join("wskill.toml")
    }

    pub fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&Places { user: Some(self.path("user")), project: Some(self.path("project")) }, &Rules)
    }

    pub fn settings(&self, skill: Option<&str>) -> Settings {
        self.load().unwrap().settings(skill)
    }

    /// A text without the folder's name.
    pub fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    /// A setting with its origin.
    pub fn get(&self, skill: Option<&str>, key: &str) -> (String, String) {
        let settings = self.settings(skill);
        let setting = settings.get(key).unwrap_or_else(|| panic!("no {key}"));
        (self.short(&setting.value.to_string()), self.short(&setting.origin()))
    }

    pub fn warnings(&self, skill: Option<&str>) -> Vec<String> {
        self.settings(skill).warnings().iter().map(|warning| self.short(&warning.to_string())).collect()
    }

    pub fn error(&self) -> String {
        self.short(&self.load().unwrap_err().to_string())
    }
}
