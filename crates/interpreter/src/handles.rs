//! Handles: what sys.dm_exec_sql_text and its kind are asked with. SQL Server's are 44 (texts) and 64 bytes at most; the
//! first byte tells the kind.
//!
//! Promise: a text's handle is made of the text alone; a plan's names one plan of this process and no other.

/// The handle of a text: 44 bytes, of which the first 20 tell texts apart.
pub fn sql_handle(text: &str) -> Vec<u8> {
    let mut handle = vec![0x02, 0, 0, 0];
    let mut hashes = [0x6d69_6c6c_7261_6365u64, 0x7365_6c65_6374_2a00];
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u64::from_le_bytes(word);
        hashes[0] = stdx::mix64(hashes[0] ^ word);
        hashes[1] = stdx::mix64(hashes[1].rotate_left(23).wrapping_add(word));
    }
    hashes[0] = stdx::mix64(hashes[0] ^ text.len() as u64);
    hashes.iter().for_each(|hash| handle.extend_from_slice(&hash.to_be_bytes()));
    handle.resize(44, 0);
    handle
}

/// The handle of a plan: kind, database, number.
pub fn plan_handle(database_id: u16, number: u64) -> Vec<u8> {
    let mut handle = vec![0x06, 0];
    handle.extend_from_slice(&database_id.to_le_bytes());
    handle.extend_from_slice(&stdx::mix64(number).to_be_bytes());
    handle.extend_from_slice(&number.to_be_bytes());
    handle.resize(44, 0);
    handle
}

/// Whether these are the digits of a handle, as `0x...` writes it.
pub(crate) fn is_written(handle: &[u8], digits: &str) -> bool {
    stdx::hex(handle).eq_ignore_ascii_case(digits)
}

#[cfg(test)]
mod tests {
    use super::sql_handle;

    #[test]
    fn a_handle_names_its_text() {
        let texts = [
            "",
            "a",
            "SELECT 1",
            "SELECT 2",
            "SELECT 1 ",
            "\0",
            "\0\0",
            "SELECT 12345678",
            "12345678SELECT ",
        ];
        for (i, a) in texts.iter().enumerate() {
            assert_eq!(sql_handle(a).len(), 44);
            assert_eq!(sql_handle(a), sql_handle(&["", a].concat()), "the text alone tells");
            for b in &texts[..i] {
                assert_ne!(sql_handle(a)[..20], sql_handle(b)[..20], "{a:?} and {b:?}");
            }
        }
    }
}
