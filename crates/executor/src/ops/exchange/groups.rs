//! Groups made by branches: each groups the rows that it makes, and hands over its table when that has grown, and at its end.
//!
//! Promise: what is handed over, put together, is what the rows would have given. A table is bounded by its groups, so a
//! branch needs little memory whatever it reads; what it counts goes along with the table.

use super::super::aggregate;
use super::super::group_table::{GroupTable, Turn};
use super::super::grouping::Grouping;
use super::super::shared::Grouped;
use super::queue::{Exchange, Piece};
use crate::cx::Cx;
use crate::message::SqlError;
use planner::Node;
use std::sync::atomic::Ordering::Relaxed;

/// Groups of a table that is handed over before its branch has ended.
const GROUPS_MAX: usize = 8192;

/// What a branch does.
pub(super) fn run(
    node: &Node,
    exchange: &Exchange,
    grouped: &Grouped,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let mut input = super::super::build_for(node, exchange.needed.as_deref());
    input.take_over(&mut exchange.joins.iter());
    let grouping =
        Grouping { weight: grouped.weight, ..Grouping::new(&grouped.group, &grouped.aggs) };
    let mut table = GroupTable::default();
    if grouped.scalar {
        table.begin_scalar(&grouping);
    }
    let mut turn = Turn::with_room();
    let mut told = false;
    aggregate::read(
        &grouping,
        grouped.scalar,
        &mut input,
        &mut table,
        &mut turn,
        &mut |table, input, cx| {
            exchange.tell_filters(&mut told, input);
            match table.groups < GROUPS_MAX {
                true => Ok(!exchange.stop.load(Relaxed)),
                false => Ok(hand_over(exchange, table, cx)),
            }
        },
        cx,
    )?;
    grouping.warn(cx);
    if table.groups > 0 {
        hand_over(exchange, &mut table, cx);
    }
    Ok(())
}

/// False where nobody wants it.
fn hand_over(exchange: &Exchange, table: &mut GroupTable, cx: &mut Cx<'_>) -> bool {
    let seen = cx.txn.as_deref().map(engine::Txn::has_seen);
    let mut piece = Piece::Groups(std::mem::take(table));
    let taken = exchange.put(&mut piece, seen);
    if let Piece::Groups(left) = &mut piece {
        left.clear(cx);
    }
    taken
}
