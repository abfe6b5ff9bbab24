// SMO, the library behind SQL Server Management Studio's "Script as": it writes every object of a database of ours, its script
// builds the database again, and the catalogs of both say the same.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Data.SqlClient;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.Management.Common;
using Microsoft.SqlServer.Management.Smo;
using static Frame;

static partial class Suite
{
    /// What both databases must say of themselves, without ids and names that the server makes up.
    static readonly Dictionary<string, string> Catalog = new Dictionary<string, string>
    {
        ["schemas"] = "SELECT s.name, p.name FROM sys.schemas s JOIN sys.database_principals p ON p.principal_id = s.principal_id",
        ["objects"] = "SELECT o.type, SCHEMA_NAME(o.schema_id), o.name, OBJECT_NAME(o.parent_object_id) FROM sys.objects o WHERE o.type NOT IN ('TT', 'S') AND o.name NOT LIKE '%[_][_]________'",
        ["columns"] = "SELECT OBJECT_SCHEMA_NAME(c.object_id), OBJECT_NAME(c.object_id), c.column_id, c.name, TYPE_NAME(c.system_type_id), TYPE_NAME(c.user_type_id), c.max_length, c.precision, c.scale, c.collation_name, c.is_nullable, c.is_identity, c.is_computed, c.is_rowguidcol, c.is_sparse, c.is_masked, c.generated_always_type, OBJECT_NAME(c.rule_object_id) FROM sys.columns c JOIN sys.objects o ON o.object_id = c.object_id WHERE o.type IN ('U', 'V', 'IF', 'TF')",
        ["columns of table types"] = "SELECT SCHEMA_NAME(t.schema_id), t.name, c.column_id, c.name, TYPE_NAME(c.user_type_id), c.max_length, c.precision, c.scale, c.collation_name, c.is_nullable, c.is_identity, c.is_computed, d.definition FROM sys.table_types t JOIN sys.columns c ON c.object_id = t.type_table_object_id LEFT JOIN sys.default_constraints d ON d.object_id = c.default_object_id",
        ["indexes of table types"] = "SELECT SCHEMA_NAME(t.schema_id), t.name, i.type, i.is_unique, i.is_primary_key, i.is_unique_constraint, c.name, k.is_descending_key, k.is_included_column FROM sys.table_types t JOIN sys.indexes i ON i.object_id = t.type_table_object_id JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id",
        ["checks of table types"] = "SELECT SCHEMA_NAME(t.schema_id), t.name, k.definition FROM sys.table_types t JOIN sys.check_constraints k ON k.parent_object_id = t.type_table_object_id",
        ["identities"] = "SELECT OBJECT_NAME(object_id), name, seed_value, increment_value, is_not_for_replication FROM sys.identity_columns WHERE OBJECTPROPERTY(object_id, 'IsUserTable') = 1",
        ["computed columns"] = "SELECT OBJECT_NAME(object_id), name, definition, is_persisted FROM sys.computed_columns WHERE OBJECTPROPERTY(object_id, 'IsUserTable') = 1",
        ["masks"] = "SELECT OBJECT_NAME(object_id), name, masking_function FROM sys.masked_columns",
        ["defaults"] = "SELECT OBJECT_NAME(parent_object_id), name, COL_NAME(parent_object_id, parent_column_id), definition FROM sys.default_constraints WHERE is_system_named = 0",
        ["checks"] = "SELECT OBJECT_NAME(parent_object_id), name, definition, is_disabled, is_not_trusted FROM sys.check_constraints WHERE is_system_named = 0",
        ["foreign keys"] = "SELECT f.name, OBJECT_NAME(f.parent_object_id), OBJECT_NAME(f.referenced_object_id), COL_NAME(c.parent_object_id, c.parent_column_id), COL_NAME(c.referenced_object_id, c.referenced_column_id), f.delete_referential_action, f.update_referential_action, f.is_disabled, f.is_not_trusted FROM sys.foreign_keys f JOIN sys.foreign_key_columns c ON c.constraint_object_id = f.object_id",
        ["indexes"] = "SELECT OBJECT_NAME(i.object_id), IIF(i.name LIKE '%[_][_]________', NULL, i.name), i.type, i.is_unique, i.is_primary_key, i.is_unique_constraint, i.ignore_dup_key, i.fill_factor, i.is_padded, i.allow_row_locks, i.allow_page_locks, i.optimize_for_sequential_key, (SELECT MAX(p.data_compression) FROM sys.partitions p WHERE p.object_id = i.object_id AND p.index_id = i.index_id), (SELECT MAX(CAST(t.no_recompute AS int)) FROM sys.stats t WHERE t.object_id = i.object_id AND t.stats_id = i.index_id), i.is_disabled, i.filter_definition, s.type, s.name FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id LEFT JOIN sys.data_spaces s ON s.data_space_id = i.data_space_id WHERE o.type = 'U'",
        ["columns of indexes"] = "SELECT OBJECT_NAME(i.object_id), IIF(i.name LIKE '%[_][_]________', NULL, i.name), k.key_ordinal, COL_NAME(k.object_id, k.column_id), k.is_descending_key, k.is_included_column, k.partition_ordinal FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id WHERE o.type = 'U'",
        ["statistics"] = "SELECT OBJECT_NAME(s.object_id), s.name, COL_NAME(c.object_id, c.column_id), c.stats_column_id FROM sys.stats s JOIN sys.stats_columns c ON c.object_id = s.object_id AND c.stats_id = s.stats_id WHERE s.user_created = 1",
        ["temporal tables"] = "SELECT name, temporal_type, OBJECT_NAME(history_table_id) FROM sys.tables WHERE temporal_type > 0",
        ["modules"] = "SELECT OBJECT_SCHEMA_NAME(object_id), OBJECT_NAME(object_id), definition, uses_ansi_nulls, uses_quoted_identifier, is_schema_bound FROM sys.sql_modules",
        ["parameters"] = "SELECT OBJECT_NAME(object_id), parameter_id, name, TYPE_NAME(user_type_id), max_length, precision, scale, is_output, is_readonly FROM sys.parameters",
        ["triggers"] = "SELECT name, parent_class, OBJECT_NAME(parent_id), is_disabled, is_not_for_replication, is_instead_of_trigger FROM sys.triggers",
        ["events of triggers"] = "SELECT t.name, e.type_desc FROM sys.triggers t JOIN sys.trigger_events e ON e.object_id = t.object_id",
        ["sequences"] = "SELECT SCHEMA_NAME(schema_id), name, TYPE_NAME(user_type_id), start_value, increment, minimum_value, maximum_value, is_cycling, is_cached, cache_size FROM sys.sequences",
        ["synonyms"] = "SELECT SCHEMA_NAME(schema_id), name, base_object_name FROM sys.synonyms",
        ["types"] = "SELECT SCHEMA_NAME(schema_id), name, TYPE_NAME(system_type_id), max_length, precision, scale, is_nullable, is_table_type FROM sys.types WHERE is_user_defined = 1",
        ["partition functions"] = "SELECT f.name, f.boundary_value_on_right, v.boundary_id, v.value FROM sys.partition_functions f JOIN sys.partition_range_values v ON v.function_id = f.function_id",
        ["partition schemes"] = "SELECT s.name, f.name, d.destination_id, g.name FROM sys.partition_schemes s JOIN sys.partition_functions f ON f.function_id = s.function_id JOIN sys.destination_data_spaces d ON d.partition_scheme_id = s.data_space_id JOIN sys.filegroups g ON g.data_space_id = d.data_space_id",
        ["principals"] = "SELECT name, type, default_schema_name, USER_NAME(owning_principal_id) FROM sys.database_principals",
        ["members"] = "SELECT USER_NAME(role_principal_id), USER_NAME(member_principal_id) FROM sys.database_role_members",
        ["permissions"] = "SELECT class_desc, permission_name, state_desc, USER_NAME(grantee_principal_id), IIF(class = 1, OBJECT_NAME(major_id), IIF(class = 3, SCHEMA_NAME(major_id), IIF(class = 6, TYPE_NAME(major_id), NULL))), IIF(class = 1, COL_NAME(major_id, minor_id), NULL) FROM sys.database_permissions",
        ["policies"] = "SELECT p.name, p.is_enabled, OBJECT_NAME(r.target_object_id), r.predicate_type_desc, r.operation_desc, r.predicate_definition FROM sys.security_policies p JOIN sys.security_predicates r ON r.object_id = p.object_id",
        ["extended properties"] = "SELECT class_desc, IIF(class IN (1, 2, 7), OBJECT_NAME(major_id), NULL), minor_id, name, value FROM sys.extended_properties WHERE class <> 0",
    };

    static void Scripting()
    {
        // This SMO knows servers up to version 15, and says so to a debugger that is not there.
        Trace.Listeners.Clear();
        var first = MadeNew("drv_scripted");
        foreach (var sql in Batches(File.ReadAllText(Path.Combine(Tests, "every_kind.sql")))) Execute(first, sql);
        var server = new Server(new ServerConnection(first));
        foreach (var type in new[] { typeof(Table), typeof(View), typeof(StoredProcedure), typeof(UserDefinedFunction) }) server.SetDefaultInitFields(type, "IsSystemObject");
        var database = server.Databases["drv_scripted"];
        Check(server.Edition.StartsWith("Developer"), $"Edition: {server.Edition}");
        Noting("the database", () => Check(database.Script(Options()).Count > 20, "lines of the database"));
        var own = new IEnumerable[]
        {
            database.Roles.Cast<DatabaseRole>().Where(r => !r.IsFixedRole && r.Name != "public"), database.Users.Cast<User>().Where(u => !u.IsSystemObject),
            database.Schemas.Cast<Schema>().Where(s => s.ID > 4 && s.ID < 16384), database.Rules, database.Defaults, database.UserDefinedDataTypes, database.UserDefinedTableTypes, database.Sequences,
            database.PartitionFunctions, database.PartitionSchemes, database.Tables.Cast<Table>().Where(t => !t.IsSystemObject), database.UserDefinedFunctions.Cast<UserDefinedFunction>().Where(f => !f.IsSystemObject),
            database.Views.Cast<View>().Where(v => !v.IsSystemObject), database.StoredProcedures.Cast<StoredProcedure>().Where(p => !p.IsSystemObject), database.Triggers, database.Synonyms, database.SecurityPolicies,
        };
        var scripted = 0;
        foreach (var kind in own)
            foreach (SqlSmoObject one in kind)
            {
                scripted++;
                Noting($"{one.GetType().Name} {one}", () => Check(((IScriptable)one).Script(Options()).Count > 0, $"{one}: an empty script"));
            }
        Check(scripted > 30, $"objects: {scripted}");
        var transfer = new Transfer(database) { CopyAllObjects = true, CopyAllUsers = true, CopyAllRoles = true, CopyAllSchemas = true, CopyAllSynonyms = true, CopyAllSequences = true, CopyData = false, Options = Options() };
        transfer.Options.WithDependencies = true;
        var script = transfer.ScriptTransfer().Cast<string>().ToList();
        var again = MadeNew("drv_scripted_again");
        foreach (var sql in script) Noting(Short(sql, 100), () => Execute(again, sql));
        foreach (var part in Catalog)
        {
            Func<SqlConnection, List<string>> Told = (connection) => Query(connection, part.Value).Select(row => string.Join(" | ", row.Select(Show))).OrderBy(line => line, StringComparer.Ordinal).ToList();
            Noting(part.Key, () =>
            {
                var (was, made) = (Told(first), Told(again));
                foreach (var line in was.Except(made)) Check(false, $"{part.Key}: not made again: {Short(line, 250)}");
                foreach (var line in made.Except(was)) Check(false, $"{part.Key}: made otherwise: {Short(line, 250)}");
            });
        }
    }

    static SqlConnection MadeNew(string name)
    {
        var connection = Opened("Pooling=false");
        Execute(connection, $"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}");
        connection.ChangeDatabase(name);
        return connection;
    }

    static IEnumerable<string> Batches(string script) => Regex.Split(script, @"^GO\s*$", RegexOptions.Multiline).Where(batch => batch.Trim() != "");

    static ScriptingOptions Options() => new ScriptingOptions
    {
        TargetServerVersion = SqlServerVersion.Version150, DriAll = true, Indexes = true, ClusteredIndexes = true, NonClusteredIndexes = true, ColumnStoreIndexes = true, Triggers = true, Permissions = true,
        ExtendedProperties = true, Statistics = true, OptimizerData = false, ScriptDataCompression = true, Bindings = true, SchemaQualify = true, IncludeDatabaseRoleMemberships = true, ChangeTracking = true,
        ScriptOwner = true,
    };
}
