//! Functions of the host that a skill makes active: `cargo run --release --example dynamic_tools`.
//!
//! The host has four functions; the skill `weather-tools` declares three of them. The fourth is never offered, and after
//! `skill_select_tools` with one of them, one is.

use serde_json::{Value, json};
use wskill::executor::SandboxExecutor;
use wskill::repository::Repository;
use wskill::session::{SessionKey, Sessions};
use wskill::tools::{FunctionPool, HostFunction, ToolOptions, Toolset};

type Error = Box<dyn std::error::Error>;

fn function(name: &str, description: &str, field: &'static str, answer: fn(&str) -> Value) -> HostFunction {
    let parameters = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    HostFunction::new(name, description, parameters, move |arguments| async move {
        let value = arguments[field].as_str().ok_or(format!("{field}: must be a text"))?;
        Ok(answer(value))
    })
}

fn pool() -> FunctionPool {
    FunctionPool::new()
        .function(function(
            "get_current_weather",
            "Tells the weather in a city.",
            "city",
            |city| json!({"city": city, "temperature": 21, "sky": "clear"}),
        ))
        .function(function(
            "get_weather_forecast",
            "Tells the weather of the next days.",
            "city",
            |city| json!({"city": city, "days": [{"day": 1, "high": 22}, {"day": 2, "high": 19}]}),
        ))
        .function(function(
            "search_city_by_name",
            "Finds cities by a part of their name.",
            "name",
            |name| json!([{"name": name, "country": "NO"}]),
        ))
        .function(function(
            "ask_name_information",
            "Tells where a name comes from.",
            "name",
            |name| json!({"name": name, "origin": "unknown"}),
        ))
        .for_scripts(true)
}

fn offered(toolset: &Toolset) -> Vec<String> {
    toolset.active_functions().iter().map(|function| function.spec().name.clone()).collect()
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let executor = SandboxExecutor::builder().in_memory().build()?;
    let sessions = Sessions::builder(Repository::builder().root("skills").build()).executor(executor).build()?;
    let session = sessions.open(&SessionKey::new("example", "", "weather")?).await?;
    let toolset = Toolset::new(session, ToolOptions::builder().functions(pool()).build());

    println!("at first: {:?}", offered(&toolset));
    toolset.call("skill_load", json!({"skill": "weather-tools"})).await?;
    println!("after skill_load: {:?}", offered(&toolset));
    println!("{}", toolset.call("get_current_weather", json!({"city": "Oslo"})).await?);

    // Scripts in the sandbox call them too.
    let command = "wskill-tool get_weather_forecast '{\"city\": \"Oslo\"}'; python3 -c '
from host import tools
print(tools.search_city_by_name(name=\"Oslo\"))'";
    let result = toolset.call("skill_run", json!({"skill": "weather-tools", "command": command})).await?;
    print!("{}", result["stdout"].as_str().unwrap_or_default());

    // All that a skill declares is selected with it; what is not wanted is cleared first.
    let clear = json!({"skill": "weather-tools", "mode": "clear"});
    toolset.call("skill_select_tools", clear).await?;
    let select = json!({"skill": "weather-tools", "tools": ["get_current_weather"]});
    toolset.call("skill_select_tools", select).await?;
    println!("after skill_select_tools: {:?}", offered(&toolset));
    Ok(())
}
