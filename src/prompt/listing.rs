//! The overview as a part of a system prompt: ranked, capped, with the places of the skills.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::clean::AVAILABLE;
use super::guidance::NOTHING_RUNS;
use super::{Overview, OverviewItem, Profile, PromptOptions};
use crate::repository::{NAME_WEIGHT, Query};

/// Most names in the line of those without a description: some 4,000 tokens. More are counted.
const NAMES: usize = 1000;
/// From which score on a skill is recommended, and how many times that of the next it must be.
const RECOMMENDED: u32 = 4;
const AHEAD: u32 = 2;

/// The overview as text, without a line break at its end.
pub(super) fn listing(overview: &Overview, options: &PromptOptions) -> String {
    let items = overview.items();
    let ranked = options.query.as_deref().map(|query| rank(items, query));
    let most = options.max_overview.unwrap_or(items.len());
    let capped = most < items.len();
    let mut text = AVAILABLE.to_owned();
    // Writing to a string does not fail.
    if capped {
        let _ = write!(text, " (showing {most} of {}; remaining names listed below)", items.len());
    }
    if options.profile == Profile::Knowledge {
        let _ = write!(text, "\n{NOTHING_RUNS}");
    }
    if let Some(best) = ranked.as_deref().and_then(recommended) {
        let _ = write!(text, "\nBest match for the request: {}", best.name);
    }
    let mut shown: Vec<&OverviewItem> = match ranked {
        // Nobody's place changes as long as all are shown.
        Some(ranked) if capped => ranked.into_iter().map(|(_, item)| item).collect(),
        _ => items.iter().collect(),
    };
    let mut rest = shown.split_off(most.min(shown.len()));
    let roots = if options.locations { roots(&shown) } else { BTreeMap::new() };
    if !roots.is_empty() {
        text.push_str("\nSkill roots:");
        let mut numbered: Vec<_> = roots.iter().collect();
        numbered.sort_unstable_by_key(|(_, number)| **number);
        for (root, number) in numbered {
            let _ = write!(text, "\n- [s{number}]={root}");
        }
    }
    for item in shown {
        let _ = write!(text, "\n- {}: {}", item.name, item.description);
        if let Some((root, folder)) = place(item)
            && let Some(number) = roots.get(root)
        {
            let _ = write!(text, " (dir: [s{number}]/{folder})");
        }
    }
    if !rest.is_empty() {
        rest.sort_unstable_by_key(|item| &item.name);
        let names: Vec<&str> = rest.iter().take(NAMES).map(|item| item.name.as_str()).collect();
        let _ = write!(text, "\nFurther skills, by name: {}", names.join(", "));
        if let more @ 1.. = rest.len() - names.len() {
            let _ = write!(text, " and {more} more");
        }
    }
    text
}

/// The skills by how many words of the query they share, the best first; equally good ones by name.
fn rank<'a>(items: &'a [OverviewItem], query: &str) -> Vec<(u32, &'a OverviewItem)> {
    let query = Query::new(query);
    let score = |item: &OverviewItem| NAME_WEIGHT * query.overlap(&item.name) + query.overlap(&item.description);
    let mut ranked: Vec<_> = items.iter().map(|item| (score(item), item)).collect();
    ranked.sort_by_key(|(score, item)| (Reverse(*score), &item.name));
    ranked
}

/// The best, when it is good and far better than the next.
fn recommended<'a>(ranked: &[(u32, &'a OverviewItem)]) -> Option<&'a OverviewItem> {
    let next = ranked.get(1).map_or(0, |(score, _)| *score);
    ranked.first().filter(|(score, _)| *score >= RECOMMENDED && *score >= AHEAD * next).map(|(_, item)| *item)
}

/// The folders that skills are in, numbered from 1 in the order in which they come.
fn roots<'a>(items: &[&'a OverviewItem]) -> BTreeMap<&'a str, usize> {
    let mut roots = BTreeMap::new();
    for (root, _) in items.iter().filter_map(|item| place(item)) {
        let next = roots.len() + 1;
        roots.entry(root).or_insert(next);
    }
    roots
}

/// A skill's root and its folder there, from where its SKILL.md is.
fn place(item: &OverviewItem) -> Option<(&str, &str)> {
    let (folder, _) = item.location.rsplit_once('/')?;
    folder.rsplit_once('/')
}
