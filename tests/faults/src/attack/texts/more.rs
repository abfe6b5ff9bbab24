//! Classes beyond the first ones: parts of the language by the thousand, tools' procedures, documents and shapes.

use super::{Class, list, long, times};
use stdx::Prng;

/// One of several, by the seed.
fn any<'a>(random: &mut Prng, of: &[&'a str]) -> &'a str {
    of[random.below(of.len() as u64) as usize]
}

pub const CLASSES: &[Class] = &[
    Class {
        name: "conditions",
        size_max: 100_000,
        make: |random, n| {
            let (with, column) =
                (any(random, &["AND", "OR"]), any(random, &["@@SPID", "o.object_id"]));
            format!(
                "SELECT 1 FROM sys.objects o WHERE {}",
                list(n + 1, &format!(" {with} "), |i| format!("{column}<>{i}"))
            )
        },
    },
    Class {
        name: "conditions doubled",
        size_max: 50_000,
        make: |_, n| {
            let half = |from: usize| list(n + 1, " AND ", |i| format!("@@SPID<>{}", from + i));
            format!("SELECT 1 WHERE ({}) OR ({})", half(0), half(n / 2))
        },
    },
    Class {
        name: "case branches",
        size_max: 100_000,
        make: |_, n| {
            format!("SELECT CASE {}END", list(n + 1, "", |i| format!("WHEN @@SPID={i} THEN {i} ")))
        },
    },
    Class {
        name: "wide joins",
        size_max: 280,
        make: |random, n| {
            let kind = any(random, &["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
            let on = |i: usize| match kind {
                "CROSS JOIN" => String::new(),
                _ => format!(" ON t{}.object_id = t{i}.object_id", i.saturating_sub(1)),
            };
            let joined =
                list(n, "", |i| format!(" {kind} sys.all_columns t{}{}", i + 1, on(i + 1)));
            let what = any(random, &["*", "COUNT(*)", "TOP (1) t0.name"]);
            format!("SELECT {what} FROM sys.all_columns t0{joined}")
        },
    },
    Class {
        name: "joined by a list",
        size_max: 280,
        make: |_, n| {
            let from = list(n + 1, ",", |i| format!("sys.objects t{i}"));
            let equal = list(n, "", |i| {
                format!(" AND t{i}.object_id=t{}.object_id AND t0.object_id<>{i}", i + 1)
            });
            format!("SELECT COUNT(*) FROM {from} WHERE 1=1{equal}")
        },
    },
    Class {
        name: "wide constants",
        size_max: 100,
        make: |_, n| {
            let columns = list(4_000, ",", |i| format!("1 a{i}"));
            let from = list(n + 1, ",", |i| format!("(SELECT {columns}) t{i}"));
            format!("SELECT COUNT(*) FROM {from}")
        },
    },
    Class {
        name: "applied",
        size_max: 250,
        make: |random, n| {
            let kind = any(random, &["CROSS APPLY", "OUTER APPLY"]);
            let more = list(n, "", |i| format!(" {kind} (SELECT a{i}+1 a{}) t{}", i + 1, i + 1));
            format!("SELECT * FROM (SELECT 1 a0) t0{more}")
        },
    },
    Class {
        name: "subqueries",
        size_max: 20_000,
        make: |random, n| {
            let one = any(
                random,
                &[
                    "(SELECT MAX(object_id) FROM sys.objects)",
                    "(SELECT 1 WHERE EXISTS (SELECT 1))",
                    "IIF(EXISTS (SELECT 1 FROM sys.objects o WHERE o.object_id=@@SPID),1,2)",
                ],
            );
            format!("SELECT 0{}", times(&format!("+{one}"), n))
        },
    },
    Class {
        name: "values",
        size_max: 60_000,
        make: |_, n| {
            format!(
                "SELECT COUNT(*) FROM (VALUES {}) t(a,b)",
                list(n + 1, ",", |i| format!("({i},'x')"))
            )
        },
    },
    Class {
        name: "set operations",
        size_max: 5_000,
        make: |random, n| {
            let with = any(random, &["UNION", "EXCEPT", "INTERSECT", "UNION ALL"]);
            format!(
                "SELECT * FROM (SELECT 1 a{}) t WHERE a=1",
                times(&format!(" {with} SELECT 2"), n)
            )
        },
    },
    Class {
        name: "unpivot",
        size_max: 4_000,
        make: |_, n| {
            let columns = list(n + 1, ",", |i| format!("{i} a{i}"));
            let names = list(n + 1, ",", |i| format!("a{i}"));
            format!("SELECT COUNT(*) FROM (SELECT {columns}) s UNPIVOT (v FOR c IN ({names})) u")
        },
    },
    Class {
        name: "grouping sets",
        size_max: 12,
        make: |random, n| {
            let names = list(n.max(1), ",", |i| format!("o.object_id+{i}"));
            let by = match random.below(3) {
                0 => format!("CUBE({names})"),
                1 => format!("ROLLUP({names})"),
                _ => format!("GROUPING SETS({})", times(&format!("({names}),"), n) + "()"),
            };
            format!("SELECT COUNT(*) FROM sys.all_objects o GROUP BY {by}")
        },
    },
    Class {
        name: "grouped",
        size_max: 4_000,
        make: |_, n| {
            let keys = list(n + 1, ",", |i| format!("o.object_id+{i}"));
            format!("SELECT COUNT(*) FROM sys.all_objects o GROUP BY {keys} ORDER BY {keys}")
        },
    },
    Class {
        name: "many windows",
        size_max: 4_000,
        make: |_, n| {
            let all = list(n + 1, ",", |i| {
                format!(
                    "SUM(object_id % 9) OVER (PARTITION BY type ORDER BY object_id+{i} ROWS {i} PRECEDING)"
                )
            });
            format!("SELECT {all} FROM sys.all_objects")
        },
    },
    Class {
        name: "wide frames",
        size_max: 3,
        make: |random, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            let func = any(random, &["SUM", "MIN", "MAX", "AVG", "STDEV"]);
            format!(
                "SELECT {func}(x) OVER (ORDER BY r ROWS BETWEEN 500000 PRECEDING AND 400000 FOLLOWING) FROM \
                 (SELECT TOP (1000000) CAST(o0.object_id AS float) x, o1.object_id r FROM {from}) t"
            )
        },
    },
    Class {
        name: "series",
        size_max: 100_000_000,
        make: |random, n| {
            let what = any(
                random,
                &[
                    "COUNT(*)",
                    "SUM(value)",
                    "COUNT(DISTINCT value)",
                    "STRING_AGG(CAST(value AS varchar(max)), ',')",
                    "CHECKSUM_AGG(CHECKSUM(value))",
                    "STDEV(value)",
                ],
            );
            format!("SELECT {what} FROM GENERATE_SERIES(1, {n})")
        },
    },
    Class {
        name: "private tables",
        size_max: 3_000,
        make: |random, n| {
            let more = any(
                random,
                &[
                    "",
                    " CREATE INDEX i ON #t{} (a)",
                    " DROP TABLE #t{}",
                    " ALTER TABLE #t{} ADD b int",
                ],
            );
            list(n + 1, " ", |i| {
                let i = i.to_string();
                format!(
                    "CREATE TABLE #t{i} (a int PRIMARY KEY){} INSERT #t{i} VALUES (1)",
                    more.replace("{}", &i)
                )
            })
        },
    },
    Class {
        name: "private tables in a loop",
        size_max: 1,
        make: |random, _| {
            let more = any(
                random,
                &[
                    "INSERT #t VALUES (1)",
                    "ALTER TABLE #t ADD b int",
                    "DROP TABLE #t",
                    "SELECT * FROM #t",
                ],
            );
            format!(
                "DECLARE @i int = 0, @t nvarchar(max) = '' WHILE @i < 2000 BEGIN SET @t = \
                 CONCAT('CREATE TABLE #t (a int, c', @i, ' int) {more} ', IIF(@i % 2 = 0, @t, '')) EXEC (@t) SET @i += 1 END"
            )
        },
    },
    Class {
        name: "wide private table",
        size_max: 1_000,
        make: |random, n| {
            let columns = list(n + 1, ",", |i| format!("c{i} int DEFAULT {i} CHECK (c{i} >= 0)"));
            let change = any(
                random,
                &[
                    "ALTER TABLE #t ADD z int NOT NULL DEFAULT 1",
                    "ALTER TABLE #t DROP COLUMN k",
                    "ALTER TABLE #t ALTER COLUMN k bigint",
                    "CREATE INDEX i ON #t (k)",
                    "UPDATE #t SET c0 = c0 + 1",
                ],
            );
            format!(
                "CREATE TABLE #t (k int,{columns}) {} {change}",
                times("INSERT #t (k) VALUES (1) ", n.min(200))
            )
        },
    },
    Class {
        name: "changes of a private table",
        size_max: 4_000,
        make: |random, n| {
            let one = any(
                random,
                &[
                    "ADD c{} int NULL",
                    "ADD c{} int NOT NULL DEFAULT 1",
                    "ADD CONSTRAINT k{} CHECK (a > {})",
                ],
            );
            let all =
                list(n, " ", |i| format!("ALTER TABLE #t {}", one.replace("{}", &i.to_string())));
            format!("CREATE TABLE #t (a int) INSERT #t SELECT object_id FROM sys.all_objects {all}")
        },
    },
    Class {
        name: "table variables",
        size_max: 3_000,
        make: |_, n| {
            list(n + 1, " ", |i| {
                format!(
                    "DECLARE @t{i} TABLE (a int PRIMARY KEY, b varchar(10)) INSERT @t{i} VALUES (1,'x')"
                )
            })
        },
    },
    Class {
        name: "wide variables",
        size_max: 20_000,
        make: |_, n| {
            let names = list(n + 1, ",", |i| format!("@v{i} varchar(max)='x'"));
            let sums = list(n + 1, "+", |i| format!("@v{i}"));
            format!("DECLARE {names} SELECT LEN({sums})")
        },
    },
    Class {
        name: "cursors in a loop",
        size_max: 1,
        make: |random, _| {
            let kind = any(random, &["STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD", ""]);
            format!(
                "DECLARE @c CURSOR, @i int = 0, @n sysname WHILE 1=1 BEGIN \
                 SET @c = CURSOR {kind} FOR SELECT name FROM sys.all_objects OPEN @c FETCH NEXT FROM @c INTO @n SET @i += 1 END"
            )
        },
    },
    Class {
        name: "executed parameters",
        size_max: 2_100,
        make: |_, n| {
            let names = list(n + 1, ",", |i| format!("@p{i} int"));
            let values = list(n + 1, ",", |i| format!("@p{i}={i}"));
            let sum = list(n + 1, "+", |i| format!("@p{i}"));
            format!("EXEC sp_executesql N'SELECT {sum}', N'{names}', {values}")
        },
    },
    Class {
        name: "caught errors",
        size_max: 20_000,
        make: |random, n| {
            let one = any(
                random,
                &[
                    "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH THROW END CATCH ",
                    "BEGIN TRY THROW 50000,'x',1 END TRY BEGIN CATCH SELECT ERROR_MESSAGE() END CATCH ",
                    "BEGIN TRY BEGIN TRAN SELECT 1/0 END TRY BEGIN CATCH ROLLBACK END CATCH ",
                    "RAISERROR('x',16,1) WITH NOWAIT ",
                ],
            );
            times(one, n)
        },
    },
    Class {
        name: "savepoints",
        size_max: 50_000,
        make: |_, n| {
            let all = list(n, " ", |i| format!("SAVE TRAN s{i} INSERT #t VALUES ({i})"));
            format!("CREATE TABLE #t (a int) BEGIN TRAN {all} ROLLBACK TRAN s0 ROLLBACK")
        },
    },
    Class {
        name: "labels",
        size_max: 60_000,
        make: |_, n| list(n + 1, " ", |i| format!("IF 1=0 GOTO l{i} l{i}: SET NOCOUNT ON")),
    },
    Class {
        name: "merge",
        size_max: 1_000,
        make: |_, n| {
            let columns = list(n + 1, ",", |i| format!("c{i} int"));
            let sets = list(n + 1, ",", |i| format!("c{i}=s.c{i}+t.c{i}"));
            let names = list(n + 1, ",", |i| format!("c{i}"));
            format!(
                "CREATE TABLE #t (k int,{columns}) MERGE #t t USING #t s ON t.k=s.k \
                 WHEN MATCHED AND s.k>1 THEN UPDATE SET {sets} WHEN MATCHED THEN DELETE \
                 WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({names}) OUTPUT $action, inserted.*, deleted.*;"
            )
        },
    },
    Class {
        name: "names",
        size_max: 2_000_000,
        make: |random, n| {
            let one = any(
                random,
                &["[{}]", "\"{}\"", "'{}'", "@{}", "#{}", "a.[{}]", "$({})", "--{}", "0x{}"],
            );
            format!("SELECT {}", one.replace("{}", &times("a", n)))
        },
    },
    Class {
        name: "numbers of functions",
        size_max: 10_000_000,
        make: |random, n| {
            let with = any(
                random,
                &[
                    "FORMAT(value, 'N2', 'de-DE')",
                    "CONVERT(varchar(50), DATEADD(s, value, '2000-01-01'), 121)",
                    "CAST(value AS decimal(38,10)) / 7",
                    "POWER(CAST(value AS float), 0.5)",
                    "HASHBYTES('SHA1', CAST(value AS varbinary(8)))",
                    "NEWID()",
                    "REPLACE(CAST(value AS varchar(20)), '1', '22')",
                    "TRY_PARSE(CAST(value AS varchar(20)) AS int)",
                    "STR(value, 20, 3)",
                    "SOUNDEX(CAST(value AS varchar(20)))",
                    "CAST(value AS sql_variant)",
                    "JSON_VALUE(CONCAT('{\"a\":', value, '}'), '$.a')",
                    "CAST(CONCAT('<a>', value, '</a>') AS xml).value('a[1]', 'int')",
                    "hierarchyid::Parse(CONCAT('/', value, '/')).ToString()",
                    "geometry::Point(value, value, 0).STBuffer(1).STArea()",
                ],
            );
            format!("SELECT MAX(CAST({with} AS nvarchar(100))) FROM GENERATE_SERIES(1, {n})")
        },
    },
    Class {
        name: "shapes",
        size_max: 200_000,
        make: |random, n| {
            let with = any(
                random,
                &[
                    ".STBuffer(1).STArea()",
                    ".STConvexHull().STArea()",
                    ".STIntersection(@h).STNumPoints()",
                    ".STUnion(@h).STNumPoints()",
                    ".MakeValid().STNumPoints()",
                    ".STIsValid()",
                    ".STDistance(@h)",
                    ".Reduce(0.5).STNumPoints()",
                    ".STAsText()",
                    ".STIntersects(@h)",
                    ".STSymDifference(@h).STNumPoints()",
                    ".BufferWithTolerance(1, 0.1, 0).STNumPoints()",
                    ".STIsSimple()",
                    ".STCentroid().STAsText()",
                    ".ToString()",
                ],
            );
            let kind = any(random, &["geometry", "geography"]);
            let point = any(
                random,
                &[
                    "(value % 360) / 4.0, ' ', (value * 7919 % 360) / 4.0",
                    "value % 80, ' ', value % 79",
                    "value / 5000.0, ' ', (value % 2) / 1000.0",
                ],
            );
            format!(
                "DECLARE @t varchar(max) = (SELECT STRING_AGG(CAST(CONCAT({point}) AS varchar(max)), ',') FROM GENERATE_SERIES(1, {})) \
                 DECLARE @g {kind} = {kind}::STGeomFromText('LINESTRING(' + @t + ')', 4326) DECLARE @h {kind} = @g SELECT @g{with}",
                n + 2
            )
        },
    },
    Class {
        name: "nodes of a tree",
        size_max: 400,
        make: |_, n| {
            format!(
                "DECLARE @h hierarchyid = '/' + REPLICATE('1/', {n}) SELECT @h.ToString(), @h.GetLevel(), @h.GetAncestor(1).ToString(), \
                 @h.GetDescendant(NULL, NULL).ToString(), @h.GetReparentedValue('/1/', '/2/').ToString()"
            )
        },
    },
    Class {
        name: "xml nodes",
        size_max: 200_000,
        make: |random, n| {
            let query = any(
                random,
                &[
                    "SELECT COUNT(*) FROM @x.nodes('//a') t(c)",
                    "SELECT COUNT(*) FROM @x.nodes('//a') t(c) WHERE c.value('@b', 'int') = 1",
                    "SELECT COUNT(*) FROM @x.nodes('//a') t(c) CROSS APPLY c.nodes('../a') u(d)",
                    "SET @x.modify('delete //a') SELECT DATALENGTH(@x)",
                    "SET @x.modify('insert <z/> into (//a)[last()]') SELECT DATALENGTH(@x)",
                    "SELECT @x.query('for $a in //a order by $a/@b descending return $a')",
                    "SELECT @x.value('sum(//a/@b)', 'float'), @x.exist('//a[@b=2]')",
                    "SELECT @x.query('distinct-values(//a/@b)')",
                    "SELECT CAST(@x AS nvarchar(max)), CAST(@x AS varbinary(max))",
                ],
            );
            format!("DECLARE @x xml = {} {query}", long("<a b=\"1\">x<c/></a>", n))
        },
    },
    Class {
        name: "deep documents",
        size_max: 100_000,
        make: |random, n| {
            let n = if random.one_in(2) { n.min(127) } else { n };
            match random.below(2) {
                0 => format!(
                    "DECLARE @x xml = {} + 'x' + {} SELECT @x.query('//a[last()]')",
                    long("<a>", n),
                    long("</a>", n)
                ),
                _ => format!(
                    "SELECT JSON_QUERY({} + '1' + {}, '$.a.a'), ISJSON({})",
                    long("{\"a\":", n),
                    long("}", n),
                    long("[", n)
                ),
            }
        },
    },
    Class {
        name: "json changed",
        size_max: 3_000_000,
        make: |random, n| {
            let what = any(
                random,
                &[
                    "LEN(JSON_MODIFY(@j, 'append $', 5))",
                    "LEN(JSON_MODIFY(@j, '$[0]', JSON_QUERY(@j)))",
                    "JSON_VALUE(@j, '$[1000].a')",
                    "(SELECT COUNT(*) FROM OPENJSON(@j) WITH (a int, b nvarchar(9) '$.b', c nvarchar(max) AS JSON))",
                    "LEN(JSON_QUERY(@j, '$'))",
                    "JSON_PATH_EXISTS(@j, '$[999999].a')",
                    "LEN((SELECT * FROM OPENJSON(@j) FOR JSON AUTO))",
                ],
            );
            format!(
                "DECLARE @j nvarchar(max) = '[' + {} + '1]' SELECT {what}",
                long("{\"a\":1,\"b\":\"x\"},", n)
            )
        },
    },
    Class {
        name: "documents of rows",
        size_max: 3,
        make: |random, n| {
            let from = list(n.max(1), ",", |i| format!("sys.all_columns o{i}"));
            let form = any(
                random,
                &[
                    "FOR XML AUTO",
                    "FOR XML RAW, ELEMENTS, ROOT('r')",
                    "FOR XML PATH(''), TYPE",
                    "FOR JSON AUTO",
                    "FOR JSON PATH, ROOT('r')",
                    "FOR XML AUTO, BINARY BASE64, XMLDATA",
                    "FOR JSON PATH, INCLUDE_NULL_VALUES",
                ],
            );
            format!("SELECT o0.* FROM {from} {form}")
        },
    },
    Class {
        name: "texts of functions",
        size_max: 100_000_000,
        make: |random, n| {
            let with = any(
                random,
                &[
                    "LEN(REPLACE({} COLLATE Latin1_General_CI_AI, 'X', 'y'))",
                    "LEN(CONCAT_WS(',', {}, 'a'))",
                    "LEN(TRIM('x' FROM {}))",
                    "LEN({} + {})",
                    "LEN(SPACE(8000) + {})",
                    "LEN(SUBSTRING({}, 5, 2000000000))",
                    "LEN(LEFT({}, 100000000))",
                    "CHARINDEX('y', {} COLLATE Latin1_General_BIN2)",
                    "PATINDEX('%[^x]%', {})",
                    "LEN(CAST({} AS nvarchar(max)))",
                    "DATALENGTH(CAST(CAST({} AS varbinary(max)) AS varchar(max)))",
                    "BINARY_CHECKSUM({})",
                    "LEN(CONVERT(varchar(max), CAST({} AS varbinary(max)), 1))",
                    "(SELECT COUNT(*) FROM STRING_SPLIT({}, ',', 1))",
                    "LEN(STRING_ESCAPE({} + '\"', 'json'))",
                    "UNICODE({} + 'a')",
                    "CAST('' AS xml).value('sql:column(\"x\")', 'int')",
                    "LEN(REPLICATE({}, 20))",
                    "IIF({} = {}, 1, 0)",
                    "IIF({} LIKE '%' + {}, 1, 0)",
                    "DIFFERENCE({}, {})",
                    "TRY_CONVERT(uniqueidentifier, {})",
                    "TRY_CAST({} AS datetime2)",
                    "TRY_CAST({} AS float)",
                    "TRY_CAST({} AS decimal(38, 5))",
                    "TRY_CAST({} AS hierarchyid)",
                    "TRY_CAST({} AS geometry)",
                    "LEN(REVERSE({} COLLATE Latin1_General_100_CI_AS_SC_UTF8))",
                    "LEN(LOWER({} COLLATE Turkish_CI_AS))",
                    "GREATEST({}, {})",
                    "DATALENGTH(DECOMPRESS(COMPRESS(COMPRESS({}))))",
                ],
            );
            let of = any(random, &["x", "x,", " ", "1", "&", "''", "%", "ä"]);
            format!("SELECT {}", with.replace("{}", &long(of, n)))
        },
    },
    Class {
        name: "unpacked twice",
        size_max: 16,
        make: |_, n| {
            format!(
                "DECLARE @b varbinary(max) = COMPRESS(REPLICATE(CAST('x' AS varchar(max)), 200000000)), @i int = 0 \
                 WHILE @i < {n} BEGIN SET @b = DECOMPRESS(@b) SET @b = COMPRESS(@b + @b) SET @i += 1 END SELECT DATALENGTH(@b)"
            )
        },
    },
    Class {
        name: "server views joined",
        size_max: 12,
        make: |random, n| {
            let views = [
                "sys.dm_exec_requests",
                "sys.dm_exec_sessions",
                "sys.all_columns",
                "sys.all_objects",
                "sys.all_parameters",
                "sys.messages",
                "sys.dm_os_wait_stats",
                "sys.system_sql_modules",
                "sys.types",
                "sys.database_permissions",
                "sys.dm_os_performance_counters",
                "INFORMATION_SCHEMA.COLUMNS",
                "sys.syscolumns",
                "sys.sysobjects",
                "sys.fn_helpcollations()",
                "sys.all_views",
                "sys.syslanguages",
            ];
            let from = list(n + 1, ",", |i| format!("{} v{i}", any(random, &views)));
            format!("SELECT COUNT_BIG(*) FROM {from}")
        },
    },
    Class {
        name: "tools",
        size_max: 1,
        make: |random, _| {
            let all = [
                "EXEC sp_help 'sys.all_columns'",
                "EXEC sp_helptext 'sys.all_columns'",
                "EXEC sp_helpdb",
                "EXEC sp_helpindex 'sys.objects'",
                "EXEC sp_depends 'sys.objects'",
                "EXEC sp_describe_first_result_set N'SELECT * FROM sys.all_columns a, sys.all_objects b, sys.messages c'",
                "EXEC sp_describe_undeclared_parameters N'SELECT * FROM sys.objects WHERE object_id = @a AND name = @b'",
                "EXEC sp_statistics 'objects'",
                "EXEC sp_pkeys 'objects'",
                "EXEC sp_stored_procedures",
                "EXEC sp_databases",
                "EXEC sp_helpuser",
                "EXEC sp_helprolemember",
                "EXEC sp_monitor",
                "EXEC sp_spaceused",
                "EXEC sp_configure",
                "DBCC OPENTRAN",
                "DBCC USEROPTIONS",
                "DBCC HELP('?')",
                "EXEC sp_helplanguage",
                "EXEC sp_server_info",
                "EXEC sp_sproc_columns '%'",
                "EXEC sp_special_columns 'objects'",
                "SELECT * FROM sys.fn_helpcollations()",
                "SELECT * FROM sys.messages",
                "SELECT * FROM sys.dm_exec_describe_first_result_set(N'SELECT * FROM sys.all_columns', NULL, 1)",
                "SELECT * FROM sys.dm_exec_sessions s OUTER APPLY sys.dm_exec_input_buffer(s.session_id, NULL)",
                "SELECT * FROM sys.dm_tran_locks",
                "SET SHOWPLAN_XML ON",
                "SET STATISTICS XML ON",
                "SET FMTONLY ON",
                "SET PARSEONLY ON",
                "SET ROWCOUNT 5",
            ];
            any(random, &all).to_owned()
        },
    },
    Class {
        name: "plans shown",
        size_max: 280,
        make: |random, n| {
            let joined = list(n, "", |i| format!(" JOIN sys.objects o{i} ON o{i}.name = o.name"));
            let show = any(random, &["SHOWPLAN_XML", "SHOWPLAN_ALL", "SHOWPLAN_TEXT"]);
            format!(
                "EXEC('SET {show} ON') EXEC sp_executesql N'SET STATISTICS XML ON SELECT COUNT(*) FROM sys.objects o{joined}'"
            )
        },
    },
    Class {
        name: "recursive trees",
        size_max: 40,
        make: |random, n| {
            let more = any(
                random,
                &[
                    "UNION ALL SELECT n+1,s+'y' FROM r",
                    "",
                    "UNION ALL SELECT n+2,s FROM r WHERE n%3=0",
                ],
            );
            format!(
                "WITH r AS (SELECT 1 AS n, CAST('x' AS varchar(max)) AS s UNION ALL SELECT n+1, s+s FROM r WHERE n<{n} {more}) \
                 SELECT COUNT(*), MAX(LEN(s)) FROM r OPTION (MAXRECURSION 0)"
            )
        },
    },
    Class {
        name: "texts within texts",
        size_max: 200,
        make: |_, n| {
            // Each doubles the next one's quotes.
            format!(
                "DECLARE @t nvarchar(max) = 'SELECT 1', @i int = 0 WHILE @i < {} BEGIN \
                 SET @t = 'EXEC(''' + REPLACE(@t, '''', '''''') + ''')' SET @i += 1 END EXEC (@t)",
                n.min(26)
            )
        },
    },
    Class {
        name: "handles",
        size_max: 1,
        make: |random, _| {
            let one = any(
                random,
                &[
                    "EXEC sp_prepare @h OUTPUT, N'@a int', N'SELECT @a FROM sys.all_columns'",
                    "EXEC sp_cursoropen @h OUTPUT, N'SELECT * FROM sys.all_objects', 8, 8193",
                    "EXEC sp_prepexec @h OUTPUT, N'@a int', N'SELECT @a', 1",
                    "EXEC sp_cursorprepexec @h OUTPUT, @g OUTPUT, N'@a int', N'SELECT @a', 1, 1, 1, 1",
                ],
            );
            format!("DECLARE @h int, @g int WHILE 1=1 BEGIN SET @h = NULL SET @g = NULL {one} END")
        },
    },
];
