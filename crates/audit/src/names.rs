//! Names of audit files: `<audit>_<id>_<number>_<time>.sqlaudit`, as SQL Server has them.
//!
//! Promises: a name is one name, whatever the audit is called: no folder, no blank beginning, 255 bytes at most; what
//! [`belongs_to`] says is an audit's own was named by it, for its id stands in the name. Times are 100 ns since 1601 and
//! grow, so the files of an audit are in their order.

/// What every file's name ends in.
pub const FILE_ENDING: &str = ".sqlaudit";
/// Of an audit's name in a file's.
const NAME_BYTES_MAX: usize = 120;
/// From 1601 to 1970, in units of 100 ns.
const EPOCH_TICKS: u64 = 116_444_736_000_000_000;

/// `XXXXXXXX-XXXX-...` of the 16 bytes of a uniqueidentifier, whose first three parts are little endian.
fn guid_text(g: &[u8; 16]) -> String {
    let part = |at: &[usize]| at.iter().map(|i| format!("{:02X}", g[*i])).collect::<String>();
    format!(
        "{}-{}-{}-{}-{}",
        part(&[3, 2, 1, 0]),
        part(&[5, 4]),
        part(&[7, 6]),
        part(&[8, 9]),
        part(&[10, 11, 12, 13, 14, 15])
    )
}

/// What the names of an audit's files begin with.
pub fn base(audit: &str, guid: &[u8; 16]) -> String {
    let mut name = String::new();
    for (at, c) in audit.char_indices() {
        let plain = c.is_alphanumeric() || matches!(c, '_' | '-' | ' ') || (c == '.' && at > 0);
        let mut piece = String::new();
        match plain {
            true => piece.push(c),
            false => {
                let bytes = c.to_string().into_bytes();
                bytes.iter().for_each(|byte| piece.push_str(&format!("%{byte:02X}")));
            }
        }
        if name.len() + piece.len() > NAME_BYTES_MAX {
            break;
        }
        name.push_str(&piece);
    }
    format!("{name}_{}", guid_text(guid))
}

/// The name of a file that is made now.
pub(crate) fn file_name(base: &str, number: u32, unix_ns: u64) -> String {
    format!("{base}_{number}_{}{FILE_ENDING}", unix_ns / 100 + EPOCH_TICKS)
}

/// Whether a file of that name is one of the audit with this id; its time then.
pub fn belongs_to(file: &str, guid: &[u8; 16]) -> Option<u64> {
    let stem = file.strip_suffix(FILE_ENDING)?;
    let (rest, time) = stem.rsplit_once('_')?;
    let (rest, number) = rest.rsplit_once('_')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (name, id) = rest.rsplit_once('_')?;
    let own = !name.is_empty() && id == guid_text(guid) && digits(number) && digits(time);
    own.then(|| time.parse().ok()).flatten()
}

/// The moment that a file's time says.
pub(crate) fn unix_ns_of(time: u64) -> u64 {
    time.saturating_sub(EPOCH_TICKS).saturating_mul(100)
}
