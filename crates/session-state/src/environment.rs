//! What expressions may ask: `@@` variables, functions of the session and the catalog, rows of system views.

use crate::host::Host;
use crate::languages::LANGUAGES;
use crate::machine::Machine;
use crate::names::module_by_id;
use crate::options::{ANSI_WARNINGS, ARITHABORT, ARITHIGNORE, SetOptions};
use crate::principal_functions::principal_function;
use crate::state::{Client, Firing, SessionState};
use crate::view_asks::{ViewAsks, check_server_state, check_view, view_asks};
use catalog::TableDef;
use executor::{Environment, SqlError};
use ir::{FuncId, SysVar, SystemView};
use security::{Permission, Target};
use session_table::PrivateTables;
use types::{Decimal, SqlType, Value, convert};

/// Its rows come from files that the host reads.
const AUDIT_FILE: &str = "sys.fn_get_audit_file";

/// A session and its host, as expressions see them.
pub struct SessionEnvironment<'a> {
    pub state: &'a mut SessionState,
    pub host: &'a mut dyn Host,
    /// Runs its functions, and has its cursors.
    pub machine: &'a mut dyn Machine,
}

impl Environment for SessionEnvironment<'_> {
    fn arithmetic_yields_null(&self) -> bool {
        !self.state.options.has(ANSI_WARNINGS | ARITHABORT)
    }

    fn cuts_text(&self) -> bool {
        !self.state.options.has(ANSI_WARNINGS)
    }

    fn workspace(&self) -> Option<std::sync::Arc<executor::Workspace>> {
        self.host.workspace()
    }

    fn bounds(&self) -> executor::Bounds {
        self.state.bounds.clone()
    }

    fn note_spill(&mut self, spilled: &executor::SpillFigures) {
        self.state.spilled.add(spilled);
        if let Some(workspace) = self.host.workspace() {
            workspace.note_spill(spilled);
        }
    }

    fn warn(&mut self, mut warnings: executor::Warnings) {
        use executor::Warnings;
        if !self.state.options.has(ANSI_WARNINGS) {
            warnings = warnings.without(Warnings::NULL_ELIMINATED);
        }
        if self.state.options.has(ARITHIGNORE) {
            let arithmetic = [Warnings::DIVISION_BY_ZERO, Warnings::OVERFLOW];
            warnings = arithmetic.into_iter().fold(warnings, Warnings::without);
        }
        self.state.warnings.add(warnings);
    }

    fn session(&self) -> u32 {
        u32::from(self.state.spid)
    }

    fn system_variable(&mut self, var: SysVar) -> Value {
        let state = &*self.state;
        match var {
            SysVar::Spid => Value::SmallInt(state.spid as i16),
            SysVar::RowCount => Value::Int(state.rowcount.min(i32::MAX as i64) as i32),
            SysVar::TranCount => Value::Int(state.trancount() as i32),
            SysVar::Error => Value::Int(state.error),
            SysVar::Identity => identity(state.last_identity),
            SysVar::FetchStatus => Value::Int(self.machine.fetch_status()),
            SysVar::ProcId => Value::Int(state.procedure_id),
            SysVar::NestLevel => Value::Int(state.nesting as i32),
            SysVar::DateFirst => Value::TinyInt(state.options.datefirst),
            SysVar::LockTimeout => {
                let ms = state.options.lock_timeout_ms;
                Value::Int(ms.map_or(-1, |ms| ms.min(i32::MAX as u64) as i32))
            }
            SysVar::Options => Value::Int(state.options.bits() as i32),
            SysVar::MaxConnections => Value::Int(32767),
            SysVar::Version => Value::str(&self.host.version()),
            SysVar::ServerName => Value::str(&self.host.server_name()),
            SysVar::ServiceName => Value::str("MSSQLSERVER"),
            SysVar::Language => Value::str(LANGUAGES[state.options.language as usize].name),
            SysVar::LangId => Value::SmallInt(state.options.language as i16),
            SysVar::TextSize => Value::Int(state.options.textsize),
            SysVar::MaxPrecision => Value::TinyInt(38),
            // SQL Server 2022: major version, minor version and build as bytes and a word.
            SysVar::MicrosoftVersion => Value::Int(16 << 24 | 1000),
            SysVar::CursorRows => Value::Int(self.machine.cursor_rows()),
        }
    }

    fn session_function(&mut self, func: FuncId, args: &[Value]) -> Result<Value, SqlError> {
        use FuncId::*;
        let text = |i: usize| args.get(i).and_then(Value::as_str);
        let caught = self.state.caught.last();
        Ok(match func {
            ErrorNumber => Value::from(caught.map(|e| e.number)),
            ErrorMessage => Value::from(caught.map(|e| e.text.as_str())),
            ErrorLine => Value::from(caught.map(|e| e.line as i32)),
            ErrorSeverity => Value::from(caught.map(|e| e.severity as i32)),
            ErrorState => Value::from(caught.map(|e| e.state as i32)),
            ErrorProcedure => match caught.map(|e| (e.schema.as_deref(), e.procedure.as_deref())) {
                Some((Some(schema), Some(name))) => Value::str(&format!("{schema}.{name}")),
                Some((None, Some(name))) => Value::str(name),
                _ => Value::Null,
            },
            XactState => Value::SmallInt(
                match (&self.state.transaction.count, self.state.transaction.doomed) {
                    (0, _) => 0,
                    (_, false) => 1,
                    (_, true) => -1,
                },
            ),
            AppLockMode | AppLockTest => {
                let state = &mut *self.state;
                let mut txn = state.transaction.take(&state.database, &state.options);
                let answer = executor::applock::function(func, args, &mut txn);
                state.transaction.give(txn);
                answer
            }
            ChangeTrackingCurrentVersion | ChangeTrackingMinValidVersion => {
                self.tracked_versions(func, args)?
            }
            NextValue(id) => {
                let state = &*self.state;
                let catalog = &state.database.catalog;
                let found = module_by_id(catalog, state.definitions(), id);
                let Some(found) = found else {
                    return Err(SqlError::new(
                        208,
                        16,
                        "A sequence that the statement names is gone.",
                    ));
                };
                let ty = found.sequence.as_ref().and_then(|s| s.sql_type());
                let (number, _) = catalog.next_in_sequence(&found, 1)?;
                let number = number_as(number, ty.unwrap_or(types::SqlType::BigInt))?;
                let taken = &mut self.state.sequence_numbers;
                match taken.iter_mut().find(|(sequence, _)| *sequence == id) {
                    Some((_, last)) => *last = number.clone(),
                    None => taken.push((id, number.clone())),
                }
                number
            }
            ThisValue(id) => {
                let taken = self.state.sequence_numbers.iter();
                let mut taken = taken.filter(|(sequence, _)| *sequence == id);
                taken.next().map_or(Value::Null, |(_, number)| number.clone())
            }
            CursorStatus => {
                let slot = args.get(2).and_then(Value::as_i64).and_then(|s| u16::try_from(s).ok());
                match (text(0), text(1)) {
                    (Some(kind), Some(name)) => {
                        Value::SmallInt(self.machine.cursor_status(kind, name, slot))
                    }
                    _ => Value::Null,
                }
            }
            CurrentOf => {
                let number = |i: usize| args.get(i).and_then(Value::as_i64).unwrap_or(-1) as i32;
                let cursor = match u16::try_from(number(2)) {
                    Ok(slot) => ir::CursorRef::Variable(slot),
                    Err(_) if number(1) == 2 => ir::CursorRef::Fetched,
                    Err(_) => ir::CursorRef::Name {
                        name: text(0).unwrap_or("").to_string(),
                        global: number(1) == 1,
                    },
                };
                match number(4) {
                    -2 => {
                        let columns = args.get(5..).unwrap_or_default();
                        let same = self.machine.current_is_same(&cursor, number(3), columns)?;
                        Value::Int(i32::from(same))
                    }
                    -3 => {
                        let columns = args.get(5..).unwrap_or_default();
                        self.machine.current_may_change(&cursor, columns)?;
                        Value::Int(1)
                    }
                    part => self.machine.current_row(&cursor, number(3), part)?,
                }
            }
            UpdatedColumn => {
                let bits = self.state.triggers.last().map_or(&[][..], |t| &t.updated);
                let ordinal = args.first().and_then(Value::as_i64).unwrap_or(0) as usize;
                let byte = bits.get(ordinal / 8).copied().unwrap_or(0);
                Value::Int(i32::from(byte >> (ordinal % 8) & 1))
            }
            ColumnsUpdated => match self.state.triggers.last() {
                Some(trigger) => Value::Binary(trigger.updated.as_slice().into()),
                None => Value::Null,
            },
            TriggerNestLevel => {
                // Of one trigger, of AFTER or INSTEAD OF ones, of those of rows or of definitions.
                let id = args.first().and_then(Value::as_i64).filter(|id| *id != 0);
                let is =
                    |i: usize, word: &str| text(i).is_some_and(|t| t.eq_ignore_ascii_case(word));
                let counts = |t: &&Firing| {
                    id.is_none_or(|id| i64::from(t.object_id) == id)
                        && (!is(1, "AFTER") || !t.instead_of)
                        && (!is(1, "IOT") || t.instead_of)
                        && (!is(2, "DML") || t.event.is_none())
                        && (!is(2, "DDL") || t.event.is_some())
                };
                Value::Int(self.state.triggers.iter().filter(counts).count() as i32)
            }
            EventData => self.event_data(),
            PartitionNumber(function) => {
                let scope = self.state.definitions();
                let found = self.state.database.catalog.object_in(scope, function);
                let value = args.first().unwrap_or(&Value::Null);
                match &found {
                    Some(catalog::ObjectRef::Procedure(module)) => module
                        .partition_function()
                        .map_or(Value::Null, |f| Value::Int(f.partition_of(value) as i32)),
                    _ => Value::Null,
                }
            }
            ScopeIdentity => identity(self.state.scope_identity),
            RowCountBig => Value::BigInt(self.state.rowcount),
            ObjectId
            | ObjectName
            | ObjectSchemaName
            | ObjectDefinition
            | ObjectProperty
            | ObjectPropertyEx
            | ColName
            | ColLength
            | ColumnProperty
            | IndexCol
            | StatsDate
            | IndexProperty
            | IdentCurrent
            | IdentSeed
            | IdentIncr
            | TypeId
            | TypeName
            | AssemblyProperty
            | TypeProperty
            | OdbcScale
            | DbId
            | DbName
            | FileId
            | FileIdex
            | FileName
            | FileProperty
            | FilegroupId
            | FilegroupName
            | FilegroupProperty
            | FulltextCatalogProperty
            | DatabasePropertyEx
            | ServerProperty
            | CollationProperty => {
                // Some of them look through all that there is, and they are asked for each row.
                runtime::task::breathe()?;
                self.host.metadata(func, args, self.state)?
            }
            XmlSchemaNamespace => self.xml_schema_namespace(args)?,
            IndexKeyProperty | ServerFigure(_) => self.host.metadata(func, args, self.state)?,
            LastRowVersion => Value::binary(&self.state.database.engine.last_stamp().to_be_bytes()),
            MinActiveRowVersion => {
                Value::binary(&self.state.database.engine.min_active_stamp().to_be_bytes())
            }
            LoginProperty | PermissionBits => principal_function(self.state, self.host, func, args),
            PasswordHash => match text(0) {
                None => Value::Null,
                Some(password) => {
                    let password = security::Password::new(password.to_owned());
                    Value::binary(self.host.hash_password(&password)?.stored())
                }
            },
            PasswordMatches => match (text(0), args.get(1)) {
                (Some(password), Some(Value::Binary(stored))) => {
                    let password = security::Password::new(password.to_owned());
                    // What is no hash is that of no password.
                    let matches = match security::PasswordHash::parse(stored) {
                        Ok(hash) => self.host.password_matches(&hash, &password)?,
                        Err(_) => false,
                    };
                    Value::Int(i32::from(matches))
                }
                _ => Value::Null,
            },
            SchemaName | SchemaId | SUserSName | SUserName | SUserId | SUserSid | OriginalLogin
            | UserName | UserId | IsMember | IsRoleMember | IsSrvRoleMember | HasPermsByName
            | HasDbAccess => principal_function(self.state, self.host, func, args),
            HostName => Value::str(&self.state.client.host),
            AppName => Value::str(&self.state.client.application),
            HostId => Value::str(&format!("{:<10}", self.state.client.process_id)),
            ContextInfo => self.state.context_info.clone().map_or(Value::Null, Value::Binary),
            SessionContext => {
                let key = text(0).unwrap_or("");
                let all = &self.state.session_context;
                let found = all.iter().find(|(k, ..)| k.eq_ignore_ascii_case(key));
                match found {
                    Some((_, value, _)) => as_variant(value.clone())?,
                    None => Value::Null,
                }
            }
            ConnectionProperty => {
                as_variant(connection_property(&self.state.client, text(0).unwrap_or("")))?
            }
            CurrentTransactionId => Value::BigInt(0),
            CurrentRequestId => Value::SmallInt(0),
            OriginalDbName => Value::str(&self.state.database.name),
            FormatMessage => match text(0) {
                // A number of sys.messages.
                None => {
                    let number = args.first().and_then(Value::as_i64).unwrap_or(0) as i32;
                    let language = self.state.options.language;
                    let found = crate::messages::find(&mut *self.host, number, language);
                    match found.filter(|_| number > 13_000) {
                        None => Value::Null,
                        Some(found) => {
                            let values: Vec<_> =
                                args[1..].iter().map(|v| (v.clone(), v.natural_type())).collect();
                            Value::str(&crate::format::cut(found.filled(&values)))
                        }
                    }
                }
                Some(pattern) => {
                    let values: Vec<_> =
                        args[1..].iter().map(|v| (v.clone(), v.natural_type())).collect();
                    Value::str(&crate::format::message_text(pattern, &values)?)
                }
            },
            SessionProperty => {
                as_variant(session_property(&self.state.options, text(0).unwrap_or("")))?
            }
            other => return Err(SqlError::unsupported(format!("{other:?}"))),
        })
    }

    fn table(&mut self, object_id: i32) -> Option<std::sync::Arc<TableDef>> {
        self.state.database.catalog.table_by_id(self.state.definitions(), object_id)
    }

    fn view_change(
        &mut self,
        view: i32,
        tables: &[i32],
    ) -> Result<std::sync::Arc<executor::ViewChange>, SqlError> {
        self.planned_view_change(view, tables)
    }

    fn tracking(&self) -> Option<catalog::DatabaseTracking> {
        self.state.database.catalog.configuration().tracking()
    }

    fn elsewhere(
        &mut self,
        database: &str,
        table: &TableDef,
    ) -> Result<Box<engine::Txn>, SqlError> {
        let Some(other) = self.host.database(database) else {
            return Err(self.host.why_closed(database).unwrap_or_else(|| {
                SqlError::new(
                    911,
                    16,
                    format!(
                        "Database '{database}' does not exist. Make sure that the name is entered \
                         correctly."
                    ),
                )
            }));
        };
        // What anyone else may do over there is not known to this session.
        if !self.state.identity.access().is_sysadmin() {
            let name = self.state.login_name();
            return Err(SqlError::new(
                916,
                14,
                format!(
                    "The server principal \"{name}\" is not able to access the database \"{}\" under \
                     the current security context.",
                    other.name
                ),
            ));
        }
        let scope = self.state.transaction.definitions_in(&other.engine);
        let known = other.catalog.table_by_id(scope, table.object_id);
        if !known.is_some_and(|known| std::ptr::eq(&*known, table)) {
            let name = format!("{database}.{}.{}", table.schema, table.name);
            let mut error = SqlError::new(208, 16, format!("Invalid object name '{name}'."));
            error.stale = true;
            return Err(error);
        }
        if let Some(own) = self.state.transaction.take_branch(&other.engine) {
            return Ok(own);
        }
        let options = &self.state.options;
        let mut txn = other.engine.txn(engine::TxnOptions {
            isolation: options.isolation,
            too_late_for_snapshot: false,
            lock_timeout_ms: options.lock_timeout_ms,
            deadlock_priority: options.deadlock_priority,
        });
        txn.begin();
        txn.begin_statement();
        Ok(Box::new(txn))
    }

    fn back(&mut self, txn: Box<engine::Txn>) -> Option<Box<engine::Txn>> {
        self.state.transaction.give_branch(txn)
    }

    fn view_rows(
        &mut self,
        view: &SystemView,
        args: &[Value],
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        if view.name == "sys.dm_exec_describe_first_result_set" {
            let text = |i: usize| args.get(i).and_then(Value::as_str).unwrap_or("");
            return Ok(self.machine.described_rows(self.state, self.host, text(0), text(1)));
        }
        if view.name == "sys.dm_exec_describe_first_result_set_for_object" {
            // As a call of the procedure is described.
            let id = args.first().and_then(Value::as_i64).and_then(|id| i32::try_from(id).ok());
            let found = id.and_then(|id| self.state.database.catalog.object_by_id(id));
            let Some(catalog::ObjectRef::Procedure(module)) = found else { return Ok(Vec::new()) };
            if module.kind != catalog::ModuleKind::Procedure {
                return Ok(Vec::new());
            }
            let text = format!("EXEC {}", syntax::ast::bracketed_in(&module.schema, &module.name));
            return Ok(self.machine.described_rows(self.state, self.host, &text, ""));
        }
        if view.name == AUDIT_FILE {
            return self.audit_file(args);
        }
        if view.name == ir::OPENROWSET {
            return crate::bulk_rowset::rows(self.state, self.host, args);
        }
        // Asked for here too: a `dbo`, of whom nothing is asked when a statement is planned, is one in his database alone.
        let is_asked = !self.state.identity.access().is_sysadmin();
        let asks = if is_asked { view_asks(&view.name) } else { None };
        if asks.is_some() {
            check_view(view, self.state, self.host)?;
        }
        let mut rows = self.host.view_rows(view, args, self.state)?;
        let access = self.state.identity.access();
        let spid = Some(i64::from(self.state.spid));
        match asks {
            Some(ViewAsks::OtherSessions(permission, own)) => {
                if !access.allows(permission, Target::Server)
                    && let Some(at) = view.columns.iter().position(|c| c.name == own)
                {
                    rows.retain(|row| row[at].as_i64() == spid);
                }
            }
            Some(ViewAsks::OtherSession(permission)) => {
                let own = args.first().and_then(Value::as_i64) == spid;
                if !own && !access.allows(permission, Target::Server) {
                    rows.clear();
                }
            }
            Some(ViewAsks::Nothing | ViewAsks::Server(_) | ViewAsks::Database(_)) | None => {}
        }
        Ok(rows)
    }

    fn prepared_xml(&self, handle: i64) -> Option<std::sync::Arc<functions::openxml::PreparedXml>> {
        self.state.prepared_xml.find(handle)
    }

    fn function(&self, name: &ir::ObjectName) -> Option<std::sync::Arc<catalog::ProcedureDef>> {
        match self.state.find_object(name.schema.as_deref(), &name.name)? {
            catalog::ObjectRef::Procedure(module) if module.kind.is_function() => Some(module),
            _ => None,
        }
    }

    fn scalar_function(
        &mut self,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Value, SqlError> {
        self.machine.scalar_function(self.state, self.host, object_id, args, txn)
    }

    fn function_rows(
        &mut self,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        self.machine.function_rows(self.state, self.host, object_id, args, txn)
    }

    fn next_identity(&mut self, table: &TableDef) -> Result<i64, SqlError> {
        let value = if table.is_private() {
            let next = self.state.transaction.private.next_identity(table.place);
            next.map_err(|e| executor::private_error(e, table))?
        } else {
            self.state.database.catalog.next_identity(table, 1)?.0
        };
        self.state.last_identity = Some(value);
        self.state.scope_identity = Some(value);
        Ok(value)
    }

    fn memory_access(&self) -> executor::MemoryAccess {
        use executor::MemoryAccess::{Free, InTransaction, Native};
        match () {
            () if self.state.atomic > 0 => Native,
            () if self.state.trancount() == 0
                || self.state.transaction.of_statement
                || self.state.database.engine.elevates_to_snapshot() =>
            {
                Free
            }
            () => InTransaction,
        }
    }

    fn private(&mut self) -> &mut PrivateTables {
        &mut self.state.transaction.private
    }

    fn database_name(&self) -> String {
        self.state.database.name.clone()
    }

    fn note_identity(&mut self, table: &TableDef, value: i64) -> Result<(), SqlError> {
        self.state.last_identity = Some(value);
        self.state.scope_identity = Some(value);
        if !table.is_private() {
            self.state.database.catalog.note_identity(table, value)?;
        }
        Ok(())
    }

    fn last_identity(&self) -> executor::LastIdentity {
        let (session, scope) = (self.state.last_identity, self.state.scope_identity);
        executor::LastIdentity { session, scope }
    }

    fn set_last_identity(&mut self, last: executor::LastIdentity) {
        (self.state.last_identity, self.state.scope_identity) = (last.session, last.scope);
    }

    fn date_style(&self) -> i32 {
        self.state.options.date_style()
    }

    fn language(&self) -> u8 {
        self.state.options.language
    }

    fn date_first(&self) -> u8 {
        self.state.options.datefirst
    }
}

impl SessionEnvironment<'_> {
    /// EVENTDATA(): NULL but for the statements of a DDL or logon trigger itself.
    fn event_data(&self) -> Value {
        let state = &*self.state;
        let own =
            state.triggers.last().filter(|t| t.level == state.nesting && state.functions == 0);
        own.and_then(|t| t.event.as_deref()).map_or(Value::Null, Value::str)
    }

    /// XML_SCHEMA_NAMESPACE(schema, collection [, namespace]): 6314, 6312.
    fn xml_schema_namespace(&self, args: &[Value]) -> Result<Value, SqlError> {
        let text = |i: usize| args.get(i).and_then(Value::as_str);
        let (Some(schema), Some(name)) = (text(0), text(1)) else { return Ok(Value::Null) };
        let (scope, kind) = (self.state.definitions(), catalog::ModuleKind::XmlSchemaCollection);
        let found = self.state.database.catalog.module(scope, Some(schema), name, kind);
        let schemas = found.as_ref().and_then(|module| module.xml_schema.as_ref());
        let Some(schemas) = schemas else {
            let text = format!("Collection specified does not exist in metadata : '{name}'");
            return Err(SqlError::new(6314, 16, text));
        };
        let schemas = schemas.schema();
        let Some(namespace) = text(2) else { return Ok(Value::str(schemas.text())) };
        let found = schemas.text_of(namespace).map_err(types::TypeError::Xml)?;
        found.map(|text| Value::str(&text)).ok_or_else(|| {
            let text = format!(
                "Could not find schema components with target namespace '{namespace}' in collection '{name}'."
            );
            SqlError::new(6312, 16, text)
        })
    }

    /// The functions of change tracking outside of a statement: in the session's transaction, if there is one.
    fn tracked_versions(&mut self, func: FuncId, args: &[Value]) -> Result<Value, SqlError> {
        let state = &mut *self.state;
        let mut txn = state.transaction.take(&state.database, &state.options);
        let own = !txn.is_active();
        if own {
            txn.begin();
        }
        txn.begin_statement();
        let answer = executor::tracking::function(func, args, self, &mut txn);
        txn.end_statement();
        let ended = match own {
            // It has read, and must not be told of before it is safe.
            true => txn.commit(engine::Durability::Full).map(drop),
            false => Ok(()),
        };
        let name = self.state.database.name.clone();
        self.state.transaction.give(txn);
        ended.map_err(|e| executor::from_engine(e, None, &name))?;
        answer
    }
}

/// A sequence's number as a value of its type.
pub fn number_as(number: i128, ty: SqlType) -> Result<Value, SqlError> {
    let wide = Decimal::new(number, 38, 0)?;
    let from = SqlType::numeric(38, 0);
    Ok(convert::cast(&Value::Decimal(wide), from, ty, 0)?)
}

fn identity(value: Option<i64>) -> Value {
    value.and_then(|v| Decimal::new(v as i128, 38, 0).ok()).map_or(Value::Null, Value::Decimal)
}

/// What a function of type sql_variant gives.
fn as_variant(value: Value) -> Result<Value, SqlError> {
    let ty = value.natural_type();
    Ok(types::Variant::wrap(value, ty)?)
}

/// CONNECTIONPROPERTY.
fn connection_property(client: &Client, name: &str) -> Value {
    let remote = client.local_port != 0;
    match name.to_ascii_lowercase().as_str() {
        "net_transport" => Value::str(&client.transport),
        "protocol_type" => Value::str("TSQL"),
        "auth_scheme" => Value::str("SQL"),
        "local_tcp_port" if remote => Value::Int(i32::from(client.local_port)),
        "client_net_address" => Value::str(&client.address),
        "physical_net_transport" => Value::str(&client.transport),
        _ => Value::Null,
    }
}

/// SESSIONPROPERTY: 1 or 0.
fn session_property(options: &SetOptions, name: &str) -> Value {
    let bit = match name.to_ascii_uppercase().as_str() {
        "ANSI_NULLS" => 32,
        "ANSI_PADDING" => 16,
        "ANSI_WARNINGS" => 8,
        "ARITHABORT" => 64,
        "CONCAT_NULL_YIELDS_NULL" => 4096,
        "NUMERIC_ROUNDABORT" => 8192,
        "QUOTED_IDENTIFIER" => 256,
        _ => return Value::Null,
    };
    Value::Int(i32::from(options.bits() & bit != 0))
}

impl SessionEnvironment<'_> {
    /// Asked again here, whatever the plan was allowed. 33226 for each place that holds no whole record.
    fn audit_file(&mut self, args: &[Value]) -> Result<Vec<Vec<Value>>, SqlError> {
        let access = self.state.identity.access();
        check_server_state(Permission::ViewServerSecurityAudit, access)?;
        let found = self.host.audit_file(args)?;
        for (file, offset) in found.skipped {
            let text = format!(
                "The fn_get_audit_file function is skipping records from '{file}' at offset {offset}."
            );
            self.state.notices.push((33226, text));
            self.state.warnings.add(executor::Warnings::NOTICES);
        }
        Ok(found.rows)
    }
}
