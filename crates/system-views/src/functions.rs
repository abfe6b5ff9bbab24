//! Metadata functions: OBJECT_ID, COLUMNPROPERTY, SERVERPROPERTY and their like.
//!
//! Promise: NULL for what is not there and for names that are none, as in SQL Server; no function here fails on bad
//! input. Properties whose type is sql_variant there are given as text; the binder converts the ones it knows by name.

mod objects;
mod properties;
mod server;
mod types;

use crate::context::{Context, Server};
use ::types::Value;
use ir::FuncId;
use session_state::SessionState;

/// The value of a metadata function; `None` when it is not one of these.
pub fn call(
    func: FuncId,
    args: &[Value],
    server: &dyn Server,
    session: &SessionState,
) -> Option<Value> {
    use FuncId as F;
    let context = Context::new(server, session);
    let args = Args(args);
    Some(match func {
        F::ObjectId => objects::object_id(&context, args),
        F::ObjectName => objects::of_id(&context, args, |o| Value::str(&o.name)),
        F::ObjectSchemaName => objects::of_id(&context, args, |o| Value::str(&o.schema)),
        F::ObjectDefinition => objects::definition(&context, args),
        F::ColName => objects::col_name(&context, args),
        F::ColLength => objects::col_length(&context, args),
        F::StatsDate => objects::stats_date(&context, args),
        F::IndexCol => objects::index_col(&context, args),
        F::IdentCurrent => objects::identity(&context, args, func),
        F::IdentSeed | F::IdentIncr => objects::identity(&context, args, func),
        F::ObjectProperty | F::ObjectPropertyEx => properties::of_object(&context, args, func),
        F::ColumnProperty => properties::of_column(&context, args),
        F::IndexKeyProperty => properties::of_index_key(&context, args),
        F::ServerFigure(figure) => server::figure(&context, figure),
        F::IndexProperty => properties::of_index(&context, args),
        F::TypeId => types::type_id(&context, args),
        F::TypeName => types::type_name(&context, args),
        // There are no assemblies.
        F::AssemblyProperty => Value::Null,
        F::TypeProperty => types::type_property(&context, args),
        F::OdbcScale => types::odbc_scale(args),
        F::DbId => server::db_id(&context, args),
        F::DbName => server::db_name(&context, args),
        F::FileId => server::small_file_id(&context, args),
        F::FileIdex => server::file_id(&context, args),
        F::FileName => server::file_name(&context, args),
        F::FileProperty => server::file_property(&context, args),
        F::FilegroupProperty => server::filegroup_property(&context, args),
        F::FulltextCatalogProperty => server::fulltext_catalog_property(&context, args),
        F::FilegroupId => server::filegroup_id(&context, args),
        F::FilegroupName => server::filegroup_name(&context, args),
        F::DatabasePropertyEx => server::database_property(&context, args),
        F::ServerProperty => server::server_property(&context, args),
        F::CollationProperty => server::collation_property(args),
        _ => return None,
    })
}

/// The arguments, by place and kind.
#[derive(Clone, Copy)]
struct Args<'a>(&'a [Value]);

impl<'a> Args<'a> {
    fn text(&self, i: usize) -> Option<&'a str> {
        self.0.get(i).and_then(Value::as_str)
    }

    fn number(&self, i: usize) -> Option<i64> {
        self.0.get(i).and_then(Value::as_i64)
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

/// A number as text, for what is sql_variant.
fn shown(number: i64) -> Value {
    Value::str(&number.to_string())
}
