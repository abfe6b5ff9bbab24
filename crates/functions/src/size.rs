//! How much one value may take.

use crate::error::{FunctionError, no_memory};

/// One value that an expression makes has at most so many bytes (docs/limits.md).
pub(crate) const VALUE_BYTES_MAX: usize = 256 << 20;

/// A value of fewer bytes is made without a question.
const SHORT_BYTES: usize = 64 << 10;

/// 701 for a value of more bytes than one may have, or than there is memory for: it is made, and copied to its place.
#[inline]
pub fn value_of(bytes: usize) -> Result<(), FunctionError> {
    if bytes < SHORT_BYTES { Ok(()) } else { long_value_of(bytes) }
}

#[cold]
fn long_value_of(bytes: usize) -> Result<(), FunctionError> {
    if bytes > VALUE_BYTES_MAX || runtime::memory::check(bytes.saturating_mul(2)).is_err() {
        return Err(no_memory());
    }
    Ok(())
}
