//! What a model is shown of skills: each form is a file in `prompt/golden`, written anew with `UPDATE_GOLDEN=1`.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "prompt/forms.rs"]
mod forms;
#[path = "prompt/messages.rs"]
mod messages;
#[path = "prompt/properties.rs"]
mod properties;

use wskill::prompt::{LoadedDocument, LoadedSkill, Overview, OverviewItem};

/// An overview of some skills in `/workspace/skills`.
fn overview(skills: &[(&str, &str)]) -> Overview {
    Overview::new(skills.iter().map(|(name, description)| OverviewItem {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        location: format!("/workspace/skills/{name}/SKILL.md"),
    }))
}

/// Five skills.
fn five() -> Overview {
    overview(&[
        ("csv-insight", "Summarises CSV files: columns, types, missing values."),
        ("log-triage", "Finds errors in log files and groups them."),
        ("pdf-forms", "Fills in PDF forms.\nUse it when the user has a form & data."),
        ("python-math", "Prints the first Fibonacci numbers."),
        ("report-summary", "Writes a summary of a report."),
    ])
}

/// A loaded skill with documents.
fn pdf_forms() -> LoadedSkill {
    LoadedSkill {
        name: "pdf-forms".to_owned(),
        location: Some("/workspace/skills/pdf-forms".to_owned()),
        body: "# PDF forms\n\nRun `python3 scripts/fill.py form.pdf data.json`.\n".to_owned(),
        documents: vec![
            LoadedDocument {
                path: "references/fields.md".to_owned(),
                content: "# Fields\n\nText, box, date.\n".to_owned(),
            },
            LoadedDocument { path: "notes.txt".to_owned(), content: "Dates are ISO 8601.".to_owned() },
        ],
        tools: Some(vec!["read_file".to_owned(), "ask_user".to_owned()]),
    }
}

/// A loaded skill with nothing but a body.
fn log_triage() -> LoadedSkill {
    LoadedSkill { name: "log-triage".to_owned(), body: "Group the lines.".to_owned(), ..LoadedSkill::default() }
}

/// Compares with a file in `prompt/golden`.
fn golden(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prompt/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(text, expected, "{name}; UPDATE_GOLDEN=1 writes it anew");
}
