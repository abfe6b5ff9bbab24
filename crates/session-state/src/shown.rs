//! What SET SHOWPLAN_* and SET STATISTICS * have asked for: the interpreter shows it.

/// What SET SHOWPLAN_* and SET STATISTICS * have asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Telling(u8);

/// Its bit.
pub const TEXT: u8 = 1;
/// Its bit.
pub const ALL: u8 = 2;
/// Its bit.
pub const XML: u8 = 4;
/// Its bit.
pub const PROFILE: u8 = 8;
/// Its bit.
pub const PROFILE_XML: u8 = 16;
/// Its bit.
pub const IO: u8 = 32;
/// Its bit.
pub const TIME: u8 = 64;

impl Telling {
    /// Is anything to be told?
    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }

    /// Sets an option by its name in SET; false when it is none of these.
    pub fn set(&mut self, name: &str, on: bool) -> bool {
        let bit = match name {
            "SHOWPLAN_TEXT" => TEXT,
            "SHOWPLAN_ALL" => ALL,
            "SHOWPLAN_XML" => XML,
            "STATISTICS PROFILE" => PROFILE,
            "STATISTICS XML" => PROFILE_XML,
            "STATISTICS IO" => IO,
            "STATISTICS TIME" => TIME,
            _ => return false,
        };
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
        true
    }

    /// Nothing is asked for.
    #[inline]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Plans are shown instead of run.
    #[inline]
    pub fn shows(self) -> bool {
        self.0 & (TEXT | ALL | XML) != 0
    }

    /// Is that bit on?
    pub fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}
