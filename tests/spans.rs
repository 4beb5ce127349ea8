//! What a host that collects spans sees. A program of its own: which spans anybody wants is the process's.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "tools/support.rs"]
#[allow(dead_code, reason = "the tests of tools use all of it")]
mod support;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use wskill::session::SessionKey;
use wskill::tools::{Profile, ToolOptions, Toolset};

use support::{Place, Tools};

type Fields = BTreeMap<&'static str, String>;

/// Keeps the spans that have ended, in order, with their fields.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<(&'static str, Fields)>>>);

struct Visitor<'a>(&'a mut Fields);

impl tracing::field::Visit for Visitor<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Kept {
    fn on_new_span(&self, span: &tracing::span::Attributes<'_>, id: &tracing::Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        span.record(&mut Visitor(&mut fields));
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &tracing::Id, values: &tracing::span::Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        values.record(&mut Visitor(span.extensions_mut().get_mut::<Fields>().unwrap()));
    }

    fn on_close(&self, id: tracing::Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let fields = span.extensions_mut().remove::<Fields>().unwrap_or_default();
        self.0.lock().unwrap().push((span.name(), fields));
    }
}

#[tokio::test]
async fn each_step_of_a_run_is_a_span() {
    let kept = Kept::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(kept.clone()));
    let place = Place::new();
    let sessions = place.sessions(|builder| builder);
    let key = SessionKey::new("app", "user", "s").unwrap();
    let session = sessions.open(&key).await.unwrap();
    let tools = Tools(Toolset::new(session, ToolOptions::builder().profile(Profile::Full).build()));
    let call = json!({
        "skill": "notes", "command": "cat inputs/a.csv > $OUTPUT_DIR/b.csv; exit 3", "cwd": "/work",
        "inputs": [{"from": "skill://notes/assets/a.csv"}], "output_files": ["out/*.csv"],
    });
    assert_eq!(tools.call("skill_run", call).await["exit_code"], 3);
    tools.call("execute_code", json!({"code": "print(1)"})).await;
    drop(tools);
    sessions.remove(&key).await.unwrap();
    let spans = kept.0.lock().unwrap().clone();
    let names: Vec<_> = spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "workspace.create",
            "workspace.stage.dir",
            "workspace.stage.files",
            "workspace.run",
            "workspace.collect",
            "workspace.inline",
            "workspace.run",
            "workspace.collect",
            "workspace.cleanup",
        ]
    );
    let field = |index: usize, name: &str| spans[index].1.get(name).cloned().unwrap_or_default();
    assert!(spans.iter().all(|(_, fields)| fields["exec_id"] == "\"s\""), "{spans:?}");
    assert!(field(0, "path").starts_with("\"ws_s_"));
    assert!(field(1, "host_path").ends_with("skills/notes"));
    assert_eq!((field(1, "to"), field(1, "mount_used")), ("\"notes\"".into(), "true".into()));
    assert_eq!(field(2, "count"), "1");
    assert_eq!(field(3, "cmd"), "\"bash -c cat inputs/a.csv > $OUTPUT_DIR/b.csv; exit 3\"");
    assert_eq!((field(3, "exit_code"), field(3, "timed_out")), ("3".into(), "false".into()));
    assert_eq!(field(3, "cwd"), "\"work\"");
    assert_eq!((field(4, "patterns"), field(4, "count")), ("1".into(), "1".into()));
    assert!(field(5, "path").ends_with("/code.py\""));
}
