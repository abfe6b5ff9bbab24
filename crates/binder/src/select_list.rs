//! The items of a select list, as they are bound.

use ir::Expr;

/// An item: what is shown, and under what name.
pub(crate) struct Item {
    pub name: Option<String>,
    pub expr: Expr,
    pub identity: Option<catalog::Identity>,
    pub updatable: bool,
    /// Added for browse mode.
    pub hidden: bool,
}
