//! Resource Governor as it is defined: pools, workload groups, the classifier, and whether it is on.
//!
//! What runs may be older: definitions count from the next ALTER RESOURCE GOVERNOR RECONFIGURE on, and from the next
//! start. Kept in `master`, among the options of databases, under a number that none has ([`GOVERNOR`]).
//!
//! Invariants: pools and groups 1 (internal) and 2 (default) are always there; every group's pool is.

use crate::system::{Cells, MasterTables, corrupt};
use crate::{CatalogError, Txn};
use types::Value;

/// In place of a database's id.
pub(crate) const GOVERNOR: i32 = -1;
/// The server's own pool and group.
pub const INTERNAL: i32 = 1;
/// The pool and the group of whoever is not classified.
pub const DEFAULT: i32 = 2;
/// Id of the first pool, and of the first group, that is a user's.
const FIRST_ID: i32 = 256;

/// A resource pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolDef {
    pub id: i32,
    pub name: Box<str>,
    pub min_cpu: u32,
    pub max_cpu: u32,
    pub cap_cpu: u32,
    pub min_memory: u32,
    pub max_memory: u32,
    pub min_iops: u32,
    pub max_iops: u32,
}

/// A workload group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDef {
    pub id: i32,
    pub name: Box<str>,
    pub pool: i32,
    /// LOW 0, MEDIUM 1, HIGH 2.
    pub importance: u32,
    /// Percent of the pool's memory that one request's grant may have.
    pub memory_grant_percent: u32,
    /// 0: any time.
    pub cpu_time_sec: u32,
    /// 0: the server's.
    pub grant_timeout_sec: u32,
    /// 0: the server's.
    pub max_dop: u32,
    /// 0: any number.
    pub max_requests: u32,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GovernorDef {
    pub enabled: bool,
    /// The classifier's object id in `master`; 0: none.
    pub classifier: i32,
    /// By id.
    pub pools: Vec<PoolDef>,
    /// By id.
    pub groups: Vec<GroupDef>,
}

impl PoolDef {
    /// As CREATE RESOURCE POOL makes it without settings.
    pub fn new(id: i32, name: &str) -> PoolDef {
        PoolDef {
            id,
            name: name.into(),
            min_cpu: 0,
            max_cpu: 100,
            cap_cpu: 100,
            min_memory: 0,
            max_memory: 100,
            min_iops: 0,
            max_iops: 0,
        }
    }
}

impl GroupDef {
    /// As CREATE WORKLOAD GROUP makes it without settings.
    pub fn new(id: i32, name: &str, pool: i32) -> GroupDef {
        GroupDef {
            id,
            name: name.into(),
            pool,
            importance: 1,
            memory_grant_percent: 25,
            cpu_time_sec: 0,
            grant_timeout_sec: 0,
            max_dop: 0,
            max_requests: 0,
        }
    }
}

impl Default for GovernorDef {
    fn default() -> GovernorDef {
        GovernorDef {
            enabled: false,
            classifier: 0,
            pools: vec![PoolDef::new(INTERNAL, "internal"), PoolDef::new(DEFAULT, "default")],
            groups: vec![
                GroupDef::new(INTERNAL, "internal", INTERNAL),
                GroupDef::new(DEFAULT, "default", DEFAULT),
            ],
        }
    }
}

impl GovernorDef {
    /// By name, whatever its case.
    pub fn pool_named(&self, name: &str) -> Option<&PoolDef> {
        self.pools.iter().find(|pool| crate::same_name(&pool.name, name))
    }

    /// By name, whatever its case.
    pub fn group_named(&self, name: &str) -> Option<&GroupDef> {
        self.groups.iter().find(|group| crate::same_name(&group.name, name))
    }

    /// By id.
    pub fn pool(&self, id: i32) -> Option<&PoolDef> {
        self.pools.iter().find(|pool| pool.id == id)
    }

    /// The lowest id that no pool has and users may.
    pub fn free_pool_id(&self) -> i32 {
        let taken = |id: &i32| self.pools.iter().any(|pool| pool.id == *id);
        (FIRST_ID..).find(|id| !taken(id)).unwrap_or(FIRST_ID)
    }

    /// The lowest id that no group has and users may.
    pub fn free_group_id(&self) -> i32 {
        let taken = |id: &i32| self.groups.iter().any(|group| group.id == *id);
        (FIRST_ID..).find(|id| !taken(id)).unwrap_or(FIRST_ID)
    }

    /// The rows that it is kept as: a name, and numbers with a name last.
    pub(crate) fn rows(&self) -> Vec<(String, String)> {
        let state = format!("{} {}", u8::from(self.enabled), self.classifier);
        let mut rows = vec![("governor".to_owned(), state)];
        for p in &self.pools {
            let numbers = [
                p.min_cpu,
                p.max_cpu,
                p.cap_cpu,
                p.min_memory,
                p.max_memory,
                p.min_iops,
                p.max_iops,
            ];
            rows.push((format!("pool {}", p.id), text_of(&numbers, &p.name)));
        }
        for g in &self.groups {
            let numbers = [
                g.pool as u32,
                g.importance,
                g.memory_grant_percent,
                g.cpu_time_sec,
                g.grant_timeout_sec,
                g.max_dop,
                g.max_requests,
            ];
            rows.push((format!("group {}", g.id), text_of(&numbers, &g.name)));
        }
        rows
    }

    /// Of no rows the default: nobody has ever changed it.
    pub(crate) fn load(tables: &MasterTables, txn: &mut Txn) -> Result<GovernorDef, CatalogError> {
        let mut def = GovernorDef { pools: Vec::new(), groups: Vec::new(), ..Self::default() };
        for row in tables.options.scan(txn, &[Value::Int(GOVERNOR)])? {
            let mut cells = Cells::new(row);
            cells.skip()?;
            let (key, text) = (cells.text()?, cells.text()?);
            let wrong = || corrupt("a row of the resource governor cannot be read");
            match key.split_once(' ') {
                None => {
                    let (on, classifier) = text.split_once(' ').ok_or_else(wrong)?;
                    def.enabled = on == "1";
                    def.classifier = classifier.parse().map_err(|_| wrong())?;
                }
                Some((kind, id)) => {
                    let id = id.parse().map_err(|_| wrong())?;
                    let ([a, b, c, d, e, f, g], name) = numbers_of(&text).ok_or_else(wrong)?;
                    match kind {
                        "pool" => def.pools.push(PoolDef {
                            id,
                            name: name.into(),
                            min_cpu: a,
                            max_cpu: b,
                            cap_cpu: c,
                            min_memory: d,
                            max_memory: e,
                            min_iops: f,
                            max_iops: g,
                        }),
                        "group" => def.groups.push(GroupDef {
                            id,
                            name: name.into(),
                            pool: a as i32,
                            importance: b,
                            memory_grant_percent: c,
                            cpu_time_sec: d,
                            grant_timeout_sec: e,
                            max_dop: f,
                            max_requests: g,
                        }),
                        _ => return Err(wrong()),
                    }
                }
            }
        }
        if def.pools.is_empty() {
            return Ok(GovernorDef::default());
        }
        def.pools.sort_by_key(|pool| pool.id);
        def.groups.sort_by_key(|group| group.id);
        Ok(def)
    }
}

fn text_of(numbers: &[u32; 7], name: &str) -> String {
    let mut text = String::new();
    numbers.iter().for_each(|n| text.push_str(&format!("{n} ")));
    text + name
}

fn numbers_of(text: &str) -> Option<([u32; 7], &str)> {
    let mut numbers = [0; 7];
    let mut rest = text;
    for number in &mut numbers {
        let (first, behind) = rest.split_once(' ')?;
        *number = first.parse().ok()?;
        rest = behind;
    }
    Some((numbers, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let text = text_of(&[1, 2, 3, 4, 5, 6, 7], "a name of words");
        assert_eq!(numbers_of(&text), Some(([1, 2, 3, 4, 5, 6, 7], "a name of words")));
        assert_eq!(numbers_of("1 2 3"), None);
    }
}
