//! Bytes as digits to the base of 16.

/// Two digits a byte, small letters. Who has many bytes gives them through what lets others go first.
pub fn hex<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> String {
    let bytes = bytes.into_iter();
    let mut text = String::with_capacity(2 * bytes.size_hint().0);
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(half)]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(super::hex(&[0x00, 0x0f, 0xa5, 0xff]), "000fa5ff");
        assert_eq!(super::hex(&[]), "");
    }
}
