//! Settings from variables and from `.env`.

use std::ffi::OsString;
use std::path::Path;

use wskill::agent::{Environment, Secret, Settings, SettingsError};

use super::KEY;

fn load(folder: &Path, variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let environment = Environment::new(folder, variables)?;
    assert!(!format!("{environment:?}").contains("0123456789"), "{environment:?}");
    Settings::from_environment(&environment)
}

/// Key, base URL and model.
fn values(settings: &Settings) -> [&str; 3] {
    [settings.api_key().expose(), settings.base_url(), settings.model()]
}

#[test]
fn which_value_counts() {
    let openai = "https://api.openai.com/v1";
    let file = "TRPC_AGENT_API_KEY=file-key\nexport TRPC_AGENT_BASE_URL='http://127.0.0.1:8000/'\n\
                TRPC_AGENT_MODEL_NAME=\"m f\"\n";
    for (case, file, variables, wanted) in [
        ("only variables", "", &[("TRPC_AGENT_API_KEY", "k"), ("TRPC_AGENT_MODEL_NAME", "m")][..], ["k", openai, "m"]),
        ("only the file", file, &[], ["file-key", "http://127.0.0.1:8000/v1", "m f"]),
        (
            "the variables win",
            file,
            &[("TRPC_AGENT_MODEL_NAME", "m"), ("TRPC_AGENT_API_KEY", "k")],
            ["k", "http://127.0.0.1:8000/v1", "m"],
        ),
        (
            "an empty variable is none",
            file,
            &[("TRPC_AGENT_MODEL_NAME", "")],
            ["file-key", "http://127.0.0.1:8000/v1", "m f"],
        ),
        (
            "the other names",
            "OPENAI_MODEL=m",
            &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "https://h/v2/")],
            ["k", "https://h/v2", "m"],
        ),
        (
            "the own names come first, wherever they are",
            file,
            &[("OPENAI_API_KEY", "other"), ("OPENAI_BASE_URL", "https://h/"), ("OPENAI_MODEL", "other")],
            ["file-key", "http://127.0.0.1:8000/v1", "m f"],
        ),
        ("ends of lines", "", &[("TRPC_AGENT_API_KEY", " k\r\n"), ("OPENAI_MODEL", "m\n")], ["k", openai, "m"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        if !file.is_empty() {
            std::fs::write(folder.path().join(".env"), file).unwrap();
        }
        assert_eq!(values(&load(folder.path(), variables).unwrap()), wanted, "{case}");
    }
}

#[test]
fn skills() {
    let folder = tempfile::tempdir().unwrap();
    let model = [("TRPC_AGENT_API_KEY", "k"), ("TRPC_AGENT_MODEL_NAME", "m")];
    let settings = load(folder.path(), &model).unwrap();
    assert_eq!((settings.skills_root().to_str(), settings.skills_cache_dir()), (Some("skills"), None));
    std::fs::write(folder.path().join(".env"), "SKILLS_ROOT=a:b\nSKILLS_CACHE_DIR=c\n").unwrap();
    let settings = load(folder.path(), &model).unwrap();
    assert_eq!((settings.skills_root().to_str(), settings.skills_cache_dir()), (Some("a:b"), Some(Path::new("c"))));
    let settings = load(folder.path(), &[&model[..], &[("SKILLS_ROOT", "d")]].concat()).unwrap();
    assert_eq!(settings.skills_root(), "d");
}

#[test]
fn a_command_line_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut environment = Environment::new(folder.path(), [("OPENAI_MODEL".into(), "m".into())]).unwrap();
    environment.set("TRPC_AGENT_MODEL_NAME", "n");
    environment.set("TRPC_AGENT_API_KEY", "k");
    environment.set("PATH", "/bin");
    assert_eq!(Settings::from_environment(&environment).unwrap().model(), "n");
    assert_eq!(environment.get("PATH"), None);
}

#[test]
fn errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".env");
    let shown = path.display();
    let bad_key = format!("{KEY} 2");
    let key = ("TRPC_AGENT_API_KEY", KEY);
    let model = ("TRPC_AGENT_MODEL_NAME", "m");
    let url = "it must be an address such as https://api.openai.com/v1";
    for (file, variables, wanted) in [
        (
            "",
            &[][..],
            format!(
                "there is no API key and no model: set TRPC_AGENT_API_KEY (or OPENAI_API_KEY) and \
                 TRPC_AGENT_MODEL_NAME (or OPENAI_MODEL) in the environment or in {shown}"
            ),
        ),
        (
            "TRPC_AGENT_API_KEY=\n",
            &[model],
            format!("there is no API key: set TRPC_AGENT_API_KEY (or OPENAI_API_KEY) in the environment or in {shown}"),
        ),
        (
            "",
            &[key],
            format!("there is no model: set TRPC_AGENT_MODEL_NAME (or OPENAI_MODEL) in the environment or in {shown}"),
        ),
        (
            "",
            &[("OPENAI_API_KEY", &bad_key), model],
            "OPENAI_API_KEY: it must be of visible ASCII characters, without spaces".to_owned(),
        ),
        ("", &[key, ("OPENAI_MODEL", " ")], "OPENAI_MODEL: it must be the name of a model".to_owned()),
        ("", &[key, model, ("TRPC_AGENT_BASE_URL", "h/v1")], format!("TRPC_AGENT_BASE_URL: {url}")),
        (
            "",
            &[key, model, ("OPENAI_BASE_URL", "https://u:0123456789@h/")],
            "OPENAI_BASE_URL: it must have no user or password: the key is set apart".to_owned(),
        ),
        ("A=1\nTRPC_AGENT_API_KEY='sk-0123456789", &[], format!("{shown}:2: a quote is not closed")),
        ("A='sk-0123456789' x", &[], format!("{shown}:1: something follows the closing quote")),
        (
            "OPENAI_BASE_URL=https://evil.example/v1",
            &[key, model],
            format!(
                "TRPC_AGENT_API_KEY is set in the environment, and OPENAI_BASE_URL in {shown}: a folder's file may not \
                 say where your key goes; set OPENAI_BASE_URL in the environment too, or TRPC_AGENT_API_KEY in the \
                 file alone"
            ),
        ),
    ] {
        std::fs::write(&path, file).unwrap();
        let error = load(folder.path(), variables).unwrap_err();
        assert_eq!(error.to_string(), wanted);
        assert!(!format!("{error:?}").contains("0123456789"), "{error:?}");
    }
    std::fs::write(&path, b"A=b\n\xff").unwrap();
    assert_eq!(load(folder.path(), &[]).unwrap_err().to_string(), format!("{shown}:2: this is not UTF-8"));
    std::fs::write(&path, "#".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(load(folder.path(), &[]).unwrap_err().to_string(), format!("{shown}:1: the file has more than 1 MiB"));
}

/// A folder of this name holds Python packages.
#[test]
fn a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".env")).unwrap();
    let settings = load(folder.path(), &[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "m")]).unwrap();
    assert_eq!(settings.model(), "m");
}

#[test]
fn nothing_shows_the_key() {
    let settings = Settings::new(&Secret::new(KEY), "https://h/", "m").unwrap();
    for shown in [format!("{settings:?}"), format!("{settings:#?}"), format!("{}", settings.api_key())] {
        assert!(!shown.contains("0123456789") && shown.contains("[redacted]"), "{shown}");
    }
}
