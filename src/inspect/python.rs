//! What Python scripts name besides modules.

use super::facts::{Fact, Program};

/// Command lines in strings: `os.system("…")`.
pub fn programs_in(facts: &[Fact]) -> Vec<Program> {
    let lines = facts.iter().filter_map(|fact| {
        let text = fact.shell.clone()?;
        Some(Program { file: fact.file.clone(), offset: fact.line.saturating_sub(1), text })
    });
    lines.collect()
}

/// The paths in a fact.
pub fn paths(fact: &Fact) -> Option<String> {
    fact.string.as_deref().filter(|text| super::shell::is_outside(text)).map(str::to_owned)
}
