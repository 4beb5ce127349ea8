//! Associative arrays. They are walked in the order in which their elements were made.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::value::{Text, Value};

/// An array, shared by those it was passed to.
pub type ArrayRc = Rc<RefCell<Array>>;

/// An element.
#[derive(Clone, Debug)]
pub enum Item {
    /// A value.
    Value(Value),
    /// An array of its own.
    Array(ArrayRc),
}

/// Multiplies and rotates: fast for short keys. The order of elements does not depend on it.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
}

/// An array.
#[derive(Default, Debug)]
pub struct Array {
    places: HashMap<Text, usize, BuildHasherDefault<KeyHasher>>,
    /// Deleted elements leave a gap until there are too many.
    items: Vec<Option<(Text, Item)>>,
}

impl Array {
    /// A new array to share.
    pub fn shared() -> ArrayRc {
        Rc::new(RefCell::new(Self::default()))
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// An element, if it exists.
    pub fn get(&self, key: &Vec<u8>) -> Option<&Item> {
        let place = *self.places.get(key)?;
        self.items[place].as_ref().map(|(_, item)| item)
    }

    /// An element, made when it does not exist.
    pub fn entry(&mut self, key: &Text) -> &mut Item {
        let place = match self.places.get(key) {
            Some(place) => *place,
            None => {
                self.places.insert(key.clone(), self.items.len());
                self.items.push(None);
                self.items.len() - 1
            }
        };
        let item = self.items[place].get_or_insert_with(|| (key.clone(), Item::Value(Value::Unset)));
        &mut item.1
    }

    /// Sets an element.
    pub fn set(&mut self, key: Text, value: Value) {
        *self.entry(&key) = Item::Value(value);
    }

    /// Sets an element with a number as its key.
    pub fn set_index(&mut self, index: usize, value: Value) {
        self.set(Rc::new(index.to_string().into_bytes()), value);
    }

    /// Deletes an element.
    pub fn remove(&mut self, key: &Vec<u8>) {
        let Some(place) = self.places.remove(key) else { return };
        self.items[place] = None;
        if self.items.len() > 32 && self.places.len() < self.items.len() / 2 {
            self.items.retain(Option::is_some);
            for (place, item) in self.items.iter().enumerate() {
                if let Some((key, _)) = item {
                    self.places.insert(key.clone(), place);
                }
            }
        }
    }

    /// Deletes all.
    pub fn clear(&mut self) {
        self.places.clear();
        self.items.clear();
    }

    /// The keys in order.
    pub fn keys(&self) -> Vec<Text> {
        self.items.iter().flatten().map(|(key, _)| key.clone()).collect()
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Item)> {
        self.items.iter().flatten().map(|(key, item)| (key, item))
    }
}
