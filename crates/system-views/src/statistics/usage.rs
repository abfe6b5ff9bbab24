//! How indexes are used: sys.dm_db_index_usage_stats.
//!
//! Columns and types: SQL Server's documentation of the view. A statement counts once, whatever its rows; an index that
//! was never used has no row. What the server itself reads is not counted, so the `system` columns stay 0.

use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use engine::{UsageFigures, Use};
use executor::SqlError;
use types::Value;
use types::datetime::DateTime;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&USAGE];

/// An index that has been used.
pub struct Used {
    database: i32,
    object: i32,
    index: i32,
    figures: UsageFigures,
}

fn used(context: &Context<'_>, _: &[Value]) -> Result<Vec<Used>, SqlError> {
    let mut all = Vec::new();
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        let figures = open.engine.index_usage();
        for object in open.catalog.objects_in(None) {
            let Some(table) = object.rows() else { continue };
            for (index, tree) in crate::catalog_views::indexes::trees_of(table) {
                if let Some((_, figures)) = figures.iter().find(|(id, _)| *id == tree) {
                    let (database, object, figures) = (database.id, table.object_id, *figures);
                    all.push(Used { database, object, index, figures });
                }
            }
        }
    }
    Ok(all)
}

impl Used {
    fn count(&self, what: Use) -> i64 {
        self.figures.count(what) as i64
    }

    fn last(&self, what: Use) -> Option<DateTime> {
        self.figures.last_unix_ns(what).map(moment)
    }
}

view! {
    USAGE = "sys.dm_db_index_usage_stats" of Used as u, rows used;
    database_id smallint = u.database as i16;
    object_id int = u.object;
    index_id int = u.index;
    user_seeks bigint = u.count(Use::Seek);
    user_scans bigint = u.count(Use::Scan);
    user_lookups bigint = u.count(Use::Lookup);
    user_updates bigint = u.count(Use::Update);
    last_user_seek datetime null = u.last(Use::Seek);
    last_user_scan datetime null = u.last(Use::Scan);
    last_user_lookup datetime null = u.last(Use::Lookup);
    last_user_update datetime null = u.last(Use::Update);
    system_seeks bigint = 0i64;
    system_scans bigint = 0i64;
    system_lookups bigint = 0i64;
    system_updates bigint = 0i64;
    last_system_seek datetime null = NULL;
    last_system_scan datetime null = NULL;
    last_system_lookup datetime null = NULL;
    last_system_update datetime null = NULL;
}
