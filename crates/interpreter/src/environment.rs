//! What expressions may ask: `@@` variables, functions of the session and the catalog, rows of system views.

use crate::host::Host;
use crate::state::SessionState;
use binder::ir::{FuncId, SysVar, SystemView};
use catalog::{ObjectRef, TableDef};
use executor::{Environment, SqlError};
use session_table::PrivateTables;
use types::{Decimal, Value};

/// A session and its host, as expressions see them.
pub(crate) struct SessionEnvironment<'a> {
    pub state: &'a mut SessionState,
    pub host: &'a mut dyn Host,
}

impl Environment for SessionEnvironment<'_> {
    fn system_variable(&mut self, var: SysVar) -> Value {
        let state = &*self.state;
        match var {
            SysVar::Spid => Value::SmallInt(state.spid as i16),
            SysVar::RowCount => Value::Int(state.rowcount.min(i32::MAX as i64) as i32),
            SysVar::TranCount => Value::Int(state.trancount() as i32),
            SysVar::Error => Value::Int(state.error),
            SysVar::Identity => identity(state.identity),
            SysVar::FetchStatus => Value::Int(0),
            SysVar::ProcId => Value::Int(state.procedure_id),
            SysVar::NestLevel => Value::Int(state.nesting as i32),
            SysVar::DateFirst => Value::TinyInt(state.options.datefirst),
            SysVar::LockTimeout => {
                let ms = state.options.lock_timeout_ms;
                Value::Int(ms.map_or(-1, |ms| ms.min(i32::MAX as u64) as i32))
            }
            SysVar::Options => Value::Int(5496 + if state.options.nocount { 512 } else { 0 }),
            SysVar::MaxConnections => Value::Int(32767),
            SysVar::Version => Value::str(&self.host.version()),
            SysVar::ServerName => Value::str(&self.host.server_name()),
            SysVar::ServiceName => Value::str("MSSQLSERVER"),
            SysVar::Language => Value::str("us_english"),
            SysVar::TextSize => Value::Int(-1),
        }
    }

    fn session_function(&mut self, func: FuncId, args: &[Value]) -> Result<Value, SqlError> {
        use FuncId::*;
        let text = |i: usize| args.get(i).and_then(Value::as_str);
        let number = |i: usize| args.get(i).and_then(Value::as_i64);
        let caught = self.state.caught.last();
        Ok(match func {
            ErrorNumber => Value::from(caught.map(|e| e.number)),
            ErrorMessage => Value::from(caught.map(|e| e.text.as_str())),
            ErrorLine => Value::from(caught.map(|e| e.line as i32)),
            ErrorSeverity => Value::from(caught.map(|e| e.severity as i32)),
            ErrorState => Value::from(caught.map(|e| e.state as i32)),
            ErrorProcedure => Value::from(caught.and_then(|e| e.procedure.as_deref())),
            XactState => Value::SmallInt(
                match (&self.state.transaction.count, self.state.transaction.doomed) {
                    (0, _) => 0,
                    (_, false) => 1,
                    (_, true) => -1,
                },
            ),
            ScopeIdentity => identity(self.state.identity),
            RowCountBig => Value::BigInt(self.state.rowcount),
            ObjectId => match text(0) {
                Some(name) => self.object_id(name, text(1)),
                None => Value::Null,
            },
            ObjectName | ObjectSchemaName => {
                let private = number(0).and_then(|id| {
                    let mut all = self.state.transaction.private.definitions();
                    all.find(|table| table.object_id as i64 == id).cloned().map(ObjectRef::Table)
                });
                let found = private.or_else(|| {
                    number(0).and_then(|id| self.state.database.catalog.object_by_id(id as i32))
                });
                Value::from(found.as_ref().map(|object| match (object, func) {
                    (ObjectRef::Table(t), ObjectName) => &*t.name,
                    (ObjectRef::Table(t), _) => &*t.schema,
                    (ObjectRef::Procedure(p), ObjectName) => &*p.name,
                    (ObjectRef::Procedure(p), _) => &*p.schema,
                }))
            }
            DbId => match args {
                [] => Value::SmallInt(self.state.database.id as i16),
                _ => {
                    let name = text(0).unwrap_or("");
                    let all = self.host.databases();
                    let found = all.iter().find(|(_, n)| n.eq_ignore_ascii_case(name));
                    found.map_or(Value::Null, |(id, _)| Value::SmallInt(*id as i16))
                }
            },
            DbName => match args {
                [] => Value::str(&self.state.database.name),
                _ => {
                    let all = self.host.databases();
                    let found = all.iter().find(|(id, _)| Some(*id as i64) == number(0));
                    found.map_or(Value::Null, |(_, name)| Value::str(name))
                }
            },
            SchemaName => match args {
                [] => Value::str("dbo"),
                _ => {
                    let all = self.state.database.catalog.schemas();
                    let found = all.iter().find(|(id, _)| Some(*id as i64) == number(0));
                    found.map_or(Value::Null, |(_, name)| Value::str(name))
                }
            },
            SchemaId => {
                let name = text(0).unwrap_or("dbo");
                let all = self.state.database.catalog.schemas();
                let found = all.iter().find(|(_, n)| n.eq_ignore_ascii_case(name));
                found.map_or(Value::Null, |(id, _)| Value::Int(*id))
            }
            ColName => match number(0).and_then(|id| self.table_by_id(id as i32)) {
                Some(table) => {
                    let column = number(1).and_then(|i| table.columns.get((i - 1) as usize));
                    Value::from(column.map(|c| &*c.name))
                }
                None => Value::Null,
            },
            IdentCurrent => Value::Null,
            SUserSName => Value::str("sa"),
            UserName => Value::str("dbo"),
            UserId => Value::Int(1),
            HostName => Value::str("localhost"),
            AppName => Value::str("millrace"),
            ServerProperty => server_property(text(0).unwrap_or(""), self.host),
            CurrentTransactionId => Value::BigInt(0),
            HasDbAccess | IsSrvRoleMember | IsMember => Value::Int(1),
            TypeId | TypeName | ColLength | DatabasePropertyEx | ObjectProperty
            | ColumnProperty | SessionProperty => Value::Null,
            other => return Err(SqlError::unsupported(format!("{other:?}"))),
        })
    }

    fn view_rows(
        &mut self,
        view: &SystemView,
        args: &[Value],
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        self.host.view_rows(view, args, self.state)
    }

    fn next_identity(&mut self, table: &TableDef) -> Result<i64, SqlError> {
        let value = if table.is_private() {
            let next = self.state.transaction.private.next_identity(table.place);
            next.map_err(|e| executor::private_error(e, table))?
        } else {
            self.state.database.catalog.next_identity(table, 1)?.0
        };
        self.state.identity = Some(value);
        Ok(value)
    }

    fn private(&mut self) -> &mut PrivateTables {
        &mut self.state.transaction.private
    }

    fn database_name(&self) -> String {
        self.state.database.name.clone()
    }
}

impl SessionEnvironment<'_> {
    fn object_id(&mut self, name: &str, kind: Option<&str>) -> Value {
        let parts = name_parts(name);
        let (schema, name) = match &parts[..] {
            [.., schema, name] => (Some(schema.as_str()).filter(|s| !s.is_empty()), name),
            [name] => (None, name),
            [] => return Value::Null,
        };
        if name.starts_with('#') {
            // Temporary tables are objects of tempdb, and found there only.
            let there = match &parts[..] {
                [.., database, _, _] => database.eq_ignore_ascii_case("tempdb"),
                _ => self.state.database.name.eq_ignore_ascii_case("tempdb"),
            };
            let table = self.state.transaction.private.find(name).filter(|_| there);
            let fits = kind.is_none_or(|kind| kind.trim().eq_ignore_ascii_case("U"));
            return table.filter(|_| fits).map_or(Value::Null, |t| Value::Int(t.object_id));
        }
        let other = parts.len() > 2
            && !parts[parts.len() - 3].eq_ignore_ascii_case(&self.state.database.name);
        let (database, scope) = if other {
            match self.host.database(&parts[parts.len() - 3]) {
                Some(database) => (database, None),
                None => return Value::Null,
            }
        } else {
            (self.state.database.clone(), self.state.transaction.scope())
        };
        let found = database.catalog.object(scope, schema, name);
        let fits = |object: &ObjectRef| {
            kind.is_none_or(|kind| object.kind().code().trim().eq_ignore_ascii_case(kind.trim()))
        };
        found.filter(fits).map_or(Value::Null, |object| Value::Int(object.object_id()))
    }

    fn table_by_id(&self, id: i32) -> Option<std::sync::Arc<TableDef>> {
        match self.state.database.catalog.object_by_id(id)? {
            ObjectRef::Table(table) => Some(table),
            ObjectRef::Procedure(_) => None,
        }
    }
}

/// A name's parts, without brackets and quotes.
pub(crate) fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in name.chars() {
        match (quote, c) {
            (None, '[') => quote = Some(']'),
            (None, '"') => quote = Some('"'),
            (Some(end), c) if c == end => quote = None,
            (None, '.') => parts.push(String::new()),
            (_, c) => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

fn identity(value: Option<i64>) -> Value {
    value.and_then(|v| Decimal::new(v as i128, 38, 0).ok()).map_or(Value::Null, Value::Decimal)
}

fn server_property(name: &str, host: &dyn Host) -> Value {
    match name.to_ascii_lowercase().as_str() {
        "productversion" => Value::str("16.0.1000.6"),
        "productlevel" => Value::str("RTM"),
        "edition" => Value::str("Developer Edition (64-bit)"),
        "engineedition" => Value::str("3"),
        "servername" | "machinename" => Value::str(&host.server_name()),
        "collation" => Value::str("SQL_Latin1_General_CP1_CI_AS"),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::name_parts;

    #[test]
    fn names_come_apart() {
        assert_eq!(name_parts("dbo.t"), ["dbo", "t"]);
        assert_eq!(name_parts("[d.b].[dbo].\"t\""), ["d.b", "dbo", "t"]);
        assert_eq!(name_parts("d..t"), ["d", "", "t"]);
    }
}
