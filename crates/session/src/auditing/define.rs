//! What the statements about audits may say: each changes the definitions, or is refused by SQL Server's number, and what
//! runs follows the definitions.
//!
//! Promises: what is refused changes nothing; an audit is on in the definitions only when it has begun to write; only one
//! statement at a time is under way.

use crate::auditor::{InForce, checked_predicate};
use crate::errors::catalog_error;
use crate::instance::Instance;
use crate::options::absolute;
use crate::own_files;
use ::audit::Record;
use catalog::{AuditDef, AuditDefs, AuditSpecificationDef, free_specification_id, same_name};
use executor::SqlError;
use session_state::OpenDatabase;
use std::sync::Arc;
use syntax::ast::{
    AuditFileOption, AuditOption, AuditSpecification, AuditStatement, AuditTarget, Ident,
    SpecificationChange,
};
use types::{SqlType, Value, convert};

/// MAX_ROLLOVER_FILES = UNLIMITED, as sys.server_file_audits shows it.
const UNLIMITED_FILES: u32 = i32::MAX as u32;
/// MAXSIZE must be less than 16,777,215 TB.
const FILE_MB_END: u64 = 16_777_215 << 20;
/// log_file_path is nvarchar(260).
const PATH_UNITS_MAX: usize = 260;

fn refuse<T>(number: i32, text: impl Into<String>) -> Result<T, SqlError> {
    Err(SqlError::new(number, 16, text.into()))
}

impl Instance {
    /// Of somebody who may; `by` is a record of his session, which is in `database`. Suspends.
    pub(crate) fn define_audit(
        self: &Arc<Self>,
        statement: &AuditStatement,
        by: &Record,
        database: &OpenDatabase,
    ) -> Result<(), SqlError> {
        let _passage = self.auditor.gate.enter();
        match statement {
            AuditStatement::Create { name, target, options, predicate } => {
                let now = runtime::clock::unix_ns();
                let mut def = AuditDef {
                    id: 0,
                    name: name.value.as_str().into(),
                    guid: [0; 16],
                    created_unix_ns: now,
                    modified_unix_ns: now,
                    principal: by.server_principal_id,
                    folder: "".into(),
                    file_mb_max: 0,
                    rollover_files_max: UNLIMITED_FILES,
                    files_max: 0,
                    reserves_space: false,
                    queue_delay_ms: 1000,
                    on_failure: 0,
                    is_on: false,
                    predicate: predicate
                        .as_ref()
                        .map(checked_predicate)
                        .transpose()?
                        .map(Into::into),
                };
                runtime::random::fill(&mut def.guid);
                self.set_target(&mut def, target)?;
                set_options(&mut def, options)?;
                self.server.change_audits(|defs| {
                    check_free(defs, &name.value)?;
                    if defs.audit_of(&def.guid).is_some() {
                        return refuse(
                            15530,
                            "The server audit with this AUDIT_GUID already exists.",
                        );
                    }
                    def.id = defs.free_audit_id();
                    defs.audits.push(def);
                    Ok(())
                })?;
            }
            AuditStatement::Alter { name, target, options, predicate } => {
                let state = options.iter().find_map(|option| match option {
                    AuditOption::State(on) => Some(*on),
                    _ => None,
                });
                let found = find(&self.server.audits(), "alter", name)?;
                if let Some(on) = state {
                    if target.is_some() || predicate.is_some() || options.len() > 1 {
                        return refuse(
                            33223,
                            "ALTER SERVER AUDIT requires the STATE option to be specified without using any other \
                             options.",
                        );
                    }
                    return self.switch_audit(found, on, by);
                }
                check_off(&found)?;
                let mut def = found;
                if let Some(target) = target {
                    self.set_target(&mut def, target)?;
                }
                set_options(&mut def, options)?;
                if let Some(predicate) = predicate {
                    let text = predicate.as_ref().map(checked_predicate).transpose()?;
                    def.predicate = text.map(Into::into);
                }
                self.put_audit(def)?;
            }
            AuditStatement::Rename { name, new } => {
                let defs = self.server.audits();
                let mut def = find(&defs, "alter", name)?;
                check_off(&def)?;
                if !same_name(&def.name, &new.value) {
                    check_free(&defs, &new.value)?;
                }
                def.name = new.value.as_str().into();
                self.put_audit(def)?;
            }
            AuditStatement::Drop(name) => {
                let found = find(&self.server.audits(), "drop", name)?;
                check_off(&found)?;
                self.server.change_audits(|defs| {
                    defs.audits.retain(|audit| audit.id != found.id);
                    Ok::<(), SqlError>(())
                })?;
            }
            AuditStatement::Specification(specification) => {
                self.define_specification(specification, database)?;
                self.fit_audits();
            }
        }
        Ok(())
    }

    /// STATE = ON, OFF.
    fn switch_audit(
        self: &Arc<Self>,
        mut def: AuditDef,
        on: bool,
        by: &Record,
    ) -> Result<(), SqlError> {
        if def.is_on == on {
            return Ok(());
        }
        if on {
            let (running, made) = self.run_audit(&def);
            def.is_on = true;
            let kept = made.map_err(|_| {
                let text = format!(
                    "Audit '{}' failed to start . For more information, see the SQL Server error log. You can also query \
                     sys.dm_os_ring_buffers where ring_buffer_type = 'RING_BUFFER_XE_LOG'.",
                    def.name
                );
                SqlError::new(33222, 16, text)
            });
            if let Err(error) = kept.and_then(|()| self.put_audit(def.clone())) {
                self.end_audit(&running);
                return Err(error);
            }
            self.put_in_force(running);
            self.fit_audits();
            self.note_session(&def, by);
            return Ok(());
        }
        def.is_on = false;
        self.put_audit(def.clone())?;
        self.note_session(&def, by);
        let running = self.audit_in_force(&def.guid);
        {
            let mut in_force = self.auditor.in_force.write();
            let mut next = InForce::clone(&in_force);
            next.audits.retain(|running| running.guid != def.guid);
            *in_force = Arc::new(next);
        }
        self.fit_audits();
        if let Some(running) = running {
            self.end_audit(&running);
        }
        Ok(())
    }

    fn put_audit(&self, mut def: AuditDef) -> Result<(), SqlError> {
        def.modified_unix_ns = runtime::clock::unix_ns();
        self.server.change_audits(|defs| {
            if let Some(old) = defs.audits.iter_mut().find(|audit| audit.id == def.id) {
                *old = def;
            }
            Ok::<(), SqlError>(())
        })?;
        Ok(())
    }

    /// TO FILE (...): what is not said stays.
    fn set_target(&self, def: &mut AuditDef, target: &AuditTarget) -> Result<(), SqlError> {
        let options = match target {
            AuditTarget::File(options) => options,
            AuditTarget::Other(other) => {
                return Err(SqlError::unsupported(format!("CREATE SERVER AUDIT TO {other}")));
            }
        };
        let (mut rolls, mut counts) = (false, false);
        for option in options {
            match option {
                AuditFileOption::Path(path) => def.folder = path.as_str().into(),
                AuditFileOption::MaxSize(None | Some(0)) => def.file_mb_max = 0,
                AuditFileOption::MaxSize(Some(bytes)) if *bytes < 2 << 20 => {
                    return refuse(
                        33070,
                        "The specified maximum size limit for the audit log file is less than the minimum value allowed. \
                         The maximum size limit must be at least 2 MB.",
                    );
                }
                AuditFileOption::MaxSize(Some(bytes)) if bytes >> 20 >= FILE_MB_END => {
                    return refuse(
                        33076,
                        "The specified maximum size limit is greater than the maximum value allowed. The maximum size \
                         limit must be less than 16777215 TB.",
                    );
                }
                AuditFileOption::MaxSize(Some(bytes)) => def.file_mb_max = bytes >> 20,
                AuditFileOption::MaxRolloverFiles(most) => {
                    (def.rollover_files_max, def.files_max) = (most.unwrap_or(UNLIMITED_FILES), 0);
                    rolls = true;
                }
                AuditFileOption::MaxFiles(most) => {
                    (def.files_max, def.rollover_files_max) = (*most, UNLIMITED_FILES);
                    counts = true;
                }
                AuditFileOption::ReserveDiskSpace(on) => def.reserves_space = *on,
            }
        }
        if rolls && counts {
            return refuse(
                33238,
                "MAX_FILES and MAX_ROLLOVER_FILES options cannot be specified toghether.",
            );
        }
        if def.reserves_space && def.file_mb_max == 0 {
            return refuse(
                33077,
                "RESERVE_DISK_SPACE cannot be specified when setting MAXSIZE = UNLIMITED. Either reduce MAXSIZE or do not \
                 specify RESERVE_DISK_SPACE.",
            );
        }
        self.check_folder(&def.folder)
    }

    /// 33072 for what is no path, or one of the server's own places. Whether the folder is there is seen when it is used.
    fn check_folder(&self, folder: &str) -> Result<(), SqlError> {
        let fits = !folder.is_empty()
            && !folder.contains('\0')
            && folder.encode_utf16().count() <= PATH_UNITS_MAX
            && {
                let file = absolute(&self.config.data_dir, folder).join("audit.sqlaudit");
                file.to_str().is_some_and(|file| own_files::of_user(self, file).is_ok())
            };
        match fits {
            true => Ok(()),
            false => refuse(33072, "The audit log file path is invalid."),
        }
    }

    fn define_specification(
        &self,
        specification: &AuditSpecification,
        database: &OpenDatabase,
    ) -> Result<(), SqlError> {
        let AuditSpecification { of_database, name, change } = specification;
        let scope = if *of_database { "database" } else { "server" };
        let audits = self.server.audits();
        let mut all = match of_database {
            true => database.catalog.configuration().audit_specifications(),
            false => audits.specifications.clone(),
        };
        let changed = changed(&audits, &mut all, scope, name, change)?;
        if *of_database {
            let kept = match &changed {
                Changed::Put(specification) => {
                    database.catalog.keep_audit_specification(specification)
                }
                Changed::Gone(id) => database.catalog.forget_audit_specification(*id),
            };
            return kept.map_err(catalog_error);
        }
        self.server.change_audits(|defs| {
            defs.specifications = all;
            Ok::<(), SqlError>(())
        })?;
        Ok(())
    }
}

/// What has become of a specification.
enum Changed {
    Put(AuditSpecificationDef),
    Gone(i32),
}

fn changed(
    audits: &AuditDefs,
    all: &mut Vec<AuditSpecificationDef>,
    scope: &str,
    name: &Ident,
    change: &SpecificationChange,
) -> Result<Changed, SqlError> {
    let at = all.iter().position(|known| same_name(&known.name, &name.value));
    let absent = |verb: &str| {
        let text = format!(
            "Cannot {verb} the {scope} audit specification '{}', because it does not exist or you do not have permission.",
            name.value
        );
        SqlError::new(15151, 16, text)
    };
    let now = runtime::clock::unix_ns();
    match change {
        SpecificationChange::Create { audit, groups, state } => {
            if at.is_some() {
                let text = format!(
                    "The {scope} audit specification with name \"{}\" already exists.",
                    name.value
                );
                return refuse(15530, text);
            }
            let guid = bound(audits, all, audit, None)?;
            let mut made = AuditSpecificationDef {
                id: free_specification_id(all),
                name: name.value.as_str().into(),
                audit: guid,
                created_unix_ns: now,
                modified_unix_ns: now,
                is_on: state.unwrap_or(false),
                groups: Vec::new(),
            };
            groups.iter().try_for_each(|group| put_group(&mut made, scope, true, group))?;
            all.push(made.clone());
            Ok(Changed::Put(made))
        }
        SpecificationChange::Alter { audit, groups, state } => {
            let at = at.ok_or_else(|| absent("alter"))?;
            let mut made = all[at].clone();
            if audit.is_some() || !groups.is_empty() {
                check_specification_off(&made)?;
            }
            if let Some(audit) = audit {
                made.audit = bound(audits, all, audit, Some(made.id))?;
            }
            groups.iter().try_for_each(|(add, group)| put_group(&mut made, scope, *add, group))?;
            made.is_on = state.unwrap_or(made.is_on);
            made.modified_unix_ns = now;
            all[at] = made.clone();
            Ok(Changed::Put(made))
        }
        SpecificationChange::Drop => {
            let at = at.ok_or_else(|| absent("drop"))?;
            check_specification_off(&all[at])?;
            Ok(Changed::Gone(all.remove(at).id))
        }
    }
}

/// The audit of a specification: one of each kind may be bound to it.
fn bound(
    audits: &AuditDefs,
    all: &[AuditSpecificationDef],
    audit: &Ident,
    own: Option<i32>,
) -> Result<[u8; 16], SqlError> {
    let Some(found) = audits.audit_named(&audit.value) else {
        let text = format!(
            "Cannot find audit '{}' or you do not have the required permissions.",
            audit.value
        );
        return refuse(33073, text);
    };
    let other = all.iter().any(|known| known.audit == found.guid && Some(known.id) != own);
    if other {
        let text = format!("An audit specification for audit '{}' already exists.", found.name);
        return refuse(33230, text);
    }
    Ok(found.guid)
}

/// ADD and DROP of a group; one that nothing raises here is refused by name.
fn put_group(
    specification: &mut AuditSpecificationDef,
    scope: &str,
    add: bool,
    group: &Ident,
) -> Result<(), SqlError> {
    let facts = ::audit::group_named(&group.value);
    let Some(facts) = facts.filter(|facts| facts.group.is_some()) else {
        let name = group.value.to_uppercase();
        let what = format!("{} AUDIT SPECIFICATION ADD ({name})", scope.to_uppercase());
        return Err(SqlError::unsupported(what));
    };
    let place = |name: &str| ::audit::GROUPS.iter().position(|known| known.name == name);
    specification.groups.retain(|known| **known != *facts.name);
    if add {
        specification.groups.push(facts.name.into());
        specification.groups.sort_by_key(|name| place(name));
    }
    Ok(())
}

/// WITH (...), but for STATE.
fn set_options(def: &mut AuditDef, options: &[AuditOption]) -> Result<(), SqlError> {
    for option in options {
        match option {
            AuditOption::QueueDelay(1..=999) => {
                return refuse(
                    33227,
                    "The specified value for QUEUE_DELAY is not valid. Specify either 0 or 1000 and higher.",
                );
            }
            AuditOption::QueueDelay(ms) => def.queue_delay_ms = *ms,
            AuditOption::OnFailure(number) => def.on_failure = *number,
            AuditOption::Guid(text) => {
                let text = Value::str(text.trim_start_matches('{').trim_end_matches('}'));
                let (from, to) = (text.natural_type(), SqlType::UniqueIdentifier);
                let Value::Guid(guid) =
                    convert::cast(&text, from, to, 0).map_err(SqlError::from)?
                else {
                    return refuse(33072, "The audit log file path is invalid.");
                };
                def.guid = guid;
            }
            AuditOption::State(_) => {}
        }
    }
    Ok(())
}

fn find(defs: &AuditDefs, verb: &str, name: &Ident) -> Result<AuditDef, SqlError> {
    defs.audit_named(&name.value).cloned().ok_or_else(|| {
        let text = format!(
            "Cannot {verb} the server audit '{}', because it does not exist or you do not have permission.",
            name.value
        );
        SqlError::new(15151, 16, text)
    })
}

fn check_free(defs: &AuditDefs, name: &str) -> Result<(), SqlError> {
    match defs.audit_named(name) {
        Some(_) => refuse(15530, format!("The server audit with name \"{name}\" already exists.")),
        None => Ok(()),
    }
}

/// 33071.
fn check_off(def: &AuditDef) -> Result<(), SqlError> {
    match def.is_on {
        true => refuse(
            33071,
            "This command requires audit to be disabled. Disable the audit and rerun this command.",
        ),
        false => Ok(()),
    }
}

/// 33229.
fn check_specification_off(specification: &AuditSpecificationDef) -> Result<(), SqlError> {
    match specification.is_on {
        true => refuse(
            33229,
            "Changes to an audit specification must be done while the audit specification is disabled.",
        ),
        false => Ok(()),
    }
}
