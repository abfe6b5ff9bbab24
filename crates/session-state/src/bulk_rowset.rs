//! Files that statements read: opening them, and OPENROWSET(BULK ..., SINGLE_BLOB | SINGLE_CLOB | SINGLE_NCLOB), a whole file as
//! a value.
//!
//! Promise: memory is asked for before a file is read (701); the server's own files are out of reach, as everywhere (4861).
//! Sources: "OPENROWSET BULK (Transact-SQL)", "BULK INSERT (Transact-SQL)".

use crate::host::Host;
use crate::state::SessionState;
use bulk_file::{CodePage, Window};
use device::File;
use executor::{Reach, SqlError};
use security::{Permission, Target};
use std::io;
use std::sync::Arc;
use types::Value;

/// Bytes of the longest value.
const BYTES_MAX: u64 = i32::MAX as u64;

/// A file that a statement names, to read; 4860, 4861.
pub fn open_to_load(host: &mut dyn Host, path: &str, state: u8) -> Result<Arc<dyn File>, SqlError> {
    host.open_file(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let text = format!(
                "Cannot bulk load. The file \"{path}\" does not exist or you don't have file access rights."
            );
            SqlError::new(4860, 16, text).with_state(state).with_reach(Reach::Scope)
        }
        _ => load_error(4861, "opened", path, &error),
    })
}

/// 4861, 4862.
pub fn load_error(number: i32, what: &str, path: &str, error: &io::Error) -> SqlError {
    let code = error.raw_os_error().unwrap_or_default();
    let text = format!(
        "Cannot bulk load because the file \"{path}\" could not be {what}. Operating system error code {code}({error})."
    );
    SqlError::new(number, 16, text).with_reach(Reach::Scope)
}

/// 4834.
pub fn check_may_load(state: &SessionState) -> Result<(), SqlError> {
    if state.identity.access().allows(Permission::AdministerBulkOperations, Target::Server) {
        return Ok(());
    }
    let text = "You do not have permission to use the bulk load statement.";
    Err(SqlError::new(4834, 16, text).with_state(4).with_reach(Reach::Scope))
}

/// CODEPAGE = 'name', that of the server where it is not said; 4868.
pub fn code_page(name: Option<&str>) -> Result<CodePage, SqlError> {
    let Some(name) = name else { return Ok(CodePage::Latin1) };
    CodePage::of(name).ok_or_else(|| {
        let text = format!(
            "The bulk load failed. The codepage \"{name}\" is not installed. Install the codepage and run the command \
             again."
        );
        SqlError::new(4868, 16, text)
    })
}

/// The one row of OPENROWSET. 4834, 4860, 4861, 4862, 4868, 4809, 701. Suspends.
pub(crate) fn rows(
    state: &SessionState,
    host: &mut dyn Host,
    args: &[Value],
) -> Result<Vec<Vec<Value>>, SqlError> {
    let text = |i: usize| args.get(i).and_then(Value::as_str).unwrap_or("");
    let (path, kind, page) = (text(0), text(1), text(2));
    check_may_load(state)?;
    let file = open_to_load(host, path, 1)?;
    let unreadable = |error: io::Error| load_error(4862, "read", path, &error);
    let length = file.len().map_err(unreadable)?;
    // As bytes, and as text.
    let needed = usize::try_from(length).unwrap_or(usize::MAX).saturating_mul(3);
    runtime::memory::check(needed).map_err(runtime::task::Stopped::from)?;
    let Some(bytes) = Window::whole(file, BYTES_MAX).map_err(unreadable)? else {
        let text =
            format!("Attempting to grow LOB beyond maximum allowed size of {BYTES_MAX} bytes.");
        return Err(SqlError::new(7119, 16, text));
    };
    let value = match kind {
        "SINGLE_CLOB" => Value::str(&narrow(&bytes, page)?),
        "SINGLE_NCLOB" => Value::str(&wide(&bytes)?),
        _ => Value::binary(&bytes),
    };
    Ok(vec![vec![value]])
}

/// Text in a code page, that of the server unless another is said; 4868.
fn narrow(bytes: &[u8], page: &str) -> Result<String, SqlError> {
    let of = code_page((!page.is_empty()).then_some(page))?;
    let marked = bytes.strip_prefix(b"\xef\xbb\xbf");
    Ok(match (of, marked) {
        (CodePage::Utf8, _) => String::from_utf8_lossy(marked.unwrap_or(bytes)).into_owned(),
        _ => of.text(bytes).unwrap_or_default(),
    })
}

/// Text in UTF-16 that says so; 4809.
fn wide(bytes: &[u8]) -> Result<String, SqlError> {
    let Some(units) = bytes.strip_prefix(b"\xff\xfe") else {
        let text = "SINGLE_NCLOB requires a UNICODE (widechar) input file. The file specified is not Unicode.";
        return Err(SqlError::new(4809, 16, text));
    };
    let units: Vec<u16> =
        units.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Ok(String::from_utf16_lossy(&units))
}
