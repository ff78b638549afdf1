//! Nodes of a layer under construction, found by the cells that they carry.

use super::table::{Table, hash};

/// Distinct rows of cells, numbered in order of appearance.
#[derive(Debug)]
pub(crate) struct States {
    width: usize,
    cells: Vec<i64>,
    table: Table,
}

impl States {
    /// Returns an empty table for rows of `width` cells.
    pub(crate) fn new(width: usize) -> States {
        States { width, cells: Vec::new(), table: Table::new() }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the cells of a row.
    pub(crate) fn row(&self, number: usize) -> &[i64] {
        &self.cells[number * self.width..(number + 1) * self.width]
    }

    /// Returns the number of bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.cells[..]) + self.table.bytes()
    }

    /// Returns the number of the row with these cells. Adds the row if it is new.
    pub(crate) fn number(&mut self, cells: &[i64]) -> u32 {
        let (width, known) = (self.width, &self.cells);
        let is_equal = |number: u32| known[number as usize * width..(number as usize + 1) * width] == *cells;
        let (number, is_new) = self.table.number(hash(cells.iter().map(|&cell| cell as u64)), is_equal);
        if is_new {
            self.cells.extend_from_slice(cells);
        }
        number
    }
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
