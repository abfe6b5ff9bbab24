//! Batches whose expected answer is Babelfish's own, not what SQL Server's documentation says.
//!
//! A batch is set apart by its text and by what Babelfish expects; some rules also look at the answer here: those of
//! functions, of what SQL Server refuses, and of objects that were not made, and, of batches that do not agree, those of types
//! and of JSON. All of them are written down in docs/corpora.md.

use super::compare::{Batch, Part};
use std::collections::{HashMap, HashSet};

pub(super) const RULES: [(&str, &str); 11] = [
    (
        "collation",
        "names a collation that SQL Server has not: bbf_..., Mongolian_..., Latin1_General_90_...",
    ),
    (
        "function",
        "calls a scalar function without its schema, or a function of rows as a scalar one (195)",
    ),
    ("built-in", "calls a built-in function with the schema sys (195, 4121)"),
    ("postgres", "uses PostgreSQL's or Babelfish's functions, types or catalogs"),
    (
        "refused",
        "is of a form that SQL Server refuses: views and derived tables with columns without names (4511, 8155) or \
         ordered without TOP (1033), smalldatetime(n) (2716), FETCH NEXT 0 ROWS (10744), another database as \
         @table_qualifier (15250), CAST to an alias type (243), an offset of hours alone (241)",
    ),
    (
        "harness",
        "is no T-SQL: a command of the harness (a#!#b), or begins with a line of # (102, 156)",
    ),
    ("name", "shows a name that PostgreSQL gives to a constraint (t_pkey, t_a_key, t_a_fkey)"),
    ("replicate", "takes more than 8,000 bytes of REPLICATE over a text that is not (max)"),
    ("object", "is over an object that only a batch of these could make or fill"),
    (
        "types",
        "has the same rows under other types of columns: of views and procedures of the catalog, whose types here are \
         the documentation's, or varchar for sysname, bigint for PATINDEX and DATALENGTH, int for LEN of (max)",
    ),
    ("json", "has the same rows but for blanks in JSON, which SQL Server does not write"),
];

#[derive(Default)]
pub(super) struct Apart {
    /// Scalar functions of all files, without schema.
    functions: HashSet<String>,
    /// Functions of rows likewise.
    rowsets: HashSet<String>,
    /// Objects that were not made here, by file without its phase.
    missing: HashMap<String, HashSet<String>>,
}

/// A word with the signs around it.
struct Word {
    text: String,
    before: char,
    after: char,
}

impl Apart {
    /// Takes in what a batch of any file defines.
    pub(super) fn learn(&mut self, sql: &str) {
        let words = words(sql);
        if let Some((kind, name)) = defined(&words)
            && kind == "function"
        {
            let returns = words.iter().position(|word| word.text == "returns");
            let what = returns.and_then(|at| words.get(at + 1));
            match what.is_some_and(|what| what.text != "table" && !what.text.starts_with('@')) {
                true => self.functions.insert(name),
                false => self.rowsets.insert(name),
            };
        }
    }

    /// The rule by which a batch is set apart. Called in the order in which the batches run.
    pub(super) fn reason(
        &mut self,
        file: &str,
        theirs: &Batch,
        ours: &Batch,
    ) -> Option<&'static str> {
        let words = words(&theirs.sql);
        let failed = |numbers: &[&str]| {
            ours.answer
                .iter()
                .any(|part| matches!(part, Part::Error(n) if numbers.contains(&n.as_str())))
        };
        let missing = self.missing.get(file);
        let called = |word: &Word| word.after == '(' && self.rowsets.contains(&word.text);
        let of_xml = words.iter().any(|word| word.text == "xml");
        let found = if words.iter().any(is_foreign_collation) || shows_own_collation(theirs) {
            Some("collation")
        } else if words.iter().any(|word| self.is_bare_call(word, &words))
            || failed(&["195"]) && words.iter().any(called)
        {
            Some("function")
        } else if words.iter().any(is_built_in_of_sys) {
            Some("built-in")
        } else if words.iter().any(is_postgres) || theirs.sql.contains("::") {
            Some("postgres")
        } else if failed(&["4511", "8155", "1033", "2716", "10744", "15250"])
            || failed(&["243"]) && !of_xml
            || failed(&["241"]) && has_offset_of_hours(&theirs.sql)
        {
            Some("refused")
        } else if theirs.sql.starts_with('#') || theirs.sql.contains("#!#") {
            Some("harness")
        } else if shows_postgres_name(theirs) {
            Some("name")
        } else if replicates_much(&words) {
            Some("replicate")
        } else if missing.is_some_and(|names| words.iter().any(|word| names.contains(&word.text))) {
            Some("object")
        } else if only_types_differ(&theirs.answer, &ours.answer, words.iter().any(is_catalog)) {
            Some("types")
        } else if only_blanks_differ(&theirs.answer, &ours.answer) {
            Some("json")
        } else {
            None
        };
        let error = ours.answer.iter().any(|part| matches!(part, Part::Error(_)));
        // The harness would have filled the table named last.
        let loaded = theirs.sql.starts_with("insertbulk").then(|| theirs.sql.rsplit("#!#").next());
        let loaded = loaded.flatten().map(|name| name.trim().to_lowercase());
        let name =
            defined(&words).map(|(_, name)| name).or_else(|| loaded.or_else(|| filled(&words)));
        if let Some(name) = name
            && error
            && found.is_some()
        {
            self.missing.entry(file.to_owned()).or_default().insert(name);
        }
        found
    }

    fn is_bare_call(&self, word: &Word, words: &[Word]) -> bool {
        let of_this_batch = || defined(words).is_some_and(|(_, name)| name == word.text);
        word.after == '('
            && word.before != '.'
            && self.functions.contains(&word.text)
            && !of_this_batch()
    }
}

/// The words of a batch without its comments, in small letters; brackets and quotes around names are left out.
fn words(sql: &str) -> Vec<Word> {
    let mut text = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find(['-', '/']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let skipped = if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            text.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        text.push(' ');
        rest = &rest[skipped..];
    }
    text.push_str(rest);
    let chars: Vec<char> = text
        .chars()
        .filter(|c| !matches!(c, '[' | ']' | '"'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$');
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if !is_word(chars[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < chars.len() && is_word(chars[at]) {
            at += 1;
        }
        let before = chars[..start].iter().rev().find(|c| !c.is_whitespace());
        let after = chars[at..].iter().find(|c| !c.is_whitespace());
        found.push(Word {
            text: chars[start..at].iter().collect(),
            before: before.copied().unwrap_or(' '),
            after: after.copied().unwrap_or(' '),
        });
    }
    found
}

/// The object that a batch creates, with its kind.
fn defined(words: &[Word]) -> Option<(&str, String)> {
    const KINDS: [&str; 9] = [
        "table",
        "view",
        "function",
        "procedure",
        "proc",
        "trigger",
        "type",
        "sequence",
        "synonym",
    ];
    let create = words.iter().position(|word| word.text == "create" || word.text == "alter")?;
    let kind = words[create..].iter().take(4).position(|word| KINDS.contains(&&*word.text))?;
    let mut name = create + kind + 1;
    while words.get(name)?.after == '.' {
        name += 1;
    }
    Some((&words[create + kind].text, words[name].text.clone()))
}

/// The table that a batch inserts into.
fn filled(words: &[Word]) -> Option<String> {
    let insert = words.iter().position(|word| word.text == "insert")?;
    let into = words.get(insert + 1)?.text == "into";
    let mut name = insert + 1 + usize::from(into);
    while words.get(name)?.after == '.' {
        name += 1;
    }
    Some(words[name].text.clone())
}

/// Collations that SQL Server has too but for their code page are no matter of these rules.
fn is_foreign_collation(word: &Word) -> bool {
    const STYLES: [&str; 6] = ["_ci_as", "_cs_as", "_ci_ai", "_cs_ai", "_bin", "_bin2"];
    let name = word.text.as_str();
    if name.starts_with("bbf_") {
        return true;
    }
    let looks = STYLES.iter().any(|style| name.ends_with(style))
        && ["_general", "mongolian"].iter().any(|family| name.contains(family));
    looks
        && types::Collation::of_name(name).is_none()
        && !name.contains("_cp850")
        && !name.contains("_cp437")
}

fn shows_own_collation(theirs: &Batch) -> bool {
    theirs.answer.iter().any(
        |part| matches!(part, Part::Set(rows) if rows.iter().any(|row| row.contains("bbf_unicode"))),
    )
}

/// `' +00'` in a text: SQL Server's offsets have minutes.
fn has_offset_of_hours(sql: &str) -> bool {
    sql.as_bytes().windows(5).any(|w| {
        w[0] == b' '
            && matches!(w[1], b'+' | b'-')
            && w[2..4].iter().all(u8::is_ascii_digit)
            && w[4] == b'\''
    })
}

/// Of a constraint that was given none.
fn shows_postgres_name(theirs: &Batch) -> bool {
    let ends = |cell: &str| ["_pkey", "_fkey", "_key"].iter().any(|end| cell.ends_with(end));
    theirs.answer.iter().any(|part| match part {
        Part::Set(rows) => rows.iter().any(|row| row.split("#!#").any(ends)),
        _ => false,
    })
}

/// SQL Server cuts what REPLICATE gives at 8,000 bytes unless the text is of a (max) type.
fn replicates_much(words: &[Word]) -> bool {
    let much = |word: &Word| word.text.parse::<u32>().is_ok_and(|n| n > 8000);
    words.iter().any(|word| word.text == "replicate") && words.iter().any(much)
}

/// `sys.getdate()`: SQL Server's built-in functions belong to no schema. Its table functions do, and its types.
fn is_built_in_of_sys(word: &Word) -> bool {
    word.before == '.' && word.after == '(' && BUILT_IN.contains(&word.text.as_str())
}

/// Of those that Babelfish's inputs call with a schema.
const BUILT_IN: [&str; 22] = [
    "col_length",
    "datefirst",
    "datediff",
    "dateadd",
    "datepart",
    "db_name",
    "getdate",
    "getutcdate",
    "isnull",
    "lock_timeout",
    "max_precision",
    "object_id",
    "object_name",
    "schema_id",
    "schema_name",
    "suser_id",
    "suser_name",
    "suser_sid",
    "sysdatetime",
    "sysdatetimeoffset",
    "sysutcdatetime",
    "user_name",
];

fn is_postgres(word: &Word) -> bool {
    const NAMES: [&str; 22] = [
        "bool",
        "current_setting",
        "float4",
        "float8",
        "information_schema_tsql",
        "int2",
        "int4",
        "int8",
        "set_config",
        "sid_binary",
        "remove_accents_internal",
        "datediff_internal_big",
        "datediff_internal",
        "sp_tables_view",
        "sp_columns_100_view",
        "sp_pkeys_view",
        "sp_statistics_view",
        "sp_datatype_info_helper",
        "sp_sproc_columns_view",
        "sp_babelfish_configure",
        "make_interval",
        "bytea",
    ];
    let name = word.text.as_str();
    // As a function of rows it is SQL Server's too; its column is `value` there.
    let own_column = name == "generate_series" && word.after != '(';
    let own_numbers = matches!(name, "rand" | "repeat" | "version") && word.after == '(';
    own_column
        || own_numbers
        || name.starts_with("pg_")
        || name.starts_with("babelfish_")
        || NAMES.contains(&name)
}

/// The same but for blanks beside the signs of JSON.
fn only_blanks_differ(theirs: &[Part], ours: &[Part]) -> bool {
    let plain = |row: &String| match row.contains("\":") || row.contains("\" :") {
        true => row.replace(' ', ""),
        false => row.clone(),
    };
    theirs.len() == ours.len()
        && theirs != ours
        && theirs.iter().zip(ours).all(|pair| match pair {
            (Part::Set(a), Part::Set(b)) => a.iter().map(plain).eq(b.iter().map(plain)),
            (a, b) => a == b,
        })
}

/// A view or procedure of the catalog, whose columns here have the types of the documentation (crates/system-views).
fn is_catalog(word: &Word) -> bool {
    let name = word.text.as_str();
    matches!(name, "sys" | "information_schema") || name.starts_with("sp_")
}

/// The same but for the types of columns: of the catalog, or in each as Babelfish's mapping has it.
fn only_types_differ(theirs: &[Part], ours: &[Part], of_catalog: bool) -> bool {
    let mut any = false;
    let same = theirs.len() == ours.len()
        && theirs.iter().zip(ours).all(|pair| match pair {
            (Part::Set(a), Part::Set(b)) if a.len() == b.len() && !a.is_empty() && a != b => {
                any = true;
                a[1..] == b[1..] && (of_catalog || types_are_mapped(&a[0], &b[0]))
            }
            (a, b) => a == b || matches!((a, b), (Part::Error(_), Part::Error(_))),
        });
    same && any
}

fn types_are_mapped(theirs: &str, ours: &str) -> bool {
    let (theirs, ours): (Vec<_>, Vec<_>) =
        (theirs.split("#!#").collect(), ours.split("#!#").collect());
    theirs.len() == ours.len()
        && theirs.iter().zip(&ours).all(|(a, b)| {
            a == b
                || matches!(
                    (*a, *b),
                    ("varchar", "nvarchar") | ("bigint", "int") | ("int", "bigint")
                )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(sql: &str, answer: Vec<Part>) -> Batch {
        Batch { sql: sql.to_owned(), answer }
    }

    fn set(rows: &[&str]) -> Vec<Part> {
        vec![Part::Set(rows.iter().map(|row| (*row).to_owned()).collect())]
    }

    #[test]
    fn what_is_babelfishs_own_is_told() {
        let mut apart = Apart::default();
        apart.learn("CREATE FUNCTION dbo.f1(@a int) RETURNS int AS BEGIN RETURN 1 END");
        apart.learn("CREATE FUNCTION t1() RETURNS TABLE AS RETURN SELECT 1 AS a");
        let one = set(&["int", "1"]);
        let mut reason = |sql: &str| {
            let theirs = batch(sql, one.clone());
            apart.reason("x", &theirs, &batch(sql, vec![Part::Error("208".into())]))
        };
        assert_eq!(reason("SELECT 'a' COLLATE BBF_Unicode_General_CI_AS"), Some("collation"));
        assert_eq!(reason("SELECT 'a' COLLATE French_CI_AS -- bbf_"), None);
        assert_eq!(reason("SELECT f1 (1)"), Some("function"));
        assert_eq!(reason("SELECT dbo.f1(1); SELECT * FROM t1()"), None);
        assert_eq!(reason("SELECT sys.getdate()"), Some("built-in"));
        assert_eq!(reason("SELECT * FROM sys.fn_helpcollations()"), None);
        assert_eq!(reason("CREATE VIEW [dbo].[v] AS SELECT 1::int AS a"), Some("postgres"));
        assert_eq!(reason("SELECT * FROM v"), Some("object"));
        assert_eq!(reason("SELECT LEN(REPLICATE('a', 9000))"), Some("replicate"));
        assert_eq!(reason("SELECT LEN(REPLICATE('a', 8000))"), None);
        assert_eq!(reason("SELECT * FROM vv"), None);
        assert_eq!(reason("SELECT value FROM generate_series(1, 2)"), None);
        assert_eq!(
            reason("INSERT INTO dbo.g SELECT generate_series FROM generate_series(1, 2)"),
            Some("postgres")
        );
        assert_eq!(reason("SELECT a FROM g"), Some("object"));
    }

    #[test]
    fn types_alone_are_told_from_rows() {
        let differ = |a: &[&str], b: &[&str]| only_types_differ(&set(a), &set(b), false);
        assert!(differ(&["varchar#!#int", "a#!#1"], &["nvarchar#!#int", "a#!#1"]));
        assert!(!differ(&["varchar", "a"], &["nvarchar", "b"]));
        assert!(!differ(&["money", "1"], &["int", "1"]));
        assert!(only_types_differ(&set(&["money", "1"]), &set(&["int", "1"]), true));
        assert!(!differ(&["int", "1"], &["int", "1"]));
        assert!(has_offset_of_hours("SELECT '2000-06-01 00:00 +00'"));
        assert!(!has_offset_of_hours("SELECT '2000-06-01', '10:00 +00:00'"));
        let named =
            |row: &str| shows_postgres_name(&batch("EXEC sp_pkeys t", set(&["a#!#b", row])));
        assert!(named("t#!#t_pkey") && !named("t#!#PK__t__1"));
        let json = |row: &str| set(&["nvarchar", row]);
        assert!(only_blanks_differ(&json("[{\"a\": 1}]"), &json("[{\"a\":1}]")));
        assert!(!only_blanks_differ(&json("[{\"a\": 1}]"), &json("[{\"a\":2}]")));
        assert!(!only_blanks_differ(&json("a b"), &json("ab")));
    }
}
