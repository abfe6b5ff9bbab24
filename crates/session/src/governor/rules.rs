//! What the statements of Resource Governor may say: each changes the definition, or is refused by SQL Server's number.
//!
//! Sources: SQL Server's documentation of the statements, and the texts of its messages 10900 to 10923. A value beyond its
//! range never comes here: it is a syntax error.

use catalog::{DEFAULT_GROUP, GovernorDef, GroupDef, INTERNAL_GROUP, PoolDef};
use executor::SqlError;
use syntax::ast::{GovernorStatement, GroupSetting, PoolSetting};

/// Pools that there may be, the two of the server among them.
const POOLS_MAX: usize = 64;

fn refuse(number: i32, text: impl Into<String>) -> SqlError {
    SqlError::new(number, 16, text.into())
}

fn absent(verb: &str, what: &str, name: &str) -> SqlError {
    let text = format!(
        "Cannot {verb} the {what} '{name}', because it does not exist or you do not have permission."
    );
    refuse(15151, text)
}

fn check_name(what: &str, name: &str, taken: bool) -> Result<(), SqlError> {
    if name.starts_with('#') {
        let text = format!("The name of the {what} '{name}' cannot begin with # of ##.");
        return Err(refuse(10914, text));
    }
    match taken {
        true => {
            Err(refuse(10918, format!("Cannot create {what} '{name}' because it already exists.")))
        }
        false => Ok(()),
    }
}

/// Changes the definition as a statement other than ALTER RESOURCE GOVERNOR says.
pub(super) fn change(def: &mut GovernorDef, statement: &GovernorStatement) -> Result<(), SqlError> {
    match statement {
        GovernorStatement::CreatePool { name, settings } => {
            let name = &name.value;
            check_name("resource pool", name, def.pool_named(name).is_some())?;
            if def.pools.len() >= POOLS_MAX {
                let text = format!(
                    "The resource pool cannot be created. The maximum number of resource pools cannot exceed current \
                     limit of {POOLS_MAX} including predefined resource pools."
                );
                return Err(refuse(10909, text));
            }
            let mut pool = PoolDef::new(def.free_pool_id(), name);
            set_pool(&mut pool, settings)?;
            check_minimums(def, &pool)?;
            def.pools.push(pool);
            def.pools.sort_by_key(|pool| pool.id);
        }
        GovernorStatement::AlterPool { name, settings } => {
            let found = def.pool_named(&name.value);
            let mut pool =
                found.ok_or_else(|| absent("alter", "resource pool", &name.value))?.clone();
            if pool.id == INTERNAL_GROUP {
                return Err(no_altering(&pool.name, "resource pool"));
            }
            set_pool(&mut pool, settings)?;
            check_minimums(def, &pool)?;
            def.pools.iter_mut().filter(|p| p.id == pool.id).for_each(|p| *p = pool.clone());
        }
        GovernorStatement::DropPool(name) => {
            let pool = def.pool_named(&name.value);
            let pool = pool.ok_or_else(|| absent("drop", "resource pool", &name.value))?.clone();
            if pool.id <= DEFAULT_GROUP {
                return Err(no_dropping("resource pool"));
            }
            if let Some(group) = def.groups.iter().find(|group| group.pool == pool.id) {
                let text = format!(
                    "Cannot drop resource pool '{}' because it contains workload group '{}'. Drop or remove all \
                     workload groups using this resource pool before dropping it.",
                    pool.name, group.name
                );
                return Err(refuse(10916, text));
            }
            def.pools.retain(|p| p.id != pool.id);
        }
        GovernorStatement::CreateGroup { name, settings, pool } => {
            let name = &name.value;
            check_name("workload group", name, def.group_named(name).is_some())?;
            let pool = match pool {
                Some(pool) => pool_of(def, &pool.value, "create", name)?,
                None => DEFAULT_GROUP,
            };
            let mut group = GroupDef::new(def.free_group_id(), name, pool);
            set_group(&mut group, settings);
            def.groups.push(group);
            def.groups.sort_by_key(|group| group.id);
        }
        GovernorStatement::AlterGroup { name, settings, pool } => {
            let found = def.group_named(&name.value);
            let mut group =
                found.ok_or_else(|| absent("alter", "workload group", &name.value))?.clone();
            if group.id == INTERNAL_GROUP {
                return Err(no_altering(&group.name, "workload group"));
            }
            if settings.is_empty() && pool.is_none() {
                let text = "ALTER WORKLOAD GROUP failed. Either a 'WITH' or 'USING' clause must be specified.";
                return Err(refuse(10917, text));
            }
            if let Some(pool) = pool {
                let to = pool_of(def, &pool.value, "alter", &group.name)?;
                if group.id == DEFAULT_GROUP && to != DEFAULT_GROUP {
                    let text = "The 'default' workload group cannot be moved out of 'default' resource pool.";
                    return Err(refuse(10921, text));
                }
                group.pool = to;
            }
            set_group(&mut group, settings);
            def.groups.iter_mut().filter(|g| g.id == group.id).for_each(|g| *g = group.clone());
        }
        GovernorStatement::DropGroup(name) => {
            let found = def.group_named(&name.value);
            let id = found.ok_or_else(|| absent("drop", "workload group", &name.value))?.id;
            if id <= DEFAULT_GROUP {
                return Err(no_dropping("workload group"));
            }
            def.groups.retain(|group| group.id != id);
        }
        GovernorStatement::Alter(_) => {}
    }
    Ok(())
}

fn no_altering(name: &str, what: &str) -> SqlError {
    let text =
        format!("The operation could not be completed. Altering '{name}' {what} is not allowed.");
    refuse(10915, text)
}

fn no_dropping(what: &str) -> SqlError {
    let text =
        format!("The operation could not be completed. Dropping predefined {what} is not allowed.");
    refuse(10912, text)
}

/// The pool of USING.
fn pool_of(def: &GovernorDef, pool: &str, verb: &str, group: &str) -> Result<i32, SqlError> {
    match def.pool_named(pool) {
        None => {
            let text = format!(
                "Requested operation cannot be performed because the resource pool '{pool}' does not exist."
            );
            Err(refuse(10911, text))
        }
        Some(found) if found.id == INTERNAL_GROUP => {
            let text = format!(
                "Users are not allowed to {verb} the workload group '{group}' in the 'internal' resource pool."
            );
            Err(refuse(10913, text))
        }
        Some(found) => Ok(found.id),
    }
}

fn set_group(group: &mut GroupDef, settings: &[(GroupSetting, u32)]) {
    for (setting, value) in settings {
        *match setting {
            GroupSetting::Importance => &mut group.importance,
            GroupSetting::MemoryGrantPercent => &mut group.memory_grant_percent,
            GroupSetting::CpuTimeSec => &mut group.cpu_time_sec,
            GroupSetting::GrantTimeoutSec => &mut group.grant_timeout_sec,
            GroupSetting::MaxDop => &mut group.max_dop,
            GroupSetting::MaxRequests => &mut group.max_requests,
        } = *value;
    }
}

fn set_pool(pool: &mut PoolDef, settings: &[(PoolSetting, u32)]) -> Result<(), SqlError> {
    for (setting, value) in settings {
        *match setting {
            PoolSetting::MinCpu => &mut pool.min_cpu,
            PoolSetting::MaxCpu => &mut pool.max_cpu,
            PoolSetting::CapCpu => &mut pool.cap_cpu,
            PoolSetting::MinMemory => &mut pool.min_memory,
            PoolSetting::MaxMemory => &mut pool.max_memory,
            PoolSetting::MinIops => &mut pool.min_iops,
            PoolSetting::MaxIops => &mut pool.max_iops,
        } = *value;
    }
    let pairs = [
        ("min_cpu_percent", pool.min_cpu, "max_cpu_percent", pool.max_cpu),
        ("min_cpu_percent", pool.min_cpu, "cap_cpu_percent", pool.cap_cpu),
        ("min_memory_percent", pool.min_memory, "max_memory_percent", pool.max_memory),
        ("min_iops_per_volume", pool.min_iops, "max_iops_per_volume", pool.max_iops),
    ];
    for (least, min, most, max) in pairs {
        // Without a maximum of operations there is none.
        if min > max && !(max == 0 && most == "max_iops_per_volume") {
            let text = format!(
                "Attribute '{least}' with value of {min} is greater than attribute '{most}' with value of {max}."
            );
            return Err(refuse(10907, text));
        }
    }
    Ok(())
}

/// With this pool, minimums are no more than there is.
fn check_minimums(def: &GovernorDef, pool: &PoolDef) -> Result<(), SqlError> {
    let others = || def.pools.iter().filter(|other| other.id != pool.id);
    let cpu: u32 = others().map(|other| other.min_cpu).sum();
    let memory: u32 = others().map(|other| other.min_memory).sum();
    let minimums =
        [("min_cpu_percent", cpu, pool.min_cpu), ("min_memory_percent", memory, pool.min_memory)];
    for (name, others, value) in minimums {
        if others + value > 100 {
            let text = format!(
                "The operation could not be completed. The specified '{name}' value, {value}, causes the sum of minimums \
                 on all resource pools to exceed 100 percent. Reduce the value or modify other resource pools so that the \
                 sum is less than 100."
            );
            return Err(refuse(10910, text));
        }
    }
    Ok(())
}
