//! The texts of xs:base64Binary and xs:hexBinary (XML Schema 1.0, part 2, 3.2.15 and 3.2.16). `None`: it is none.

/// Bytes in base64, with whitespace anywhere in it.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padding) = (0u32, 0usize, 0usize);
    for b in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let digit = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        if padding > 0 {
            return None;
        }
        bits = bits << 6 | u32::from(digit);
        count += 1;
        if count % 4 == 0 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            bits = 0;
        }
    }
    match (count % 4, padding) {
        (0, 0) => {}
        (2, 2) => out.push((bits >> 4) as u8),
        (3, 1) => out.extend_from_slice(&((bits >> 2) as u16).to_be_bytes()),
        _ => return None,
    }
    Some(out)
}

/// Bytes in hexadecimal, with whitespace around it.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.trim().chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    (digits.len().is_multiple_of(2))
        .then(|| digits.chunks_exact(2).map(|d| (d[0] << 4 | d[1]) as u8).collect())
}
