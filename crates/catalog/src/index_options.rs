//! Options of an index that are kept, told and scripted again, and change nothing here: how full its upper pages are,
//! which locks its rows take, whether its statistic is made anew, how it is compressed. What has an effect (FILLFACTOR,
//! IGNORE_DUP_KEY) stands beside them in the definitions.
//!
//! Stored as one number (`pack`); 0, and NULL in rows from before there were any, are SQL Server's defaults. Bits: 0 padded,
//! 1 no recompute, 2 no row locks, 3 no page locks, 4 sequential, 5 and 6 compression; of a primary key also 8 to 15 its
//! fill factor.

/// DATA_COMPRESSION of rows; that of a columnstore index is in its own definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    #[default]
    None,
    Row,
    Page,
}

impl Compression {
    pub(crate) fn unpack(stored: i64) -> Compression {
        match stored {
            1 => Compression::Row,
            2 => Compression::Page,
            _ => Compression::None,
        }
    }

    /// As the views tell it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "NONE",
            Compression::Row => "ROW",
            Compression::Page => "PAGE",
        }
    }
}

/// See the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexOptions {
    /// PAD_INDEX.
    pub padded: bool,
    /// STATISTICS_NORECOMPUTE.
    pub no_recompute: bool,
    /// ALLOW_ROW_LOCKS = OFF.
    pub no_row_locks: bool,
    /// ALLOW_PAGE_LOCKS = OFF.
    pub no_page_locks: bool,
    /// OPTIMIZE_FOR_SEQUENTIAL_KEY.
    pub sequential: bool,
    pub compression: Compression,
}

impl IndexOptions {
    pub(crate) fn pack(self) -> i32 {
        let bit = |on: bool, at: u32| i32::from(on) << at;
        bit(self.padded, 0)
            | bit(self.no_recompute, 1)
            | bit(self.no_row_locks, 2)
            | bit(self.no_page_locks, 3)
            | bit(self.sequential, 4)
            | (self.compression as i32) << 5
    }

    pub(crate) fn unpack(packed: i32) -> IndexOptions {
        let bit = |at: u32| packed >> at & 1 != 0;
        IndexOptions {
            padded: bit(0),
            no_recompute: bit(1),
            no_row_locks: bit(2),
            no_page_locks: bit(3),
            sequential: bit(4),
            compression: Compression::unpack(i64::from(packed >> 5 & 3)),
        }
    }
}

/// ALTER INDEX ... SET and REBUILD WITH: what is not said stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexOptionsChange {
    pub fill_factor: Option<u8>,
    pub padded: Option<bool>,
    pub no_recompute: Option<bool>,
    pub no_row_locks: Option<bool>,
    pub no_page_locks: Option<bool>,
    pub sequential: Option<bool>,
    pub compression: Option<Compression>,
}

impl IndexOptionsChange {
    /// What CREATE INDEX and constraints say, over the defaults.
    pub fn options(&self) -> IndexOptions {
        let mut options = IndexOptions::default();
        self.apply(&mut options, &mut 0);
        options
    }

    /// Changes what is said.
    pub(crate) fn apply(&self, options: &mut IndexOptions, fill_factor: &mut u8) {
        *fill_factor = self.fill_factor.unwrap_or(*fill_factor);
        let set = |was: &mut bool, said: Option<bool>| *was = said.unwrap_or(*was);
        set(&mut options.padded, self.padded);
        set(&mut options.no_recompute, self.no_recompute);
        set(&mut options.no_row_locks, self.no_row_locks);
        set(&mut options.no_page_locks, self.no_page_locks);
        set(&mut options.sequential, self.sequential);
        options.compression = self.compression.unwrap_or(options.compression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_back_as_they_were_kept() {
        let compressions = [Compression::None, Compression::Row, Compression::Page];
        for bits in 0..32u8 {
            for compression in compressions {
                let bit = |at: u8| bits >> at & 1 != 0;
                let options = IndexOptions {
                    padded: bit(0),
                    no_recompute: bit(1),
                    no_row_locks: bit(2),
                    no_page_locks: bit(3),
                    sequential: bit(4),
                    compression,
                };
                assert_eq!(IndexOptions::unpack(options.pack()), options);
            }
        }
        assert_eq!(IndexOptions::default().pack(), 0);
    }

    #[test]
    fn what_is_not_said_stays() {
        let mut options = IndexOptions { padded: true, no_row_locks: true, ..Default::default() };
        let mut fill_factor = 70;
        let change = IndexOptionsChange { no_row_locks: Some(false), ..Default::default() };
        change.apply(&mut options, &mut fill_factor);
        assert_eq!((options.padded, options.no_row_locks, fill_factor), (true, false, 70));
    }
}
