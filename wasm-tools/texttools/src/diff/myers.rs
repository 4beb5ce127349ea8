//! The shortest edit between two sequences, by Myers' algorithm in linear space ("An O(ND) Difference Algorithm and
//! Its Variations", 1986), and the choice of where ambiguous changes are shown.

/// Edits looked for in one comparison before a good split is taken instead of the best one.
const MAX_COST: isize = 4096;

/// Which elements of both sequences are changed.
pub fn changes(a: &[u32], b: &[u32]) -> (Vec<bool>, Vec<bool>) {
    let mut changed_a = vec![false; a.len()];
    let mut changed_b = vec![false; b.len()];
    let size = a.len() + b.len() + 3;
    let mut search = Search { forward: vec![0; size], backward: vec![0; size], shift: b.len() as isize + 1 };
    let mut pending = vec![(0, a.len(), 0, b.len())];
    while let Some((mut a0, mut a1, mut b0, mut b1)) = pending.pop() {
        while a0 < a1 && b0 < b1 && a[a0] == b[b0] {
            a0 += 1;
            b0 += 1;
        }
        while a0 < a1 && b0 < b1 && a[a1 - 1] == b[b1 - 1] {
            a1 -= 1;
            b1 -= 1;
        }
        if a0 == a1 {
            changed_b[b0..b1].fill(true);
        } else if b0 == b1 {
            changed_a[a0..a1].fill(true);
        } else {
            let (x, y) = search.split(a, b, (a0, a1, b0, b1));
            pending.push((x, a1, y, b1));
            pending.push((a0, x, b0, y));
        }
    }
    shift_runs(a, &mut changed_a, &changed_b);
    shift_runs(b, &mut changed_b, &changed_a);
    (changed_a, changed_b)
}

/// The furthest points of the diagonals `x - y`, from both ends.
struct Search {
    forward: Vec<isize>,
    backward: Vec<isize>,
    shift: isize,
}

impl Search {
    /// A point on a shortest path through a box that is neither empty nor begins or ends equal.
    fn split(&mut self, a: &[u32], b: &[u32], (a0, a1, b0, b1): (usize, usize, usize, usize)) -> (usize, usize) {
        let (x0, x1, y0, y1) = (a0 as isize, a1 as isize, b0 as isize, b1 as isize);
        let (low_limit, high_limit) = (x0 - y1, x1 - y0);
        let (first, last) = (x0 - y0, x1 - y1);
        let odd = (first - last) & 1 != 0;
        let shift = self.shift;
        let at = |diagonal: isize| (diagonal + shift) as usize;
        self.forward[at(first)] = x0;
        self.backward[at(last)] = x1;
        let (mut f_low, mut f_high) = (first, first);
        let (mut b_low, mut b_high) = (last, last);
        for cost in 1.. {
            // One more edit from the beginning.
            if f_low > low_limit {
                f_low -= 1;
                self.forward[at(f_low - 1)] = -1;
            } else {
                f_low += 1;
            }
            if f_high < high_limit {
                f_high += 1;
                self.forward[at(f_high + 1)] = -1;
            } else {
                f_high -= 1;
            }
            let mut diagonal = f_high;
            while diagonal >= f_low {
                let (low, high) = (self.forward[at(diagonal - 1)], self.forward[at(diagonal + 1)]);
                let mut x = if low < high { high } else { low + 1 };
                let mut y = x - diagonal;
                while x < x1 && y < y1 && a[x as usize] == b[y as usize] {
                    x += 1;
                    y += 1;
                }
                self.forward[at(diagonal)] = x;
                if odd && b_low <= diagonal && diagonal <= b_high && self.backward[at(diagonal)] <= x {
                    return (x as usize, y as usize);
                }
                diagonal -= 2;
            }
            // One more edit from the end.
            if b_low > low_limit {
                b_low -= 1;
                self.backward[at(b_low - 1)] = isize::MAX;
            } else {
                b_low += 1;
            }
            if b_high < high_limit {
                b_high += 1;
                self.backward[at(b_high + 1)] = isize::MAX;
            } else {
                b_high -= 1;
            }
            let mut diagonal = b_high;
            while diagonal >= b_low {
                let (low, high) = (self.backward[at(diagonal - 1)], self.backward[at(diagonal + 1)]);
                let mut x = if low < high { low } else { high - 1 };
                let mut y = x - diagonal;
                while x > x0 && y > y0 && a[x as usize - 1] == b[y as usize - 1] {
                    x -= 1;
                    y -= 1;
                }
                self.backward[at(diagonal)] = x;
                if !odd && f_low <= diagonal && diagonal <= f_high && x <= self.forward[at(diagonal)] {
                    return (x as usize, y as usize);
                }
                diagonal -= 2;
            }
            if cost >= MAX_COST {
                return self.best_so_far((x0, x1, y0, y1), (f_low, f_high), (b_low, b_high));
            }
        }
        (a0, b0)
    }

    /// The point that is furthest from its end, in elements of both sequences.
    fn best_so_far(
        &self,
        (x0, x1, y0, y1): (isize, isize, isize, isize),
        (f_low, f_high): (isize, isize),
        (b_low, b_high): (isize, isize),
    ) -> (usize, usize) {
        let at = |diagonal: isize| (diagonal + self.shift) as usize;
        let forward = (f_low..=f_high).step_by(2).map(|diagonal| {
            let x = self.forward[at(diagonal)].min(x1);
            let y = (x - diagonal).min(y1);
            (x + y - x0 - y0, y + diagonal, y)
        });
        let backward = (b_low..=b_high).step_by(2).map(|diagonal| {
            let x = self.backward[at(diagonal)].max(x0);
            let y = (x - diagonal).max(y0);
            (x1 + y1 - x - y, y + diagonal, y)
        });
        let inside = |&(_, x, y): &(isize, isize, isize)| x >= x0 && x <= x1 && y >= y0 && y <= y1;
        match forward.chain(backward).filter(inside).max_by_key(|point| point.0) {
            Some((_, x, y)) => (x as usize, y as usize),
            None => (x0 as usize, y0 as usize),
        }
    }
}

/// Moves runs of changes that could be shown in more than one place as far down as they go, joins runs that meet, and
/// moves a run back up to where the other sequence has changes, too.
fn shift_runs(lines: &[u32], changed: &mut [bool], other: &[bool]) {
    // Whether the other sequence has changes behind its first `kept` unchanged elements.
    let mut other_changes = vec![false];
    for changed in other {
        match other_changes.last_mut() {
            Some(last) if *changed => *last = true,
            _ => other_changes.push(false),
        }
    }
    let has_changes = |kept: usize| other_changes.get(kept).copied().unwrap_or(false);
    let end = lines.len();
    let (mut i, mut kept) = (0, 0);
    while i < end {
        if !changed[i] {
            i += 1;
            kept += 1;
            continue;
        }
        let mut start = i;
        while i < end && changed[i] {
            i += 1;
        }
        let mut facing;
        loop {
            let length = i - start;
            // Up, while the element before equals the last one of the run.
            while start > 0 && lines[start - 1] == lines[i - 1] {
                start -= 1;
                i -= 1;
                kept -= 1;
                changed[start] = true;
                changed[i] = false;
                while start > 0 && changed[start - 1] {
                    start -= 1;
                }
            }
            facing = has_changes(kept).then_some(i);
            // Down, while the first element of the run equals the one behind it.
            while i < end && lines[start] == lines[i] {
                changed[start] = false;
                changed[i] = true;
                start += 1;
                i += 1;
                kept += 1;
                while i < end && changed[i] {
                    i += 1;
                }
                if has_changes(kept) {
                    facing = Some(i);
                }
            }
            if i - start == length {
                break;
            }
        }
        let facing = facing.unwrap_or(i);
        while facing < i {
            start -= 1;
            i -= 1;
            kept -= 1;
            changed[start] = true;
            changed[i] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(a: &str, b: &str) -> usize {
        let number = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        let (changed_a, changed_b) = changes(&number(a), &number(b));
        let kept = |text: &str, changed: &[bool]| {
            text.bytes().zip(changed).filter(|(_, changed)| !**changed).map(|(byte, _)| byte).collect::<Vec<_>>()
        };
        assert_eq!(kept(a, &changed_a), kept(b, &changed_b));
        changed_a.iter().chain(&changed_b).filter(|changed| **changed).count()
    }

    #[test]
    fn shortest() {
        assert_eq!(edits("abcabba", "cbabac"), 5);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "abc"), 0);
        assert_eq!(edits("xaaax", "xaax"), 1);
        assert_eq!(edits("kitten sitting", "sitting kitten"), 10);
    }
}
