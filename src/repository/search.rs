//! Finding skills by words.
//!
//! A name counts three times as much as a description, a word itself more than one that only begins like it, and a word
//! that occurs in few skills more than one that occurs in many. A skill that has all the words is before any that has
//! some. Words that occur nowhere are taken for typing errors.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::words::{each_part, edits, fold, is_sign, is_stop_word, raw_words};
use super::{Entry, View};

/// Most characters of a query that are read, and most words of it that count. What a user asks is in the first few.
const QUERY_CHARACTERS: usize = 4096;
const WORDS: usize = 16;
/// How much more a word counts in a name than in a description.
pub(crate) const NAME_WEIGHT: u32 = 3;

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The skill's name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// How well it matches; to be compared within one answer only.
    pub score: u32,
}

/// The skills of a view that match a query best, the best first, at most `limit`; equally good ones by name. None for a
/// query of nothing but stop words. What a caller does not see has no influence.
///
/// The first search in a catalogue makes an index of its words, which lives as long as the catalogue does.
///
/// ```
/// use wskill::repository::{Caller, Repository, search};
///
/// let repository = Repository::builder().root("skills").build();
/// let view = repository.view(Caller::default());
/// assert_eq!(search(&view, "fibonacci in Python", 5)[0].name, "python-math");
/// assert_eq!(search(&view, "fibonaci", 5)[0].name, "python-math");
/// ```
pub fn search(view: &View, query: &str, limit: usize) -> Vec<Hit> {
    let query = Query::new(query);
    if query.words.is_empty() || limit == 0 {
        return Vec::new();
    }
    let index = view.catalogue().index();
    let mut rows = vec![Row::default(); view.catalogue().entries().len()];
    index.look(&query, Likeness::Begin, &mut rows);
    let mut found = query.counts(view, &rows);
    if found.contains(&0) {
        index.look(&query.without(|word| found[word] > 0), Likeness::Near, &mut rows);
        found = query.counts(view, &rows);
    }
    let weights = weights(&found, view.len());
    let mut hits: Vec<(u32, &Entry)> = view
        .indexed()
        .map(|(at, entry)| (query.score(&rows[at], entry, &weights), entry))
        .filter(|(score, _)| *score > 0)
        .collect();
    hits.sort_unstable_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.name().cmp(second.name())));
    hits.truncate(limit);
    let hit = |(score, entry): (u32, &Entry)| Hit {
        name: entry.name().to_owned(),
        description: entry.description().to_owned(),
        score,
    };
    hits.into_iter().map(hit).collect()
}

/// How much the words of a query count: one that half of the skills have 1, one that few have up to 5.
fn weights(found: &[u32], skills: usize) -> Vec<u32> {
    let skills = u32::try_from(skills).unwrap_or(u32::MAX);
    found.iter().map(|found| 1 + (skills / (*found).max(1)).checked_ilog2().unwrap_or(0).min(8) / 2).collect()
}

/// The words of all skills of a catalogue.
#[derive(Debug)]
pub(super) struct Index {
    words: Vec<Known>,
}

/// A word, and the skills that have it.
#[derive(Debug)]
struct Known {
    text: Box<str>,
    letters: u32,
    /// Places among the entries, times two; and one more for a name.
    places: Vec<u32>,
}

impl Index {
    pub(super) fn of(entries: &[Arc<Entry>]) -> Self {
        let mut numbers: HashMap<Box<str>, usize> = HashMap::new();
        let mut words: Vec<Known> = Vec::new();
        let mut normal = String::new();
        for (place, entry) in (0_u32..).step_by(2).zip(entries) {
            let mut note = |text: &str, place: u32| {
                for raw in raw_words(text) {
                    each_part(raw, &mut normal, |part| {
                        let number = numbers.get(part).copied().unwrap_or_else(|| {
                            words.push(Known { text: part.into(), letters: letters(part), places: Vec::new() });
                            numbers.insert(part.into(), words.len() - 1);
                            words.len() - 1
                        });
                        let places = &mut words[number].places;
                        if places.last() != Some(&place) {
                            places.push(place);
                        }
                    });
                }
            };
            note(entry.name(), place + 1);
            // `pythonmath` is meant as `python-math`.
            note(&fold(entry.name()), place + 1);
            note(entry.description(), place);
        }
        Self { words }
    }

    /// Notes for each skill how alike its words are to those of a query.
    fn look(&self, query: &Query, least: Likeness, rows: &mut [Row]) {
        for known in &self.words {
            query.each_like(&known.text, known.letters, least, |word, likeness| {
                for place in &known.places {
                    let row = &mut rows[*place as usize / 2];
                    let best = if place % 2 == 1 { &mut row.name[word] } else { &mut row.description[word] };
                    *best = (*best).max(likeness as u8);
                }
            });
        }
    }
}

/// Which letters a word has, one a bit. Two words that are one edit apart differ in at most two.
fn letters(word: &str) -> u32 {
    word.chars().fold(0, |letters, c| letters | 1 << (u32::from(c) % 32))
}

/// How alike two words are, and how alike they have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    None = 0,
    /// A typing error or two apart.
    Near = 1,
    /// One begins like the other.
    Begin = 2,
    /// The same.
    Same = 4,
}

/// What a skill has of a query: for each word the likeness of the best one in the name and in the description.
#[derive(Clone, Copy, Default)]
struct Row {
    name: [u8; WORDS],
    description: [u8; WORDS],
}

impl Row {
    fn points(&self, word: usize) -> u32 {
        NAME_WEIGHT * u32::from(self.name[word]) + u32::from(self.description[word])
    }
}

/// The words of a query.
pub(crate) struct Query {
    words: Vec<Word>,
    /// For each letter that a word can begin with, in lower case, the words that do, one a bit; at 0 for all others.
    begins: [u16; 128],
    /// All letters and digits.
    folded: String,
}

#[derive(Clone)]
struct Word {
    /// In lower case and without the ending of a plural.
    text: String,
    characters: Vec<char>,
    letters: u32,
    /// Its place among the words of the query.
    index: usize,
}

impl Query {
    pub(crate) fn new(text: &str) -> Self {
        let end = text.char_indices().nth(QUERY_CHARACTERS).map_or(text.len(), |(at, _)| at);
        let text = &text[..end];
        let mut words: Vec<Word> = Vec::new();
        let mut normal = String::new();
        for raw in raw_words(text).filter(|raw| !is_stop_word(raw)) {
            each_part(raw, &mut normal, |part| {
                if words.len() < WORDS && !words.iter().any(|known| known.text == part) {
                    let (characters, letters) = (part.chars().collect(), letters(part));
                    words.push(Word { text: part.to_owned(), characters, letters, index: words.len() });
                }
            });
        }
        Self::of(words, text)
    }

    fn of(words: Vec<Word>, text: &str) -> Self {
        let mut begins = [0; 128];
        for (bit, word) in words.iter().enumerate() {
            begins[slot(&word.text)] |= 1 << bit;
        }
        Self { words, begins, folded: fold(text) }
    }

    /// The query without some of its words.
    fn without(&self, known: impl Fn(usize) -> bool) -> Self {
        let words = self.words.iter().filter(|word| !known(word.index));
        Self::of(words.cloned().collect(), "")
    }

    /// How many of the words a text has.
    pub(crate) fn overlap(&self, text: &str) -> u32 {
        let mut found = 0_u16;
        let mut normal = String::new();
        // Most words of a text begin like none of the query.
        for raw in raw_words(text).filter(|raw| self.begins[slot(raw)] != 0) {
            each_part(raw, &mut normal, |part| {
                self.each_like(part, 0, Likeness::Same, |word, _| found |= 1 << word);
            });
        }
        found.count_ones()
    }

    /// Gives the words that are alike enough to another.
    fn each_like(&self, other: &str, letters: u32, least: Likeness, mut give: impl FnMut(usize, Likeness)) {
        // Only a typing error can be in the first letter.
        let mut candidates = if least == Likeness::Near { u16::MAX } else { self.begins[slot(other)] };
        while let Some(word) = self.words.get(candidates.trailing_zeros() as usize) {
            candidates &= candidates - 1;
            let likeness = word.likeness(other, letters, least);
            if likeness >= least {
                give(word.index, likeness);
            }
        }
    }

    /// In how many skills of a view each word was found.
    fn counts(&self, view: &View, rows: &[Row]) -> Vec<u32> {
        let mut counts = vec![0; self.words.len()];
        for (at, _) in view.indexed() {
            for (word, count) in counts.iter_mut().enumerate() {
                *count += u32::from(rows[at].points(word) > 0);
            }
        }
        counts
    }

    fn score(&self, row: &Row, entry: &Entry, weights: &[u32]) -> u32 {
        let mut score = 0;
        let mut all = true;
        let mut most = 0;
        for (word, weight) in weights.iter().enumerate() {
            let points = row.points(word);
            all &= points > 0;
            score += points * weight;
            most += weight * (NAME_WEIGHT + 1) * Likeness::Same as u32;
        }
        // More than the words alone can bring.
        score + if all { most } else { 0 } + if all && fold(entry.name()) == self.folded { 2 * most } else { 0 }
    }
}

impl Word {
    fn likeness(&self, other: &str, letters: u32, least: Likeness) -> Likeness {
        if self.text == other {
            return Likeness::Same;
        }
        if least == Likeness::Same {
            return Likeness::None;
        }
        let own = self.characters.len();
        let length = other.chars().count();
        let common = self.characters.iter().zip(other.chars()).take_while(|(a, b)| **a == *b).count();
        // `fib` and `fibonacci`, `extracting` and `extract`, `analyse` and `analysis`; one sign and a pair with it.
        let least_begin = if is_sign(&self.text) { 1 } else { 3 };
        let begins = common == own && common >= least_begin || common == length && common >= 4;
        if begins || common >= 5 && own.max(length) - common <= 3 {
            return Likeness::Begin;
        }
        let allowed = match own {
            0..=3 => return Likeness::None,
            4..=7 => 1,
            _ => 2,
        };
        if least > Likeness::Near || (self.letters ^ letters).count_ones() as usize > 2 * allowed {
            return Likeness::None;
        }
        if edits(&self.characters, other, allowed) { Likeness::Near } else { Likeness::None }
    }
}

/// Where words that begin like this one are noted.
fn slot(word: &str) -> usize {
    match word.as_bytes().first() {
        Some(byte) if byte.is_ascii() => usize::from(byte.to_ascii_lowercase()),
        _ => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;
    use crate::repository::{Caller, Repository};

    const SKILLS: [(&str, &str); 9] = [
        ("a-pdf-reader", "Reads text."),
        ("chart-maker", "Draws charts of tables; writes PDF reports."),
        ("csv-insight", "Summarises CSV files: columns, types, missing values."),
        ("log-triage", "Finds errors in log files and groups them."),
        ("pdf", "Reads, merges and fills in forms."),
        ("pdf-forms", "Fills in PDF forms from JSON data."),
        ("python-math", "Prints Fibonacci numbers with a Python script."),
        ("translator", "把文件翻译成中文。"),
        ("zebra", "Analysis of stripes."),
    ];

    fn view() -> View {
        let root = tempfile::tempdir().unwrap();
        for (name, description) in SKILLS {
            fs::create_dir(root.path().join(name)).unwrap();
            let text = format!("---\nname: {name}\ndescription: \"{description}\"\n---\n");
            fs::write(root.path().join(name).join("SKILL.md"), text).unwrap();
        }
        Repository::builder().root(root.path()).build().view(Caller::default())
    }

    fn names(view: &View, query: &str) -> Vec<String> {
        search(view, query, 3).into_iter().map(|hit| hit.name).collect()
    }

    #[test]
    fn the_best_come_first() {
        let view = view();
        let table = [
            // The name itself; a name before a description; then by name.
            ("pdf", &["pdf", "pdf-forms", "a-pdf-reader"][..]),
            ("PDF Forms", &["pdf-forms", "pdf", "a-pdf-reader"]),
            ("please help me to fill in a pdf form", &["pdf-forms", "pdf", "a-pdf-reader"]),
            // All words before some, wherever they are.
            ("pdf tables", &["chart-maker", "pdf-forms", "a-pdf-reader"]),
            ("logs", &["log-triage"]),
            ("summarize csv", &["csv-insight"]),
            ("pythonmath", &["python-math"]),
            ("python_math", &["python-math"]),
            ("fib", &["python-math"]),
            ("analyse", &["zebra"]),
            // Typing errors.
            ("fibonacy", &["python-math"]),
            ("pyhton", &["python-math"]),
            ("traige", &["log-triage"]),
            ("翻译", &["translator"]),
            ("the", &[]),
            ("quantum", &[]),
            ("", &[]),
            ("?!", &[]),
        ];
        let given: Vec<(&str, Vec<String>)> = table.iter().map(|(query, _)| (*query, names(&view, query))).collect();
        let expected: Vec<(&str, Vec<String>)> = table
            .iter()
            .map(|(query, names)| (*query, names.iter().map(|name| (*name).to_owned()).collect()))
            .collect();
        assert_eq!(given, expected);
    }

    #[test]
    fn hidden_skills_have_no_influence() {
        let view = view().only(|entry| !entry.name().starts_with("pdf") && entry.name() != "python-math");
        assert_eq!(names(&view, "pdf"), ["a-pdf-reader", "chart-maker"]);
        let alone = view.only(|entry| entry.name() == "log-triage");
        // `form` is a word of hidden skills only, so it may be an error here as well.
        assert_eq!(names(&alone, "forms"), [""; 0]);
        assert_eq!(names(&alone, "lag triage"), ["log-triage"]);
        assert!(search(&view, "pdf", 0).is_empty());
    }

    #[test]
    fn a_query_is_bounded() {
        let query = "x ".repeat(1 << 20) + "pdf";
        assert_eq!(names(&view(), &query), [""; 0]);
        let many: String = (0..100).map(|number| format!("w{number} ")).collect();
        assert_eq!(names(&view(), &format!("pdf {many}"))[0], "pdf-forms");
    }
}
