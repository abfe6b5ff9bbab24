//! Application locks in T-SQL's words: names of modes and owners, and the two functions.
//!
//! Knows nothing of procedures: `sp_getapplock` and `sp_releaseapplock` are the interpreter's.

use engine::{KeyMode, Txn};
use ir::FuncId;
use types::Value;

/// The mode of that name, in any case.
pub fn mode(name: &str) -> Option<KeyMode> {
    Some(match name.to_ascii_lowercase().as_str() {
        "shared" => KeyMode::SHARED,
        "update" => KeyMode::UPDATE,
        "exclusive" => KeyMode::EXCLUSIVE,
        "intentshared" => KeyMode::INTENT_SHARED,
        "intentexclusive" => KeyMode::INTENT_EXCLUSIVE,
        _ => return None,
    })
}

/// Whether the owner of that name is the session; `None` when it is no owner.
pub fn is_session(name: &str) -> Option<bool> {
    match name.to_ascii_lowercase().as_str() {
        "session" => Some(true),
        "transaction" => Some(false),
        _ => None,
    }
}

fn name(mode: KeyMode) -> &'static str {
    match mode.name() {
        "S" => "Shared",
        "U" => "Update",
        "X" => "Exclusive",
        "IS" => "IntentShared",
        "IX" => "IntentExclusive",
        "SIX" => "SharedIntentExclusive",
        _ => "NoLock",
    }
}

/// APPLOCK_MODE and APPLOCK_TEST; NULL for arguments that mean nothing.
pub fn function(func: FuncId, args: &[Value], txn: &mut Txn) -> Value {
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    let answer = || {
        let (principal, resource) = (text(0)?, text(1)?);
        if func == FuncId::AppLockMode {
            let held = txn.app_lock_mode(principal, resource, is_session(text(2)?)?);
            return Some(Value::str(name(held)));
        }
        is_session(text(3)?)?;
        let free = txn.app_lock_test(principal, resource, mode(text(2)?)?);
        Some(Value::SmallInt(i16::from(free)))
    };
    let mut answer = answer;
    answer().unwrap_or(Value::Null)
}
