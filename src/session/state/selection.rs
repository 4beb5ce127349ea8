//! Which documents or tools of a skill are selected.

use serde_json::Value;

/// Some of a skill's documents, or of its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// None of them.
    #[default]
    None,
    /// These, each once, in the order in which they were selected; at least one.
    Some(Vec<String>),
    /// Whatever there is: `"*"`.
    All,
}

impl Selection {
    /// These items, each once; [`Selection::None`] without any.
    pub fn of<S: Into<String>>(items: impl IntoIterator<Item = S>) -> Self {
        let mut seen = std::collections::BTreeSet::new();
        let items: Vec<String> = items.into_iter().map(Into::into).filter(|item| seen.insert(item.clone())).collect();
        if items.is_empty() { Self::None } else { Self::Some(items) }
    }

    /// The items that were named: none for [`Selection::All`].
    pub fn items(&self) -> &[String] {
        match self {
            Self::Some(items) => items,
            Self::None | Self::All => &[],
        }
    }

    /// Both together.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            _ => Self::of(self.items().iter().chain(other.items()).cloned()),
        }
    }

    /// What becomes of this when `items`, or all, are selected.
    ///
    /// All stay selected whatever is added and whatever is to replace them; only [`SelectMode::Clear`] removes them.
    #[must_use]
    pub fn select(&self, mode: SelectMode, items: &[String], all: bool) -> Self {
        match mode {
            SelectMode::Clear => Self::None,
            _ if all || *self == Self::All => Self::All,
            SelectMode::Add => self.union(&Self::of(items)),
            SelectMode::Replace => Self::of(items),
        }
    }

    /// As it is in a state.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::All => Value::from("*"),
            Self::None | Self::Some(_) => Value::from(self.items()),
        }
    }
}

/// How a selection changes one that was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectMode {
    /// Adds to it.
    Add,
    /// Takes its place. The default.
    #[default]
    Replace,
    /// Removes it, and selects nothing.
    Clear,
}

impl SelectMode {
    /// Reads `add`, `replace` or `clear`, in any case; whatever else is `replace`, as in other clients.
    pub fn parse(text: &str) -> Self {
        match text.trim().to_ascii_lowercase().as_str() {
            "add" => Self::Add,
            "clear" => Self::Clear,
            _ => Self::Replace,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Clear => "clear",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_modes_do() {
        let (none, ab, all) = (Selection::None, Selection::of(["a", "b"]), Selection::All);
        let bc = ["b".to_owned(), "c".to_owned(), "b".to_owned()];
        let rows = [
            (&none, SelectMode::Add, false, Selection::of(["b", "c"])),
            (&ab, SelectMode::Add, false, Selection::of(["a", "b", "c"])),
            (&ab, SelectMode::Add, true, Selection::All),
            (&ab, SelectMode::Replace, false, Selection::of(["b", "c"])),
            (&ab, SelectMode::Replace, true, Selection::All),
            (&ab, SelectMode::Clear, false, Selection::None),
            (&ab, SelectMode::Clear, true, Selection::None),
            (&all, SelectMode::Add, false, Selection::All),
            (&all, SelectMode::Replace, false, Selection::All),
            (&all, SelectMode::Clear, false, Selection::None),
        ];
        for (before, mode, include_all, after) in rows {
            assert_eq!(before.select(mode, &bc, include_all), after, "{before:?} {mode:?} {include_all}");
        }
        assert_eq!(ab.select(SelectMode::Replace, &[], false), Selection::None);
        assert_eq!(ab.select(SelectMode::Add, &[], false), ab);
    }

    #[test]
    fn names_of_modes() {
        for mode in [SelectMode::Add, SelectMode::Replace, SelectMode::Clear] {
            assert_eq!(SelectMode::parse(mode.as_str()), mode);
        }
        for (text, mode) in [(" ADD ", SelectMode::Add), ("", SelectMode::Replace), ("set", SelectMode::Replace)] {
            assert_eq!(SelectMode::parse(text), mode);
        }
    }
}
