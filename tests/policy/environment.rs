//! Which variables a command gets.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wskill::policy::{DropReason, EnvironmentRule, Secrets, is_secret, is_variable_name, pass_through, redact, scrub};

#[test]
fn what_may_not_be_set() {
    use DropReason::{Loader, Name, Shell, Value};
    // name, value, dropped from an open run, dropped from a restricted one
    for (name, value, open, restricted) in [
        ("LANG", "C", None, None),
        ("_x9", "", None, None),
        ("EDITOR", "vi", None, None),
        ("LD_PRELOAD", "x", Some(Loader), Some(Loader)),
        ("LD_LIBRARY_PATH", "x", Some(Loader), Some(Loader)),
        ("LD_AUDIT", "x", Some(Loader), Some(Loader)),
        ("DYLD_INSERT_LIBRARIES", "x", Some(Loader), Some(Loader)),
        ("DYLD_LIBRARY_PATH", "x", Some(Loader), Some(Loader)),
        ("DYLD_FORCE_FLAT_NAMESPACE", "x", Some(Loader), Some(Loader)),
        ("OPENSSL_CONF", "x", Some(Loader), Some(Loader)),
        ("HOME", "x", None, Some(Shell)),
        ("ENV", "x", None, Some(Shell)),
        ("BASH_ENV", "x", None, Some(Shell)),
        ("PROMPT_COMMAND", "x", None, Some(Shell)),
        ("PS4", "x", None, Some(Shell)),
        ("SHELL", "x", None, Some(Shell)),
        ("SHELLOPTS", "x", None, Some(Shell)),
        ("BASHOPTS", "x", None, Some(Shell)),
        ("PATH", "x", None, Some(Shell)),
        ("IFS", "x", None, Some(Shell)),
        ("CDPATH", "x", None, Some(Shell)),
        ("GLOBIGNORE", "x", None, Some(Shell)),
        ("BASH_FUNC_ls%%", "() { :; }", Some(Name), Some(Shell)),
        ("", "x", Some(Name), Some(Name)),
        ("9a", "x", Some(Name), Some(Name)),
        ("a-b", "x", Some(Name), Some(Name)),
        ("é", "x", Some(Name), Some(Name)),
        ("a=b", "x", Some(Name), Some(Name)),
        ("A", "x\0y", Some(Value), Some(Value)),
    ] {
        for (rule, expected) in [(EnvironmentRule::Open, open), (EnvironmentRule::Restricted, restricted)] {
            let scrubbed = scrub([(name, value)], rule);
            assert_eq!(scrubbed.dropped.first().map(|dropped| dropped.reason), expected, "{name} {rule:?}");
            assert_eq!(scrubbed.env.len() + scrubbed.dropped.len(), 1);
        }
    }
    let long = scrub([("é".repeat(1000), "x")], EnvironmentRule::Open);
    assert_eq!(long.dropped[0].name.chars().count(), 80);
    assert_eq!(scrub([("A", "1"), ("A", "2")], EnvironmentRule::Open).env["A"], "2");
}

#[test]
fn what_was_left_out_is_told() {
    let given = [("a\nb", ""), ("A", "\0"), ("LD_AUDIT", ""), ("PATH", "")];
    let told: Vec<_> = scrub(given, EnvironmentRule::Restricted).dropped.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "the variable `a\\nb` is not set: a name has letters, digits and _, and no digit first",
            "the variable `A` is not set: its value has a NUL",
            "the variable `LD_AUDIT` is not set: it changes which code programs load",
            "the variable `PATH` is not set: it changes what a shell runs, and commands are restricted",
        ]
    );
}

#[test]
fn the_hosts_variables_are_passed_by_name_only() {
    let host = BTreeMap::from([("A", "1"), ("SECRET_KEY", "2")]);
    let lookup = |name: &str| host.get(name).map(ToString::to_string);
    assert!(pass_through([""; 0], lookup).is_empty());
    assert_eq!(pass_through(["A", "B"], lookup), BTreeMap::from([("A".to_owned(), "1".to_owned())]));
}

#[test]
fn secrets_are_told_by_name() {
    for name in
        ["API_KEY", "api_key", "GithubToken", "SECRET", "DB_PASSWORD", "PGPASSWD", "PASSPHRASE", "AWS_CREDENTIALS"]
    {
        assert!(is_secret(name), "{name}");
        assert_eq!(redact(name, "x"), "[redacted]");
        assert_eq!(redact(name, ""), "");
    }
    for name in ["LANG", "PWD", "PATH", ""] {
        assert!(!is_secret(name), "{name}");
        assert_eq!(redact(name, "x"), "x");
    }
    assert!(is_variable_name("_") && !is_variable_name("1") && !is_variable_name("a b"));
}

#[test]
fn values_of_secrets_are_taken_out_of_texts() {
    let env = BTreeMap::from([("API_KEY", "sk-123456"), ("PIN_TOKEN", "1234"), ("URL", "https://u:sk-123456@h")])
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect::<BTreeMap<String, String>>();
    let secrets = Secrets::of(&env);
    assert_eq!(secrets.redact("curl https://h?k=sk-123456&x=1234"), "curl https://h?k=[redacted]&x=1234");
    let shown = secrets.redact_variables(&env);
    let shown: Vec<_> = shown.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(shown, ["API_KEY=[redacted]", "PIN_TOKEN=[redacted]", "URL=https://u:[redacted]@h"]);
    assert!(!format!("{secrets:?}").contains("sk-"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_text_keeps_a_secret_and_others_stay_as_they_are(
        text in "([a-zé ]|=|:|\"|'|/|@|--|KEY|API_KEY=|token|Bearer |https://|s3cr3t-value|[;&|?{}\\n])*"
    ) {
        let secrets = Secrets::of([("MY_KEY", "s3cr3t-value")]);
        let shown = secrets.redact(&text).into_owned();
        prop_assert!(!shown.contains("s3cr3t-value"));
        if !text.to_ascii_uppercase().contains("KEY") && !text.to_ascii_lowercase().contains("token") {
            let plain = Secrets::default().redact(&text).into_owned();
            prop_assert!(plain == text || text.contains("Bearer") || text.contains("://"));
        }
    }
}
