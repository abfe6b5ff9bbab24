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
        ["objects"] = "SELECT o.type, SCHEMA_NAME(o.schema_id), o.name, OBJECT_NAME(o.parent_object_id) FROM sys.objects o WHERE o.type NOT IN ('TT', 'S') AND o.schema_id <> 4 AND o.name NOT LIKE '%[_][_]________' AND o.name NOT LIKE '%[_][_]________________'",
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
        ["indexes"] = "SELECT OBJECT_NAME(i.object_id), IIF(i.name LIKE '%[_][_]________%', NULL, i.name), i.type, i.is_unique, i.is_primary_key, i.is_unique_constraint, i.ignore_dup_key, i.fill_factor, i.is_padded, i.allow_row_locks, i.allow_page_locks, (SELECT MAX(p.data_compression) FROM sys.partitions p WHERE p.object_id = i.object_id AND p.index_id = i.index_id), (SELECT MAX(CAST(t.no_recompute AS int)) FROM sys.stats t WHERE t.object_id = i.object_id AND t.stats_id = i.index_id), i.is_disabled, i.filter_definition, s.type, s.name FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id LEFT JOIN sys.data_spaces s ON s.data_space_id = i.data_space_id WHERE o.type IN ('U', 'V')",
        ["columns of indexes"] = "SELECT OBJECT_NAME(i.object_id), IIF(i.name LIKE '%[_][_]________%', NULL, i.name), k.key_ordinal, COL_NAME(k.object_id, k.column_id), k.is_descending_key, k.is_included_column, k.partition_ordinal FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id WHERE o.type IN ('U', 'V')",
        ["statistics"] = "SELECT OBJECT_NAME(s.object_id), s.name, COL_NAME(c.object_id, c.column_id), c.stats_column_id FROM sys.stats s JOIN sys.stats_columns c ON c.object_id = s.object_id AND c.stats_id = s.stats_id WHERE s.user_created = 1",
        ["temporal tables"] = "SELECT name, temporal_type, OBJECT_NAME(history_table_id) FROM sys.tables WHERE temporal_type > 0",
        ["places of tables"] = "SELECT SCHEMA_NAME(t.schema_id), t.name, t.is_memory_optimized, t.durability_desc, l.name, f.name FROM sys.tables t LEFT JOIN sys.data_spaces l ON l.data_space_id = t.lob_data_space_id LEFT JOIN sys.data_spaces f ON f.data_space_id = t.filestream_data_space_id",
        ["hash indexes"] = "SELECT OBJECT_NAME(object_id), IIF(name LIKE '%[_][_]________%', NULL, name), bucket_count FROM sys.hash_indexes WHERE OBJECTPROPERTY(object_id, 'IsUserTable') = 1",
        ["filegroups"] = "SELECT name, type, is_default FROM sys.filegroups",
        ["files"] = "SELECT type, REPLACE(name, '_again', ''), max_size, growth, is_percent_growth FROM sys.database_files",
        ["change tracking"] = "SELECT OBJECT_NAME(object_id), is_track_columns_updated_on, d.retention_period, d.retention_period_units_desc, d.is_auto_cleanup_on FROM sys.change_tracking_tables CROSS JOIN sys.change_tracking_databases d WHERE d.database_id = DB_ID()",
        ["options"] = "SELECT compatibility_level, collation_name, recovery_model_desc, snapshot_isolation_state_desc, is_read_committed_snapshot_on, is_auto_create_stats_on, is_auto_update_stats_on, page_verify_option_desc, is_quoted_identifier_on, is_ansi_nulls_on, is_recursive_triggers_on, delayed_durability_desc, is_memory_optimized_elevate_to_snapshot_on FROM sys.databases WHERE database_id = DB_ID()",
        ["scoped configuration"] = "SELECT name, value, value_for_secondary FROM sys.database_scoped_configurations",
        ["xml schema collections"] = "SELECT SCHEMA_NAME(c.schema_id), c.name, CAST(XML_SCHEMA_NAMESPACE(SCHEMA_NAME(c.schema_id), c.name) AS nvarchar(max)) FROM sys.xml_schema_collections c WHERE c.xml_collection_id > 1",
        ["typed xml"] = "SELECT OBJECT_NAME(c.object_id), c.name, x.name, c.is_xml_document FROM sys.columns c JOIN sys.xml_schema_collections x ON x.xml_collection_id = c.xml_collection_id WHERE c.xml_collection_id > 0",
        ["xml indexes"] = "SELECT OBJECT_NAME(i.object_id), i.name, i.xml_index_type_description, i.secondary_type_desc, p.name, i.allow_page_locks FROM sys.xml_indexes i LEFT JOIN sys.xml_indexes p ON p.object_id = i.object_id AND p.index_id = i.using_xml_index_id",
        ["spatial indexes"] = "SELECT OBJECT_NAME(i.object_id), i.name, i.spatial_index_type_desc, i.tessellation_scheme, i.is_padded, i.fill_factor, t.bounding_box_xmin, t.bounding_box_ymin, t.bounding_box_xmax, t.bounding_box_ymax, t.level_1_grid_desc, t.level_2_grid_desc, t.level_3_grid_desc, t.level_4_grid_desc, t.cells_per_object FROM sys.spatial_indexes i JOIN sys.spatial_index_tessellations t ON t.object_id = i.object_id AND t.index_id = i.index_id",
        ["full-text catalogs"] = "SELECT c.name, c.is_default, c.is_accent_sensitivity_on, p.name FROM sys.fulltext_catalogs c JOIN sys.database_principals p ON p.principal_id = c.principal_id",
        ["full-text indexes"] = "SELECT OBJECT_NAME(i.object_id), c.name, k.name, i.is_enabled, i.change_tracking_state_desc, i.stoplist_id, COL_NAME(f.object_id, f.column_id), COL_NAME(f.object_id, f.type_column_id), f.language_id FROM sys.fulltext_indexes i JOIN sys.fulltext_catalogs c ON c.fulltext_catalog_id = i.fulltext_catalog_id JOIN sys.indexes k ON k.object_id = i.object_id AND k.index_id = i.unique_index_id JOIN sys.fulltext_index_columns f ON f.object_id = i.object_id",
        // SMO writes a trigger's names in brackets.
        ["modules"] = "SELECT OBJECT_SCHEMA_NAME(object_id), OBJECT_NAME(object_id), REPLACE(REPLACE(definition, '[', ''), ']', ''), uses_ansi_nulls, uses_quoted_identifier, is_schema_bound, uses_native_compilation, is_recompiled FROM sys.sql_modules",
        ["parameters"] = "SELECT OBJECT_NAME(object_id), parameter_id, name, TYPE_NAME(user_type_id), max_length, precision, scale, is_output, is_readonly, has_default_value, is_nullable FROM sys.parameters",
        ["triggers"] = "SELECT name, parent_class, OBJECT_NAME(parent_id), is_disabled, is_not_for_replication, is_instead_of_trigger FROM sys.triggers",
        ["events of triggers"] = "SELECT t.name, e.type_desc, e.is_first, e.is_last FROM sys.triggers t JOIN sys.trigger_events e ON e.object_id = t.object_id",
        ["sequences"] = "SELECT SCHEMA_NAME(schema_id), name, TYPE_NAME(user_type_id), start_value, increment, minimum_value, maximum_value, is_cycling, is_cached, cache_size FROM sys.sequences",
        ["synonyms"] = "SELECT SCHEMA_NAME(schema_id), name, base_object_name FROM sys.synonyms",
        ["types"] = "SELECT SCHEMA_NAME(schema_id), name, TYPE_NAME(system_type_id), max_length, precision, scale, is_nullable, is_table_type, OBJECT_NAME(rule_object_id), OBJECT_NAME(default_object_id) FROM sys.types WHERE is_user_defined = 1",
        ["partition functions"] = "SELECT f.name, f.boundary_value_on_right, v.boundary_id, v.value FROM sys.partition_functions f JOIN sys.partition_range_values v ON v.function_id = f.function_id",
        ["partition schemes"] = "SELECT s.name, f.name, d.destination_id, g.name FROM sys.partition_schemes s JOIN sys.partition_functions f ON f.function_id = s.function_id JOIN sys.destination_data_spaces d ON d.partition_scheme_id = s.data_space_id JOIN sys.filegroups g ON g.data_space_id = d.data_space_id",
        ["principals"] = "SELECT name, type, default_schema_name, USER_NAME(owning_principal_id) FROM sys.database_principals",
        ["members"] = "SELECT USER_NAME(role_principal_id), USER_NAME(member_principal_id) FROM sys.database_role_members",
        ["permissions"] = "SELECT class_desc, permission_name, state_desc, USER_NAME(grantee_principal_id), IIF(class = 1, OBJECT_NAME(major_id), IIF(class = 3, SCHEMA_NAME(major_id), IIF(class = 6, TYPE_NAME(major_id), IIF(class = 10, (SELECT x.name FROM sys.xml_schema_collections x WHERE x.xml_collection_id = major_id), NULL)))), IIF(class = 1, COL_NAME(major_id, minor_id), NULL) FROM sys.database_permissions",
        ["policies"] = "SELECT p.name, p.is_enabled, OBJECT_NAME(r.target_object_id), r.predicate_type_desc, r.operation_desc, r.predicate_definition FROM sys.security_policies p JOIN sys.security_predicates r ON r.object_id = p.object_id",
        ["extended properties"] = "SELECT class_desc, IIF(class IN (1, 2, 7), OBJECT_NAME(major_id), NULL), IIF(class = 7, INDEX_COL(OBJECT_SCHEMA_NAME(major_id) + '.' + OBJECT_NAME(major_id), minor_id, 1), CAST(minor_id AS nvarchar(10))), name, value FROM sys.extended_properties",
    };

    static void Scripting()
    {
        // This SMO knows servers up to version 15, and says so to a debugger that is not there.
        Trace.Listeners.Clear();
        var first = MadeNew("drv_scripted");
        Execute(first, "IF SUSER_ID('drv_scripted_login') IS NULL CREATE LOGIN drv_scripted_login WITH PASSWORD = 'Str0ng-enough'");
        foreach (var sql in Batches(File.ReadAllText(Path.Combine(Tests, "every_kind.sql")))) Noting(Short(sql, 100), () => Execute(first, sql));
        var server = new Server(new ServerConnection(first));
        foreach (var type in new[] { typeof(Table), typeof(View), typeof(StoredProcedure), typeof(UserDefinedFunction) }) server.SetDefaultInitFields(type, "IsSystemObject");
        var database = server.Databases["drv_scripted"];
        Check(server.Edition.StartsWith("Developer"), $"Edition: {server.Edition}");
        // Every collection that SMO has of a database is asked for, also of what this server has not.
        var scripted = new SortedDictionary<string, int>();
        foreach (var property in typeof(Database).GetProperties().Where(p => typeof(ICollection).IsAssignableFrom(p.PropertyType) && typeof(AbstractCollectionBase).IsAssignableFrom(p.PropertyType)))
            Noting($"the collection {property.Name}", () =>
            {
                foreach (var one in ((IEnumerable)property.GetValue(database)).Cast<SqlSmoObject>().Where(IsOwn))
                {
                    scripted[one.GetType().Name] = 1 + (scripted.TryGetValue(one.GetType().Name, out var n) ? n : 0);
                    if (one is IScriptable it) Noting($"{one.GetType().Name} {one}", () => Check(it.Script(Options()).Count > 0, $"{one}: an empty script"));
                }
            });
        Equal(string.Join(" ", scripted.Where(s => s.Key != "DatabaseScopedConfiguration").Select(s => $"{s.Key}={s.Value}")), Kinds, "objects that were scripted");
        var transfer = new Transfer(database) { CopyAllObjects = true, CopyAllUsers = true, CopyAllRoles = true, CopyAllSchemas = true, CopyAllSynonyms = true, CopyAllSequences = true, CopyAllXmlSchemaCollections = true, CopyAllFullTextCatalogs = true, CopyData = false, Options = Options() };
        transfer.Options.WithDependencies = true;
        // What Transfer leaves out: policies, and permissions on the database.
        var script = transfer.ScriptTransfer().Cast<string>().Concat(database.SecurityPolicies.Cast<SecurityPolicy>().SelectMany(p => p.Script(Options()).Cast<string>()))
            .Concat(database.Script(Options()).Cast<string>().Where(sql => sql.StartsWith("GRANT "))).ToList();
        // The other database is made by the first one's own script, under its name.
        var again = MadeNew("drv_scripted_again", database.Script(OfDatabase).Cast<string>().Select(sql => sql.Replace("drv_scripted", "drv_scripted_again")));
        foreach (var sql in script) Noting(Short(sql, 100), () => Execute(again, sql));
        foreach (var part in Catalog)
        {
            Func<SqlConnection, List<string>> Told = (connection) => Query(connection, part.Value).Select(row => string.Join(" | ", row.Select(Show))).OrderBy(line => line, StringComparer.Ordinal).ToList();
            Noting(part.Key, () =>
            {
                // mcs drops a lambda that takes a tuple apart.
                var was = Told(first);
                var made = Told(again);
                foreach (var line in was.Except(made)) Check(false, $"{part.Key}: not made again: {Short(line, 250)}");
                foreach (var line in made.Except(was)) Check(false, $"{part.Key}: made otherwise: {Short(line, 250)}");
            });
        }
    }

    /// How many objects of each kind every_kind.sql makes, by SMO's own classes.
    const string Kinds = "ApplicationRole=1 DatabaseDdlTrigger=1 DatabaseRole=2 Default=1 ExtendedProperty=1 FileGroup=3 FullTextCatalog=2 LogFile=1 PartitionFunction=1 PartitionScheme=1 Rule=1 Schema=2 SecurityPolicy=1 Sequence=2 StoredProcedure=3 Synonym=2 Table=17 User=3 UserDefinedDataType=3 UserDefinedFunction=5 UserDefinedTableType=2 View=3 XmlSchemaCollection=1";

    static bool IsOwn(SqlSmoObject one)
    {
        if (one is DatabaseRole role) return !role.IsFixedRole && role.Name != "public";
        if (one is User user) return !user.IsSystemObject;
        if (one is Schema schema) return schema.ID > 4 && schema.ID < 16384;
        return !one.Properties.Contains("IsSystemObject") || !(bool)one.Properties["IsSystemObject"].Value;
    }

    static SqlConnection MadeNew(string name, IEnumerable<string> script = null)
    {
        var connection = Opened("Pooling=false");
        Execute(connection, $"DROP DATABASE IF EXISTS {name}");
        foreach (var sql in script ?? new[] { $"CREATE DATABASE {name}" }) Noting(Short(sql, 200), () => Execute(connection, sql));
        connection.ChangeDatabase(name);
        return connection;
    }

    static IEnumerable<string> Batches(string script) => Regex.Split(script, @"^GO\s*$", RegexOptions.Multiline).Where(batch => batch.Trim() != "");

    /// Without permissions and properties, which the objects' script has.
    static ScriptingOptions OfDatabase => new ScriptingOptions { TargetServerVersion = SqlServerVersion.Version150, ChangeTracking = true };

    static ScriptingOptions Options() => new ScriptingOptions
    {
        TargetServerVersion = SqlServerVersion.Version150, DriAll = true, Indexes = true, ClusteredIndexes = true, NonClusteredIndexes = true, ColumnStoreIndexes = true, Triggers = true, Permissions = true,
        ExtendedProperties = true, Statistics = true, OptimizerData = false, ScriptDataCompression = true, Bindings = true, SchemaQualify = true, IncludeDatabaseRoleMemberships = true, ChangeTracking = true,
        ScriptOwner = true, XmlIndexes = true, SpatialIndexes = true, FullTextCatalogs = true, FullTextIndexes = true, FullTextStopLists = true,
    };
}
