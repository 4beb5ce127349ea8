//! The specification's rules for front matter, in the order and with the verdicts of its reference validator.
//!
//! A skill that breaks them is loaded all the same, as the specification's guide for clients asks: then these findings
//! are warnings. In [`super::check`] they are errors.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::finding::{Log, Severity};
use super::manifest::{Manifest, Shape, Spot};
use super::text::shown;

/// Most characters of a name (specification, "name").
const NAME_CHARACTERS: usize = 64;
/// Most characters of a description (specification, "description").
const DESCRIPTION_CHARACTERS: usize = 1024;
/// Most characters of the compatibility (specification, "compatibility").
const COMPATIBILITY_CHARACTERS: usize = 500;
/// The fields of the specification.
const FIELDS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Where a header's fields are, for the rules.
pub(super) struct Header<'a> {
    /// The fields; the name as it is written, empty when there is none.
    pub(super) manifest: &'a Manifest,
    pub(super) spots: &'a [Spot],
    /// Where to report what is not there.
    pub(super) begin: usize,
    pub(super) folder: &'a str,
    /// With [`Severity::Error`] the rules are those of the validator, to the letter.
    pub(super) severity: Severity,
}

/// Applies the rules.
pub(super) fn apply(header: &Header<'_>, log: &mut Log<'_>) {
    let severity = header.severity;
    if severity == Severity::Error {
        for spot in header.spots.iter().filter(|spot| !spot.exact || !FIELDS.contains(&spot.field.as_str())) {
            let field = shown(&spot.field);
            log.add(
                severity,
                spot.key,
                "unexpected-field",
                format!("the specification has no field `{field}`; move it below `metadata`"),
            );
        }
    }
    name(header, log);
    description(header, log);
    compatibility(header, log);
}

fn spot<'a>(header: &Header<'a>, field: &str) -> Option<&'a Spot> {
    let lenient = header.severity == Severity::Warning;
    header.spots.iter().find(|spot| spot.field == field && (spot.exact || lenient))
}

/// Whether a field is no text. Where that is no error, its text is taken as it is written, which is told already.
fn refused(spot: &Spot, severity: Severity) -> bool {
    severity == Severity::Error && spot.shape != Shape::Text
}

fn name(header: &Header<'_>, log: &mut Log<'_>) {
    let severity = header.severity;
    let folder = shown(header.folder);
    let Some(spot) = spot(header, "name") else {
        return log.add(severity, header.begin, "name-missing", format!("there is no `name`; add `name: {folder}`"));
    };
    let mut add = |code, message: String| log.add(severity, spot.value, code, message);
    if refused(spot, severity) || header.manifest.name.is_empty() {
        return add("name-empty", format!("`name` must be a text that is not empty; write `name: {folder}`"));
    }
    let name = normal(&header.manifest.name);
    let length = name.chars().count();
    if length > NAME_CHARACTERS {
        add("name-too-long", format!("the name has {length} characters; {NAME_CHARACTERS} are allowed"));
    }
    if name.to_lowercase() != *name {
        add("name-not-lowercase", format!("the name must be in lower case; write `{}`", shown(&name.to_lowercase())));
    }
    if name.starts_with('-') || name.ends_with('-') {
        add("name-hyphen-edge", "the name must not begin or end with a hyphen; remove it".into());
    }
    if name.contains("--") {
        add("name-double-hyphen", "the name must not have two hyphens in a row; write one".into());
    }
    if let Some(wrong) = name.chars().find(|c| *c != '-' && !is_letter_or_digit(*c)) {
        let wrong = shown(&wrong.to_string());
        add("name-characters", format!("the name has the character `{wrong}`; use letters, digits and hyphens only"));
    }
    if normal(header.folder) != name {
        add("name-folder-mismatch", format!("the name is not that of the folder `{folder}`; rename one of them"));
    }
}

/// Compatibility forms as one form (NFKC): names that look the same are the same.
pub(super) fn normal(text: &str) -> std::borrow::Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => text.into(),
        _ => text.nfkc().collect::<String>().into(),
    }
}

/// As Python's `isalnum`, which leaves out marks that Unicode counts as alphabetic.
fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c)
}

fn description(header: &Header<'_>, log: &mut Log<'_>) {
    let severity = header.severity;
    let Some(spot) = spot(header, "description") else {
        let message = "there is no `description`; add what the skill does and when to use it";
        return log.add(severity, header.begin, "description-missing", message);
    };
    if refused(spot, severity) || header.manifest.description.is_empty() {
        let message = "`description` must be a text that is not empty; say what the skill does and when to use it";
        return log.add(severity, spot.value, "description-empty", message);
    }
    if spot.characters > DESCRIPTION_CHARACTERS {
        let message =
            format!("the description has {} characters; {DESCRIPTION_CHARACTERS} are allowed", spot.characters);
        log.add(severity, spot.value, "description-too-long", message);
    }
}

fn compatibility(header: &Header<'_>, log: &mut Log<'_>) {
    let severity = header.severity;
    let Some(spot) = spot(header, "compatibility") else { return };
    if refused(spot, severity) {
        log.add(severity, spot.value, "compatibility-not-text", "`compatibility` must be a text; put it in quotes");
    } else if spot.characters > COMPATIBILITY_CHARACTERS {
        let message =
            format!("the compatibility has {} characters; {COMPATIBILITY_CHARACTERS} are allowed", spot.characters);
        log.add(severity, spot.value, "compatibility-too-long", message);
    }
}
