//! Holding a page.

use std::marker::PhantomData;

/// An optimistic look at a page.
pub struct PageRead<'a>(PhantomData<&'a ()>);
/// A page held exclusively.
pub struct PageWrite<'a>(PhantomData<&'a ()>);
