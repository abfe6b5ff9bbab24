//! CREATE, ALTER and DROP of partition functions and schemes.
//!
//! Who uses one counts up its object's row ([`Catalog::use_partitioning`]): whoever drops or alters it waits for that
//! transaction, and then for its definitions to be known, so that what is in use is seen to be.

use super::*;
use crate::def::same_name;
use crate::scope::{Change, Entry};
use crate::spec::{ModuleOptions, PutMode};
use crate::{Txn, Wanted};

const FUNCTION: ModuleKind = ModuleKind::PartitionFunction;
const SCHEME: ModuleKind = ModuleKind::PartitionScheme;

/// Modules are never without these; nothing here depends on them.
const OPTIONS: ModuleOptions = ModuleOptions { quoted_identifier: true, ansi_nulls: true };

/// What a statement has to say besides that it is done: number and text.
pub type Notice = (i32, String);

impl Catalog {
    /// CREATE PARTITION FUNCTION: 2714. Suspends.
    pub fn create_partition_function(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
        function: PartitionFunctionDef,
    ) -> Result<(), CatalogError> {
        self.put_partitioning(txn, scope, PutMode::Create, name, &Partitioning::Function(function))
    }

    /// ALTER PARTITION FUNCTION ... SPLIT RANGE: 15151, 7721, 7719, 7710. Suspends.
    pub fn split_partition(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
        value: &Value,
    ) -> Result<(), CatalogError> {
        let (module, mut function) = self.locked_function(txn, scope, "alter", name)?;
        let at = match function.find(value) {
            Err(at) => at,
            Ok(at) => {
                return Err(CatalogError::refused(
                    7721,
                    format!(
                        "Duplicate range boundary values are not allowed in partition function boundary values list. \
                         The boundary value being added is already present at ordinal {} of the boundary value list.",
                        at + 1
                    ),
                ));
            }
        };
        if function.fanout() == PARTITIONS_MAX {
            return Err(too_many());
        }
        // The new partition is the one that the boundary belongs to.
        let place = at + usize::from(function.right);
        function.boundaries.insert(at, function.collation.mark(value.clone()));
        for module in self.schemes_of(scope, module.object_id) {
            let name = &module.name;
            let (_, mut scheme) = self.locked_scheme(txn, scope, "alter", name)?;
            let Some(next) = scheme.next_used.take() else {
                return Err(CatalogError::refused(7710, no_next_used(name)));
            };
            scheme.filegroups.insert(place, next);
            self.replace(txn, scope, name, &Partitioning::Scheme(scheme))?;
        }
        self.replace(txn, scope, name, &Partitioning::Function(function))
    }

    /// ALTER PARTITION FUNCTION ... MERGE RANGE: 15151, 7716, 7715. Suspends.
    pub fn merge_partitions(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
        value: &Value,
    ) -> Result<(), CatalogError> {
        let (module, mut function) = self.locked_function(txn, scope, "alter", name)?;
        if function.boundaries.is_empty() {
            let text = "Can not create or alter a partition function to have zero partitions.";
            return Err(CatalogError::refused(7716, text));
        }
        let Ok(at) = function.find(value) else {
            let text = "The specified partition range value could not be found.";
            return Err(CatalogError::refused(7715, text));
        };
        // The partition that the boundary belongs to goes.
        let place = at + usize::from(function.right);
        function.boundaries.remove(at);
        for module in self.schemes_of(scope, module.object_id) {
            let (_, mut scheme) = self.locked_scheme(txn, scope, "alter", &module.name)?;
            scheme.filegroups.remove(place);
            self.replace(txn, scope, &module.name, &Partitioning::Scheme(scheme))?;
        }
        self.replace(txn, scope, name, &Partitioning::Function(function))
    }

    /// CREATE PARTITION SCHEME: 208, 2714, 7707, 7723; what there is to say of a filegroup that is left. Suspends.
    pub fn create_partition_scheme(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
        function: &str,
        all: bool,
        filegroups: &[&str],
    ) -> Result<Vec<Notice>, CatalogError> {
        let Some((module, modified)) =
            self.lock_module(txn, scope, FUNCTION, Some("dbo"), function)?
        else {
            return Err(CatalogError::refused(208, format!("Invalid object name '{function}'.")));
        };
        let fanout = module.partition_function().map_or(1, PartitionFunctionDef::fanout);
        if all && filegroups.len() > 1 {
            let text = "Only a single filegroup can be specified while creating partition scheme using option ALL to \
                        specify all the filegroups.";
            return Err(CatalogError::refused(7723, text));
        }
        let mut numbers = Vec::with_capacity(filegroups.len());
        for filegroup in filegroups {
            numbers.push(self.filegroup_named(filegroup)?);
        }
        if all {
            numbers = vec![numbers[0]; fanout + 1];
        }
        if numbers.len() < fanout {
            return Err(CatalogError::refused(
                7707,
                format!(
                    "The associated partition function '{function}' generates more partitions than there are file \
                     groups mentioned in the scheme '{name}'."
                ),
            ));
        }
        if self.filegroups().iter().any(|g| same_name(&g.name, name)) {
            return Err(CatalogError::AlreadyExists { name: name.into(), wanted: Wanted::Table });
        }
        let next_used = numbers.get(fanout).copied();
        let ignored = numbers.len().saturating_sub(fanout + 1);
        numbers.truncate(fanout);
        let scheme =
            PartitionSchemeDef { function: module.object_id, filegroups: numbers, next_used };
        self.put_partitioning(txn, scope, PutMode::Create, name, &Partitioning::Scheme(scheme))?;
        self.use_partitioning(txn, scope, module, modified)?;
        let mut notices = Vec::new();
        if let Some(next) = next_used {
            let group = self.filegroup_shown(next);
            notices.push((
                7712,
                format!(
                    "Partition scheme '{name}' has been created successfully. '{group}' is marked as the next used \
                     filegroup in partition scheme '{name}'."
                ),
            ));
        }
        if ignored > 0 {
            let text = format!(
                "{ignored} filegroups specified after the next used filegroup are ignored."
            );
            notices.push((7713, text));
        }
        Ok(notices)
    }

    /// ALTER PARTITION SCHEME ... NEXT USED: 15151, 208. Suspends.
    pub fn set_next_used(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
        filegroup: Option<&str>,
    ) -> Result<Vec<Notice>, CatalogError> {
        let (_, mut scheme) = self.locked_scheme(txn, scope, "alter", name)?;
        let next = filegroup.map(|name| self.filegroup_named(name)).transpose()?;
        if next.is_none() && scheme.next_used.is_none() {
            return Ok(vec![(7710, no_next_used(name))]);
        }
        scheme.next_used = next;
        self.replace(txn, scope, name, &Partitioning::Scheme(scheme))?;
        Ok(Vec::new())
    }

    /// DROP PARTITION FUNCTION: 15151, 7706. Suspends.
    pub fn drop_partition_function(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
    ) -> Result<(), CatalogError> {
        let (module, _) = self.locked_function(txn, scope, "drop", name)?;
        if !self.schemes_of(scope, module.object_id).is_empty() {
            return Err(CatalogError::refused(
                7706,
                format!(
                    "Partition function '{}' is being used by one or more partition schemes.",
                    module.name
                ),
            ));
        }
        self.drop_module(txn, scope, FUNCTION, Some("dbo"), name)
    }

    /// DROP PARTITION SCHEME: 15151, 7717. Suspends.
    pub fn drop_partition_scheme(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
    ) -> Result<(), CatalogError> {
        let (module, _) = self.locked_scheme(txn, scope, "drop", name)?;
        let divided = |object: &ObjectRef| match object {
            ObjectRef::Table(t) => {
                let own = |p: Option<Partitioned>| p.is_some_and(|p| p.scheme == module.object_id);
                own(t.partitioned) || t.indexes.iter().any(|i| own(i.partitioned))
            }
            ObjectRef::Procedure(_) => false,
        };
        if self.objects_in(Some(scope)).iter().any(divided) {
            return Err(CatalogError::refused(
                7717,
                format!(
                    "The partition scheme \"{name}\" is currently being used to partition one or more tables."
                ),
            ));
        }
        self.drop_module(txn, scope, SCHEME, Some("dbo"), name)
    }

    /// The row of a function or scheme that is locked is counted up, because something uses it from now on.
    pub(crate) fn use_partitioning(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        module: Arc<ProcedureDef>,
        modified: i64,
    ) -> Result<(), CatalogError> {
        let (schema, name, kind) = (&module.schema, &module.name, module.kind.number());
        let modified = modified + 1;
        self.put_object(txn, schema, name, kind, module.object_id, modified, false)?;
        let object = ObjectRef::Procedure(module);
        scope.changes.push(Change::Put(Entry { object, modified }));
        Ok(())
    }

    fn schemes_of(&self, scope: &DdlScope, function: i32) -> Vec<Arc<ProcedureDef>> {
        let mut all = self.modules_of_kind(Some(scope), SCHEME);
        all.retain(|m| m.partition_scheme().is_some_and(|s| s.function == function));
        all
    }

    fn locked_function(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        verb: &str,
        name: &str,
    ) -> Result<(Arc<ProcedureDef>, PartitionFunctionDef), CatalogError> {
        let found = self.lock_module(txn, scope, FUNCTION, Some("dbo"), name)?;
        let found = found.and_then(|(module, _)| {
            let function = module.partition_function()?.clone();
            Some((module, function))
        });
        found.ok_or_else(|| missing(verb, "function", name))
    }

    fn locked_scheme(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        verb: &str,
        name: &str,
    ) -> Result<(Arc<ProcedureDef>, PartitionSchemeDef), CatalogError> {
        let found = self.lock_module(txn, scope, SCHEME, Some("dbo"), name)?;
        let found = found.and_then(|(module, _)| {
            let scheme = module.partition_scheme()?.clone();
            Some((module, scheme))
        });
        found.ok_or_else(|| missing(verb, "scheme", name))
    }

    fn replace(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        name: &str,
        definition: &Partitioning,
    ) -> Result<(), CatalogError> {
        self.put_partitioning(txn, scope, PutMode::Alter, name, definition)
    }

    fn put_partitioning(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        mode: PutMode,
        name: &str,
        definition: &Partitioning,
    ) -> Result<(), CatalogError> {
        let kind = match definition {
            Partitioning::Function(_) => FUNCTION,
            Partitioning::Scheme(_) => SCHEME,
        };
        let text = definition.to_text()?;
        match self.put_module(txn, scope, kind, mode, Some("dbo"), name, &text, OPTIONS) {
            // As it was written: these have no schema.
            Err(CatalogError::AlreadyExists { .. }) => {
                Err(CatalogError::AlreadyExists { name: name.into(), wanted: Wanted::Table })
            }
            other => other.map(|_| ()),
        }
    }

    /// The number of a filegroup; 208, as SQL Server says it here.
    fn filegroup_named(&self, name: &str) -> Result<u16, CatalogError> {
        match self.filegroup(Some(name)) {
            Ok((number, _)) => Ok(number),
            Err(_) => Err(CatalogError::refused(208, format!("Invalid object name '{name}'."))),
        }
    }

    /// The name of a filegroup.
    pub(super) fn filegroup_shown(&self, number: u16) -> Box<str> {
        let groups = self.filegroups();
        let found = groups.get(usize::from(number).wrapping_sub(1));
        found.map_or_else(|| "PRIMARY".into(), |g| g.name.clone())
    }
}

/// 15151.
fn missing(verb: &str, kind: &str, name: &str) -> CatalogError {
    CatalogError::refused(
        15151,
        format!(
            "Cannot {verb} the partition {kind} '{name}', because it does not exist or you do not have permission."
        ),
    )
}

/// 7710.
fn no_next_used(scheme: &str) -> String {
    format!(
        "Warning: The partition scheme '{scheme}' does not have any next used filegroup. Partition scheme has not been \
         changed."
    )
}
