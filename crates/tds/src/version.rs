//! The versions of the protocol that are spoken (LOGIN7 and LOGINACK, 2.2.6.4 and 2.2.7.14).

/// A version of TDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// SQL Server 7.0. Not spoken: a login is to be refused, and only ERROR and DONE, which the refusal is made of, are
    /// written in its form.
    V7_0,
    /// SQL Server 2000: short user types, lines and row counts, no headers of requests, no `(max)` types, which go out as
    /// text, ntext and image, nor xml.
    V7_1,
    /// SQL Server 2005. Without DATE, TIME, DATETIME2 and DATETIMEOFFSET, which go out as text.
    V7_2,
    /// SQL Server 2008, first form: without NBCROW.
    V7_3A,
    /// SQL Server 2008 R2.
    V7_3B,
    /// SQL Server 2012 and later.
    V7_4,
    /// TLS from the first byte ("strict").
    V8_0,
}

impl Version {
    /// The version that a client asks for in LOGIN7. A later 7.x is answered with 7.4; `None` for those
    /// before 7.0.
    pub fn from_login(number: u32) -> Option<Version> {
        match number {
            0x0800_0000..=0x08FF_FFFF => Some(Version::V8_0),
            0x7400_0000..=0x7FFF_FFFF => Some(Version::V7_4),
            0x730B_0000..=0x73FF_FFFF => Some(Version::V7_3B),
            0x7300_0000..=0x730A_FFFF => Some(Version::V7_3A),
            0x7200_0000..=0x72FF_FFFF => Some(Version::V7_2),
            0x7100_0000..=0x71FF_FFFF => Some(Version::V7_1),
            0x7000_0000..=0x70FF_FFFF => Some(Version::V7_0),
            _ => None,
        }
    }

    /// The number as LOGINACK sends it, big-endian.
    pub fn number(self) -> u32 {
        match self {
            Version::V7_0 => 0x7000_0000,
            Version::V7_1 => 0x7100_0001,
            Version::V7_2 => 0x7209_0002,
            Version::V7_3A => 0x730A_0003,
            Version::V7_3B => 0x730B_0003,
            Version::V7_4 => 0x7400_0004,
            Version::V8_0 => 0x0800_0000,
        }
    }

    /// Whether a client may log in with it.
    pub fn is_spoken(self) -> bool {
        self >= Version::V7_1
    }

    /// Requests begin with headers; types may be (max), xml and of the CLR; counts of rows have eight bytes, lines and user
    /// types four; transactions have descriptors.
    pub fn is_of_2005(self) -> bool {
        self >= Version::V7_2
    }

    /// DATE, TIME, DATETIME2 and DATETIMEOFFSET exist.
    pub fn has_date_types(self) -> bool {
        self >= Version::V7_3A
    }

    /// Rows may come with a bitmap of their NULLs.
    pub fn has_null_bitmap_rows(self) -> bool {
        self >= Version::V7_3B
    }
}
