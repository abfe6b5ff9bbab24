//! The events of system procedures that do what statements do.

use crate::vm::Vm;
use catalog::{ModuleKind, ObjectRef};
use commands::Argument;
use commands::arguments;
use commands::auditing;
use commands::ddl_events::Occurrence;
use commands::ddl_events::element;
use commands::ddl_events::principals;
use commands::principal_statement;
use session_state::Halted;
use session_state::SessionState;
use session_state::name_parts;
use syntax::ast::SecurityStatement;
use types::Value;

/// The procedures that make something happen.
const WATCHED: &[&str] = &[
    "sp_addapprole",
    "sp_addlogin",
    "sp_addrole",
    "sp_addrolemember",
    "sp_addsrvrolemember",
    "sp_addtype",
    "sp_adduser",
    "sp_approlepassword",
    "sp_bindefault",
    "sp_bindrule",
    "sp_changedbowner",
    "sp_configure",
    "sp_dropapprole",
    "sp_droplogin",
    "sp_droprole",
    "sp_droprolemember",
    "sp_dropsrvrolemember",
    "sp_droptype",
    "sp_dropuser",
    "sp_grantdbaccess",
    "sp_rename",
    "sp_revokedbaccess",
    "sp_settriggerorder",
    "sp_unbindefault",
    "sp_unbindrule",
];

/// May a procedure of this name make something happen?
pub(crate) fn is_watched(name: &str) -> bool {
    let is_own = name.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("sp_"));
    is_own && WATCHED.iter().any(|known| known.eq_ignore_ascii_case(name))
}

impl Vm<'_> {
    /// Runs a procedure, whose EXEC is `command`, with what its event fires.
    #[cold]
    pub(crate) fn procedure_with_events<R>(
        &mut self,
        procedure: &str,
        args: &[Argument],
        command: &str,
        guarded: bool,
        run: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        if procedure == "sp_configure" && args.iter().filter(|arg| arg.value.is_some()).count() > 1
        {
            let made = Occurrence::new("ALTER_INSTANCE");
            return self.with_events(vec![made], true, command, guarded, run);
        }
        if let Ok(Some(statement)) = principal_statement(procedure, args) {
            let happens = principals::occurrences(self.state, &statement);
            let apart = principals::is_of_server(&statement);
            // Its text has the password.
            let secretive = match &statement {
                SecurityStatement::CreateLogin { name, .. }
                | SecurityStatement::CreateApplicationRole { name, .. }
                | SecurityStatement::AlterApplicationRole { name, .. } => Some(name),
                _ => None,
            };
            let starred = secretive.map(|name| {
                format!("EXEC {procedure} N'{}', '******'", name.value.replace('\'', "''"))
            });
            let command = starred.as_deref().unwrap_or(command);
            let (state, host) = (&*self.state, &mut *self.host);
            let events = auditing::events_of_principals(state, host, &statement, &happens, command);
            return self.with_audit(events, apart, false, |vm| {
                vm.with_events(happens, apart, command, guarded, run)
            });
        }
        let happens: Vec<Occurrence> =
            occurrence(self.state, procedure, args).into_iter().collect();
        let (state, host) = (&*self.state, &mut *self.host);
        let events = auditing::events_of_procedure(state, host, &happens, command);
        self.with_audit(events, false, false, |vm| {
            vm.with_events(happens, false, command, guarded, run)
        })
    }
}

fn occurrence(state: &SessionState, procedure: &str, args: &[Argument]) -> Option<Occurrence> {
    let text = |i: usize, name: &str| arguments::text(args, i, name);
    let module = |event: &str, kind: ModuleKind, ty: &'static str, name: &str| {
        let (schema, bare) = split(name);
        let own = state.default_schema().unwrap_or("dbo").to_owned();
        let catalog = &state.database.catalog;
        let found = catalog.module(state.definitions(), schema.as_deref(), &bare, kind);
        let schema = found.map(|found| found.schema.to_string()).or(schema).unwrap_or(own);
        Occurrence::new(event).schema(schema).object(bare, ty)
    };
    let made = match procedure {
        "sp_addtype" => module("CREATE_TYPE", ModuleKind::AliasType, "TYPE", text(0, "@typename")?),
        "sp_droptype" => module("DROP_TYPE", ModuleKind::AliasType, "TYPE", text(0, "@typename")?),
        "sp_bindrule" => module("BIND_RULE", ModuleKind::Rule, "RULE", text(0, "@rulename")?),
        "sp_bindefault" => {
            module("BIND_DEFAULT", ModuleKind::Default, "DEFAULT", text(0, "@defname")?)
        }
        "sp_unbindrule" => unbound(state, "UNBIND_RULE", text(0, "@objname")?),
        "sp_unbindefault" => unbound(state, "UNBIND_DEFAULT", text(0, "@objname")?),
        "sp_changedbowner" => Occurrence::new("ALTER_AUTHORIZATION_DATABASE")
            .schema("")
            .object(state.database.name.as_str(), "DATABASE")
            .with("OwnerName", text(0, "@loginame")?),
        "sp_settriggerorder" => {
            let name = text(0, "@triggername")?;
            match text(3, "@namespace").map(str::to_ascii_uppercase).as_deref() {
                Some("DATABASE") => {
                    let kind = ModuleKind::DatabaseTrigger;
                    return Some(commands::ddl_events::occurrence::ddl_trigger(
                        "ALTER_TRIGGER",
                        kind,
                        name,
                    ));
                }
                // That is no part of a transaction.
                Some(_) => return None,
                None => {}
            }
            module("ALTER_TRIGGER", ModuleKind::Trigger, "TRIGGER", name)
        }
        "sp_rename" => renamed(state, args)?,
        _ => return None,
    };
    Some(match procedure {
        "sp_rename" | "sp_bindrule" | "sp_bindefault" | "sp_unbindrule" | "sp_unbindefault" => {
            let mut inner = String::new();
            for arg in args {
                let text = arg.value.as_ref().and_then(Value::as_str).unwrap_or("");
                element("Param", text, &mut inner);
            }
            let own = format!("{}<Parameters>{inner}</Parameters>", made.own);
            Occurrence { own, ..made }
        }
        _ => made,
    })
}

/// What a rule or default no longer belongs to: a column, by its table and itself, else a type.
fn unbound(state: &SessionState, event: &str, name: &str) -> Occurrence {
    let mut parts = name_parts(name);
    let bare = parts.pop().unwrap_or_default();
    let made = Occurrence::new(event);
    let Some(table) = parts.pop() else {
        return made.schema(state.default_schema().unwrap_or("dbo")).object(bare, "TYPE");
    };
    let schema = parts.pop().filter(|schema| !schema.is_empty());
    match state.find_own(schema.as_deref(), &table) {
        Some(ObjectRef::Table(found)) => {
            made.schema(&*found.schema).object(bare, "COLUMN").target(table, "TABLE")
        }
        _ => made.schema(table).object(bare, "TYPE"),
    }
}

fn renamed(state: &SessionState, args: &[Argument]) -> Option<Occurrence> {
    let new = arguments::text(args, 1, "@newname")?;
    let kind = arguments::text(args, 2, "@objtype").map(str::to_ascii_uppercase);
    let name = arguments::text(args, 0, "@objname")?;
    let mut parts = name_parts(name);
    let part = match kind.as_deref() {
        Some("COLUMN") => Some((parts.pop()?, "COLUMN")),
        Some("INDEX") => Some((parts.pop()?, "INDEX")),
        _ => None,
    };
    let bare = parts.pop()?;
    if bare.starts_with('#') {
        return None;
    }
    let schema = parts.pop().filter(|schema| !schema.is_empty());
    let found = state.find_own(schema.as_deref(), &bare);
    let schema = match &found {
        Some(ObjectRef::Table(table)) => table.schema.to_string(),
        Some(ObjectRef::Procedure(module)) => module.schema.to_string(),
        None => schema.unwrap_or_else(|| "dbo".to_owned()),
    };
    let made = Occurrence::new("RENAME").schema(schema);
    let made = match (part, &found) {
        (Some((part, ty)), _) => made.object(part, ty).target(bare, "TABLE"),
        (None, Some(ObjectRef::Table(_))) => made.object(bare, "TABLE").target("", ""),
        (None, _) => made.object(bare, "OBJECT").target("", ""),
    };
    Some(made.with("NewObjectName", new))
}

/// A name's schema, if it says one, and its last part.
fn split(name: &str) -> (Option<String>, String) {
    let mut parts = name_parts(name).into_iter().rev();
    let bare = parts.next().unwrap_or_default();
    (parts.next().filter(|schema| !schema.is_empty()), bare)
}
