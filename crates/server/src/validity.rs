//! From when until when an X.509 certificate is valid: the few bytes of DER that say so (RFC 5280, 4.1).
//!
//! Reads only down to `tbsCertificate.validity`; whatever is not shaped so is `None`, never a panic.

/// Both ends in seconds since 1970, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    pub from_s: i64,
    pub until_s: i64,
}

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;

impl Validity {
    /// Of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Option<Validity> {
        let (_, certificate, _) = element(certificate).filter(|e| e.0 == SEQUENCE)?;
        let (_, tbs, _) = element(certificate).filter(|e| e.0 == SEQUENCE)?;
        let mut rest = tbs;
        if element(rest)?.0 == VERSION {
            rest = element(rest)?.2;
        }
        // serialNumber, signature, issuer.
        for _ in 0..3 {
            rest = element(rest)?.2;
        }
        let (_, validity, _) = element(rest).filter(|e| e.0 == SEQUENCE)?;
        let (tag, from, rest) = element(validity)?;
        let from_s = time(tag, from)?;
        let (tag, until, _) = element(rest)?;
        Some(Validity { from_s, until_s: time(tag, until)? })
    }
}

/// Tag, contents, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |sum, b| sum << 8 | usize::from(*b)), rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn time(tag: u8, text: &[u8]) -> Option<i64> {
    let digits = text.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let year_digits = match (tag, digits.len()) {
        (UTC_TIME, 12) => 2,
        (GENERALIZED_TIME, 14) => 4,
        _ => return None,
    };
    let number = |at: usize, n: usize| {
        digits[at..at + n].iter().fold(0i64, |sum, d| sum * 10 + i64::from(d - b'0'))
    };
    let year = match (year_digits, number(0, year_digits)) {
        (2, year @ 50..) => 1900 + year,
        (2, year) => 2000 + year,
        (_, year) => year,
    };
    let at = |i: usize| number(year_digits + 2 * i, 2);
    let (month, day) = (at(0), at(1));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(days(year, month, day) * 86_400 + at(2) * 3_600 + at(3) * 60 + at(4))
}

/// Days since 1970-01-01 (proleptic Gregorian; years counted from March).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::{GENERALIZED_TIME, UTC_TIME, Validity, time};

    #[test]
    fn times_are_seconds() {
        assert_eq!(time(UTC_TIME, b"700101000000Z"), Some(0));
        assert_eq!(time(UTC_TIME, b"261121133015Z"), Some(1_795_267_815));
        assert_eq!(time(UTC_TIME, b"491231235959Z"), Some(2_524_607_999));
        assert_eq!(time(GENERALIZED_TIME, b"20500101000000Z"), Some(2_524_608_000));
        assert_eq!(time(UTC_TIME, b"261321133015Z"), None);
        assert_eq!(time(UTC_TIME, b"26112113301Z"), None);
        assert_eq!(time(UTC_TIME, b"2611211330-5Z"), None);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let mut random = stdx::Prng::new(7);
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
            let _ = Validity::of(&bytes);
            let shaped: Vec<u8> =
                bytes.iter().map(|b| if b & 1 == 0 { 0x30 } else { b & 15 }).collect();
            assert_eq!(Validity::of(&shaped[..length.min(3)]), None);
            let _ = Validity::of(&shaped);
        }
    }
}
