//! What the instance tells its system views: databases, sessions, the machine.

use crate::Instance;
use scheduler::{Stats, TaskInfo};
use std::sync::Arc;
use system_views::{
    AdminFacts, Database, ListenerFacts, NonYielding, Server, ServerFacts, SessionFacts,
    SwitchFacts,
};

/// The instance as the system views see it.
pub(crate) struct InstanceFacts<'a>(pub &'a Arc<Instance>);

impl Server for InstanceFacts<'_> {
    fn databases(&self) -> Vec<Database> {
        let open = self.0.databases();
        let master = self.0.master();
        let mut all = vec![Database {
            id: master.id as i32,
            name: master.name.clone(),
            open: Some(master.clone()),
            suspect: false,
            definition: None,
        }];
        for definition in self.0.server.databases() {
            all.push(Database {
                id: definition.database_id,
                name: definition.name.to_string(),
                open: open.iter().find(|o| o.id as i32 == definition.database_id).cloned(),
                suspect: self.0.is_suspect(&definition.name),
                definition: Some(definition),
            });
        }
        // Those of the system that nobody has gone to yet.
        for (name, id) in system_views::SYSTEM_DATABASES {
            if !all.iter().any(|database| database.id == id) {
                let name = name.to_string();
                all.push(Database { id, name, open: None, suspect: false, definition: None });
            }
        }
        all.sort_by_key(|database| database.id);
        all
    }

    fn path_facts(&self, path: &str) -> session_state::PathFacts {
        self.0.path_facts(path)
    }

    fn volume(&self, path: &str) -> Option<system_views::VolumeFacts> {
        let found = self.0.config.fs.volume(std::path::Path::new(path)).ok()?;
        Some(system_views::VolumeFacts {
            mount_point: found.mount_point.display().to_string(),
            bytes: found.bytes,
            free_bytes: found.free_bytes,
            is_read_only: found.is_read_only,
        })
    }

    fn plans(&self) -> Vec<Arc<interpreter::CachedPlan>> {
        self.0.plans.plans()
    }

    fn query_memory(&self) -> Arc<executor::MemoryPool> {
        self.0.workspace().memory.clone()
    }

    fn governor(&self) -> system_views::GovernorFacts {
        self.0.governor_facts()
    }

    fn audits(&self) -> system_views::AuditFacts {
        system_views::AuditFacts {
            defs: self.0.server.audits(),
            statuses: self.0.auditor.statuses(),
        }
    }

    fn sessions(&self) -> Vec<SessionFacts> {
        self.0.sessions()
    }

    fn plan_lookups(&self) -> [interpreter::CacheLookups; 2] {
        self.0.plans.lookups()
    }

    fn tasks(&self) -> Vec<TaskInfo> {
        self.0.schedulers().tasks()
    }

    fn non_yielding(&self) -> Vec<NonYielding> {
        self.0.watchdog.latest()
    }

    fn listeners(&self) -> Vec<ListenerFacts> {
        self.0.listeners.lock().iter().map(|listening| listening.facts.clone()).collect()
    }

    fn facts(&self) -> ServerFacts {
        let name = self.0.name();
        ServerFacts {
            machine: name.clone(),
            name,
            version: self.0.version(),
            start_unix_ns: self.0.started_unix_ns,
            data_dir: self.0.config.data_dir.to_string_lossy().into_owned(),
            cpus: topology::Topology::machine().map_or(1, |machine| machine.cpus.len() as i32),
            large_pages: self.0.config.trace_flags.contains(&crate::trace_flags::LARGE_PAGES),
            manual_affinity: self.0.manual_affinity.load(std::sync::atomic::Ordering::Relaxed),
            memory_kb: memory_kb(),
            limit_kb: (self.0.may_take_bytes() / 1024) as i64,
        }
    }

    fn schedulers(&self) -> Vec<Stats> {
        self.0.schedulers().stats()
    }

    fn admin(&self) -> AdminFacts {
        let serving = self.0.admin_schedulers.lock().upgrade();
        serving.map_or_else(AdminFacts::default, |schedulers| AdminFacts {
            schedulers: schedulers.stats(),
            tasks: schedulers.tasks(),
        })
    }

    fn switches(&self) -> Vec<SwitchFacts> {
        let switches = self.0.switches();
        let told = switches.iter().map(|(switch, value)| SwitchFacts {
            name: switch.name,
            value: value.to_owned(),
            default: switch.default,
            allowed: switch.allowed.to_string(),
            flag: format!("--{}", switch.flag),
            spinlock: switch.spinlock,
            description: switch.description,
        });
        told.collect()
    }

    fn setting(&self, name: &str) -> Option<(i64, i64)> {
        self.0.settings.lock().get(name)
    }
}

/// Memory of the machine; 0 where the system does not tell.
pub(crate) fn memory_kb() -> i64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}
