//! What productions are made of: templates whose holes are filled by other productions, and counts of their use.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// A piece of a script, with the productions that made it.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    pub text: String,
    pub used: Vec<&'static str>,
    pub statements: u32,
}

pub type Gen = BoxedStrategy<Piece>;

/// One of some fixed texts: a terminal, not counted.
pub fn any_of(texts: &[&'static str]) -> Gen {
    select(texts.to_vec()).prop_map(|text| Piece { text: text.to_owned(), ..Piece::default() }).boxed()
}

/// A counted production: a template whose holes `§` are filled in order.
pub fn rule(name: &'static str, template: &'static str, parts: &[&Gen]) -> Gen {
    fill(name, 0, template, parts)
}

/// A production that is a statement.
pub fn statement(name: &'static str, template: &'static str, parts: &[&Gen]) -> Gen {
    fill(name, 1, template, parts)
}

fn fill(name: &'static str, statements: u32, template: &'static str, parts: &[&Gen]) -> Gen {
    let between: Vec<&'static str> = template.split('§').collect();
    assert_eq!(between.len(), parts.len() + 1, "the holes of {name}");
    let parts: Vec<Gen> = parts.iter().map(|part| (*part).clone()).collect();
    let made = parts.prop_map(move |filled| {
        let mut piece = Piece { text: between[0].to_owned(), used: vec![name], statements };
        for (part, after) in filled.into_iter().zip(&between[1..]) {
            piece.push(part);
            piece.text.push_str(after);
        }
        piece
    });
    made.boxed()
}

/// A statement or other production with some fixed forms.
pub fn forms(name: &'static str, texts: &[&'static str]) -> Gen {
    rule(name, "§", &[&any_of(texts)])
}

/// One of some productions, by weight. What is simplest comes first: failures shrink towards it.
pub fn one(of: Vec<(u32, Gen)>) -> Gen {
    Union::new_weighted(of).boxed()
}

/// One of some productions, all as often.
pub fn either(of: Vec<Gen>) -> Gen {
    Union::new(of).boxed()
}

/// Some pieces with a separator between them.
pub fn some(item: &Gen, count: std::ops::Range<usize>, separator: &'static str) -> Gen {
    let joined = vec(item.clone(), count).prop_map(move |items| {
        let mut piece = Piece::default();
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                piece.text.push_str(separator);
            }
            piece.push(item);
        }
        piece
    });
    joined.boxed()
}

impl Piece {
    fn push(&mut self, other: Piece) {
        self.text.push_str(&other.text);
        self.used.extend(other.used);
        self.statements += other.statements;
    }
}
