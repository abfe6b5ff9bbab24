//! What a branch of a transaction is, a place in it, and who decides that all of them commit. See `branches.rs`.

use crate::database::OpenDatabase;
use catalog::DdlScope;
use engine::{Savepoint, Txn};
use executor::{SqlError, from_engine};
use std::sync::Arc;

/// The transaction's part in another database.
pub(crate) struct Branch {
    pub database: Arc<OpenDatabase>,
    /// Active; absent while a reading there has it.
    pub txn: Option<Box<Txn>>,
    /// Uncommitted definitions.
    pub ddl: Option<Box<DdlScope>>,
}

/// A place in one database to go back to.
#[derive(Clone)]
pub(crate) struct Place {
    engine: Arc<engine::Database>,
    savepoint: Savepoint,
    definitions: usize,
}

impl Place {
    pub fn of(txn: &Txn, ddl: Option<&DdlScope>) -> Place {
        Place {
            engine: txn.database().clone(),
            savepoint: txn.savepoint(),
            definitions: ddl.map_or(0, DdlScope::mark),
        }
    }

    /// Takes one database's part back to its place among these, or to its beginning. Whether definitions were
    /// forgotten.
    pub fn back(
        places: &[Place],
        txn: &mut Txn,
        ddl: &mut Option<Box<DdlScope>>,
    ) -> Result<bool, SqlError> {
        let place = places.iter().find(|place| Arc::ptr_eq(&place.engine, txn.database()));
        let (savepoint, mark) = match place {
            Some(place) => (place.savepoint, place.definitions),
            None => (Savepoint::BEGIN, 0),
        };
        let forgotten = ddl.is_some();
        if let Some(scope) = ddl {
            scope.rollback_to(mark);
        }
        txn.rollback_to(savepoint).map_err(|e| from_engine(e, None, ""))?;
        Ok(forgotten)
    }
}

/// Who decides, for good, that a transaction over several databases commits.
pub trait Decisions: Send + Sync {
    /// The transaction of that number, prepared in all of them, commits. Durable when this returns. Suspends.
    fn decide(&self, transaction: u128) -> Result<(), SqlError>;
    /// It has committed everywhere, durably.
    fn decided_everywhere(&self, transaction: u128);
}
