//! Which skills are trusted.

use std::fs;
use std::sync::Barrier;

use wskill::policy::{TrustDecision, TrustError, TrustMode, TrustStore, TrustVerdict};
use wskill::source::{Sha256Sum, tree_digest};

fn sum(text: &str) -> Sha256Sum {
    Sha256Sum::of(text.as_bytes())
}

#[test]
fn a_changed_skill_is_told_with_both_digests() {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("pdf");
    fs::create_dir(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: pdf\ndescription: d\n---\n").unwrap();
    let store = TrustStore::at(folder.path().join("state/wskill/trust.json"));
    let old = tree_digest(&skill).unwrap();
    assert_eq!(store.verdict("pdf", &old).unwrap(), TrustVerdict::Unknown { new: old });
    assert!(!store.path().exists());
    assert!(store.trust("pdf", &old).unwrap());
    assert!(!store.trust("pdf", &old).unwrap());
    let since = store.list().unwrap()[0].since.clone();
    assert_eq!(store.verdict("pdf", &old).unwrap(), TrustVerdict::Trusted { since: since.clone() });
    fs::write(skill.join("run.sh"), "rm -rf /").unwrap();
    let new = tree_digest(&skill).unwrap();
    let changed = store.verdict("pdf", &new).unwrap();
    assert_eq!(changed, TrustVerdict::Changed { old, new, since: since.clone() });
    // Another skill is another skill.
    assert_eq!(store.verdict("pdf2", &old).unwrap(), TrustVerdict::Unknown { new: old });
    let brief = |sum: Sha256Sum| sum.to_string()[..12].to_owned();
    let reason = format!(
        "the skill `pdf` has changed since it was trusted on {since} (sha256 {}, now {})",
        brief(old),
        brief(new)
    );
    for (mode, decision) in [
        (TrustMode::All, TrustDecision::Use),
        (TrustMode::Ask, TrustDecision::Ask(reason.clone())),
        (TrustMode::Known, TrustDecision::Refuse(reason.clone())),
    ] {
        assert_eq!(changed.decide(mode, "pdf"), decision);
        assert_eq!(store.verdict("pdf", &old).unwrap().decide(mode, "pdf"), TrustDecision::Use);
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert!("none".parse::<TrustMode>().is_err());
    assert!(TrustMode::All < TrustMode::Ask && TrustMode::Ask < TrustMode::Known);
}

#[test]
fn a_name_has_several_digests_until_they_are_untrusted() {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::at(folder.path().join("trust.json"));
    for (name, text) in [("b", "1"), ("a", "2"), ("b", "3"), ("c", "4")] {
        assert!(store.trust(name, &sum(text)).unwrap());
    }
    let list = |store: &TrustStore| {
        store.list().unwrap().into_iter().map(|skill| (skill.name, skill.sha256)).collect::<Vec<_>>()
    };
    let entry = |name: &str, text| (name.to_owned(), sum(text));
    assert_eq!(list(&store), [entry("a", "2"), entry("b", "1"), entry("b", "3"), entry("c", "4")]);
    let TrustVerdict::Changed { old, .. } = store.verdict("b", &sum("9")).unwrap() else { panic!() };
    assert_eq!(old, sum("3"));
    assert_eq!(store.untrust("b", Some(&sum("3"))).unwrap(), 1);
    assert_eq!(store.untrust("b", Some(&sum("3"))).unwrap(), 0);
    assert_eq!(store.untrust("c", None).unwrap(), 1);
    assert_eq!(list(&store), [entry("a", "2"), entry("b", "1")]);
    // The oldest of too many goes.
    for number in 0..40 {
        assert!(store.trust("a", &sum(&format!("a{number}"))).unwrap());
    }
    let kept = store.list().unwrap();
    let kept: Vec<_> = kept.iter().filter(|skill| skill.name == "a").map(|skill| skill.sha256).collect();
    assert_eq!((kept.len(), kept[0], kept[31]), (32, sum("a8"), sum("a39")));
}

#[test]
fn a_broken_list_is_not_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = TrustStore::at(folder.path().join("trust.json"));
    for text in ["", "{", "[]", r#"{"version":2,"skills":[]}"#, r#"{"version":1,"skills":[],"more":1}"#] {
        fs::write(store.path(), text).unwrap();
        assert!(matches!(store.verdict("a", &sum("")), Err(TrustError::Format { .. })), "{text}");
        assert!(store.trust("a", &sum("")).is_err());
        assert_eq!(fs::read_to_string(store.path()).unwrap(), text);
    }
    fs::remove_file(store.path()).unwrap();
    fs::create_dir(store.path()).unwrap();
    assert!(store.list().is_err());
}

#[test]
fn changes_at_once_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trust.json");
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (path, start) = (&path, &start);
            scope.spawn(move || {
                let store = TrustStore::at(path);
                start.wait();
                for number in 0..5 {
                    store.trust(&format!("s{thread}"), &sum(&number.to_string())).unwrap();
                    // A reader finds the former or the new list, never a part.
                    assert!(!store.list().unwrap().is_empty());
                }
            });
        }
    });
    assert_eq!(TrustStore::at(&path).list().unwrap().len(), 40);
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["trust.json", "trust.json.lock"]);
}
