//! Procedures that are no T-SQL text: what does them is in `commands` and `interpreter`. Here they are names, with the
//! parameters that SQL Server documents, so that OBJECT_ID and the catalog views know them as they know those of
//! [`crate::modules`].
//!
//! Promise: what stands here can be called. Extended ones (type X) have no parameters, as in SQL Server; the others are
//! procedures (type P) whose text nobody sees.
//!
//! Source: sys.all_objects of SQL Server's documentation, and the syntax of each procedure.

use catalog::same_name;

/// One of them.
pub struct BuiltIn {
    /// Its name, in schema sys.
    pub name: &'static str,
    /// Its parameters, as CREATE PROCEDURE has them; absent of an extended procedure.
    pub parameters: Option<&'static str>,
}

macro_rules! built_in {
    ($($name:literal $($parameters:literal)?;)*) => {
        &[$(BuiltIn { name: $name, parameters: built_in!(@ $($parameters)?) }),*]
    };
    (@) => { None };
    (@ $parameters:literal) => { Some($parameters) };
}

/// By name.
static ALL: &[BuiltIn] = built_in! {
    "sp_addapprole" "@rolename sysname, @password sysname, @default_schema sysname = NULL, @create_role bit = NULL";
    "sp_addextendedproperty" "@name sysname, @value sql_variant = NULL, @level0type varchar(128) = NULL, \
        @level0name sysname = NULL, @level1type varchar(128) = NULL, @level1name sysname = NULL, \
        @level2type varchar(128) = NULL, @level2name sysname = NULL";
    "sp_addlogin" "@loginame sysname, @passwd sysname = NULL, @defdb sysname = 'master', @deflanguage sysname = NULL, \
        @sid varbinary(16) = NULL, @encryptopt varchar(20) = NULL";
    "sp_addmessage" "@msgnum int = NULL, @severity smallint = NULL, @msgtext nvarchar(255) = NULL, @lang sysname = NULL, \
        @with_log varchar(5) = 'FALSE', @replace varchar(7) = NULL";
    "sp_addrole" "@rolename sysname, @ownername sysname = NULL";
    "sp_addrolemember" "@rolename sysname, @membername sysname";
    "sp_addsrvrolemember" "@loginame sysname, @rolename sysname = NULL";
    "sp_addtype" "@typename sysname, @phystype sysname, @nulltype varchar(8) = NULL, @owner sysname = NULL";
    "sp_adduser" "@loginame sysname, @name_in_db sysname = NULL, @grpname sysname = NULL";
    "sp_altermessage" "@message_id int, @parameter sysname, @parameter_value varchar(5) = 'true'";
    "sp_approlepassword" "@rolename sysname, @newpwd sysname";
    "sp_autostats" "@tblname nvarchar(776), @flagc varchar(10) = NULL, @indname sysname = NULL";
    "sp_bindefault" "@defname nvarchar(776), @objname nvarchar(776), @futureonly varchar(15) = NULL";
    "sp_bindrule" "@rulename nvarchar(776), @objname nvarchar(776), @futureonly varchar(15) = NULL";
    "sp_changedbowner" "@loginame sysname, @map varchar(5) = NULL";
    "sp_configure" "@configname varchar(35) = NULL, @configvalue int = NULL";
    "sp_cursor";
    "sp_cursorclose";
    "sp_cursorexecute";
    "sp_cursorfetch";
    "sp_cursoropen";
    "sp_cursoroption";
    "sp_cursorprepare";
    "sp_cursorprepexec";
    "sp_cursorunprepare";
    "sp_describe_first_result_set";
    "sp_describe_parameter_encryption";
    "sp_describe_undeclared_parameters";
    "sp_detach_db" "@dbname sysname = NULL, @skipchecks nvarchar(10) = NULL, @keepfulltextindexfile nvarchar(10) = NULL";
    "sp_dropapprole" "@rolename sysname";
    "sp_dropextendedproperty" "@name sysname, @level0type varchar(128) = NULL, @level0name sysname = NULL, \
        @level1type varchar(128) = NULL, @level1name sysname = NULL, @level2type varchar(128) = NULL, \
        @level2name sysname = NULL";
    "sp_droplogin" "@loginame sysname";
    "sp_dropmessage" "@msgnum int = NULL, @lang sysname = NULL";
    "sp_droprole" "@rolename sysname";
    "sp_droprolemember" "@rolename sysname, @membername sysname";
    "sp_dropsrvrolemember" "@loginame sysname, @rolename sysname = NULL";
    "sp_droptype" "@typename sysname";
    "sp_dropuser" "@name_in_db sysname";
    "sp_execute";
    "sp_executesql";
    "sp_flush_ct_internal_table_on_demand" "@TableToClean sysname = NULL, @DeletedRowCount bigint = NULL OUTPUT";
    "sp_flush_log" "";
    "sp_getapplock" "@Resource nvarchar(255), @LockMode varchar(32), @LockOwner varchar(32) = 'Transaction', \
        @LockTimeout int = NULL, @DbPrincipal sysname = 'public'";
    "sp_grantdbaccess" "@loginame sysname, @name_in_db sysname = NULL OUTPUT";
    "sp_helptext" "@objname nvarchar(776), @columnname sysname = NULL";
    "sp_prepare";
    "sp_prepexec";
    "sp_recompile" "@objname nvarchar(776)";
    "sp_releaseapplock" "@Resource nvarchar(255), @LockOwner varchar(32) = 'Transaction', @DbPrincipal sysname = 'public'";
    "sp_rename" "@objname nvarchar(1035), @newname sysname, @objtype varchar(13) = NULL";
    "sp_revokedbaccess" "@name_in_db sysname";
    "sp_sequence_get_range" "@sequence_name nvarchar(776), @range_size bigint, @range_first_value sql_variant OUTPUT, \
        @range_last_value sql_variant = NULL OUTPUT, @range_cycle_count int = NULL OUTPUT, \
        @sequence_increment sql_variant = NULL OUTPUT, @sequence_min_value sql_variant = NULL OUTPUT, \
        @sequence_max_value sql_variant = NULL OUTPUT";
    "sp_set_session_context";
    "sp_setapprole" "@rolename sysname, @password sysname, @encrypt varchar(10) = 'none', @fCreateCookie bit = false, \
        @cookie varbinary(8000) = NULL OUTPUT";
    "sp_settriggerorder" "@triggername nvarchar(517), @order varchar(10), @stmttype varchar(50), @namespace varchar(10) = NULL";
    "sp_unbindefault" "@objname nvarchar(776), @futureonly varchar(15) = NULL";
    "sp_unbindrule" "@objname nvarchar(776), @futureonly varchar(15) = NULL";
    "sp_unprepare";
    "sp_unsetapprole" "@cookie varbinary(8000)";
    "sp_updateextendedproperty" "@name sysname, @value sql_variant = NULL, @level0type varchar(128) = NULL, \
        @level0name sysname = NULL, @level1type varchar(128) = NULL, @level1name sysname = NULL, \
        @level2type varchar(128) = NULL, @level2name sysname = NULL";
    "sp_updatestats" "@resample char(8) = 'NO'";
    "sp_xml_preparedocument";
    "sp_xml_removedocument";
    "sp_xtp_bind_db_resource_pool" "@database_name sysname, @pool_name sysname";
    "sp_xtp_unbind_db_resource_pool" "@database_name sysname";
    "xp_cmdshell";
    "xp_create_subdir";
    "xp_dirtree";
    "xp_fileexist";
    "xp_sprintf";
    "xp_sscanf";
};

/// Every one.
pub fn all() -> &'static [BuiltIn] {
    ALL
}

/// By name, any case; its schema is `sys`, `dbo` or not said.
pub fn find(schema: Option<&str>, name: &str) -> Option<&'static BuiltIn> {
    let fits = schema.is_none_or(|s| same_name(s, "sys") || same_name(s, "dbo"));
    ALL.iter().find(|one| fits && same_name(one.name, name))
}

impl BuiltIn {
    /// The beginning of a text that declares its parameters.
    pub fn heading(&self) -> Option<String> {
        let parameters = self.parameters?;
        Some(format!("CREATE PROCEDURE sys.{} {parameters} AS RETURN 0", self.name))
    }
}
