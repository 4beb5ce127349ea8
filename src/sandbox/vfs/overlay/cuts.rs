//! Where a layer hides what lies below it.

use std::collections::BTreeMap;

/// A set of paths of one layer. At such a path and beneath it nothing of the layers below shows: the path is a
/// whiteout when the layer has nothing there itself, and an opaque directory when it has a directory.
///
/// No path of the set lies below another. The paths share their beginnings, so that a set is never larger than the
/// names of what it hides, and nothing here is recursive: guests choose how deep it is.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    /// The directories and cut names by number; 0 is the root.
    nodes: Vec<Node>,
    free: Vec<usize>,
    count: usize,
}

/// A cut path, or a directory above one.
#[derive(Clone, Debug, Default)]
struct Node {
    children: BTreeMap<Box<[u8]>, usize>,
    cut: bool,
}

/// The cut names of one directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutNames<'cuts> {
    cuts: &'cuts Cuts,
    directory: Option<usize>,
}

impl CutNames<'_> {
    /// Whether `name` is cut.
    pub(super) fn contains(&self, name: &[u8]) -> bool {
        self.directory.is_some_and(|number| {
            let child = self.cuts.node(number).and_then(|node| node.children.get(name));
            child.is_some_and(|&child| self.cuts.is_cut(child))
        })
    }
}

impl Default for Cuts {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], free: Vec::new(), count: 0 }
    }
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty())
}

impl Cuts {
    fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    fn is_cut(&self, number: usize) -> bool {
        self.node(number).is_some_and(|node| node.cut)
    }

    /// Whether `path` is cut or lies below a cut path.
    pub(super) fn hide(&self, path: &[u8]) -> bool {
        let mut at = 0;
        for part in parts(path) {
            match self.node(at).and_then(|node| node.children.get(part)) {
                Some(&below) if self.is_cut(below) => return true,
                Some(&below) => at = below,
                None => return false,
            }
        }
        false
    }

    /// The cut names of the directory at `path`, which is not hidden itself.
    pub(super) fn names(&self, path: &[u8]) -> CutNames<'_> {
        let mut at = Some(0);
        for part in parts(path) {
            at = at.and_then(|at| self.node(at)).and_then(|node| node.children.get(part).copied());
        }
        CutNames { cuts: self, directory: at }
    }

    /// How many paths there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds a path, in place of those below it. Answers how many those were. A path that is hidden already, and the
    /// root, which cannot be cut, change nothing.
    pub(super) fn insert(&mut self, path: &[u8]) -> usize {
        if path.is_empty() || self.hide(path) {
            return 0;
        }
        let mut at = 0;
        for part in parts(path) {
            at = match self.node(at).and_then(|node| node.children.get(part).copied()) {
                Some(below) => below,
                None => self.add_child(at, part),
            };
        }
        let Some(node) = self.nodes.get_mut(at) else { return 0 };
        node.cut = true;
        let mut below: Vec<usize> = std::mem::take(&mut node.children).into_values().collect();
        let mut replaced = 0;
        while let Some(number) = below.pop() {
            if let Some(node) = self.nodes.get_mut(number) {
                let node = std::mem::take(node);
                replaced += usize::from(node.cut);
                below.extend(node.children.into_values());
                self.free.push(number);
            }
        }
        self.count = self.count + 1 - replaced;
        replaced
    }

    fn add_child(&mut self, parent: usize, name: &[u8]) -> usize {
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                self.nodes.push(Node::default());
                self.nodes.len() - 1
            }
        };
        if let Some(node) = self.nodes.get_mut(parent) {
            node.children.insert(Box::from(name), number);
        }
        number
    }

    /// All paths, in no particular order.
    pub(super) fn paths(&self) -> Vec<Vec<u8>> {
        let mut paths = Vec::with_capacity(self.count);
        let mut open = vec![(0, Vec::new())];
        while let Some((number, path)) = open.pop() {
            let Some(node) = self.node(number) else { continue };
            for (name, &below) in &node.children {
                open.push((below, super::join(&path, name)));
            }
            if node.cut {
                paths.push(path);
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(paths: &[&str]) -> Cuts {
        let mut cuts = Cuts::default();
        for path in paths {
            cuts.insert(path.as_bytes());
        }
        cuts
    }

    fn sorted(cuts: &Cuts) -> Vec<String> {
        let mut paths: Vec<_> =
            cuts.paths().into_iter().map(|path| String::from_utf8_lossy(&path).into_owned()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn a_cut_hides_what_lies_below_it() {
        let cuts = cuts(&["a/b", "c"]);
        for (path, hidden) in
            [("", false), ("a", false), ("a/b", true), ("a/b/x/y", true), ("a/bc", false), ("c", true), ("c-", false)]
        {
            assert_eq!(cuts.hide(path.as_bytes()), hidden, "{path}");
        }
        assert!(cuts.names(b"a").contains(b"b") && !cuts.names(b"a").contains(b"c"));
        assert!(cuts.names(b"").contains(b"c") && !cuts.names(b"").contains(b"a"));
        assert!(!cuts.names(b"none/at/all").contains(b"a"));
    }

    #[test]
    fn no_cut_lies_below_another() {
        let mut cuts = cuts(&["a/b/c", "a/b/d", "a/e", "f"]);
        assert_eq!(cuts.insert(b"a/b"), 2);
        assert_eq!((cuts.insert(b"a/b/c"), cuts.insert(b"a/b"), cuts.insert(b"")), (0, 0, 0));
        assert_eq!((sorted(&cuts), cuts.count()), (vec!["a/b".to_owned(), "a/e".into(), "f".into()], 3));
        assert_eq!(cuts.insert(b"a"), 2);
        cuts.insert(b"g/h/i/j");
        assert_eq!((sorted(&cuts), cuts.count()), (vec!["a".to_owned(), "f".into(), "g/h/i/j".into()], 3));
    }

    #[test]
    fn depth_is_no_problem() {
        let deep = b"d/".repeat(100_000);
        let mut cuts = Cuts::default();
        cuts.insert(&deep);
        assert!(cuts.hide(&deep) && cuts.clone().hide(&deep));
        assert_eq!(cuts.insert(b"d"), 1);
        assert_eq!(cuts.count(), 1);
    }
}
