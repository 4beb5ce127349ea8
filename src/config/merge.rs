//! What holds when several files say something.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{ConfigFile, Settings};
use super::schema::{Key, Kind, Rule};
use super::value::{Amount, Layer, Setting, Value, Warning};

/// What holds, in general or for one skill.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The settings by key.
    pub settings: BTreeMap<String, Setting>,
    /// What is not used of the project's file.
    pub warnings: Vec<Warning>,
}

/// Merges files, the user's before the project's.
pub fn merge(keys: &[Key], files: &[ConfigFile], skill: Option<&str>) -> Merged {
    let mut merged = Merged { settings: BTreeMap::new(), warnings: Vec::new() };
    for key in keys {
        let mut holds = key.default.clone();
        for file in files {
            let Some((said, of_skill)) = said(file, skill, key) else { continue };
            match file.layer {
                Layer::User => holds = said,
                Layer::Project => project(key, of_skill, &mut holds, said, &mut merged.warnings),
            }
        }
        merged.settings.insert(key.name.clone(), holds);
    }
    for file in files {
        let of_skill = skill.and_then(|skill| file.skills.get(skill)).into_iter().flatten();
        for (name, said) in of_skill.filter(|(name, _)| name.starts_with("env.")) {
            let key = Key { name: name.clone(), kind: Kind::Text, rule: Rule::Fill, default: said.clone() };
            match merged.settings.get_mut(name) {
                Some(holds) => project(&key, skill, holds, said.clone(), &mut merged.warnings),
                None => {
                    merged.settings.insert(name.clone(), said.clone());
                }
            }
        }
    }
    bound_timeout(&mut merged.settings);
    merged
}

/// What a file says of a key, and the skill in whose table it says so. A skill's table counts more than the general
/// one; what either denies is denied.
fn said<'a>(file: &ConfigFile, skill: Option<&'a str>, key: &Key) -> Option<(Setting, Option<&'a str>)> {
    let find = |settings: &Settings| settings.get(&key.name).cloned();
    let own = skill.and_then(|skill| file.skills.get(skill)).and_then(find);
    let general = find(&file.general);
    match (own, general) {
        (Some(own), Some(general)) if key.rule == Rule::Unite => Some((combine(&general, &own, true), skill)),
        (Some(own), _) => Some((own, skill)),
        (None, general) => general.map(|general| (general, None)),
    }
}

/// Lets a project's file do to a setting what it may. `skill` is the one in whose table the file says it.
fn project(key: &Key, skill: Option<&str>, holds: &mut Setting, said: Setting, warnings: &mut Vec<Warning>) {
    let other = said.value != holds.value;
    let reason = match key.rule {
        Rule::Intersect | Rule::Unite if holds.value != Value::None => {
            *holds = combine(holds, &said, key.rule == Rule::Unite);
            return;
        }
        Rule::Lower if said.amount > holds.amount => "a project's file may only tighten it".to_owned(),
        Rule::Only(wanted) if other && said.value != Value::Flag(wanted) => {
            format!("a project's file may only set it to {wanted}")
        }
        Rule::Fill => "the user's file sets it".to_owned(),
        _ => {
            // What says the same is where it comes from as before.
            if other {
                *holds = said;
            }
            return;
        }
    };
    // The value of a variable may be a secret.
    let holding = match key.rule {
        Rule::Fill => String::new(),
        _ => format!(", and it is {} ({})", holds.value, holds.origin()),
    };
    let shown = skill.map_or_else(|| key.name.clone(), |skill| format!("skill.{skill}.{}", key.name));
    let warning = |origin| Warning { origin, key: shown, reason: reason + &holding };
    warnings.extend(said.origins.into_iter().next().map(warning));
}

/// Two lists as one, sorted: what is in either, or what is in both.
fn combine(one: &Setting, other: &Setting, either: bool) -> Setting {
    let set = |setting: &Setting| match &setting.value {
        Value::List(list) => list.iter().cloned().collect::<BTreeSet<String>>(),
        _ => BTreeSet::new(),
    };
    let (first, second) = (set(one), set(other));
    let list = if either { &first | &second } else { &first & &second };
    let origins = one.origins.iter().chain(&other.origins).cloned().collect();
    Setting { value: Value::List(list.into_iter().collect()), origins, amount: None }
}

/// A call's time is at most that of a run.
fn bound_timeout(settings: &mut BTreeMap<String, Setting>) {
    let Some(wall_time) = settings.get("limits.wall_time").cloned() else { return };
    let Some(timeout) = settings.get_mut("run.timeout") else { return };
    if let (Some(Amount::Finite(most)), Some(given)) = (wall_time.amount, timeout.amount)
        && given > Amount::Finite(most)
    {
        let value = Value::Seconds(most as f64 / 1e9);
        *timeout = Setting { value, origins: wall_time.origins, amount: wall_time.amount };
    }
}
