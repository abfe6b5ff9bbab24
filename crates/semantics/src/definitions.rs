//! Errors of definitions: what keeps a table, a column, a constraint or an index from being made, changed or dropped.
//!
//! SQL Server finds them when the definition is carried out, not when its batch is compiled, and most of them end the batch
//! and its transaction ("most errors from a data definition language (DDL) statement ... terminate the transaction outside
//! a TRY block but make a transaction uncommittable inside a TRY block": TRY...CATCH in its documentation).

/// 1750 follows: a constraint or an index is not made.
pub fn keeps_from_making(number: i32) -> bool {
    matches!(
        number,
        1752 | 1754
            | 1755
            | 1757
            | 1761..=1763
            | 1767..=1770
            | 1774
            | 1776
            | 1778
            | 1779
            | 1781
            | 1785
            | 8111
            | 8141
            | 10664
            | 10719
            | 10778
            | 10780
            | 10791
            | 41321
            | 41327
    )
}

/// Of a name, a column, a constraint or an index.
pub fn is_of_definition(number: i32) -> bool {
    keeps_from_making(number)
        || matches!(
            number,
            547 | 1913 | 2705 | 2714 | 2760 | 3725 | 3728 | 4901 | 4917 | 4922 | 4924 | 11415
        )
}
