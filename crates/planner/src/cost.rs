//! What operators cost, in SQL Server's unit: seconds of a certain machine of long ago. Only comparisons mean anything.
//!
//! The constants are those that showplans of SQL Server show: a page read at random 0.003125, the next one in order
//! 0.00074; a row read 0.0001581 to begin and 0.0000011 each.

/// A page at random.
pub const RANDOM_PAGE: f64 = 0.003_125;
/// The next page in order.
pub const NEXT_PAGE: f64 = 0.000_740_741;
/// The page of a row that is looked up by its entry in an index. Not SQL Server's, which reads it from a disk: measured
/// with the tree in memory, such a row takes as long as twenty that are scanned, of which a seek is half.
pub const LOOKUP_PAGE: f64 = NEXT_PAGE / 4.0;
/// Bytes of rows on a page.
pub const PAGE_BYTES: f64 = 8_060.0;

const FIRST_ROW: f64 = 0.000_158_1;
const NEXT_ROW: f64 = 0.000_001_1;
/// An operator's own work for a row.
const PASS_ROW: f64 = 0.000_000_1;
const HASH_ROW: f64 = 0.000_001_8;
const MERGE_ROW: f64 = 0.000_001_8;
/// Not SQL Server's, which has next to nothing for it: measured with tables in memory, a row that a hash join puts together
/// takes as long as one and a half that are scanned, one that nested loops do twice to three times as long; a scanned one
/// is that of [`NEXT_ROW`] and 150 bytes of [`NEXT_PAGE`].
const JOINED_ROW: f64 = 0.000_02;
const COMPARE: f64 = 0.000_000_48;

/// Input and output, and processor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Pages.
    pub io: f64,
    /// Rows.
    pub cpu: f64,
}

impl Cost {
    /// Processor alone.
    pub fn cpu(cpu: f64) -> Cost {
        Cost { io: 0.0, cpu }
    }

    /// Both.
    pub fn total(self) -> f64 {
        self.io + self.cpu
    }
}

/// Rows that lie one after the other: a scan, or a range of a seek.
pub fn read(rows: f64, row_bytes: f64) -> Cost {
    let pages = (rows * row_bytes / PAGE_BYTES).ceil().max(1.0);
    Cost {
        io: RANDOM_PAGE + NEXT_PAGE * (pages - 1.0),
        cpu: FIRST_ROW + NEXT_ROW * (rows - 1.0).max(0.0),
    }
}

/// One more seek for a row, of a tree whose upper pages, and perhaps the lowest, are in memory by now.
pub fn seek_again() -> f64 {
    FIRST_ROW
}

/// Bytes that lie one after the other, where the first page is in memory by now.
pub fn pages(bytes: f64) -> f64 {
    NEXT_PAGE * bytes / PAGE_BYTES
}

/// Rows that a join puts together.
pub fn joined(rows: f64) -> f64 {
    rows * JOINED_ROW
}

/// A row handed on.
pub fn pass(rows: f64) -> f64 {
    rows * PASS_ROW
}

/// A hash table built and probed.
pub fn hash(build: f64, probe: f64) -> f64 {
    0.017_65 + build * 2.0 * HASH_ROW + probe * HASH_ROW
}

/// The same where rows of the probing side are dropped by a filter of the keys: of a far smaller table few pass it.
pub fn hash_filtered(build: f64, probe: f64) -> f64 {
    let far = 4.0 * build <= probe;
    hash(build, probe) - if far { probe * HASH_ROW / 2.0 } else { 0.0 }
}

/// Two inputs that come in the same order, read side by side.
pub fn merge(left: f64, right: f64) -> f64 {
    0.005_607 + (left + right) * MERGE_ROW
}

/// A sort.
pub fn sort(rows: f64) -> Cost {
    let rows = rows.max(1.0);
    Cost { io: 0.011_261_3, cpu: 0.000_1 + rows * rows.log2().max(1.0) * COMPARE }
}

/// The first of so many rows, by an order that they do not come in.
pub fn top_sort(rows: f64, count: f64) -> f64 {
    let rows = rows.max(1.0);
    0.000_1 + rows * count.clamp(2.0, rows.max(2.0)).log2() * COMPARE
}

/// Rows of a sorted input grouped.
pub fn stream_aggregate(rows: f64) -> f64 {
    rows * 0.000_000_6
}

/// Pairs of rows tried.
pub fn pairs(left: f64, right: f64) -> f64 {
    left * right * 0.000_004_18
}
