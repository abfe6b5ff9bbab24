//! A copy of every page about to be written in place.

use crate::{FileId, PoolError};
use device::File;
use std::sync::Arc;

/// Restores pages whose in-place write was torn; returns how many. Before the pool is made, at open.
pub fn repair_torn(doublewrite: &Arc<dyn File>, files: &[(FileId, Arc<dyn File>)]) -> Result<usize, PoolError> {
    let _ = (doublewrite, files);
    unimplemented!()
}
