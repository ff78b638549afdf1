//! Nodes of a layer under construction, found by what they carry.

/// Distinct rows of cells, numbered in order of appearance.
#[derive(Debug)]
pub(crate) struct States {
    width: usize,
    cells: Vec<i64>,
    hashes: Vec<u32>,
    /// Row numbers plus one by hash, 0 where free; a power of two of them, at most half used.
    table: Vec<u32>,
}

impl States {
    /// No rows of `width` cells.
    pub(crate) fn new(width: usize) -> States {
        States { width, cells: Vec::new(), hashes: Vec::new(), table: vec![0; 16] }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The cells of a row.
    pub(crate) fn row(&self, number: usize) -> &[i64] {
        &self.cells[number * self.width..(number + 1) * self.width]
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.cells[..]) + size_of_val(&self.hashes[..]) + size_of_val(&self.table[..])
    }

    /// The number of the row with these cells, which is added if there is none.
    pub(crate) fn number(&mut self, cells: &[i64]) -> u32 {
        let hash = hash(cells);
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while self.table[at] != 0 {
            let row = self.table[at] - 1;
            if self.hashes[row as usize] == hash && self.row(row as usize) == cells {
                return row;
            }
            at = (at + 1) & mask;
        }
        let row = self.len() as u32;
        self.table[at] = row + 1;
        self.cells.extend_from_slice(cells);
        self.hashes.push(hash);
        if 2 * self.len() > self.table.len() {
            self.grow();
        }
        row
    }

    fn grow(&mut self) {
        let mask = 2 * self.table.len() - 1;
        self.table = vec![0; mask + 1];
        for (row, &hash) in self.hashes.iter().enumerate() {
            let mut at = hash as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = row as u32 + 1;
        }
    }
}

/// Mixes all cells. Tables are private and small, so speed matters more than resistance to chosen collisions.
fn hash(cells: &[i64]) -> u32 {
    let mixed =
        cells.iter().fold(0_u64, |hash, &cell| (hash.rotate_left(5) ^ cell as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (mixed >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_have_one_number() {
        let mut states = States::new(2);
        for round in 0..2 {
            for row in 0..1000_i64 {
                assert_eq!(states.number(&[row % 10, row / 10]), row as u32, "round {round}");
            }
        }
        assert_eq!(states.len(), 1000);
        assert_eq!(states.row(123), [3, 12]);
    }
}
