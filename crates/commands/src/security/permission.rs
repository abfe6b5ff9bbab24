//! Which permissions a statement needs, and the errors for those that are missing.
//!
//! Asked when a statement is planned, and again when a directory or the principal has changed since; a session of
//! `sysadmin` or `dbo` never gets here. A statement of a procedure needs nothing for what the procedure's own owner owns
//! (ownership chaining); data definition and text made at run time are asked for always.

use crate::Commands;
use crate::refusals::database_denied;
use crate::refusals::no_object;
use crate::security::RunsAs;
use crate::security::reached::{Columns, Mentioned, Reached};
use catalog::{ObjectRef, ProcedureDef, TableDef};
use executor::{SqlError, SqlMessage};
use ir::{
    Called, ColId, ColumnUse, Expr, ExprKind, Get, InsertSource, Rel, Select, StmtKind, SystemView,
    TableFunc,
};
use security::{Permission, Target, database_role};
use session_state::{asks_by_session, object_target, own_rows_by, target_in};
use std::sync::Arc;
use types::SqlType;

/// What is to be allowed.
enum Need<'a> {
    Table(Reached<'a>),
    /// The changes of a table, by its id: what it is asked for beside SELECT.
    Changes(i32),
    View(&'a SystemView),
    /// A user-defined function, or a sequence.
    Function(Permission, Called),
    /// The rows of a function with statements, and the ids of its columns.
    Rows(Called, &'a SystemView, &'a [ColId]),
    /// EXECUTE of a collection of XML schemas by its number: of values that are validated, and of those that are asked.
    XmlSchemas(u32),
}

impl Commands<'_> {
    /// What a planned statement needs. Only for a limited session.
    #[cold]
    pub fn check_statement(&mut self, kind: &StmtKind, module: i32) -> Result<(), SqlError> {
        let mut needs = Vec::new();
        of_statement(kind, &mut needs);
        self.check_needs(&needs, &Mentioned::by_statement(kind), module)
    }

    /// The same for a condition or another expression.
    #[cold]
    pub fn check_expr(&mut self, expr: &Expr, module: i32) -> Result<(), SqlError> {
        let mut needs = Vec::new();
        of_expr(expr, &mut needs);
        self.check_needs(&needs, &Mentioned::by_expr(expr), module)
    }

    fn check_needs(
        &mut self,
        needs: &[Need<'_>],
        mentioned: &Mentioned<'_>,
        module: i32,
    ) -> Result<(), SqlError> {
        let chain = self.chain_owner(module);
        for need in needs {
            match need {
                Need::Table(reached) => self.check_reached(reached, mentioned, chain)?,
                Need::Changes(id) => {
                    let scope = self.state.transaction.scope();
                    let Some(table) = self.state.database.catalog.table_by_id(scope, *id) else {
                        continue;
                    };
                    let target = self.table_target(&table);
                    let access = self.state.identity.access();
                    let chained = chain.is_some() && chain == access.owner(target);
                    for permission in [Permission::Select, Permission::ViewChangeTracking] {
                        if !chained && !access.allows(permission, target) {
                            return Err(self.denied(permission, &table.name, &table.schema));
                        }
                    }
                }
                Need::View(view) => self.check_view(view)?,
                Need::XmlSchemas(number) => {
                    if let Some(id) = self.xml_schemas_of(*number) {
                        self.check_type(id, Permission::Execute, chain)?;
                    }
                }
                Need::Function(permission, called) => {
                    let Some(function) = self.asked_function(*called, chain) else { continue };
                    let access = self.state.identity.access();
                    let target = target_in(access, function.object_id, &function.schema);
                    if !access.allows(*permission, target) {
                        return Err(self.denied(*permission, &function.name, &function.schema));
                    }
                }
                Need::Rows(called, view, columns) => {
                    if let Some(function) = self.asked_function(*called, chain) {
                        self.check_rows(&function, view, columns, mentioned)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A function that is asked for: that is there, and belongs to somebody else than what calls it.
    fn asked_function(&self, called: Called, chain: Option<i32>) -> Option<Arc<ProcedureDef>> {
        let chain = if called.within == 0 { chain } else { self.chain_owner(called.within) };
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let function = session_state::module_by_id(catalog, scope, called.object_id)?;
        let access = self.state.identity.access();
        let target = target_in(access, called.object_id, &function.schema);
        (chain.is_none() || chain != access.owner(target)).then_some(function)
    }

    /// The owner of the procedure whose statement it is.
    fn chain_owner(&self, procedure_id: i32) -> Option<i32> {
        if procedure_id == 0 {
            return None;
        }
        let object = self.state.database.catalog.object_by_id(procedure_id)?;
        let target = object_target(self.state.identity.access(), &object);
        self.state.identity.access().owner(target)
    }

    /// ALTER of a table; of one that is the session's own anybody has it.
    pub fn check_alter(&self, table: &TableDef) -> Result<(), SqlError> {
        let access = self.state.identity.access();
        if table.is_private()
            || !self.state.identity.is_limited()
            || access.allows(Permission::Alter, self.table_target(table))
        {
            return Ok(());
        }
        Err(no_object(&table.name))
    }

    pub fn table_target(&self, table: &TableDef) -> Target {
        target_in(self.state.identity.access(), table.object_id, &table.schema)
    }

    /// EXECUTE of a procedure, called by the program that runs.
    #[cold]
    pub fn check_execute(
        &mut self,
        definition: &ProcedureDef,
        caller: i32,
    ) -> Result<(), SqlError> {
        // Procedures of the system are everyone's.
        if definition.object_id <= 0 {
            return Ok(());
        }
        let access = self.state.identity.access();
        let target = target_in(access, definition.object_id, &definition.schema);
        let chain = self.chain_owner(caller);
        if (chain.is_some() && chain == access.owner(target))
            || access.allows(Permission::Execute, target)
        {
            return Ok(());
        }
        Err(self.denied(Permission::Execute, &definition.name, &definition.schema))
    }

    /// The id of a collection of XML schemas that is this database's.
    fn xml_schemas_of(&self, number: u32) -> Option<i32> {
        let id = xml_schema::owner_of(number)?;
        let catalog = &self.state.database.catalog;
        let found = catalog.object_in(self.state.definitions(), id)?;
        let ObjectRef::Procedure(module) = &found else { return None };
        (module.xml_schema.as_ref()?.number() == number).then_some(id)
    }

    /// EXECUTE of the collections of XML schemas that types name; 229.
    #[cold]
    pub fn check_typed(&mut self, types: &[SqlType], module: i32) -> Result<(), SqlError> {
        let chain = self.chain_owner(module);
        for ty in types {
            if let SqlType::TypedXml { schema, .. } = ty
                && let Some(id) = self.xml_schemas_of(*schema)
            {
                self.check_type(id, Permission::Execute, chain)?;
            }
        }
        Ok(())
    }

    /// EXECUTE of the table types that a program's variables are of; 229. Chained as what a procedure calls.
    #[cold]
    pub fn check_types(&mut self, types: &[i32], module: i32) -> Result<(), SqlError> {
        let chain = self.chain_owner(module);
        types.iter().try_for_each(|id| self.check_type(*id, Permission::Execute, chain))
    }

    /// REFERENCES of the alias types that a table's columns are of; 229.
    pub(crate) fn check_column_types(
        &self,
        mut aliases: impl Iterator<Item = i32>,
    ) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        aliases.try_for_each(|id| self.check_type(id, Permission::References, None))
    }

    /// REFERENCES of the collections of XML schemas that a table's columns are of; 229.
    pub(crate) fn check_column_schemas(
        &self,
        types: impl Iterator<Item = SqlType>,
    ) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        for ty in types {
            if let SqlType::TypedXml { schema, .. } = ty
                && let Some(id) = self.xml_schemas_of(schema)
            {
                self.check_type(id, Permission::References, None)?;
            }
        }
        Ok(())
    }

    /// 229 for a type of the database without that permission; `chain`: whose own types need none.
    fn check_type(
        &self,
        id: i32,
        permission: Permission,
        chain: Option<i32>,
    ) -> Result<(), SqlError> {
        let (catalog, scope) = (&self.state.database.catalog, self.state.definitions());
        let access = self.state.identity.access();
        let Some(object) = catalog.object_in(scope, id) else { return Ok(()) };
        let target = object_target(access, &object);
        let chained = chain.is_some() && chain == access.owner(target);
        if chained || access.allows(permission, target) {
            return Ok(());
        }
        let (name, schema) = match &object {
            ObjectRef::Procedure(module) => (&module.name, &module.schema),
            ObjectRef::Table(table) => (&table.name, &table.schema),
        };
        Err(self.denied(permission, name, schema))
    }

    /// 229.
    pub(crate) fn denied(&self, permission: Permission, object: &str, schema: &str) -> SqlError {
        SqlError::new(
            229,
            14,
            format!(
                "The {} permission was denied on the object '{object}', database '{}', schema '{schema}'.",
                permission.name(),
                self.state.database.name
            ),
        )
        .with_state(5)
    }

    /// Statistics views: 300 and 297, or 262.
    fn check_view(&self, view: &SystemView) -> Result<(), SqlError> {
        let access = self.state.identity.access();
        match state_needed(&view.name) {
            Some(Permission::ViewDatabaseState) => {
                if access.allows(Permission::ViewDatabaseState, Target::Database) {
                    return Ok(());
                }
                let database = view.database.as_deref().unwrap_or(&self.state.database.name);
                Err(database_denied(Permission::ViewDatabaseState.name(), database))
            }
            Some(permission) if !access.allows(permission, Target::Server) => {
                let text = format!(
                    "{} permission was denied on object 'server', database 'master'.",
                    permission.name()
                );
                let ahead = SqlMessage { severity: 14, ..SqlMessage::info(300, 0, text) };
                let text = "The user does not have permission to perform this action.";
                Err(SqlError::new(297, 16, text).with_ahead(vec![ahead]))
            }
            _ => Ok(()),
        }
    }

    /// A permission on the database; 262.
    pub fn check_database(&self, permission: Permission) -> Result<(), SqlError> {
        if !self.state.identity.is_limited()
            || self.state.identity.access().allows(permission, Target::Database)
        {
            return Ok(());
        }
        Err(database_denied(permission.name(), &self.state.database.name))
    }

    /// A permission on the server; 15247.
    pub fn check_server(&self, permission: Permission) -> Result<(), SqlError> {
        if self.may_on_server(permission) {
            return Ok(());
        }
        Err(SqlError::new(15247, 16, "User does not have permission to perform this action."))
    }

    /// A permission on the server. A `dbo` is somebody in his database only.
    pub fn may_on_server(&self, permission: Permission) -> bool {
        self.state.identity.access().allows(permission, Target::Server)
    }

    /// The right to put an object into a schema; 2760.
    pub fn check_schema(&self, schema: &str) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        let access = self.state.identity.access();
        let found = access.database().schema(schema);
        if found.is_some_and(|s| access.allows(Permission::Alter, Target::Schema(s.id))) {
            return Ok(());
        }
        Err(SqlError::new(
            2760,
            16,
            format!(
                "The specified schema name \"{schema}\" either does not exist or you do not have permission to use it."
            ),
        ))
    }

    /// EXECUTE AS of a module that is defined: who defines it may act as that principal. 15517; SELF is refused where it
    /// is not dbo, for who defined a module is not kept.
    pub fn check_module_execute_as(
        &self,
        options: &[String],
        schema: Option<&str>,
    ) -> Result<(), SqlError> {
        let limited = self.state.identity.is_limited();
        if limited && options.iter().any(|o| o == "EXECUTE AS SELF") {
            return Err(SqlError::unsupported(
                "EXECUTE AS SELF of a module that dbo does not define",
            ));
        }
        match RunsAs::of(options) {
            None => Ok(()),
            Some(RunsAs::User(name) | RunsAs::Login(name)) => {
                self.state.may_act_as(false, &name).map(|_| ())
            }
            Some(RunsAs::Owner) => {
                let directory = self.state.identity.access().database();
                let schema = schema.or_else(|| self.state.default_schema()).unwrap_or("dbo");
                let owner = directory.schema(schema).map_or(database_role::DBO, |s| s.owner);
                let name = directory.principals.get(&owner).map_or("dbo", |p| &p.name).to_owned();
                self.state.may_act_as(false, &name).map(|_| ())
            }
        }
    }

    /// A module with EXECUTE AS begins: its principal acts from here on. 15517 when there is none any more.
    #[cold]
    pub fn act_as(&mut self, runs_as: &RunsAs, object_id: i32) -> Result<(), SqlError> {
        if let RunsAs::Login(name) = runs_as {
            let found = self.state.identity.access().server().find(name).map(|login| login.id);
            let login = found.ok_or_else(|| session_state::cannot_act_as(true, name))?;
            self.state.act_as_login(&*self.host, login);
            return Ok(());
        }
        let catalog = &self.state.database.catalog;
        let directory = catalog.directory(self.state.definitions());
        let found = match runs_as {
            RunsAs::User(name) | RunsAs::Login(name) => directory.find(name).map(|p| p.id),
            RunsAs::Owner => {
                let object = catalog.object_in(self.state.definitions(), object_id);
                let schema = match &object {
                    Some(ObjectRef::Procedure(module)) => &*module.schema,
                    _ => "dbo",
                };
                Some(directory.schema(schema).map_or(database_role::DBO, |s| s.owner))
            }
        };
        match found {
            Some(id) => {
                self.state.act_as_user(&*self.host, id);
                Ok(())
            }
            None => {
                let name = match runs_as {
                    RunsAs::User(name) | RunsAs::Login(name) => name,
                    RunsAs::Owner => "OWNER",
                };
                Err(session_state::cannot_act_as(false, name))
            }
        }
    }

    /// Whether an object may be changed (ALTER) or dropped (CONTROL, or ALTER of its schema).
    pub fn may_change(&self, object: &ObjectRef, drop: bool) -> bool {
        let is_global =
            matches!(object, ObjectRef::Table(table) if catalog::is_global_name(&table.name));
        if is_global || !self.state.identity.is_limited() {
            return true;
        }
        let access = self.state.identity.access();
        let target = object_target(access, object);
        let (Target::Object { schema, .. }
        | Target::Type { schema, .. }
        | Target::XmlSchemas { schema, .. }) = target
        else {
            return false;
        };
        match drop {
            true => {
                access.allows(Permission::Control, target)
                    || access.allows(Permission::Alter, Target::Schema(schema))
            }
            false => access.allows(Permission::Alter, target),
        }
    }
}

/// The permission that a statistics view needs.
fn state_needed(view: &str) -> Option<Permission> {
    let name = view.strip_prefix("sys.")?;
    // Everyone sees his own row of these: see `own_rows_by`.
    if own_rows_by(view).is_some() || asks_by_session(view) {
        return None;
    }
    // Everyone may know which audits there can be; what is in their files is the administrators'.
    if matches!(name, "dm_audit_actions" | "dm_audit_class_type_map") {
        return None;
    }
    if name == "fn_get_audit_file" {
        return Some(Permission::ControlServer);
    }
    // What it tells of a text needs what the text needs.
    if name.starts_with("dm_exec_describe_first_result_set") {
        return None;
    }
    // What is the server's, by SQL Server's documentation of each.
    if matches!(name, "dm_db_index_usage_stats" | "dm_db_log_info" | "dm_db_log_stats")
        || name.starts_with("dm_db_missing_index")
    {
        return Some(Permission::ViewServerState);
    }
    if name.starts_with("dm_db_") {
        return Some(Permission::ViewDatabaseState);
    }
    name.starts_with("dm_").then_some(Permission::ViewServerState)
}

fn of_statement<'a>(kind: &'a StmtKind, needs: &mut Vec<Need<'a>>) {
    match kind {
        StmtKind::Select(select) => of_select(select, needs),
        StmtKind::Insert(insert) => {
            let through = insert.through.as_deref();
            needs.push(Need::whole(Permission::Insert, &insert.table, through));
            match &insert.source {
                InsertSource::Values(rows) => {
                    rows.iter().flatten().for_each(|expr| of_expr(expr, needs));
                }
                InsertSource::Query { query, row } => {
                    of_rel(&query.rel, needs);
                    row.iter().for_each(|expr| of_expr(expr, needs));
                }
                InsertSource::Changed(from) => {
                    of_statement(&from.change, needs);
                    from.filter.iter().chain(&from.row).for_each(|expr| of_expr(expr, needs));
                }
                InsertSource::Exec { exec, .. } => {
                    if let ir::ProcRef::Text(text) = &exec.procedure {
                        of_expr(text, needs);
                    }
                    exec.args.iter().flat_map(|arg| &arg.value).for_each(|e| of_expr(e, needs));
                }
            }
            of_output(insert.output.as_ref(), &insert.table, through, needs);
        }
        StmtKind::Update(update) => {
            let through = way(&update.query.rel, update.locator);
            needs.push(of_set(&update.set, &update.table, through));
            let values: Vec<&Expr> = update.set.iter().map(|set| set.value()).collect();
            of_target(
                &update.query.rel,
                update.locator,
                &update.old,
                &values,
                &update.table,
                needs,
            );
            of_output(update.output.as_ref(), &update.table, through, needs);
        }
        StmtKind::Delete(delete) => {
            let through = way(&delete.query.rel, delete.locator);
            needs.push(Need::whole(Permission::Delete, &delete.table, through));
            of_target(&delete.query.rel, delete.locator, &delete.old, &[], &delete.table, needs);
            of_output(delete.output.as_ref(), &delete.table, through, needs);
        }
        StmtKind::Cursor(cursor) => {
            use ir::CursorStmt::{Declare, Set};
            if let Declare { definition, .. } | Set { definition, .. } = &**cursor {
                of_rel(&definition.query.rel, needs);
            }
        }
        StmtKind::Merge(merge) => {
            let through = way(&merge.query.rel, merge.locator);
            needs.extend(merge.clauses.iter().map(|clause| match &clause.action {
                ir::MergeAction::Insert(_) => {
                    Need::whole(Permission::Insert, &merge.table, through)
                }
                ir::MergeAction::Update(set) => of_set(set, &merge.table, through),
                ir::MergeAction::Delete => Need::whole(Permission::Delete, &merge.table, through),
            }));
            of_rel(&merge.query.rel, needs);
            merge.for_each_expr(&mut |expr| of_expr(expr, needs));
            of_output(merge.output.as_ref(), &merge.table, through, needs);
        }
        StmtKind::SetVars(sets) => sets.iter().for_each(|(_, expr)| of_expr(expr, needs)),
        StmtKind::Return(Some(expr)) | StmtKind::Print(expr) => of_expr(expr, needs),
        StmtKind::Exec(exec) => {
            exec.args.iter().flat_map(|arg| &arg.value).for_each(|expr| of_expr(expr, needs));
        }
        StmtKind::ExecString { text } => of_expr(text, needs),
        StmtKind::RaiseError(raise) => {
            of_expr(&raise.message, needs);
            raise.args.iter().for_each(|expr| of_expr(expr, needs));
        }
        _ => {}
    }
}

fn of_select<'a>(select: &'a Select, needs: &mut Vec<Need<'a>>) {
    of_rel(&select.query.rel, needs);
    if let ir::SelectTarget::Vars(sets) = &select.target {
        sets.iter().for_each(|(_, expr)| of_expr(expr, needs));
    }
}

impl<'a> Need<'a> {
    fn whole(
        permission: Permission,
        table: &'a TableDef,
        through: Option<&'a ir::Through>,
    ) -> Need<'a> {
        Need::Table(Reached { permission, table, through, columns: Columns::Whole })
    }

    fn read(get: &'a Get) -> Need<'a> {
        Need::Table(Reached {
            permission: Permission::Select,
            table: &get.table,
            through: get.through.as_deref(),
            columns: Columns::Read(&get.columns),
        })
    }
}

/// UPDATE of the columns that are set.
fn of_set<'a>(
    set: &[ir::UpdateSet],
    table: &'a TableDef,
    through: Option<&'a ir::Through>,
) -> Need<'a> {
    let ordinals = set.iter().filter_map(|set| match set {
        ir::UpdateSet::Column { ordinal, .. } | ir::UpdateSet::Both { ordinal, .. } => {
            Some(*ordinal)
        }
        ir::UpdateSet::Var { .. } => None,
    });
    let columns = Columns::These(ordinals.collect());
    Need::Table(Reached { permission: Permission::Update, table, through, columns })
}

/// The view through which the rows with that locator are reached.
fn way(rel: &Rel, locator: ColId) -> Option<&ir::Through> {
    match rel {
        Rel::Get(get) if get.locator == Some(locator) => get.through.as_deref(),
        _ => rel.inputs().into_iter().find_map(|input| way(input, locator)),
    }
}

/// The view that the statement itself names.
fn outermost(through: Option<&ir::Through>) -> Option<&ir::Through> {
    std::iter::successors(through, |module| module.outer.as_deref()).last()
}

/// The view whose rows a table stands for.
fn stood_for<'a>(rel: &'a Rel, table: &TableDef) -> Option<&'a ir::Through> {
    match rel {
        Rel::Get(get) if table.is_private() => {
            outermost(get.through.as_deref()).filter(|view| view.object_id == table.object_id)
        }
        _ => rel.inputs().into_iter().find_map(|input| stood_for(input, table)),
    }
}

/// UPDATE and DELETE read their target only where the target's columns decide something.
fn of_target<'a>(
    rel: &'a Rel,
    locator: ColId,
    old: &[ColId],
    values: &[&'a Expr],
    table: &'a TableDef,
    needs: &mut Vec<Need<'a>>,
) {
    sources(rel, &mut |source| match source {
        Source::Table(get) if get.locator != Some(locator) => needs.push(Need::read(get)),
        Source::Table(_) => {}
        Source::View(view, columns) => needs.push(of_view(view, columns)),
        Source::Changes(id) => needs.push(Need::Changes(id)),
        Source::Nodes(schema) => needs.push(Need::XmlSchemas(schema)),
    });
    let mut read = Vec::new();
    deciding(rel, &mut |expr| expr.columns(&mut read));
    values.iter().for_each(|expr| expr.columns(&mut read));
    let decide = (0..old.len()).filter(|ordinal| read.contains(&old[*ordinal]));
    let decide: Vec<usize> = decide.collect();
    // The rows of a view that a trigger stands in for: what its own text reads is not the statement's.
    let decide = match stood_for(rel, table) {
        Some(view) => view.used(ColumnUse::Read),
        None => decide,
    };
    let through = way(rel, locator);
    // A view may compute from the target's columns what decides.
    let of_view = outermost(through).is_some_and(|view| !view.used(ColumnUse::Read).is_empty());
    if of_view || !decide.is_empty() {
        let columns = Columns::These(decide);
        let permission = Permission::Select;
        needs.push(Need::Table(Reached { permission, table, through, columns }));
    }
    rel.walk_exprs(&mut |expr| of_expr(expr, needs));
    values.iter().for_each(|expr| of_expr(expr, needs));
}

/// OUTPUT reads what it shows.
fn of_output<'a>(
    output: Option<&'a ir::Output>,
    table: &'a TableDef,
    through: Option<&'a ir::Through>,
    needs: &mut Vec<Need<'a>>,
) {
    let Some(output) = output else { return };
    let mut read = Vec::new();
    output.exprs().for_each(|expr| expr.columns(&mut read));
    let shows =
        |ids: &[ColId], ordinal: usize| ids.get(ordinal).is_some_and(|id| read.contains(id));
    let shown = (0..table.columns.len())
        .filter(|ordinal| shows(&output.inserted, *ordinal) || shows(&output.deleted, *ordinal));
    let columns = Columns::These(shown.collect());
    needs.push(Need::Table(Reached { permission: Permission::Select, table, through, columns }));
    output.exprs().for_each(|expr| of_expr(expr, needs));
    if let Some((into, _)) = &output.into {
        needs.push(Need::whole(Permission::Insert, into, None));
    }
}

fn of_rel<'a>(rel: &'a Rel, needs: &mut Vec<Need<'a>>) {
    sources(rel, &mut |source| {
        needs.push(match source {
            Source::Table(get) => Need::read(get),
            Source::View(view, columns) => of_view(view, columns),
            Source::Changes(id) => Need::Changes(id),
            Source::Nodes(schema) => Need::XmlSchemas(schema),
        });
    });
    rel.walk_exprs(&mut |expr| of_expr(expr, needs));
}

fn of_view<'a>(view: &'a SystemView, columns: &'a [ColId]) -> Need<'a> {
    match view.function {
        Some(called) => Need::Rows(called, view, columns),
        None => Need::View(view),
    }
}

/// A method of xml asks by the collection that types it.
fn of_xml(args: &[Expr], needs: &mut Vec<Need<'_>>) {
    if let Some(SqlType::TypedXml { schema, .. }) = args.first().map(|e| e.ty) {
        needs.push(Need::XmlSchemas(schema));
    }
}

/// What subqueries read, and which functions are called.
fn of_expr<'a>(expr: &'a Expr, needs: &mut Vec<Need<'a>>) {
    expr.walk(&mut |e| {
        match (&e.kind, e.ty) {
            (ExprKind::Xml { args, .. }, _) => of_xml(args, needs),
            (ExprKind::Cast { .. }, SqlType::TypedXml { schema, .. }) => {
                needs.push(Need::XmlSchemas(schema));
            }
            _ => {}
        }
        if let ExprKind::Func { func: ir::FuncId::User(called), .. } = &e.kind {
            needs.push(Need::Function(Permission::Execute, *called));
        }
        if let ExprKind::Func { func: ir::FuncId::NextValue(id), .. } = &e.kind {
            let sequence = Called { object_id: *id, within: 0 };
            needs.push(Need::Function(Permission::Update, sequence));
        }
        if let ExprKind::Subquery { query, .. } = &e.kind
            && !query.hints.policy
        {
            sources(&query.rel, &mut |source| {
                needs.push(match source {
                    Source::Table(get) => Need::read(get),
                    Source::View(view, columns) => of_view(view, columns),
                    Source::Changes(id) => Need::Changes(id),
                    Source::Nodes(schema) => Need::XmlSchemas(schema),
                });
            });
        }
    });
}

/// A leaf of a relational tree.
enum Source<'a> {
    Table(&'a Get),
    View(&'a SystemView, &'a [ColId]),
    Changes(i32),
    /// nodes() of what a collection of XML schemas types.
    Nodes(u32),
}

fn sources<'a>(rel: &'a Rel, f: &mut dyn FnMut(Source<'a>)) {
    match rel {
        // What is in another database is asked about where it is opened.
        Rel::Get(get) if get.database.is_some() => {}
        Rel::Get(get) => f(Source::Table(get)),
        Rel::System { view, columns, .. } => f(Source::View(view, columns)),
        Rel::Function { func: TableFunc::Changes(id) | TableFunc::RowVersion(id), .. } => {
            f(Source::Changes(*id));
        }
        Rel::Function { func: TableFunc::XmlNodes(_), args, .. } => {
            if let Some(SqlType::TypedXml { schema, .. }) = args.first().map(|e| e.ty) {
                f(Source::Nodes(schema));
            }
        }
        _ => rel.inputs().into_iter().for_each(|input| sources(input, f)),
    }
}

/// The expressions that decide which rows there are, and in which order.
fn deciding<'a>(rel: &'a Rel, f: &mut dyn FnMut(&'a Expr)) {
    if !matches!(rel, Rel::Project { .. }) {
        rel.own_exprs(f);
    }
    rel.inputs().into_iter().for_each(|input| deciding(input, f));
}
