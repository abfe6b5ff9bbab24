//! A row on its way in: its bytes, and one long run of equal bytes that the log need not repeat.

/// A run of one byte inside a row: the padding of a `char(n)`, say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Where the run starts in the row.
    pub offset: u16,
    /// How long it is.
    pub len: u16,
    /// The byte it repeats.
    pub byte: u8,
}

/// A row's bytes, with the run that the log image leaves out. The caller vouches that the run is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowImage<'a> {
    /// The whole row.
    pub bytes: &'a [u8],
    /// What the log leaves out.
    pub run: Option<Run>,
}

impl<'a> RowImage<'a> {
    /// A row that is logged whole.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> RowImage<'a> {
        RowImage { bytes, run: None }
    }

    /// A row whose `run` is elided from the log.
    #[inline]
    pub fn with_run(bytes: &'a [u8], run: Run) -> RowImage<'a> {
        debug_assert!(
            bytes[run.offset as usize..][..run.len as usize].iter().all(|&b| b == run.byte),
            "the run must be true"
        );
        RowImage { bytes, run: Some(run) }
    }
}
