//! What expressions may ask: `@@` variables, functions of the session and the catalog, rows of system views.

use crate::host::Host;
use crate::state::SessionState;
use binder::ir::{FuncId, SysVar, SystemView};
use catalog::TableDef;
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
            ObjectId | ObjectName | ObjectSchemaName | ObjectDefinition | ObjectProperty
            | ObjectPropertyEx | ColName | ColLength | ColumnProperty | IndexCol
            | IndexProperty | IdentCurrent | IdentSeed | IdentIncr | TypeId | TypeName
            | TypeProperty | DbId | DbName | FileId | FileName | FilegroupId | FilegroupName
            | DatabasePropertyEx | ServerProperty | CollationProperty => {
                self.host.metadata(func, args, self.state)?
            }
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
            SUserSName => Value::str("sa"),
            UserName => Value::str("dbo"),
            UserId => Value::Int(1),
            HostName => Value::str("localhost"),
            AppName => Value::str("millrace"),
            CurrentTransactionId => Value::BigInt(0),
            HasDbAccess | IsSrvRoleMember | IsMember => Value::Int(1),
            SessionProperty => Value::Null,
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

/// A name's parts, without brackets and quotes; a closing bracket or quote inside is written twice.
pub fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let mut push = |c| parts.last_mut().into_iter().for_each(|part: &mut String| part.push(c));
        match (quote, c) {
            (None, '[') => quote = Some(']'),
            (None, '"') => quote = Some('"'),
            (Some(end), c) if c == end && chars.peek() == Some(&end) => {
                chars.next();
                push(end);
            }
            (Some(end), c) if c == end => quote = None,
            (None, '.') => parts.push(String::new()),
            (_, c) => push(c),
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

fn identity(value: Option<i64>) -> Value {
    value.and_then(|v| Decimal::new(v as i128, 38, 0).ok()).map_or(Value::Null, Value::Decimal)
}

#[cfg(test)]
mod tests {
    use super::name_parts;

    #[test]
    fn names_come_apart() {
        assert_eq!(name_parts("dbo.t"), ["dbo", "t"]);
        assert_eq!(name_parts("[d.b].[dbo].\"t\""), ["d.b", "dbo", "t"]);
        assert_eq!(name_parts("d..t"), ["d", "", "t"]);
        assert_eq!(name_parts("[a]]b].\"c\"\"d\""), ["a]b", "c\"d"]);
    }
}
