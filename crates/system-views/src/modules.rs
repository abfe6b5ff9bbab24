//! Built-in procedures: T-SQL texts, compiled as users' procedures are, and seen from every database.
//!
//! Promise: a text runs in the caller's database, so the catalog views in it show that database's objects.

use crate::object::system_id;
use catalog::{ModuleKind, ProcedureDef, same_name};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A built-in procedure.
pub struct Module {
    /// Its name, in schema sys.
    pub name: &'static str,
    /// From CREATE PROCEDURE on.
    pub text: &'static str,
}

impl Module {
    /// Its object id: negative.
    pub fn id(&self) -> i32 {
        system_id(&format!("sys.{}", self.name))
    }

    fn definition(&self) -> ProcedureDef {
        ProcedureDef {
            trigger: None,
            ddl_events: Default::default(),
            bindings: catalog::TypeBindings::default(),
            sequence: None,
            policy: None,
            partitioning: None,
            xml_schema: None,
            fulltext: None,
            rows: None,
            kind: ModuleKind::Procedure,
            object_id: self.id(),
            schema: "sys".into(),
            name: self.name.into(),
            text: self.text.into(),
            quoted_identifier: true,
            ansi_nulls: true,
            version: 0,
            created_unix_ns: 0,
        }
    }
}

/// One with a text of its own, or `name = other`: the same text under another name.
macro_rules! modules {
    (@text $name:literal, $file:literal) => {
        Module {
            name: $name,
            text: concat!(
                "CREATE PROCEDURE sys.",
                $name,
                "\n",
                include_str!(concat!("procedures/", $file, ".sql"))
            ),
        }
    };
    (@one $name:literal) => { modules!(@text $name, $name) };
    (@one $name:literal $file:literal) => { modules!(@text $name, $file) };
    ($($name:literal $(= $file:literal)?)*) => { &[$(modules!(@one $name $($file)?)),*] };
}

/// The texts lie in `procedures/`, a file each, from behind the name on. Columns, their order and types are those of SQL
/// Server's documentation.
static MODULES: &[Module] = modules! {
    "sp_attach_db"
    "sp_attach_single_file_db"
    "sp_change_users_login"
    "sp_column_privileges"
    "sp_columns"
    "sp_columns_100"
    "sp_columns_170" = "sp_columns_100"
    "sp_columns_90"
    "sp_columns_managed"
    "sp_createstats"
    "sp_databases"
    "sp_datatype_info"
    "sp_datatype_info_100"
    "sp_datatype_info_90" = "sp_datatype_info"
    "sp_db_vardecimal_storage_format"
    "sp_defaultdb"
    "sp_defaultlanguage"
    "sp_depends"
    "sp_estimate_data_compression_savings"
    "sp_fkeys"
    "sp_fulltext_database"
    "sp_help"
    "sp_helpconstraint"
    "sp_helpdb"
    "sp_helpdbfixedrole"
    "sp_helpfile"
    "sp_helpfilegroup"
    "sp_helpindex"
    "sp_helplanguage"
    "sp_helplogins"
    "sp_helprole"
    "sp_helprolemember"
    "sp_helprotect"
    "sp_helpserver"
    "sp_helpsort"
    "sp_helpsrvrole"
    "sp_helpsrvrolemember"
    "sp_helpstats"
    "sp_helptrigger"
    "sp_helpuser"
    "sp_indexcolumns_managed"
    "sp_indexes_managed"
    "sp_indexoption"
    "sp_lock"
    "sp_monitor"
    "sp_MSforeachdb"
    "sp_MSforeachtable"
    "sp_oledb_ro_usrname"
    "sp_password"
    "sp_pkeys"
    "sp_procedure_params_100_managed"
    "sp_procedure_params_90_managed" = "sp_procedure_params_managed"
    "sp_procedure_params_managed"
    "sp_refreshsqlmodule"
    "sp_refreshview"
    "sp_renamedb"
    "sp_server_info"
    "sp_spaceused"
    "sp_special_columns"
    "sp_special_columns_100"
    "sp_special_columns_90" = "sp_special_columns"
    "sp_sproc_columns"
    "sp_sproc_columns_100"
    "sp_sproc_columns_90"
    "sp_statistics"
    "sp_statistics_100" = "sp_statistics"
    "sp_stored_procedures"
    "sp_table_privileges"
    "sp_tablecollations"
    "sp_tablecollations_100" = "sp_tablecollations"
    "sp_tablecollations_90" = "sp_tablecollations"
    "sp_tableoption"
    "sp_tables"
    "sp_tableswc"
    "sp_validatelogins"
    "sp_validname"
    "sp_who"
    "sp_who2"
    "xp_getnetname"
    "xp_instance_regread" = "xp_regread"
    "xp_msver"
    "xp_qv"
    "xp_regread"
};

/// Every built-in procedure.
pub fn all() -> &'static [Module] {
    MODULES
}

/// The same, as the interpreter takes it.
pub fn definition(schema: Option<&str>, name: &str) -> Option<Arc<ProcedureDef>> {
    static ALL: OnceLock<HashMap<&'static str, Arc<ProcedureDef>>> = OnceLock::new();
    let all =
        ALL.get_or_init(|| MODULES.iter().map(|m| (m.name, Arc::new(m.definition()))).collect());
    find(schema, name).and_then(|module| all.get(module.name).cloned())
}

/// A built-in procedure by name, any case; its schema is `sys`, `dbo` or not said.
pub fn find(schema: Option<&str>, name: &str) -> Option<&'static Module> {
    let fits = schema.is_none_or(|s| same_name(s, "sys") || same_name(s, "dbo"));
    MODULES.iter().find(|m| fits && same_name(m.name, name))
}
