//! A hash table from contents to numbers.

/// A hash table of the numbers 0, 1, 2, ... The caller stores the contents of each number, in the
/// order of the numbers.
#[derive(Debug)]
pub(super) struct Table {
    hashes: Vec<u32>,
    /// Numbers plus one by hash, 0 for a free slot. The length is a power of two, and at most half
    /// is used.
    slots: Vec<u32>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { hashes: Vec::new(), slots: vec![0; 16] }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the number of bytes in use.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.hashes[..]) + size_of_val(&self.slots[..])
    }

    /// Returns the number with this hash for which `is_equal` holds. If there is none, adds the
    /// next number. The second result is true if the number was added.
    pub(super) fn number(&mut self, hash: u32, is_equal: impl Fn(u32) -> bool) -> (u32, bool) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            let number = self.slots[at] - 1;
            if self.hashes[number as usize] == hash && is_equal(number) {
                return (number, false);
            }
            at = (at + 1) & mask;
        }
        let number = self.hashes.len() as u32;
        self.slots[at] = number + 1;
        self.hashes.push(hash);
        if 2 * self.hashes.len() > self.slots.len() {
            self.grow();
        }
        (number, true)
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        self.slots = vec![0; mask + 1];
        for (number, &hash) in self.hashes.iter().enumerate() {
            let mut at = hash as usize & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = number as u32 + 1;
        }
    }
}

/// Hashes numbers. Tables are private and small, so speed matters more than resistance to chosen
/// collisions.
pub(super) fn hash(numbers: impl Iterator<Item = u64>) -> u32 {
    let mixed = numbers.fold(0_u64, |hash, number| (hash.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (mixed >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_things_have_one_number() {
        let mut table = Table::new();
        for round in 0..2 {
            for thing in 0..1000_u32 {
                // Use few hashes, so that most numbers share theirs with others.
                let found = table.number(hash([u64::from(thing % 7)].into_iter()), |number| number == thing);
                assert_eq!(found, (thing, round == 0));
            }
        }
        assert_eq!(table.len(), 1000);
    }
}
