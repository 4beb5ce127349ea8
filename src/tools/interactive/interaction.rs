//! Whether a command waits for an answer, told from what it has printed.

use serde::Serialize;

/// The most characters of a hint.
const HINT_MAX: usize = 200;
/// How many lines at the end are looked at.
const LINES: usize = 12;
/// What programs say before they wait.
const PHRASES: [&str; 8] = [
    "press enter",
    "press any key",
    "type your",
    "enter your",
    "enter a number",
    "select an option",
    "choose an option",
    "(y/n)",
];

/// What a command waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Interaction {
    /// Whether it seems to wait.
    pub needs_input: bool,
    /// For which kind of answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<InteractionKind>,
    /// The line that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// A text.
    Prompt,
    /// One of several numbered choices.
    Selection,
}

impl Interaction {
    /// What the end of an output tells.
    pub fn of(output: &str) -> Option<Self> {
        let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.last()?;
        let folded = last.to_lowercase();
        let asks = last.ends_with([':', '?', '>']) || PHRASES.iter().any(|phrase| folded.contains(phrase));
        let recent = &lines[lines.len().saturating_sub(LINES)..];
        let choices = recent.iter().filter(|line| is_choice(line)).count();
        let kind = match (asks, choices) {
            (true, 2..) => InteractionKind::Selection,
            (true, _) => InteractionKind::Prompt,
            (false, 2..) if is_choice(last) => InteractionKind::Selection,
            _ => return None,
        };
        Some(Self { needs_input: true, kind: Some(kind), hint: Some(last.chars().take(HINT_MAX).collect()) })
    }
}

/// Whether a line is a numbered choice: `1. Yes`, `2) No`.
fn is_choice(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&digits) && line[digits..].starts_with(['.', ')'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_recognised() {
        let kind = |output: &str| Interaction::of(output).and_then(|interaction| interaction.kind);
        for (output, expected) in [
            ("Name: ", Some(InteractionKind::Prompt)),
            ("a\nContinue?\n", Some(InteractionKind::Prompt)),
            ("Press Enter to go on", Some(InteractionKind::Prompt)),
            ("1. Yes\n2. No\nYour choice: ", Some(InteractionKind::Selection)),
            ("1) Yes\n2) No\n", Some(InteractionKind::Selection)),
            (">>> ", Some(InteractionKind::Prompt)),
            ("done\n", None),
            ("1. one\n", None),
            ("", None),
        ] {
            assert_eq!(kind(output), expected, "{output:?}");
        }
    }
}
