//! The texts of xs:base64Binary and xs:hexBinary (XML Schema 1.0, part 2, 3.2.15 and 3.2.16). `None`: it is none.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Digits whose last bits belong to no byte are taken, as XML Schema's processors do.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Bytes in base64 (RFC 4648, section 4), with padding.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes from base64, with whitespace anywhere in it.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    FORGIVING.decode(digits).ok()
}

/// Bytes in hexadecimal, with whitespace around it.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.trim().chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    (digits.len().is_multiple_of(2))
        .then(|| digits.chunks_exact(2).map(|d| (d[0] << 4 | d[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_and_comes_back() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
        ] {
            assert_eq!(to_base64(bytes), text);
            assert_eq!(from_base64(text).as_deref(), Some(bytes));
        }
        assert_eq!(from_base64(" Z m\n9v ").as_deref(), Some(&b"foo"[..]));
        // The last digit says more than a byte's bits.
        assert_eq!(from_base64("Zh==").as_deref(), Some(&b"f"[..]));
        for text in ["Zg=", "Zg", "Z?==", "Zg==Zg==", "Z", "===="] {
            assert_eq!(from_base64(text), None, "{text}");
        }
    }
}
