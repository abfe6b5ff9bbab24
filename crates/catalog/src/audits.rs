//! Audits as they are defined, and the specifications of what goes into them.
//!
//! An audit and a specification of the server are kept in `master`, among the options of databases, under a number that
//! none has ([`AUDITS`]); a specification of a database in system table 18 of the database itself, so that it goes along
//! when the database is detached, backed up and restored: `AUDIT SPECIFICATION <id> | its fields`.
//!
//! Promises: a change is durable when it returns, and is no part of the session's transaction; what was written is read as
//! it was, whatever its texts are. A specification names its audit by the audit's id, which may be of another server.

use crate::system::{Cells, MasterTables, corrupt, text_or_null};
use crate::{Catalog, CatalogError, Configuration, Txn};
use std::ops::Bound;
use types::Value;

/// In place of a database's id.
pub(crate) const AUDITS: i32 = -3;
/// What the names of a database's entries begin with.
const PREFIX: &str = "AUDIT SPECIFICATION ";
/// The id of the first one of either kind.
const FIRST_ID: i32 = 65_536;

/// An audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditDef {
    pub id: i32,
    pub name: Box<str>,
    pub guid: [u8; 16],
    pub created_unix_ns: u64,
    pub modified_unix_ns: u64,
    /// The login that made it.
    pub principal: i32,
    /// FILEPATH, as it was said.
    pub folder: Box<str>,
    /// MAXSIZE; 0: no bound.
    pub file_mb_max: u64,
    pub rollover_files_max: u32,
    /// 0: no bound.
    pub files_max: u32,
    pub reserves_space: bool,
    pub queue_delay_ms: u32,
    /// CONTINUE 0, SHUTDOWN 1, FAIL_OPERATION 2.
    pub on_failure: u8,
    pub is_on: bool,
    /// WHERE.
    pub predicate: Option<Box<str>>,
}

/// A specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSpecificationDef {
    pub id: i32,
    pub name: Box<str>,
    pub audit: [u8; 16],
    pub created_unix_ns: u64,
    pub modified_unix_ns: u64,
    pub is_on: bool,
    /// Names of groups, in their order of [`audit::GROUPS`].
    pub groups: Vec<Box<str>>,
}

/// The server's audits and specifications, each by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditDefs {
    pub audits: Vec<AuditDef>,
    pub specifications: Vec<AuditSpecificationDef>,
}

impl AuditDefs {
    /// By name, whatever its case.
    pub fn audit_named(&self, name: &str) -> Option<&AuditDef> {
        self.audits.iter().find(|audit| crate::same_name(&audit.name, name))
    }

    /// By its id that no other server's audit has.
    pub fn audit_of(&self, guid: &[u8; 16]) -> Option<&AuditDef> {
        self.audits.iter().find(|audit| audit.guid == *guid)
    }

    /// An id that none has.
    pub fn free_audit_id(&self) -> i32 {
        free_id(self.audits.iter().map(|audit| audit.id))
    }

    pub(crate) fn rows(&self) -> Vec<(String, String)> {
        let audits = self.audits.iter().map(|a| (format!("audit {}", a.id), a.text()));
        let specifications =
            self.specifications.iter().map(|s| (format!("specification {}", s.id), s.text()));
        audits.chain(specifications).collect()
    }

    pub(crate) fn load(tables: &MasterTables, txn: &mut Txn) -> Result<AuditDefs, CatalogError> {
        let mut defs = AuditDefs::default();
        for row in tables.options.scan(txn, &[Value::Int(AUDITS)])? {
            let mut cells = Cells::new(row);
            cells.skip()?;
            let (key, text) = (cells.text()?, cells.text()?);
            let wrong = || corrupt("the definition of an audit cannot be read");
            let (kind, id) = key.split_once(' ').ok_or_else(wrong)?;
            let id = id.parse().map_err(|_| wrong())?;
            match kind {
                "audit" => defs.audits.push(AuditDef::read(id, &text).ok_or_else(wrong)?),
                _ => {
                    let read = AuditSpecificationDef::read(id, &text).ok_or_else(wrong)?;
                    defs.specifications.push(read);
                }
            }
        }
        defs.audits.sort_by_key(|audit| audit.id);
        defs.specifications.sort_by_key(|specification| specification.id);
        Ok(defs)
    }
}

/// An id that none of these is.
pub fn free_specification_id(all: &[AuditSpecificationDef]) -> i32 {
    free_id(all.iter().map(|specification| specification.id))
}

fn free_id(taken: impl Iterator<Item = i32>) -> i32 {
    taken.max().map_or(FIRST_ID, |last| last + 1)
}

impl AuditDef {
    fn text(&self) -> String {
        let number = |n: u64| n.to_string();
        let mut fields = vec![
            self.name.to_string(),
            stdx::hex(&self.guid),
            number(self.created_unix_ns),
            number(self.modified_unix_ns),
            self.principal.to_string(),
            self.folder.to_string(),
            number(self.file_mb_max),
            number(self.rollover_files_max.into()),
            number(self.files_max.into()),
            number(self.reserves_space.into()),
            number(self.queue_delay_ms.into()),
            number(self.on_failure.into()),
            number(self.is_on.into()),
        ];
        fields.extend(self.predicate.as_deref().map(str::to_owned));
        joined(&fields)
    }

    fn read(id: i32, text: &str) -> Option<AuditDef> {
        let fields = divided(text);
        let field = |at: usize| fields.get(at).map(String::as_str);
        Some(AuditDef {
            id,
            name: field(0)?.into(),
            guid: guid(field(1)?)?,
            created_unix_ns: field(2)?.parse().ok()?,
            modified_unix_ns: field(3)?.parse().ok()?,
            principal: field(4)?.parse().ok()?,
            folder: field(5)?.into(),
            file_mb_max: field(6)?.parse().ok()?,
            rollover_files_max: field(7)?.parse().ok()?,
            files_max: field(8)?.parse().ok()?,
            reserves_space: field(9)? == "1",
            queue_delay_ms: field(10)?.parse().ok()?,
            on_failure: field(11)?.parse().ok()?,
            is_on: field(12)? == "1",
            predicate: field(13).map(Into::into),
        })
    }
}

impl AuditSpecificationDef {
    /// The bits of its groups.
    pub fn bits(&self) -> u64 {
        let groups = self.groups.iter().filter_map(|name| audit::group_named(name)?.group);
        groups.fold(0, |bits, group| bits | group.bit())
    }

    fn text(&self) -> String {
        let mut fields = vec![
            self.name.to_string(),
            stdx::hex(&self.audit),
            self.created_unix_ns.to_string(),
            self.modified_unix_ns.to_string(),
            i32::from(self.is_on).to_string(),
        ];
        fields.extend(self.groups.iter().map(ToString::to_string));
        joined(&fields)
    }

    fn read(id: i32, text: &str) -> Option<AuditSpecificationDef> {
        let fields = divided(text);
        let field = |at: usize| fields.get(at).map(String::as_str);
        Some(AuditSpecificationDef {
            id,
            name: field(0)?.into(),
            audit: guid(field(1)?)?,
            created_unix_ns: field(2)?.parse().ok()?,
            modified_unix_ns: field(3)?.parse().ok()?,
            is_on: field(4)? == "1",
            groups: fields[5..].iter().map(|name| name.as_str().into()).collect(),
        })
    }
}

impl Configuration {
    /// The database's audit specifications, by id.
    pub fn audit_specifications(&self) -> Vec<AuditSpecificationDef> {
        let from = self.set.range::<str, _>((Bound::Included(PREFIX), Bound::Unbounded));
        let own = from.map_while(|(name, values)| Some((name.strip_prefix(PREFIX)?, values)));
        own.filter_map(|(id, (text, _))| {
            AuditSpecificationDef::read(id.parse().ok()?, text.as_deref()?)
        })
        .collect()
    }
}

impl Catalog {
    /// Keeps an audit specification, in the place of what has its id. Suspends.
    pub fn keep_audit_specification(
        &self,
        specification: &AuditSpecificationDef,
    ) -> Result<(), CatalogError> {
        let (name, text) = (entry_name(specification.id), specification.text());
        self.in_transaction(|catalog, txn| {
            let row = [Value::str(&name), text_or_null(Some(&text)), Value::Null];
            catalog.tables.configuration.put(txn, &row)
        })?;
        self.publish_entry(&name, Some(&text));
        Ok(())
    }

    /// Suspends.
    pub fn forget_audit_specification(&self, id: i32) -> Result<(), CatalogError> {
        let name = entry_name(id);
        self.in_transaction(|catalog, txn| {
            catalog.tables.configuration.delete(txn, &[Value::str(&name)]).map(drop)
        })?;
        self.publish_entry(&name, None);
        Ok(())
    }

    fn publish_entry(&self, name: &str, text: Option<&str>) {
        let mut defs = self.defs.write();
        let mut configuration = (*defs.configuration).clone();
        match text {
            Some(text) => drop(configuration.set.insert(name.into(), (Some(text.into()), None))),
            None => drop(configuration.set.remove(name)),
        }
        defs.configuration = std::sync::Arc::new(configuration);
    }
}

/// Of ten digits, so that they are in the order of their ids.
fn entry_name(id: i32) -> String {
    format!("{PREFIX}{id:010}")
}

fn guid(text: &str) -> Option<[u8; 16]> {
    let number = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32)?;
    Some(number.to_be_bytes())
}

/// Fields in lines; a line's end in one, and a backslash, are written with a backslash.
fn joined(fields: &[String]) -> String {
    let escaped = |field: &String| field.replace('\\', "\\\\").replace('\n', "\\n");
    fields.iter().map(escaped).collect::<Vec<_>>().join("\n")
}

fn divided(text: &str) -> Vec<String> {
    let plain = |line: &str| {
        let (mut out, mut chars) = (String::with_capacity(line.len()), line.chars());
        while let Some(c) = chars.next() {
            match c {
                '\\' => out.push(if chars.next() == Some('n') { '\n' } else { '\\' }),
                c => out.push(c),
            }
        }
        out
    };
    text.split('\n').map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let audit = AuditDef {
            id: 65_537,
            name: "a\\n\nb".into(),
            guid: [0xf1; 16],
            created_unix_ns: 1,
            modified_unix_ns: u64::MAX,
            principal: 1,
            folder: "C:\\new\\\n".into(),
            file_mb_max: 2,
            rollover_files_max: 3,
            files_max: 4,
            reserves_space: true,
            queue_delay_ms: 0,
            on_failure: 2,
            is_on: false,
            predicate: Some("([a]='\\')".into()),
        };
        assert_eq!(AuditDef::read(audit.id, &audit.text()), Some(audit.clone()));
        let plain = AuditDef { predicate: None, ..audit };
        assert_eq!(AuditDef::read(plain.id, &plain.text()), Some(plain.clone()));
        let specification = AuditSpecificationDef {
            id: 65_536,
            name: "s".into(),
            audit: [0; 16],
            created_unix_ns: 5,
            modified_unix_ns: 6,
            is_on: true,
            groups: vec!["DBCC_GROUP".into(), "LOGOUT_GROUP".into()],
        };
        let text = specification.text();
        assert_eq!(AuditSpecificationDef::read(65_536, &text), Some(specification.clone()));
        assert_eq!(specification.bits(), audit::Group::Dbcc.bit() | audit::Group::Logout.bit());
        assert_eq!(AuditDef::read(1, "short"), None);
    }
}
