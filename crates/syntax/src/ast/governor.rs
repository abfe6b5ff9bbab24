//! Resource Governor: pools, workload groups, and what turns them on.

use super::*;

/// A statement of it.
#[derive(Clone, Debug, PartialEq)]
pub enum GovernorStatement {
    /// CREATE RESOURCE POOL name [WITH (setting = value, ...)].
    CreatePool {
        /// As written.
        name: Ident,
        /// In order.
        settings: Vec<(PoolSetting, u32)>,
    },
    /// ALTER RESOURCE POOL.
    AlterPool {
        /// As written.
        name: Ident,
        /// In order.
        settings: Vec<(PoolSetting, u32)>,
    },
    /// DROP RESOURCE POOL.
    DropPool(Ident),
    /// CREATE WORKLOAD GROUP name [WITH (setting = value, ...)] [USING pool].
    CreateGroup {
        /// As written.
        name: Ident,
        /// In order.
        settings: Vec<(GroupSetting, u32)>,
        /// USING.
        pool: Option<Ident>,
    },
    /// ALTER WORKLOAD GROUP.
    AlterGroup {
        /// As written.
        name: Ident,
        /// In order; empty: no WITH.
        settings: Vec<(GroupSetting, u32)>,
        /// USING.
        pool: Option<Ident>,
    },
    /// DROP WORKLOAD GROUP.
    DropGroup(Ident),
    /// ALTER RESOURCE GOVERNOR.
    Alter(AlterGovernor),
}

/// What ALTER RESOURCE GOVERNOR does.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterGovernor {
    /// RECONFIGURE.
    Reconfigure,
    /// DISABLE.
    Disable,
    /// RESET STATISTICS.
    ResetStatistics,
    /// WITH (CLASSIFIER_FUNCTION = schema.function | NULL).
    Classifier(Option<ObjectName>),
    /// WITH (MAX_OUTSTANDING_IO_PER_VOLUME = n).
    MaxOutstandingIo(u32),
}

/// What may be set of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolSetting {
    /// MIN_CPU_PERCENT.
    MinCpu,
    /// MAX_CPU_PERCENT.
    MaxCpu,
    /// CAP_CPU_PERCENT.
    CapCpu,
    /// MIN_MEMORY_PERCENT.
    MinMemory,
    /// MAX_MEMORY_PERCENT.
    MaxMemory,
    /// MIN_IOPS_PER_VOLUME.
    MinIops,
    /// MAX_IOPS_PER_VOLUME.
    MaxIops,
}

/// What may be set of a workload group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSetting {
    /// IMPORTANCE: LOW 0, MEDIUM 1, HIGH 2.
    Importance,
    /// REQUEST_MAX_MEMORY_GRANT_PERCENT.
    MemoryGrantPercent,
    /// REQUEST_MAX_CPU_TIME_SEC.
    CpuTimeSec,
    /// REQUEST_MEMORY_GRANT_TIMEOUT_SEC.
    GrantTimeoutSec,
    /// MAX_DOP.
    MaxDop,
    /// GROUP_MAX_REQUESTS.
    MaxRequests,
}
