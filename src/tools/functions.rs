//! Tools of the host's own, which skills make active.
//!
//! A skill names in its section `Tools` what it wants of its host. Of the functions that the host has, those are
//! offered that a loaded skill names and that were not deselected.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::spec::ToolSpec;

/// What a function answers: a result, or why there is none, both for the model.
type Answer = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// A function of the host's that a model may call.
///
/// ```
/// use serde_json::json;
/// use wskill::tools::HostFunction;
///
/// let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// let weather = HostFunction::new("get_current_weather", "Tells the weather in a city.", parameters, |arguments| async move {
///     let city = arguments["city"].as_str().ok_or("city: must be a text")?.to_owned();
///     Ok(json!({"city": city, "temperature": 21}))
/// });
/// assert_eq!(weather.spec().name, "get_current_weather");
/// ```
#[derive(Clone)]
pub struct HostFunction {
    spec: ToolSpec,
    call: Arc<dyn Fn(Value) -> Answer + Send + Sync>,
}

impl HostFunction {
    /// A function. `parameters` is the JSON Schema of its arguments, an object.
    pub fn new<F>(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        call: impl Fn(Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let spec = ToolSpec { name: name.into(), description: description.into(), parameters };
        Self { spec, call: Arc::new(move |arguments| Box::pin(call(arguments))) }
    }

    /// What a model is told of it.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Calls it.
    ///
    /// # Errors
    /// What it says, for the model.
    pub async fn call(&self, arguments: Value) -> Result<Value, String> {
        (self.call)(arguments).await
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFunction").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

/// Functions that come together and may change, as those of a server.
pub trait FunctionSet: fmt::Debug + Send + Sync {
    /// The functions that there are now.
    fn functions(&self) -> Vec<HostFunction>;
}

/// The functions of a host. A name is looked for among single functions, then in the sets in their order, then among
/// those of the host's registry that the pool names.
#[derive(Clone, Debug, Default)]
pub struct FunctionPool {
    functions: BTreeMap<String, HostFunction>,
    sets: Vec<Arc<dyn FunctionSet>>,
    names: BTreeSet<String>,
    registry: BTreeMap<String, HostFunction>,
    all_declared: bool,
    for_scripts: bool,
}

impl FunctionPool {
    /// Without functions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function.
    #[must_use]
    pub fn function(mut self, function: HostFunction) -> Self {
        self.functions.insert(function.spec.name.clone(), function);
        self
    }

    /// Adds a set.
    #[must_use]
    pub fn set(mut self, set: impl FunctionSet + 'static) -> Self {
        self.sets.push(Arc::new(set));
        self
    }

    /// The host's registry: functions that are there for many pools, of which this one has those that it
    /// [names](Self::name).
    #[must_use]
    pub fn registry(mut self, functions: impl IntoIterator<Item = HostFunction>) -> Self {
        self.registry.extend(functions.into_iter().map(|function| (function.spec.name.clone(), function)));
        self
    }

    /// Adds a function of the registry by its name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.insert(name.into());
        self
    }

    /// Offers only what loaded skills have made active; else all that any visible skill declares. Default: true.
    #[must_use]
    pub fn only_active_skills(mut self, only: bool) -> Self {
        self.all_declared = !only;
        self
    }

    /// Lets scripts in the sandbox call the functions too, those that are active: in the shell
    /// `wskill-tool NAME '{"key": "value"}'`, in Python `from host import tools` and `tools.NAME(key="value")`.
    /// Default: false.
    #[must_use]
    pub fn for_scripts(mut self, allowed: bool) -> Self {
        self.for_scripts = allowed;
        self
    }

    pub(super) fn is_for_scripts(&self) -> bool {
        self.for_scripts
    }

    /// Whether functions of skills that are not loaded are offered.
    pub(super) fn offers_all_declared(&self) -> bool {
        self.all_declared
    }

    /// The function of this name.
    pub fn find(&self, name: &str) -> Option<HostFunction> {
        if let Some(function) = self.functions.get(name) {
            return Some(function.clone());
        }
        let in_sets =
            self.sets.iter().find_map(|set| set.functions().into_iter().find(|found| found.spec.name == name));
        in_sets.or_else(|| self.registry.get(name).filter(|_| self.names.contains(name)).cloned())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.sets.is_empty() && self.names.is_empty()
    }
}
