//! Procedures' texts and parameters.
//!
//! Columns and types: SQL Server 2022's documentation of each view. Parameters are read from the text.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use crate::types_table::{ColumnType, column_type, declared};
use catalog::ModuleKind;
use executor::SqlError;
use syntax::LexOptions;
use syntax::ast::{FunctionReturns, StatementKind};
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &SQL_MODULES,
    &ALL_SQL_MODULES,
    &SYSTEM_SQL_MODULES,
    &SERVER_SQL_MODULES,
    &PARAMETERS,
    &ALL_PARAMETERS,
    &SYSTEM_PARAMETERS,
];

fn with_text(objects: Vec<Object>) -> Vec<Object> {
    // A table type's text is kept, and shown nowhere.
    let is_type = |o: &Object| match &o.what {
        What::Procedure(module) => module.kind == ModuleKind::TableType,
        _ => false,
    };
    let is_module = |o: &Object| match &o.what {
        // One that has a text, though nobody sees it.
        What::BuiltIn(one) => one.parameters.is_some(),
        _ => o.text().is_some(),
    };
    objects.into_iter().filter(|o| is_module(o) && !is_type(o)).collect()
}

/// A module, with what its WITH clause says.
pub struct Kept {
    object: Object,
    /// A principal's id; -2 for the owner, none for the caller.
    runs_as: Option<i32>,
    recompiled: bool,
    null_on_null: bool,
}

impl std::ops::Deref for Kept {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}

impl Kept {
    fn of(context: &Context<'_>, object: Object) -> Kept {
        let options = written_options(&object);
        let says = |wanted: &str| options.iter().any(|option| option == wanted);
        let named = || {
            let quoted = options.iter().find_map(|o| o.strip_prefix("EXECUTE AS '"))?;
            let name = quoted.strip_suffix('\'')?;
            let directory = super::principals::directory(context, false);
            let mut all = directory.principals.values();
            all.find(|p| catalog::same_name(&p.name, name)).map(|p| p.id)
        };
        let runs_as = match () {
            () if says("EXECUTE AS OWNER") => Some(-2),
            () if says("EXECUTE AS SELF") => Some(security::database_role::DBO),
            () => named(),
        };
        let (recompiled, null_on_null) = (says("RECOMPILE"), says("RETURNS NULL ON NULL INPUT"));
        Kept { object, runs_as, recompiled, null_on_null }
    }
}

/// The options of a user's module as they were written.
fn written_options(object: &Object) -> Vec<String> {
    let (What::Procedure(_), Some(text)) = (&object.what, object.text()) else { return Vec::new() };
    let options = LexOptions { quoted_identifier: object.set_options().1 };
    let Ok(batch) = syntax::parse_batch(text, &options) else { return Vec::new() };
    match batch.statements.into_iter().next().map(|s| s.kind) {
        Some(StatementKind::CreateProcedure(create)) => create.options,
        Some(StatementKind::CreateFunction(create)) => create.options,
        Some(StatementKind::CreateTrigger(create)) => create.options,
        _ => Vec::new(),
    }
}

fn user(context: &Context<'_>, _: &[Value]) -> Result<Vec<Kept>, SqlError> {
    let own = object::ddl_triggers(context, ModuleKind::DatabaseTrigger);
    let all = with_text(object::user_objects(context).into_iter().chain(own).collect());
    Ok(all.into_iter().map(|object| Kept::of(context, object)).collect())
}

fn server(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    Ok(object::ddl_triggers(context, ModuleKind::ServerTrigger))
}

fn system(context: &Context<'_>, _: &[Value]) -> Result<Vec<Kept>, SqlError> {
    let all = with_text(object::system_objects());
    Ok(all.into_iter().map(|object| Kept::of(context, object)).collect())
}

fn all(context: &Context<'_>, args: &[Value]) -> Result<Vec<Kept>, SqlError> {
    let mut all = user(context, args)?;
    all.extend(system(context, args)?);
    Ok(all)
}

impl Object {
    /// Was it made WITH that option?
    pub fn has_option(&self, option: &str) -> bool {
        matches!(&self.what, What::Procedure(p) if semantics::native::has_option(p, option))
    }

    /// The SET options it was created under: (ANSI_NULLS, QUOTED_IDENTIFIER).
    fn set_options(&self) -> (bool, bool) {
        match &self.what {
            What::Procedure(p) => (p.ansi_nulls, p.quoted_identifier),
            _ => (true, true),
        }
    }
}

macro_rules! module_view {
    ($view:ident = $full:literal, rows $rows:expr) => {
        view! {
            $view = $full of Kept as o, rows $rows;
            object_id int = o.id;
            definition nvarchar(max) null = o.shown_text();
            uses_ansi_nulls bit null = o.set_options().0;
            uses_quoted_identifier bit null = o.set_options().1;
            is_schema_bound bit null = o.has_option("SCHEMABINDING");
            uses_database_collation bit null = false;
            is_recompiled bit null = o.recompiled;
            null_on_null_input bit null = o.null_on_null;
            execute_as_principal_id int null = o.runs_as;
            uses_native_compilation bit null = o.has_option(semantics::native::NATIVE);
            inline_type bit null = false;
            is_inlineable bit null = false;
        }
    };
}

module_view!(SQL_MODULES = "sys.sql_modules", rows user);
module_view!(ALL_SQL_MODULES = "sys.all_sql_modules", rows all);
module_view!(SYSTEM_SQL_MODULES = "sys.system_sql_modules", rows system);

view! {
    SERVER_SQL_MODULES = "sys.server_sql_modules" of Object as o, rows server;
    object_id int = o.id;
    definition nvarchar(max) null = o.text();
    uses_ansi_nulls bit null = o.set_options().0;
    uses_quoted_identifier bit null = o.set_options().1;
    execute_as_principal_id int null = NULL;
}

/// A parameter of a procedure.
#[derive(Clone)]
pub struct Parameter {
    pub object_id: i32,
    /// With the `@`.
    pub name: String,
    /// From 1.
    pub id: i32,
    pub sql_type: SqlType,
    pub ty: ColumnType,
    pub output: bool,
    pub readonly: bool,
    pub nullable: bool,
    /// CURSOR.
    pub cursor: bool,
}

/// The parameters of a procedure, none for other objects.
pub fn parameters_of(context: &Context<'_>, object: &Object) -> Vec<Parameter> {
    let heading;
    let text = match &object.what {
        What::BuiltIn(one) => {
            heading = one.heading();
            heading.as_deref()
        }
        _ => object.text(),
    };
    let Some(text) = text else { return Vec::new() };
    let options = LexOptions { quoted_identifier: object.set_options().1 };
    let Ok(batch) = syntax::parse_batch(text, &options) else { return Vec::new() };
    let mut out = Vec::new();
    let list = match batch.statements.first().map(|s| &s.kind) {
        Some(StatementKind::CreateProcedure(create)) => &create.parameters,
        Some(StatementKind::CreateFunction(create)) => {
            // What a scalar function returns is a parameter without name, number 0.
            if let FunctionReturns::Scalar { ty, .. } = &create.returns
                && let Some((sql_type, shown)) = declared(context, ty)
            {
                out.push(Parameter {
                    object_id: object.id,
                    name: String::new(),
                    id: 0,
                    sql_type,
                    ty: shown,
                    output: true,
                    readonly: false,
                    nullable: true,
                    cursor: false,
                });
            }
            &create.parameters
        }
        _ => return out,
    };
    let parameter = |(p, id): (&syntax::ast::Parameter, i32)| {
        let (sql_type, ty) = match p.cursor {
            // No type of sys.types: the view has int's number.
            Some(_) => (SqlType::Int, column_type(SqlType::Int)),
            None => declared(context, &p.ty).or_else(|| table_type(context, &p.ty))?,
        };
        Some(Parameter {
            object_id: object.id,
            name: p.name.name.clone(),
            id,
            sql_type,
            ty,
            output: p.output,
            readonly: p.readonly,
            nullable: !p.not_null,
            cursor: p.cursor.is_some(),
        })
    };
    out.extend(list.iter().zip(1..).filter_map(parameter));
    out
}

/// A table type: it has no type of the system, and the view shows it as 243.
fn table_type(context: &Context<'_>, ty: &syntax::ast::TypeName) -> Option<(SqlType, ColumnType)> {
    let schema = ty.schema.as_ref().map(|s| s.value.as_str());
    let (scope, kind) = (context.scope(), ModuleKind::TableType);
    let module = context.database.catalog.module(scope, schema, &ty.name, kind)?;
    let shown = ColumnType {
        system: 243,
        user: module.object_id,
        max_length: -1,
        precision: 0,
        scale: 0,
        collation: None,
        xml: (0, false),
    };
    Some((SqlType::Variant, shown))
}

fn user_parameters(context: &Context<'_>, args: &[Value]) -> Result<Vec<Parameter>, SqlError> {
    Ok(user(context, args)?.iter().flat_map(|o| parameters_of(context, o)).collect())
}

fn system_parameters(context: &Context<'_>, args: &[Value]) -> Result<Vec<Parameter>, SqlError> {
    Ok(system(context, args)?.iter().flat_map(|o| parameters_of(context, o)).collect())
}

fn all_parameters(context: &Context<'_>, args: &[Value]) -> Result<Vec<Parameter>, SqlError> {
    let mut all = user_parameters(context, args)?;
    all.extend(system_parameters(context, args)?);
    Ok(all)
}

macro_rules! parameter_view {
    ($view:ident = $full:literal, rows $rows:expr) => {
        view! {
            $view = $full of Parameter as p, rows $rows;
            object_id int = p.object_id;
            name sysname null = &p.name;
            parameter_id int = p.id;
            system_type_id tinyint = p.ty.system;
            user_type_id int = p.ty.user;
            max_length smallint = p.ty.max_length;
            precision tinyint = p.ty.precision;
            scale tinyint = p.ty.scale;
            is_output bit = p.output;
            is_cursor_ref bit = p.cursor;
            // Of CLR objects only, in SQL Server too.
            has_default_value bit = false;
            is_xml_document bit = p.ty.xml.1;
            default_value sql_variant null = NULL;
            xml_collection_id int = p.ty.xml.0;
            is_readonly bit = p.readonly;
            is_nullable bit null = p.nullable;
            encryption_type int null = NULL;
            encryption_type_desc nvarchar(64) null = NULL;
            encryption_algorithm_name sysname null = NULL;
            column_encryption_key_id int null = NULL;
            column_encryption_key_database_name sysname null = NULL;
        }
    };
}

parameter_view!(PARAMETERS = "sys.parameters", rows user_parameters);
parameter_view!(ALL_PARAMETERS = "sys.all_parameters", rows all_parameters);
parameter_view!(SYSTEM_PARAMETERS = "sys.system_parameters", rows system_parameters);
