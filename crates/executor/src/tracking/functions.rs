//! CHANGE_TRACKING_CURRENT_VERSION, CHANGE_TRACKING_MIN_VALID_VERSION, CHANGE_TRACKING_IS_COLUMN_IN_MASK.

use crate::cx::Environment;
use crate::error::from_engine;
use crate::message::SqlError;
use catalog::TableDef;
use ir::FuncId;
use types::Value;

/// The first two, as the transaction's snapshot has it; it is active.
pub fn function(
    func: FuncId,
    args: &[Value],
    env: &mut dyn Environment,
    txn: &mut engine::Txn,
) -> Result<Value, SqlError> {
    let failed = |e, env: &dyn Environment| from_engine(e, None, &env.database_name());
    if func == FuncId::ChangeTrackingMinValidVersion {
        let table = args.first().and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
        let Some(table) = table.and_then(|id| env.table(id)) else { return Ok(Value::Null) };
        let version = min_valid_version(&table, txn).map_err(|e| failed(e, env))?;
        return Ok(version.map(|version| version as i64).into());
    }
    match env.tracking().filter(|tracking| tracking.on) {
        None => Ok(Value::Null),
        Some(tracking) => {
            let commits = txn.database().tree(tracking.commits);
            let version = txn.tracked_version(&commits).map_err(|e| failed(e, env))?;
            Ok(Value::BigInt(version as i64))
        }
    }
}

/// From which version on changes of the table are all there; none when it is not tracked.
pub fn min_valid_version(
    table: &TableDef,
    txn: &mut engine::Txn,
) -> Result<Option<u64>, engine::EngineError> {
    let Some(tracking) = table.tracking else { return Ok(None) };
    let commits = txn.database().tree(tracking.commits);
    Ok(Some(tracking.begin_version.max(txn.cleaned_version(&commits)?)))
}

/// No mask means any column. 22101.
pub(crate) fn is_in_mask(column: &Value, mask: &Value) -> Result<Value, SqlError> {
    let Some(column) = column.as_i64() else { return Ok(Value::Null) };
    let mask = match mask {
        Value::Binary(mask) => mask,
        _ => return Ok(Value::Bit(true)),
    };
    if mask.len() < 8 || mask.len() % 4 != 0 || mask[..4] != [0; 4] {
        return Err(SqlError::new(
            22101,
            16,
            "The value supplied for the change_columns argument of CHANGE_TRACKING_IS_COLUMN_IN_MASK function is not \
             valid. The value must be a bitmask returned by the CHANGETABLE(CHANGES ...) function.",
        ));
    }
    let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(Value::Bit(mask[4..].chunks_exact(4).any(|bytes| i64::from(number(bytes)) == column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_lists_numbers_of_columns() {
        let mask = Value::binary(&[0, 0, 0, 0, 2, 0, 0, 0, 44, 1, 0, 0]);
        let ask = |column: i32| is_in_mask(&Value::Int(column), &mask).expect("a mask");
        assert_eq!(
            (ask(2), ask(300), ask(3)),
            (Value::Bit(true), Value::Bit(true), Value::Bit(false))
        );
        assert_eq!(is_in_mask(&Value::Int(9), &Value::Null).expect("none"), Value::Bit(true));
        let short = is_in_mask(&Value::Int(1), &Value::binary(&[0, 0, 0, 0]));
        assert_eq!(short.expect_err("too short").number, 22101);
    }
}
