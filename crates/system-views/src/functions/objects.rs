//! Objects and columns by name and id.

use super::Args;
use crate::catalog_views::columns::{Column, of_object};
use crate::context::Context;
use crate::object::{self, Object};

use catalog::same_name;
use ir::FuncId;
use session_state::name_parts;
use types::{Decimal, Value};

/// The object that a name of up to three parts names.
pub fn find<'a>(context: &Context<'a>, name: &str) -> Option<(Context<'a>, Object)> {
    let parts = name_parts(name);
    let part = |from_end: usize| {
        let i = parts.len().checked_sub(from_end + 1)?;
        Some(parts[i].as_str()).filter(|p| !p.is_empty())
    };
    let context = match part(2) {
        None => Context { database: context.database.clone(), ..*context },
        Some(database) => Context::of_database(context.server, context.session, database)?,
    };
    let found = object::by_name(&context, part(1), part(0)?)?;
    Some((context, found))
}

/// OBJECT_ID(name [, type]).
pub fn object_id(context: &Context<'_>, args: Args<'_>) -> Value {
    let found = args.text(0).and_then(|name| find(context, name));
    let wanted = args.text(1).map(str::trim);
    let fits = |o: &Object| wanted.is_none_or(|kind| o.kind().eq_ignore_ascii_case(kind));
    found.map(|(_, o)| o).filter(fits).map_or(Value::Null, |o| Value::Int(o.id))
}

/// Of the object with this id, in the database with that id if one is said; a temporary table's from anywhere.
pub fn of_id(context: &Context<'_>, args: Args<'_>, get: impl Fn(&Object) -> Value) -> Value {
    let found = args.number(0).and_then(|id| match args.number(1) {
        None => object::by_id(context, id),
        Some(database) => object::by_id(&context.of_database_id(database)?, id),
    });
    found.map_or(Value::Null, |o| get(&o))
}

/// STATS_DATE(object id, stats id).
pub fn stats_date(context: &Context<'_>, args: Args<'_>) -> Value {
    crate::catalog_views::statistics::date(context, args.number(0), args.number(1))
}

/// OBJECT_DEFINITION(id).
pub fn definition(context: &Context<'_>, args: Args<'_>) -> Value {
    let id = args.number(0);
    let found = id.and_then(|id| object::by_id(context, id));
    // A trigger of the database has a definition, though it is no object.
    let own = || {
        let all = object::ddl_triggers(context, catalog::ModuleKind::DatabaseTrigger);
        all.into_iter().find(|trigger| Some(i64::from(trigger.id)) == id)
    };
    let Some(found) = found.or_else(own) else { return Value::Null };
    found.definition().map_or(Value::Null, |text| Value::str(&text))
}

impl Object {
    /// The text of a module, a DEFAULT or a CHECK.
    pub fn definition(&self) -> Option<String> {
        match &self.what {
            _ if !self.is_readable => None,
            object::What::Default(table, i) => {
                table.columns[*i].default.as_ref().map(|d| d.text.to_string())
            }
            object::What::Check(table, i) => Some(table.checks[*i].text.to_string()),
            _ => self.shown_text().map(str::to_string),
        }
    }
}

/// COL_NAME(object, column).
pub fn col_name(context: &Context<'_>, args: Args<'_>) -> Value {
    let column = || {
        let object = object::by_id(context, args.number(0)?)?;
        let wanted = args.number(1)?;
        of_object(context, &object).into_iter().find(|c| c.id as i64 == wanted)
    };
    column().map_or(Value::Null, |c| Value::str(&c.name))
}

/// A column of the object that a name names.
pub fn column(context: &Context<'_>, object: &Object, name: &str) -> Option<Column> {
    let bare = name_parts(name).pop().unwrap_or_default();
    of_object(context, object).into_iter().find(|c| same_name(&c.name, &bare))
}

/// COL_LENGTH(table, column): bytes, -1 for (max) types.
pub fn col_length(context: &Context<'_>, args: Args<'_>) -> Value {
    let length = || {
        let (context, object) = find(context, args.text(0)?)?;
        column(&context, &object, args.text(1)?)
    };
    length().map_or(Value::Null, |c| Value::SmallInt(c.ty.max_length))
}

/// INDEX_COL(table, index id, place).
pub fn index_col(context: &Context<'_>, args: Args<'_>) -> Value {
    let name = || {
        let (_, object) = find(context, args.text(0)?)?;
        let table = object.rows()?.clone();
        let id = args.number(1)?;
        let place = usize::try_from(args.number(2)? - 1).ok()?;
        let key = match id {
            1 => table.clustered_key(),
            _ => &table.indexes.iter().find(|i| i64::from(i.index_id) == id)?.columns,
        };
        let (ordinal, _) = key.get(place)?;
        Some(table.columns[*ordinal].name.clone())
    };
    name().map_or(Value::Null, |n| Value::str(&n))
}

/// IDENT_CURRENT, IDENT_SEED and IDENT_INCR of a table.
pub fn identity(context: &Context<'_>, args: Args<'_>, func: FuncId) -> Value {
    let number = || {
        let (context, object) = find(context, args.text(0)?)?;
        let table = object.table()?;
        let identity = table.identity().and_then(|i| table.columns[i].identity)?;
        Some(match func {
            FuncId::IdentSeed => identity.seed,
            FuncId::IdentIncr => identity.increment,
            // Before the first row: the value it will get.
            _ => match context.current_identity(table) {
                Some(last) => last,
                None => context.first_identity(table).unwrap_or(identity.seed),
            },
        })
    };
    let number = number().and_then(|n| Decimal::new(n as i128, 38, 0).ok());
    number.map_or(Value::Null, Value::Decimal)
}

/// Parameters count as columns for COLUMNPROPERTY.
pub fn parameter(
    context: &Context<'_>,
    object: &Object,
    name: &str,
) -> Option<crate::catalog_views::modules::Parameter> {
    let all = crate::catalog_views::modules::parameters_of(context, object);
    all.into_iter().find(|p| p.name.eq_ignore_ascii_case(name))
}

/// Digits or characters of a column: COLUMNPROPERTY's Precision.
pub fn precision(ty: &crate::types_table::ColumnType) -> i32 {
    match ty.system {
        231 | 239 if ty.max_length > 0 => ty.max_length as i32 / 2,
        165 | 167 | 173 | 175 | 231 | 239 => ty.max_length as i32,
        _ => ty.precision as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types_table::column_type;

    #[test]
    fn precision_counts_characters() {
        let nvarchar = column_type(types::SqlType::NVarChar(types::Len::N(50)));
        assert_eq!(precision(&nvarchar), 50);
        assert_eq!(precision(&column_type(types::SqlType::Int)), 10);
        assert_eq!(precision(&column_type(types::SqlType::VarChar(types::Len::Max))), -1);
    }
}
