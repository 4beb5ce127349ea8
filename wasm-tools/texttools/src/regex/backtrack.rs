//! A bounded backtracking matcher for patterns with back-references, which no automaton can match.
//!
//! It keeps its own stack on the heap and counts steps, so neither a deep nor an exponential pattern can trap.

use regex_syntax::hir::{ClassUnicode, Look};

use super::Span;
use super::parse::{Node, Parsed};

/// Instructions a program may have; repetitions are unrolled.
const MAX_PROGRAM: usize = 50_000;
/// Steps one search may take before it gives up as "no match" (some seconds).
const MAX_STEPS: u64 = 50_000_000;
/// Steps spent on looking for a longer match once one was found at a place.
const MAX_LONGER_STEPS: u64 = 200_000;

enum Inst {
    Bytes(Vec<u8>),
    Class(ClassUnicode),
    Look(Look),
    Save(usize),
    /// Tries the first, then the second.
    Split(usize, usize),
    Jump(usize),
    Backref(usize),
    /// Remembers where a round of a loop began.
    LoopStart(usize),
    /// Ends the loop when the round matched nothing.
    LoopCheck(usize),
    Fail,
    Match,
}

/// A compiled pattern.
pub struct Program {
    code: Vec<Inst>,
    slots: usize,
    groups: usize,
    /// Only alternatives and optional groups make a longer match possible than the first one found.
    ambiguous: bool,
    ignore_case: bool,
}

/// What to go back to.
enum Frame {
    Branch { at: usize, position: usize },
    Restore { slot: usize, value: usize },
}

const UNSET: usize = usize::MAX;

impl Program {
    /// Compiles a parsed pattern. The error is GNU's text.
    pub fn new(parsed: &Parsed) -> Result<Self, String> {
        let mut program = Self {
            code: Vec::new(),
            slots: (parsed.groups + 1) * 2,
            groups: parsed.groups,
            ambiguous: parsed.root.ambiguous(),
            ignore_case: parsed.ignore_case,
        };
        program.emit(&parsed.root)?;
        program.code.push(Inst::Match);
        Ok(program)
    }

    fn push(&mut self, inst: Inst) -> Result<usize, String> {
        if self.code.len() >= MAX_PROGRAM {
            return Err("Regular expression too big".into());
        }
        self.code.push(inst);
        Ok(self.code.len() - 1)
    }

    fn emit(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::Fail => self.push(Inst::Fail).map(drop),
            Node::Empty => Ok(()),
            Node::Bytes(bytes) => self.push(Inst::Bytes(bytes.clone())).map(drop),
            Node::Class(class) => self.push(Inst::Class(class.clone())).map(drop),
            Node::Look(look) => self.push(Inst::Look(*look)).map(drop),
            Node::Backref(index) => self.push(Inst::Backref(*index)).map(drop),
            Node::Group(index, node) => {
                self.push(Inst::Save(index * 2))?;
                self.emit(node)?;
                self.push(Inst::Save(index * 2 + 1)).map(drop)
            }
            Node::Concat(parts) => parts.iter().try_for_each(|part| self.emit(part)),
            Node::Alternate(parts) => {
                let mut jumps = Vec::new();
                for (index, part) in parts.iter().enumerate() {
                    if index + 1 == parts.len() {
                        self.emit(part)?;
                        break;
                    }
                    let split = self.push(Inst::Split(0, 0))?;
                    self.emit(part)?;
                    jumps.push(self.push(Inst::Jump(0))?);
                    self.code[split] = Inst::Split(split + 1, self.code.len());
                }
                let end = self.code.len();
                jumps.into_iter().for_each(|jump| self.code[jump] = Inst::Jump(end));
                Ok(())
            }
            Node::Repeat { min, max, node } => self.emit_repeat(*min, *max, node),
        }
    }

    fn emit_repeat(&mut self, min: u32, max: Option<u32>, node: &Node) -> Result<(), String> {
        for _ in 0..min {
            self.emit(node)?;
        }
        let Some(max) = max else {
            let slot = self.slots;
            self.slots += 1;
            let split = self.push(Inst::Split(0, 0))?;
            self.push(Inst::LoopStart(slot))?;
            self.emit(node)?;
            self.push(Inst::LoopCheck(slot))?;
            self.push(Inst::Jump(split))?;
            self.code[split] = Inst::Split(split + 1, self.code.len());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push(Inst::Split(0, 0))?);
            self.emit(node)?;
        }
        let end = self.code.len();
        splits.into_iter().for_each(|split| self.code[split] = Inst::Split(split + 1, end));
        Ok(())
    }

    /// The groups of the leftmost match at or after `start`, the longest that a bounded look finds.
    pub fn search(&self, text: &[u8], start: usize) -> Option<Vec<Span>> {
        let mut steps = 0;
        (start..=text.len()).find_map(|at| self.run(text, at, &mut steps))
    }

    fn run(&self, text: &[u8], start: usize, steps: &mut u64) -> Option<Vec<Span>> {
        let mut slots = vec![UNSET; self.slots];
        let mut stack: Vec<Frame> = Vec::new();
        let mut best: Option<(usize, Vec<usize>)> = None;
        let mut limit = MAX_STEPS;
        let (mut at, mut position) = (0, start);
        loop {
            *steps += 1;
            if *steps > limit {
                break;
            }
            let set = |slots: &mut Vec<usize>, stack: &mut Vec<Frame>, slot: usize, value: usize| {
                stack.push(Frame::Restore { slot, value: slots[slot] });
                slots[slot] = value;
            };
            let next = match &self.code[at] {
                Inst::Fail => None,
                Inst::Bytes(bytes) => text[position..].starts_with(bytes).then(|| position + bytes.len()),
                Inst::Class(class) => match_class(class, text, position),
                Inst::Look(look) => look_matches(*look, text, position).then_some(position),
                Inst::Backref(index) => self.match_backref(*index, &slots, text, position),
                Inst::Save(slot) | Inst::LoopStart(slot) => {
                    set(&mut slots, &mut stack, *slot, position);
                    Some(position)
                }
                Inst::LoopCheck(slot) => (slots[*slot] != position).then_some(position),
                Inst::Jump(target) => {
                    at = *target;
                    continue;
                }
                Inst::Split(first, second) => {
                    stack.push(Frame::Branch { at: *second, position });
                    at = *first;
                    continue;
                }
                Inst::Match => {
                    if best.as_ref().is_none_or(|(end, _)| position > *end) {
                        best = Some((position, slots.clone()));
                        limit = limit.min(*steps + MAX_LONGER_STEPS);
                    }
                    if !self.ambiguous || position == text.len() {
                        break;
                    }
                    None
                }
            };
            if let Some(next) = next {
                at += 1;
                position = next;
                continue;
            }
            loop {
                match stack.pop() {
                    None => return best.map(|found| self.groups_of(start, found)),
                    Some(Frame::Restore { slot, value }) => slots[slot] = value,
                    Some(Frame::Branch { at: target, position: place }) => {
                        at = target;
                        position = place;
                        break;
                    }
                }
            }
        }
        best.map(|found| self.groups_of(start, found))
    }

    fn groups_of(&self, start: usize, (end, slots): (usize, Vec<usize>)) -> Vec<Span> {
        let mut groups = vec![Some((start, end))];
        for index in 1..=self.groups {
            let (low, high) = (slots[index * 2], slots[index * 2 + 1]);
            groups.push((low != UNSET && high != UNSET).then_some((low, high)));
        }
        groups
    }

    fn match_backref(&self, index: usize, slots: &[usize], text: &[u8], position: usize) -> Option<usize> {
        let (low, high) = (slots[index * 2], slots[index * 2 + 1]);
        let wanted = text.get(low..high)?;
        let here = text.get(position..position + wanted.len())?;
        let equal = if self.ignore_case { here.eq_ignore_ascii_case(wanted) } else { here == wanted };
        equal.then(|| position + wanted.len())
    }
}

/// The character at a place, if the bytes there are one.
fn char_at(text: &[u8], at: usize) -> Option<char> {
    let rest = text.get(at..(at + 4).min(text.len()))?;
    let first = *rest.first()?;
    if first < 0x80 {
        return Some(first as char);
    }
    (2..=rest.len()).find_map(|length| std::str::from_utf8(&rest[..length]).ok()).and_then(|s| s.chars().next())
}

fn char_before(text: &[u8], at: usize) -> Option<char> {
    (1..=4.min(at)).find_map(|length| std::str::from_utf8(&text[at - length..at]).ok()).and_then(|s| s.chars().next())
}

fn match_class(class: &ClassUnicode, text: &[u8], at: usize) -> Option<usize> {
    let c = char_at(text, at)?;
    let ranges = class.ranges();
    let index = ranges.partition_point(|range| range.end() < c);
    ranges.get(index).filter(|range| range.start() <= c).map(|_| at + c.len_utf8())
}

fn look_matches(look: Look, text: &[u8], at: usize) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let before = || word(char_before(text, at));
    let after = || word(char_at(text, at));
    match look {
        Look::Start => at == 0,
        Look::End => at == text.len(),
        Look::StartLF => at == 0 || text[at - 1] == b'\n',
        Look::EndLF => at == text.len() || text[at] == b'\n',
        Look::WordUnicode => before() != after(),
        Look::WordUnicodeNegate => before() == after(),
        Look::WordStartUnicode => !before() && after(),
        Look::WordEndUnicode => before() && !after(),
        Look::WordStartHalfUnicode => !before(),
        Look::WordEndHalfUnicode => !after(),
        _ => false,
    }
}
