//! Hostile texts: each class of them grows in one direction, and two may be mixed.
//!
//! All are T-SQL that a login with `public` alone may send. How large a text gets is the seed's to say: small ones find
//! what breaks, large ones what takes long or much.

mod more;

use stdx::Prng;

type Make = fn(&mut Prng, usize) -> String;

/// A class: its name, the largest size that it is asked for, and its text of a size.
pub struct Class {
    pub name: &'static str,
    size_max: usize,
    make: Make,
}

fn times(text: &str, n: usize) -> String {
    text.repeat(n)
}

fn list(n: usize, separator: &str, item: impl FnMut(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(separator)
}

/// A text that the server makes long itself, so that few bytes are sent.
fn long(of: &str, n: usize) -> String {
    format!("REPLICATE(CAST('{of}' AS varchar(max)), {n})")
}

pub const CLASSES: &[Class] = &[
    Class {
        name: "plus",
        size_max: 60_000,
        make: |_, n| format!("SELECT 'a'{}", times("+'a'", n)),
    },
    Class {
        name: "numbers",
        size_max: 60_000,
        make: |_, n| format!("SELECT 1{}", times("+1*2", n)),
    },
    Class {
        name: "parentheses",
        size_max: 100_000,
        make: |_, n| format!("SELECT {}1{}", times("(", n), times(")", n)),
    },
    Class {
        name: "declare",
        size_max: 70_000,
        make: |_, n| format!("DECLARE {}", list(n + 1, ",", |i| format!("@v{i} int"))),
    },
    Class {
        name: "set",
        size_max: 70_000,
        make: |_, n| format!("DECLARE @a int {}", times("SET @a=1;", n)),
    },
    Class {
        name: "in",
        size_max: 200_000,
        make: |_, n| format!("SELECT 1 WHERE 5 IN (0{})", times(",1+@@SPID", n)),
    },
    Class {
        name: "columns",
        size_max: 100_000,
        make: |_, n| format!("SELECT 1{}", times(",2", n)),
    },
    Class {
        name: "cases",
        size_max: 20_000,
        make: |_, n| format!("SELECT {}1{}", times("CASE WHEN 1=1 THEN ", n), times(" END", n)),
    },
    Class {
        name: "begins",
        size_max: 100_000,
        make: |_, n| format!("{} SELECT 1 {}", times("BEGIN ", n), times(" END", n)),
    },
    Class {
        name: "unions",
        size_max: 20_000,
        make: |_, n| format!("SELECT 1{}", times(" UNION ALL SELECT 2", n)),
    },
    Class {
        name: "joins",
        size_max: 2_000,
        make: |_, n| {
            let joined = list(n, "", |i| format!(" JOIN sys.objects o{i} ON o{i}.name = o.name"));
            format!("SELECT COUNT(*) FROM sys.objects o{joined}")
        },
    },
    Class {
        name: "common tables",
        size_max: 5_000,
        make: |_, n| {
            let all = list(n, "", |i| format!(", c{} AS (SELECT a FROM c{i})", i + 1));
            format!("WITH c0 AS (SELECT 1 AS a){all} SELECT * FROM c{n}")
        },
    },
    Class {
        name: "common tables doubled",
        size_max: 40,
        make: |_, n| {
            let one = |i: usize| format!(", c{} AS (SELECT x.a FROM c{i} x, c{i} y)", i + 1);
            format!("WITH c0 AS (SELECT 1 AS a){} SELECT COUNT(*) FROM c{n}", list(n, "", one))
        },
    },
    Class {
        name: "pivot",
        size_max: 20_000,
        make: |_, n| {
            let values = list(n + 1, ",", |i| format!("[{i}]"));
            format!("SELECT * FROM (SELECT 1 a, 2 b) s PIVOT (MAX(a) FOR b IN ({values})) p")
        },
    },
    Class {
        name: "recursion",
        size_max: 1,
        make: |_, _| {
            "WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT MAX(n) FROM r \
             OPTION (MAXRECURSION 0)"
                .to_owned()
        },
    },
    Class {
        name: "doubling",
        size_max: 1,
        make: |_, _| "DECLARE @a varchar(max)='x' WHILE 1=1 SET @a=@a+@a".to_owned(),
    },
    Class {
        name: "many values",
        size_max: 1_000_000,
        make: |_, n| {
            format!(
                "DECLARE @t TABLE (i int IDENTITY, a varchar(max)) WHILE 1=1 INSERT @t VALUES ({})",
                long("x", n)
            )
        },
    },
    Class {
        name: "temporary table",
        size_max: 8_000,
        make: |_, n| {
            format!(
                "CREATE TABLE #t (a varchar(8000)) INSERT #t VALUES (REPLICATE('x', {n})) \
                 WHILE 1=1 INSERT #t SELECT a FROM #t"
            )
        },
    },
    Class {
        name: "cursors",
        size_max: 2_000,
        make: |_, n| {
            list(n, " ", |i| {
                format!("DECLARE c{i} CURSOR STATIC FOR SELECT * FROM sys.all_columns OPEN c{i}")
            })
        },
    },
    Class {
        name: "sort",
        size_max: 4,
        make: |_, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            format!("SELECT TOP (1000000) * FROM {from} ORDER BY NEWID()")
        },
    },
    Class {
        name: "rows",
        size_max: 4,
        make: |_, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            format!("SELECT * FROM {from}")
        },
    },
    Class {
        name: "aggregated text",
        size_max: 4,
        make: |_, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            format!("SELECT LEN(STRING_AGG(CAST(o0.name AS varchar(max)), ',')) FROM {from}")
        },
    },
    Class {
        name: "text as xml",
        size_max: 3,
        make: |_, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            format!("SELECT (SELECT o0.name FROM {from} FOR XML PATH('a'), TYPE) AS x")
        },
    },
    Class {
        name: "text as json",
        size_max: 3,
        make: |_, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            format!("SELECT LEN((SELECT o0.name FROM {from} FOR JSON PATH))")
        },
    },
    Class {
        name: "replace",
        size_max: 250_000_000,
        make: |random, n| {
            let to = random.below(9_000);
            format!("SELECT LEN(REPLACE({}, 'x', REPLICATE('y', {to})))", long("x", n))
        },
    },
    Class {
        name: "functions",
        size_max: 250_000_000,
        make: |random, n| {
            let with = [
                "LEN(REVERSE({}))",
                "LEN(UPPER({}))",
                "CHARINDEX('xxxy', {})",
                "LEN(LTRIM({}))",
                "PATINDEX('%x%x%x%Z%', {})",
                "CHECKSUM({})",
                "LEN(STUFF({}, 5, 5, ''))",
                "DATALENGTH(COMPRESS({}))",
                "HASHBYTES('SHA2_512', {})",
                "LEN(QUOTENAME({}))",
                "HASHBYTES('MD5', CAST({} AS nvarchar(max)))",
                "ISJSON('[' + {})",
                "SOUNDEX({})",
                "LEN(TRANSLATE({}, 'x', 'y'))",
                "TRY_CAST({} AS int)",
                "TRY_CAST({} AS xml)",
                "TRY_CAST({} AS varbinary(max))",
                "TRY_CONVERT(varbinary(max), {}, 2)",
                "LEN(STRING_ESCAPE({}, 'json'))",
                "LEN(FORMAT(1, {}))",
                "ISNUMERIC({})",
                "(SELECT COUNT(*) FROM STRING_SPLIT({}, 'x'))",
                "PARSENAME({}, 1)",
                "ISDATE({})",
            ];
            let with = with[random.below(with.len() as u64) as usize];
            format!("SELECT {}", with.replace("{}", &long("x", n)))
        },
    },
    Class {
        name: "pattern",
        size_max: 4_000_000,
        make: |random, n| {
            let wild = ["%", "_", "[a-z]", "[^b]"][random.below(4) as usize];
            let pattern = format!("'%' + REPLICATE('{wild}a', {}) + 'b%'", random.below(4_000));
            format!("SELECT 1 WHERE {} LIKE {pattern}", long("a", n))
        },
    },
    Class {
        name: "unpacked",
        size_max: 200_000_000,
        make: |_, n| format!("SELECT LEN(DECOMPRESS(COMPRESS({})))", long("x", n)),
    },
    Class {
        name: "xml",
        size_max: 3_000_000,
        make: |random, n| {
            let one = ["<a/>", "<a b=\"1\">c</a>", "<!-- -->", "&amp;", "<a><b/></a>", "<a>"];
            let one = one[random.below(one.len() as u64) as usize];
            format!("DECLARE @x xml = {} SELECT @x.value('count(//*)', 'int')", long(one, n))
        },
    },
    Class {
        name: "attributes",
        size_max: 50_000,
        make: |_, n| {
            let all = list(n, " ", |i| format!("a{i}=\"1\" xmlns:p{i}=\"u{i}\""));
            format!("SELECT CAST('<e {all}/>' AS xml)")
        },
    },
    Class {
        name: "xquery",
        size_max: 20_000,
        make: |_, n| {
            format!(
                "DECLARE @x xml = {} SELECT @x.query('for $a in a, $b in a, $c in a return <r>{{$a}}</r>')",
                long("<a>1</a>", n)
            )
        },
    },
    Class {
        name: "json",
        size_max: 30_000_000,
        make: |random, n| {
            let one = ["[", "1,", "{\"a\":1},", "\"x\",", "{\"a\":"];
            let one = one[random.below(one.len() as u64) as usize];
            format!("SELECT COUNT(*) FROM OPENJSON('[' + {} + '1]')", long(one, n))
        },
    },
    Class {
        name: "split",
        size_max: 30_000_000,
        make: |_, n| {
            format!("SELECT COUNT(DISTINCT value) FROM STRING_SPLIT({}, ',')", long("a,", n))
        },
    },
    Class {
        name: "executed text",
        size_max: 3_000_000,
        make: |random, n| {
            let one =
                ["SELECT 1 ", "(", "/*", "''''", ";", "BEGIN ", "SELECT ", "a.", "1+", "IF 1=1 "];
            let one = one[random.below(one.len() as u64) as usize].replace('\'', "''");
            format!("DECLARE @t nvarchar(max) = {} EXEC (@t)", long(&one, n))
        },
    },
    Class {
        name: "ad-hoc texts",
        size_max: 1_000_000,
        make: |random, _| {
            let from = random.below(1 << 40);
            format!(
                "DECLARE @i bigint = {from}, @t nvarchar(4000) WHILE 1=1 BEGIN \
                 SET @t = CONCAT('SELECT ', @i, ' AS a', @i, ' INTO #t') EXEC (@t) SET @i += 1 END"
            )
        },
    },
    Class {
        name: "nested texts",
        size_max: 40,
        make: |_, n| {
            let mut text = "SELECT 1".to_owned();
            for _ in 0..n.min(16) {
                text = format!("EXEC ('{}')", text.replace('\'', "''"));
            }
            text
        },
    },
    Class { name: "loop", size_max: 1, make: |_, _| "WHILE 1=1 SET NOCOUNT ON".to_owned() },
    Class { name: "messages", size_max: 1, make: |_, _| "WHILE 1=1 PRINT 'x'".to_owned() },
    Class {
        name: "long messages",
        size_max: 8_000,
        make: |_, n| format!("WHILE 1=1 RAISERROR('%s', 10, 1, '{}')", times("x", n)),
    },
    Class {
        name: "global table",
        size_max: 8_000,
        make: |random, n| {
            let name = format!("##g{}", random.below(1 << 40));
            format!(
                "CREATE TABLE {name} (a varchar(8000)) INSERT {name} VALUES (REPLICATE('x', {n})) \
                 WHILE 1=1 INSERT {name} SELECT a FROM {name}"
            )
        },
    },
    Class {
        name: "changes of all rows",
        size_max: 1_000_000,
        make: |random, n| {
            let change = [
                "UPDATE #t SET b = b + 1, a = a + 'y'",
                "DELETE #t WHERE b >= 0",
                "MERGE #t AS t USING #t AS s ON t.i = s.i WHEN MATCHED THEN UPDATE SET b = s.b + 1;",
                "UPDATE #t SET i = -i",
                "BEGIN TRAN UPDATE #t SET b = 2 DELETE #t ROLLBACK",
                "TRUNCATE TABLE #t",
                "ALTER TABLE #t ADD c int NOT NULL DEFAULT 1",
                "CREATE UNIQUE INDEX u ON #t (i, b)",
                "SELECT COUNT(*), SUM(b) OVER (ORDER BY i) FROM #t GROUP BY i, b ORDER BY 2",
            ];
            let change = change[random.below(change.len() as u64) as usize];
            format!(
                "CREATE TABLE #t (i int IDENTITY PRIMARY KEY, a varchar(8000), b int) \
                 INSERT #t SELECT TOP ({n}) 'x', 1 FROM sys.all_columns x, sys.all_columns y, sys.all_columns z \
                 {change} SELECT @@ROWCOUNT"
            )
        },
    },
    Class {
        name: "table variable",
        size_max: 2_000_000,
        make: |_, n| {
            format!(
                "DECLARE @t TABLE (i int, a varchar(100)) \
                 INSERT @t SELECT TOP ({n}) 1, x.name FROM sys.all_columns x, sys.all_columns y, sys.all_columns z \
                 UPDATE @t SET i = 2 INSERT @t SELECT * FROM @t DELETE @t"
            )
        },
    },
    Class {
        name: "application locks",
        size_max: 1,
        make: |random, _| {
            let from = random.below(1 << 30);
            format!(
                "DECLARE @i int = {from}, @r nvarchar(60) BEGIN TRAN WHILE 1=1 BEGIN \
                 SET @r = CONCAT('r', @i) EXEC sp_getapplock @r, 'Exclusive' SET @i += 1 END"
            )
        },
    },
    Class {
        name: "prepared texts",
        size_max: 4_000,
        make: |_, n| {
            format!(
                "DECLARE @h int, @i int = 0, @t nvarchar(max) WHILE 1=1 BEGIN \
                 SET @t = CONCAT('SELECT ', @i, REPLICATE(CAST('+1' AS nvarchar(max)), {n})) \
                 EXEC sp_prepare @h OUTPUT, N'', @t SET @i += 1 END"
            )
        },
    },
    Class {
        name: "prepared documents",
        size_max: 100_000,
        make: |_, n| {
            format!(
                "DECLARE @h int, @x nvarchar(max) = '<r>' + REPLICATE(CAST('<a b=\"1\"/>' AS nvarchar(max)), {n}) + '</r>' \
                 WHILE 1=1 EXEC sp_xml_preparedocument @h OUTPUT, @x"
            )
        },
    },
    Class {
        name: "recursion",
        size_max: 1,
        make: |random, _| {
            let body = ["a + 1", "a + 1 FROM r UNION ALL SELECT a + 2"];
            let body = body[random.below(2) as usize];
            format!(
                "WITH r AS (SELECT 1 AS a UNION ALL SELECT {body} FROM r) SELECT COUNT(*) FROM r OPTION (MAXRECURSION 0)"
            )
        },
    },
    Class {
        name: "context of the session",
        size_max: 8_000,
        make: |_, n| {
            format!(
                "DECLARE @i int = 0, @k nvarchar(128) WHILE 1=1 BEGIN SET @k = CONCAT('k', @i) \
                 DECLARE @v varchar(8000) = REPLICATE('x', {n}) EXEC sp_set_session_context @k, @v SET @i += 1 END"
            )
        },
    },
    Class {
        name: "joins by hash",
        size_max: 3,
        make: |_, n| {
            let more = list(n, "", |i| {
                format!(" JOIN sys.all_columns z{i} ON z{i}.column_id = x.column_id")
            });
            format!(
                "SELECT x.name, COUNT(*) FROM sys.all_columns x JOIN sys.all_columns y ON x.column_id = y.column_id{more} \
                 GROUP BY x.name, y.name ORDER BY 2 DESC"
            )
        },
    },
    Class {
        name: "windows",
        size_max: 3,
        make: |_, n| {
            let from = list(n.max(2), ",", |i| format!("sys.all_objects o{i}"));
            format!(
                "SELECT SUM(CAST(o0.object_id AS bigint)) OVER (PARTITION BY o0.type ORDER BY o1.name), \
                 RANK() OVER (ORDER BY o1.name), LAG(o0.name) OVER (ORDER BY o0.name) FROM {from}"
            )
        },
    },
    Class { name: "waits", size_max: 1, make: |_, _| "WAITFOR DELAY '00:00:30'".to_owned() },
    Class {
        name: "catalog",
        size_max: 1,
        make: |random, _| {
            let all = [
                "EXEC sp_help",
                "EXEC sp_columns '%'",
                "EXEC sp_tables",
                "EXEC sp_who2",
                "EXEC sp_lock",
                "SELECT * FROM sys.all_columns a JOIN sys.all_columns b ON a.name = b.name",
                "SELECT * FROM sys.dm_os_ring_buffers",
                "EXEC sp_datatype_info",
                "DBCC SHOWCONTIG",
                "SELECT OBJECT_DEFINITION(object_id) FROM sys.all_objects",
                "EXEC xp_dirtree '/', 64, 1",
                "SELECT * FROM sys.dm_exec_query_stats CROSS APPLY sys.dm_exec_sql_text(sql_handle)",
            ];
            all[random.below(all.len() as u64) as usize].to_owned()
        },
    },
    Class {
        name: "noise",
        size_max: 20_000,
        make: |random, n| {
            let words = [
                "SELECT",
                "FROM",
                "(",
                ")",
                ",",
                "'",
                "\"",
                "[",
                "]",
                "--",
                "/*",
                "*/",
                "@a",
                "1e9",
                "0x",
                "WITH",
                "AS",
                "OVER",
                "CASE",
                "END",
                "BEGIN",
                ";",
                "EXEC",
                "MERGE",
                "\u{1f600}",
                "\0",
                "N'",
                "$",
                ".",
                "*",
            ];
            let word = |_| words[random.below(words.len() as u64) as usize].to_owned();
            (0..n).map(word).collect::<Vec<_>>().join(" ")
        },
    },
];

/// The next text, and what class it is of.
pub fn next(random: &mut Prng) -> (String, String) {
    let (name, text) = one(random);
    if random.one_in(8) {
        let (other, more) = one(random);
        return (format!("{name} and {other}"), format!("{text} ; {more}"));
    }
    (name.to_owned(), text)
}

fn one(random: &mut Prng) -> (&'static str, String) {
    let at = random.below((CLASSES.len() + more::CLASSES.len()) as u64) as usize;
    let class = CLASSES.get(at).unwrap_or_else(|| &more::CLASSES[at - CLASSES.len()]);
    // As many small ones as large ones, by their length in bits.
    let bits = usize::BITS - class.size_max.leading_zeros();
    let top = 1 << (1 + random.below(u64::from(bits)));
    let n = (random.below(top) as usize).min(class.size_max);
    (class.name, (class.make)(random, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_texts() {
        let texts = |seed| {
            let mut random = Prng::new(seed);
            (0..20).map(|_| next(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(texts(3), texts(3));
        assert_ne!(texts(3), texts(4));
    }

    #[test]
    fn every_class_has_texts_of_every_size() {
        let mut random = Prng::new(1);
        for class in CLASSES.iter().chain(more::CLASSES) {
            for n in [0, 1, 2, class.size_max.min(1_000)] {
                assert!(
                    n > class.size_max || !(class.make)(&mut random, n).is_empty() || n == 0,
                    "{}",
                    class.name
                );
            }
        }
    }
}
