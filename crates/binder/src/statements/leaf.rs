//! A statement without statements inside, bound: what it asks of the catalog, and what it is then.

use std::sync::Arc;

use ir::ddl::{CreateProcedure, Ddl};
use ir::*;
use syntax::ast::{self, StatementKind as S};
use types::{Len, SqlType, Value};

use super::{ProgramBinder, Returning, TEXT};
use crate::context::Binder;
use semantics::constants::constant_int;
use semantics::type_names::system_type;
use semantics::{BindError, Result};

impl ProgramBinder<'_> {
    pub(super) fn leaf_kind(
        &self,
        b: &mut Binder<'_>,
        statement: &ast::Statement,
    ) -> Result<StmtKind> {
        let line = b.line;
        Ok(match &statement.kind {
            S::Select(query) => {
                let bound = b.select_statement(query)?;
                b.there(bound)?
            }
            S::Insert(insert) => {
                let bound = StmtKind::Insert(Box::new(b.insert(insert)?));
                b.there(bound)?
            }
            S::Update(update) => {
                let bound = StmtKind::Update(Box::new(b.update(update)?));
                b.there(bound)?
            }
            S::Delete(delete) => {
                let bound = StmtKind::Delete(Box::new(b.delete(delete)?));
                b.there(bound)?
            }
            S::Merge(merge) => {
                let bound = StmtKind::Merge(Box::new(b.merge(merge)?));
                b.there(bound)?
            }
            S::Truncate(truncate) => {
                let name = &truncate.table;
                let table = b.own_table(name).ok_or_else(|| {
                    let shown = &name.name.value;
                    match b.names.has_object(&ObjectName::from(name)) {
                        true => {
                            let text = format!(
                                "Could not truncate object '{shown}' because it is not a table."
                            );
                            BindError::new(4708, 16, line, text).with_state(2)
                        }
                        false => BindError::cannot_find(4701, shown, line),
                    }
                })?;
                let partitions = b.partition_spans(&truncate.partitions)?;
                let shown = name.to_string().into();
                StmtKind::Truncate { table, shown, partitions }
            }
            S::CreateDatabase(c) => StmtKind::Ddl(Box::new(Ddl::CreateDatabase(c.clone()))),
            S::AlterDatabase(a) => StmtKind::Ddl(Box::new(Ddl::AlterDatabase(a.clone()))),
            S::CreateTable(c) => {
                let create = b.create_table(c, self.text)?;
                StmtKind::Ddl(Box::new(Ddl::CreateTable(Box::new(create))))
            }
            S::CreateView(view) => {
                b.check_view(view)?;
                StmtKind::Ddl(Box::new(Ddl::CreateView(Box::new(CreateProcedure {
                    mode: put_mode(view.mode),
                    name: ObjectName::from(&view.name),
                    options: Vec::new(),
                    language: None,
                    text: Arc::from(self.text),
                }))))
            }
            S::CreateFunction(function) => {
                crate::routine::check_function(function, self.text, self.names, b)?;
                StmtKind::Ddl(Box::new(Ddl::CreateFunction(
                    crate::routine::kind_of(function),
                    Box::new(CreateProcedure {
                        mode: put_mode(function.mode),
                        name: ObjectName::from(&function.name),
                        options: function.options.clone(),
                        language: language(function.returns.statements()),
                        text: Arc::from(self.text),
                    }),
                )))
            }
            S::CreateTrigger(trigger) => {
                semantics::native::check_trigger(trigger)?;
                StmtKind::Ddl(Box::new(Ddl::CreateTrigger(Arc::new((**trigger).clone()), {
                    Arc::from(self.text)
                })))
            }
            S::CreateDdlTrigger(create) => {
                let events = semantics::triggers::ddl_events(create)?;
                let schema = Some("dbo");
                crate::trigger::bind_ddl_trigger(create, self.text, schema, self.names)?;
                let (create, text) = (Arc::new((**create).clone()), Arc::from(self.text));
                StmtKind::Ddl(Box::new(Ddl::CreateDdlTrigger { create, text, events }))
            }
            S::DefineSequence(sequence) => {
                let ty = match &sequence.ty {
                    Some(ty) => self.declared_type(ty)?,
                    None => SqlType::BigInt,
                };
                StmtKind::Ddl(Box::new(Ddl::DefineSequence(sequence.clone(), ty)))
            }
            S::CreateSynonym(synonym) => {
                StmtKind::Ddl(Box::new(Ddl::CreateSynonym(synonym.clone())))
            }
            S::EnableTrigger(enable) => StmtKind::Ddl(Box::new(Ddl::EnableTrigger(enable.clone()))),
            S::EnableDdlTrigger(enable) => {
                StmtKind::Ddl(Box::new(Ddl::EnableDdlTrigger(enable.clone())))
            }
            S::CreateBindable(create) => {
                b.check_bindable(create)?;
                let kind = match create.rule {
                    true => catalog::ModuleKind::Rule,
                    false => catalog::ModuleKind::Default,
                };
                let (name, text) = (ObjectName::from(&create.name), Arc::from(self.text));
                StmtKind::Ddl(Box::new(Ddl::CreateBindable { kind, name, text }))
            }
            S::CreateType(create) => {
                let name = ObjectName::from(&create.name);
                let alias = match &create.definition {
                    ast::TypeDefinition::Table(definition) => {
                        b.table_type(create, definition, self.text)?;
                        false
                    }
                    ast::TypeDefinition::Alias { base, .. } => {
                        if base.xml.is_some() {
                            let what = "an alias type of xml of a schema collection";
                            return Err(BindError::unsupported(what, line));
                        }
                        system_type(base, false).map_err(|e| match e.number {
                            2715 => {
                                let name = &base.name;
                                let text = format!(
                                    "The base type \"{name}\" is not a valid base type for the alias data type."
                                );
                                BindError::new(222, 16, line, text)
                            }
                            _ => e,
                        })?;
                        true
                    }
                };
                let text = Arc::from(create.span.text(self.text));
                StmtKind::Ddl(Box::new(Ddl::CreateType { name, text, alias }))
            }
            S::AlterTable(a) if matches!(a.action, ast::AlterTableAction::Rebuild(Some(_), _)) => {
                let reorganize = b.rebuild_partition(a)?;
                StmtKind::Ddl(Box::new(Ddl::Reorganize(reorganize)))
            }
            S::Switch(switch) => {
                let switch = b.switch(switch)?;
                StmtKind::Ddl(Box::new(Ddl::Switch(Box::new(switch))))
            }
            S::AlterTable(a) => {
                let alter = b.alter_table(a, self.text)?;
                StmtKind::Ddl(Box::new(Ddl::AlterTable(Box::new(alter))))
            }
            S::CreateIndex(create) if semantics::names::is_private(&create.table.name.value) => {
                b.private_index(create, self.text)?
            }
            S::CreateIndex(create) => {
                StmtKind::Ddl(Box::new(match b.first_index(create, self.text)? {
                    Some(view) => Ddl::IndexView(Box::new(view)),
                    None => Ddl::AlterTable(Box::new(b.create_index(create, self.text)?)),
                }))
            }
            S::AlterIndex(alter) => match b.reorganize(alter)? {
                Some(reorganize) => StmtKind::Ddl(Box::new(Ddl::Reorganize(reorganize))),
                None => {
                    let alter = b.alter_index(alter)?;
                    StmtKind::Ddl(Box::new(Ddl::AlterTable(Box::new(alter))))
                }
            },
            S::SecurityPolicy(policy) => {
                let changes = b.policy_changes(policy, self.text)?;
                StmtKind::Ddl(Box::new(Ddl::SecurityPolicy { policy: policy.clone(), changes }))
            }
            S::Partition(statement) => {
                let bound = b.partition_statement(statement)?;
                StmtKind::Ddl(Box::new(Ddl::Partition(Box::new(bound))))
            }
            S::Statistics(statement) => StmtKind::Statistics(Arc::new((**statement).clone())),
            S::Security(statement) => StmtKind::Security(Arc::new((**statement).clone())),
            S::ExecuteAs { login, name, end } => {
                let name = match name {
                    None => None,
                    Some(e) => {
                        let name = b.expr(e)?;
                        Some(b.coerce(name, TEXT, CastMode::Implicit)?)
                    }
                };
                let end = match end {
                    ast::ExecuteAsEnd::Revert => ExecuteAsEnd::Revert,
                    ast::ExecuteAsEnd::NoRevert => ExecuteAsEnd::NoRevert,
                    ast::ExecuteAsEnd::Cookie(v) => {
                        ExecuteAsEnd::Cookie(super::rare::cookie(b, v, "Execute As")?)
                    }
                };
                StmtKind::ExecuteAs { login: *login, name, end }
            }
            S::Revert { cookie } => {
                let cookie = match cookie.as_ref().map(|e| &e.kind) {
                    None => None,
                    Some(ast::ExprKind::Variable(v)) => Some(super::rare::cookie(b, v, "Revert")?),
                    Some(_) => return Err(super::rare::no_cookie("Revert", line)),
                };
                StmtKind::Revert { cookie }
            }
            S::Rare(rare) => StmtKind::Rare(Box::new(super::rare::bind(b, rare)?)),
            S::CreateProcedure(procedure) => {
                semantics::native::check_procedure(procedure, self.names)?;
                // The body is bound for its errors alone; missing objects are no errors yet.
                let schema = procedure.name.schema.as_ref().map(|schema| schema.value.as_str());
                crate::bind_procedure(procedure, self.text, schema, self.names)?;
                StmtKind::Ddl(Box::new(Ddl::CreateProcedure(Box::new(CreateProcedure {
                    mode: put_mode(procedure.mode),
                    name: ObjectName::from(&procedure.name),
                    options: procedure.options.clone(),
                    language: language(&procedure.body),
                    text: Arc::from(self.text),
                }))))
            }
            S::Drop(drop) => StmtKind::Ddl(Box::new(Ddl::Drop(Box::new(drop.clone())))),
            S::DeclareCursor(declare) => {
                let has = |word: &str| declare.definition.options.iter().any(|o| o == word);
                let local = has("LOCAL") || self.returning.is_some();
                let definition = b.cursor_definition(&declare.definition)?;
                let name = declare.name.value.clone();
                StmtKind::Cursor(Box::new(CursorStmt::Declare { name, local, definition }))
            }
            S::SetCursor { variable, definition } => {
                let variable = b.cursor_variable(variable)?;
                let definition = b.cursor_definition(definition)?;
                StmtKind::Cursor(Box::new(CursorStmt::Set { variable, definition }))
            }
            S::Cursor { verb, cursor } => {
                let cursor = b.cursor_ref(cursor)?;
                StmtKind::Cursor(Box::new(match verb {
                    ast::CursorVerb::Open => CursorStmt::Open(cursor),
                    ast::CursorVerb::Close => CursorStmt::Close(cursor),
                    ast::CursorVerb::Deallocate => CursorStmt::Deallocate(cursor),
                }))
            }
            S::Fetch(fetch) => StmtKind::Cursor(Box::new(b.fetch(fetch)?)),
            S::SetVariable { variable, expr, .. } if b.frame.cursor(&variable.name).is_some() => {
                let slot = b.cursor_variable(variable)?;
                let from = match &expr.kind {
                    ast::ExprKind::Variable(v) => CursorRef::Variable(b.cursor_variable(v)?),
                    ast::ExprKind::Column(c) if c.qualifier.is_empty() => {
                        CursorRef::Name { name: c.name.value.clone(), global: false }
                    }
                    _ => return Err(b.error(102, "Incorrect syntax near '='.")),
                };
                StmtKind::Cursor(Box::new(CursorStmt::Assign { variable: slot, from }))
            }
            S::SetVariable { variable, op, expr } => {
                StmtKind::SetVars(vec![b.assignment(variable, *op, expr)?])
            }
            S::SetOption(option) => StmtKind::Set(self.set_option(b, option)?),
            S::Return(value) => match value {
                None => StmtKind::Return(None),
                Some(e) if self.returning.is_some() => {
                    let Some(Returning::Scalar(var, ty)) = self.returning else {
                        return Err(BindError::new(
                            178,
                            15,
                            line,
                            "A RETURN statement with a return value cannot be used in this context.",
                        ));
                    };
                    let value = b.expr(e)?;
                    let value = b.coerce(value, ty, CastMode::Implicit)?;
                    StmtKind::SetVars(vec![(var, b.plain_text(value))])
                }
                Some(_) if !self.procedure => {
                    return Err(BindError::new(
                        178,
                        15,
                        line,
                        "A RETURN statement with a return value cannot be used in this context.",
                    ));
                }
                Some(e) => {
                    let value = b.expr(e)?;
                    StmtKind::Return(Some(b.coerce(value, SqlType::Int, CastMode::Implicit)?))
                }
            },
            S::Print(e) => {
                let value = b.expr(e)?;
                if value.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. })) {
                    let text = "Subqueries are not allowed in this context. Only scalar expressions are allowed.";
                    return Err(BindError::new(1046, 15, line, text));
                }
                // 8,000 characters, or 4,000 where they may be any.
                let text = match value.ty {
                    SqlType::Char(_) | SqlType::VarChar(_) => SqlType::VarChar(Len::N(8000)),
                    _ => TEXT,
                };
                StmtKind::Print(b.coerce(value, text, CastMode::Implicit)?)
            }
            S::Throw(None) => StmtKind::Throw(None),
            S::Throw(Some(args)) => {
                let [number, message, state] = args.as_ref();
                let (number, message, state) = (b.expr(number)?, b.expr(message)?, b.expr(state)?);
                StmtKind::Throw(Some(Box::new((
                    b.coerce(number, SqlType::Int, CastMode::Implicit)?,
                    b.coerce(message, TEXT, CastMode::Implicit)?,
                    b.coerce(state, SqlType::Int, CastMode::Implicit)?,
                ))))
            }
            S::RaiseError(r) => {
                let message = b.expr(&r.message)?;
                let message = if message.ty.is_integer() {
                    message
                } else {
                    b.coerce(message, TEXT, CastMode::Implicit)?
                };
                let (severity, state) = (b.expr(&r.severity)?, b.expr(&r.state)?);
                let has = |word: &str| r.options.iter().any(|o| o == word);
                StmtKind::RaiseError(Box::new(RaiseError {
                    message,
                    severity: b.coerce(severity, SqlType::Int, CastMode::Implicit)?,
                    state: b.coerce(state, SqlType::Int, CastMode::Implicit)?,
                    args: r.args.iter().map(|e| b.expr(e)).collect::<Result<Vec<Expr>>>()?,
                    log: has("LOG"),
                    nowait: has("NOWAIT"),
                    seterror: has("SETERROR"),
                }))
            }
            S::WaitFor { delay, value } => {
                let value = b.expr(value)?;
                // A time of the day is one as it is: as a text it would lose its seconds.
                let is_time = matches!(
                    value.ty,
                    SqlType::DateTime
                        | SqlType::SmallDateTime
                        | SqlType::Time(_)
                        | SqlType::DateTime2(_)
                );
                let value = if value.ty.is_character() || is_time {
                    value
                } else {
                    b.coerce(value, TEXT, CastMode::Implicit)?
                };
                StmtKind::WaitFor(if *delay { WaitFor::Delay(value) } else { WaitFor::Time(value) })
            }
            S::BeginTransaction { name } => StmtKind::Begin {
                name: name.as_ref().map(|n| tran_name(b, n)).transpose()?,
                mark: false,
            },
            S::Commit { delayed_durability, .. } => {
                StmtKind::Commit { delayed: *delayed_durability }
            }
            S::Rollback { name } => {
                StmtKind::Rollback { name: name.as_ref().map(|n| tran_name(b, n)).transpose()? }
            }
            S::SaveTransaction { name } => StmtKind::Save { name: tran_name(b, name)? },
            S::Execute(exec) => StmtKind::Exec(Box::new(b.exec(exec)?)),
            S::ExecuteString(e) => StmtKind::ExecString { text: b.text_of_pieces(e)? },
            S::Use(name) => StmtKind::Use { database: name.value.clone() },
            S::Checkpoint => StmtKind::Checkpoint,
            S::Reconfigure { overridden } => StmtKind::Reconfigure { overridden: *overridden },
            S::AlterServer(alter) => StmtKind::AlterServer(alter.clone()),
            S::Dbcc(dbcc) => StmtKind::Dbcc {
                name: dbcc.name.clone(),
                args: dbcc
                    .args
                    .iter()
                    .map(|arg| {
                        let (value, ty) = match arg {
                            ast::DbccArg::Word(w) | ast::DbccArg::Text(w) => {
                                (Value::str(w), SqlType::NVarChar(Len::Max))
                            }
                            ast::DbccArg::Number(n) => (Value::BigInt(*n), SqlType::BigInt),
                            ast::DbccArg::Variable(v) => {
                                return Ok(b.var_expr(b.variable(v)?));
                            }
                            ast::DbccArg::System(value) => return b.expr(value),
                        };
                        Ok(Expr::new(ExprKind::Const(value), ty, false))
                    })
                    .collect::<Result<Vec<Expr>>>()?,
                options: dbcc.options.clone(),
            },
            S::BulkInsert(bulk) => StmtKind::BulkInsert(Arc::new((**bulk).clone())),
            S::Backup(backup) => StmtKind::Backup(Box::new(Backup {
                log: backup.log,
                media: media(
                    b,
                    backup.database.as_ref(),
                    (&backup.to, &backup.logical),
                    &backup.options,
                )?,
            })),
            S::Restore(restore) => StmtKind::Restore(Box::new(Restore {
                kind: restore.kind,
                media: media(
                    b,
                    restore.database.as_ref(),
                    (&restore.from, &restore.logical),
                    &restore.options,
                )?,
            })),
            S::Kill { target, with } => StmtKind::Kill { target: b.expr(target)?, with: *with },
            S::Unsupported { what } => StmtKind::NotSupported { what: what.clone() },
            // Control flow and declarations are the caller's.
            S::Declare(_)
            | S::If { .. }
            | S::While { .. }
            | S::Break
            | S::Continue
            | S::Block(_)
            | S::Atomic(_)
            | S::TryCatch { .. }
            | S::Label(_)
            | S::Goto(_) => StmtKind::Nothing,
        })
    }

    fn set_option(&self, b: &mut Binder<'_>, option: &ast::SetOption) -> Result<SetOption> {
        Ok(match option {
            ast::SetOption::Switch { names, on } => {
                SetOption::Switch { names: names.clone(), on: *on }
            }
            ast::SetOption::Value { name, value } => {
                let value = match (constant_int(value), &value.kind) {
                    (Some(n), _) => Expr::int(n),
                    (None, ast::ExprKind::Column(c)) if c.qualifier.is_empty() => {
                        Expr::constant(Value::str(&c.name.value), TEXT)
                    }
                    _ => b.expr(value)?,
                };
                SetOption::Value { name: name.clone(), value }
            }
            ast::SetOption::Isolation(level) => SetOption::Isolation(match level {
                ast::IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
                ast::IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
                ast::IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
                ast::IsolationLevel::Snapshot => Isolation::Snapshot,
                ast::IsolationLevel::Serializable => Isolation::Serializable,
            }),
            ast::SetOption::IdentityInsert { table, on } => {
                SetOption::IdentityInsert { table: ObjectName::from(table), on: *on }
            }
        })
    }
}

/// The language of a body that is an ATOMIC block.
fn language(body: &[ast::Statement]) -> Option<Box<str>> {
    match body.first().map(|s| &s.kind) {
        Some(S::Atomic(block)) => block.options.language.as_deref().map(Into::into),
        _ => None,
    }
}

fn put_mode(mode: ast::CreateMode) -> catalog::PutMode {
    match mode {
        ast::CreateMode::Create => catalog::PutMode::Create,
        ast::CreateMode::Alter => catalog::PutMode::Alter,
        ast::CreateMode::CreateOrAlter => catalog::PutMode::CreateOrAlter,
    }
}

fn tran_name(b: &Binder<'_>, name: &ast::TransactionName) -> Result<TranName> {
    Ok(match name {
        ast::TransactionName::Name(ident) => TranName::Name(ident.value.clone()),
        ast::TransactionName::Variable(v) => TranName::Var(b.variable(v)?),
    })
}

/// What BACKUP and RESTORE name: constants and variables.
fn media(
    b: &mut Binder<'_>,
    database: Option<&ast::Expr>,
    (devices, logical): (&[ast::Expr], &[bool]),
    options: &[ast::MediaOption],
) -> Result<Media> {
    let one = |b: &mut Binder<'_>, e: Option<&ast::Expr>| e.map(|e| b.expr(e)).transpose();
    Ok(Media {
        database: one(b, database)?,
        devices: devices.iter().map(|e| b.expr(e)).collect::<Result<_>>()?,
        logical: logical.to_vec(),
        options: options
            .iter()
            .map(|o| {
                Ok(MediaOption {
                    name: o.name.clone(),
                    value: one(b, o.value.as_ref())?,
                    to: one(b, o.to.as_ref())?,
                })
            })
            .collect::<Result<_>>()?,
    })
}
