//! Variables: values, attributes, and the table with dynamic scope.
//!
//! The table is flat: `local` saves what a name was and the function's end puts it back, so a lookup costs one hash
//! whatever the depth. It is shared between a shell and its subshells until one of them writes.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// A variable's name.
pub type Name = Rc<[u8]>;

/// A fast hash for short keys that nobody chooses to collide: a guest only slows itself.
#[derive(Default, Clone)]
pub struct FxHasher(u64);

impl Hasher for FxHasher {
    fn finish(&self) -> u64 {
        // The table looks at the low 32 bits only, and a product's low bits know nothing of its factors' high ones:
        // without this, names that differ in their last letters share a bucket.
        let hash = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ (hash >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        // What is left is read from both its ends, which may overlap: the length is hashed as well.
        if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            self.write_u64(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32);
        } else if let (Some(first), Some(last)) = (rest.first_chunk::<2>(), rest.last_chunk::<2>()) {
            self.write_u64(u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << 16);
        } else if let Some(&c) = rest.first() {
            self.write_u64(u64::from(c));
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(u64::from(n));
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

/// A hash map with that hash.
pub type FxMap<K, V> = HashMap<K, V, BuildHasherDefault<FxHasher>>;

/// Attribute bits.
pub mod attr {
    pub const EXPORT: u16 = 1;
    pub const READONLY: u16 = 2;
    pub const INTEGER: u16 = 4;
    pub const UPPER: u16 = 8;
    pub const LOWER: u16 = 16;
    pub const CAPITAL: u16 = 32;
    pub const NAMEREF: u16 = 64;
    pub const TRACE: u16 = 128;
    /// The value is computed when it is read.
    pub const DYNAMIC: u16 = 256;
}

/// The elements of an indexed array.
pub type Indexed = BTreeMap<i64, Vec<u8>>;

/// The elements of an associative array, iterated in bash's order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Assoc {
    map: FxMap<Vec<u8>, (u64, Vec<u8>)>,
    next: u64,
}

/// What a variable holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub enum Value {
    #[default]
    Unset,
    Scalar(Vec<u8>),
    /// The flag tells whether it was ever assigned (`declare -a x` alone is not).
    Indexed(Indexed, bool),
    Assoc(Assoc, bool),
}

/// A variable.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Var {
    pub value: Value,
    pub attrs: u16,
    /// Number of the scope that declared it; 0 is global.
    pub scope: u32,
}

/// The table of all visible variables.
pub type Vars = FxMap<Name, Rc<Var>>;

impl Assoc {
    pub fn get(&self, key: &[u8]) -> Option<&Vec<u8>> {
        self.map.get(key).map(|(_, v)| v)
    }

    pub fn insert(&mut self, key: Vec<u8>, value: Vec<u8>) {
        if let Some((_, old)) = self.map.get_mut(&key) {
            *old = value;
            return;
        }
        let n = self.next;
        self.next += 1;
        self.map.insert(key, (n, value));
    }

    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.map.remove(key).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Keys and values in the order bash lists them: by bucket of its hash, newest first in each.
    pub fn entries(&self) -> Vec<(&Vec<u8>, &Vec<u8>)> {
        let mut buckets = 1024u32;
        while self.map.len() as u64 > u64::from(buckets) * 2 {
            buckets *= 4;
        }
        let mut all: Vec<_> = self
            .map
            .iter()
            .map(|(k, (n, v))| (bucket(k, buckets), u64::MAX - n, k, v))
            .collect();
        all.sort_unstable_by_key(|e| (e.0, e.1));
        all.into_iter().map(|(_, _, k, v)| (k, v)).collect()
    }
}

/// Where bash's tables have a key, which is the order in which they are listed: by FNV-1 over signed characters.
pub fn bucket(key: &[u8], buckets: u32) -> u32 {
    let hash = key.iter().fold(2_166_136_261u32, |h, &c| {
        h.wrapping_mul(16_777_619) ^ (c as i8 as i32 as u32)
    });
    hash & (buckets - 1)
}

impl Var {
    /// A plain variable.
    pub fn scalar(value: impl Into<Vec<u8>>) -> Self {
        Self {
            value: Value::Scalar(value.into()),
            attrs: 0,
            scope: 0,
        }
    }

    pub fn has(&self, bit: u16) -> bool {
        self.attrs & bit != 0
    }

    pub fn is_array(&self) -> bool {
        matches!(self.value, Value::Indexed(..) | Value::Assoc(..))
    }

    /// Whether it was ever assigned.
    pub fn is_set(&self) -> bool {
        !matches!(
            self.value,
            Value::Unset | Value::Indexed(_, false) | Value::Assoc(_, false)
        )
    }

    /// What `$name` gives: an array's element 0.
    pub fn text(&self) -> Option<&[u8]> {
        match &self.value {
            Value::Unset => None,
            Value::Scalar(text) => Some(text),
            Value::Indexed(array, _) => array.get(&0).map(Vec::as_slice),
            Value::Assoc(array, _) => array.get(b"0").map(Vec::as_slice),
        }
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        match &self.value {
            Value::Unset => 0,
            Value::Scalar(_) => 1,
            Value::Indexed(array, _) => array.len(),
            Value::Assoc(array, _) => array.len(),
        }
    }

    /// All values in order.
    pub fn values(&self) -> Vec<Vec<u8>> {
        match &self.value {
            Value::Unset => Vec::new(),
            Value::Scalar(text) => vec![text.clone()],
            Value::Indexed(array, _) => array.values().cloned().collect(),
            Value::Assoc(array, _) => array.entries().into_iter().map(|(_, v)| v.clone()).collect(),
        }
    }

    /// All keys in order.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        match &self.value {
            Value::Unset => Vec::new(),
            Value::Scalar(_) => vec![b"0".to_vec()],
            Value::Indexed(array, _) => array.keys().map(|&k| crate::arith::decimal(k)).collect(),
            Value::Assoc(array, _) => array.entries().into_iter().map(|(k, _)| k.clone()).collect(),
        }
    }
}
