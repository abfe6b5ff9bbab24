//! Whole statements: queries, changes, small batches; the same broken; and queries that check each other.

use super::expression::{Reach, Writer};
use super::random::Random;
use super::schema::{KINDS, Kind, Schema};

const DEPTH: usize = 3;

/// A FROM clause with the columns it brings.
struct Source {
    text: String,
    columns: Vec<Reach>,
}

fn source(schema: &Schema, random: &mut Random) -> Source {
    let mut columns = Vec::new();
    let mut text = String::new();
    let tables = 1 + random.below(3) * random.below(2);
    for at in 0..tables {
        let table = random.pick(&schema.tables);
        let alias = format!("x{at}");
        let mut item = format!("{} AS {alias}", table.name);
        if random.chance(15) {
            item = format!(
                "(SELECT * FROM {} WHERE id < {}) AS {alias}",
                table.name,
                random.below(30)
            );
        }
        let new = table
            .columns
            .iter()
            .map(|column| Reach { name: format!("{alias}.{}", column.name), kind: column.kind });
        let before = columns.len();
        columns.extend(new);
        if at == 0 {
            text = item;
            continue;
        }
        let join = *random.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
        text = match join {
            "CROSS JOIN" => format!("{text} {join} {item}"),
            _ if random.chance(60) => {
                let left = &columns[random.below(before)];
                let same: Vec<&Reach> =
                    columns[before..].iter().filter(|c| c.kind == left.kind).collect();
                match same.is_empty() {
                    true => format!("{text} {join} {item} ON {alias}.id = x0.id"),
                    false => {
                        let right = same[random.below(same.len())];
                        format!("{text} {join} {item} ON {} = {}", left.name, right.name)
                    }
                }
            }
            _ => {
                let mut writer = Writer { schema, random, columns: columns.clone() };
                let on = writer.condition(1);
                format!("{text} {join} {item} ON {on}")
            }
        };
    }
    Source { text, columns }
}

/// A query whose rows three others must have together.
pub struct Partitioned {
    pub whole: String,
    pub parts: Vec<String>,
}

pub fn partitioned(schema: &Schema, random: &mut Random) -> Partitioned {
    let source = source(schema, random);
    let mut writer = Writer { schema, random, columns: source.columns };
    let kinds: Vec<Kind> =
        (0..1 + writer.random.below(3)).map(|_| *writer.random.pick(KINDS)).collect();
    let items: Vec<String> = kinds.iter().map(|kind| writer.value(*kind, 1)).collect();
    let condition = writer.condition(DEPTH);
    let whole = format!("SELECT {} FROM {}", items.join(", "), source.text);
    let parts = vec![
        format!("{whole} WHERE {condition}"),
        format!("{whole} WHERE NOT ({condition})"),
        format!(
            "{whole} WHERE CASE WHEN {condition} THEN 1 WHEN NOT ({condition}) THEN 0 END IS NULL"
        ),
    ];
    Partitioned { whole, parts }
}

/// The rows that pass a condition, counted with and without the planner's help.
pub fn counted(schema: &Schema, random: &mut Random) -> (String, String) {
    let source = source(schema, random);
    let mut writer = Writer { schema, random, columns: source.columns };
    let condition = writer.condition(DEPTH);
    (
        format!("SELECT COUNT(*) FROM {} WHERE {condition}", source.text),
        // An aggregate takes no subquery (130), which the condition may have.
        format!(
            "SELECT COUNT(q.hit) FROM (SELECT CASE WHEN {condition} THEN 1 END AS hit FROM {}) AS q",
            source.text
        ),
    )
}

/// Any statement or small batch.
pub fn any(schema: &Schema, random: &mut Random) -> String {
    match random.below(12) {
        0 => insert(schema, random),
        1 => update(schema, random),
        2 => delete(schema, random),
        3 => batch(schema, random),
        4 => grouped(schema, random),
        5 => {
            let op = *random.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
            let kinds: Vec<Kind> = (0..1 + random.below(3)).map(|_| *random.pick(KINDS)).collect();
            let (left, right) = (select(schema, random, &kinds), select(schema, random, &kinds));
            format!("{left} {op} {right}")
        }
        6 => {
            let kinds = [Kind::Int, *random.pick(KINDS)];
            let inner = select(schema, random, &kinds);
            format!(
                "WITH q (a, b) AS ({inner}) SELECT a, COUNT(b) AS n FROM q GROUP BY a ORDER BY a"
            )
        }
        7 => {
            let source = source(schema, random);
            let mut writer = Writer { schema, random, columns: source.columns };
            let (partition, order) = (writer.value(Kind::Text, 1), writer.value(Kind::Int, 1));
            let function = *writer.random.pick(&["ROW_NUMBER()", "RANK()", "DENSE_RANK()"]);
            format!(
                "SELECT {function} OVER (PARTITION BY {partition} ORDER BY {order}) AS r FROM {}",
                source.text
            )
        }
        _ => {
            let kinds: Vec<Kind> = (0..1 + random.below(4)).map(|_| *random.pick(KINDS)).collect();
            let order = 1 + random.below(kinds.len());
            let mut text = select(schema, random, &kinds);
            if random.chance(50) {
                text = format!("{text} ORDER BY {order}");
                if random.chance(30) {
                    text = format!("{text} OFFSET {} ROWS FETCH NEXT 3 ROWS ONLY", random.below(5));
                }
            }
            text
        }
    }
}

fn select(schema: &Schema, random: &mut Random, kinds: &[Kind]) -> String {
    let source = source(schema, random);
    let mut writer = Writer { schema, random, columns: source.columns };
    let items: Vec<String> = kinds.iter().map(|kind| writer.value(*kind, DEPTH)).collect();
    let distinct = if writer.random.chance(20) { "DISTINCT " } else { "" };
    let filter = match writer.random.chance(60) {
        true => format!(" WHERE {}", writer.condition(DEPTH)),
        false => String::new(),
    };
    format!("SELECT {distinct}{} FROM {}{filter}", items.join(", "), source.text)
}

fn grouped(schema: &Schema, random: &mut Random) -> String {
    let source = source(schema, random);
    let mut writer = Writer { schema, random, columns: source.columns };
    let key = writer.columns[writer.random.below(writer.columns.len())].clone();
    let value = writer.value(Kind::Int, 1);
    let text = writer.value(Kind::Text, 1);
    let having = match writer.random.chance(30) {
        true => " HAVING COUNT(*) > 1",
        false => "",
    };
    let (key, from) = (key.name, source.text);
    let (key, value, text, from) = match value.contains("SELECT") || text.contains("SELECT") {
        // An aggregate takes no subquery.
        true => {
            let rows = format!("(SELECT {key} AS k, {value} AS v, {text} AS t FROM {from}) AS q");
            ("q.k".into(), "q.v".into(), "q.t".into(), rows)
        }
        false => (key, value, text, from),
    };
    format!(
        "SELECT {key}, COUNT(*) AS n, SUM({value}) AS s, MIN({text}) AS m, COUNT(DISTINCT {value}) AS d FROM {from} \
         GROUP BY {key}{having} ORDER BY {key}"
    )
}

fn insert(schema: &Schema, random: &mut Random) -> String {
    let table = random.pick(&schema.tables).clone();
    let rows: Vec<String> = (0..1 + random.below(3))
        .map(|at| {
            let mut writer = Writer { schema, random, columns: Vec::new() };
            let mut values = vec![(1000 + at).to_string()];
            for column in &table.columns[1..] {
                values.push(writer.value(column.kind, 1));
            }
            format!("({})", values.join(", "))
        })
        .collect();
    format!("BEGIN TRAN; INSERT INTO {} VALUES {}; ROLLBACK", table.name, rows.join(", "))
}

fn changes(schema: &Schema, random: &mut Random) -> (String, String, String) {
    let table = random.pick(&schema.tables).clone();
    let columns = table
        .columns
        .iter()
        .map(|c| Reach { name: format!("{}.{}", table.name, c.name), kind: c.kind })
        .collect();
    let column = table.columns[1 + random.below(table.columns.len() - 1)].clone();
    let mut writer = Writer { schema, random, columns };
    let value = writer.value(column.kind, 2);
    let condition = writer.condition(2);
    (table.name, format!("{} = {value}", column.name), condition)
}

fn update(schema: &Schema, random: &mut Random) -> String {
    let (table, set, condition) = changes(schema, random);
    let output = if random.chance(30) { " OUTPUT inserted.id, deleted.id" } else { "" };
    format!("BEGIN TRAN; UPDATE {table} SET {set}{output} WHERE {condition}; ROLLBACK")
}

fn delete(schema: &Schema, random: &mut Random) -> String {
    let (table, _, condition) = changes(schema, random);
    format!(
        "BEGIN TRAN; DELETE FROM {table} WHERE {condition}; SELECT COUNT(*) FROM {table}; ROLLBACK"
    )
}

fn batch(schema: &Schema, random: &mut Random) -> String {
    let mut writer = Writer { schema, random, columns: Vec::new() };
    let (value, condition) = (writer.value(Kind::Int, 2), writer.condition(2));
    let text = writer.value(Kind::Text, 2);
    match writer.random.below(4) {
        0 => format!("DECLARE @a bigint = {value}; IF {condition} SELECT @a ELSE PRINT {text}"),
        1 => format!(
            "BEGIN TRY SELECT {value} AS v; THROW 50001, 'x', 1 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), {text} END CATCH"
        ),
        2 => format!(
            "DECLARE @t table (k int IDENTITY PRIMARY KEY, v varchar(200)); INSERT @t (v) SELECT {text}; SELECT v FROM @t WHERE k = 1"
        ),
        _ => format!(
            "DECLARE @a varchar(200); SET @a = {text}; SELECT CASE WHEN {condition} THEN @a END"
        ),
    }
}

/// The same text with one to three wounds.
pub fn broken(text: &str, random: &mut Random) -> String {
    const WORDS: &[&str] = &[
        "SELECT",
        "FROM",
        "WHERE",
        "(",
        ")",
        ",",
        ".",
        "=",
        "AND",
        "NOT",
        "NULL",
        "CASE",
        "END",
        "ON",
        "AS",
        "ORDER",
        "BY",
        "GROUP",
        "'",
        "[",
        "]",
        "\"",
        "@x",
        "@@",
        "0x",
        "1e",
        "--",
        "/*",
        "*/",
        "IN",
        "EXISTS",
        "UNION",
        "OVER",
        "BEGIN",
        "TRY",
        "DECLARE",
        "INTO",
        "VALUES",
        "TOP",
        "WITH",
        "t9",
        "zz",
        "99999999999999999999",
        "#",
        "$",
        "é",
        "\u{1F600}",
        ";",
        "BETWEEN",
        "LIKE",
        "CAST(",
        "OUTPUT",
        "PIVOT",
        "FOR",
        "XML",
        "MERGE",
        "1.",
        "-",
        "~",
        "%",
    ];
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        let joins = |last: &String| {
            let word = |c: char| c.is_alphanumeric() || c == '_' || c == '@';
            word(c) && last.chars().all(word)
        };
        match tokens.last_mut() {
            Some(last) if joins(last) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    for _ in 0..1 + random.below(3) {
        if tokens.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        match random.below(6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at].clone()),
            2 => {
                let other = random.below(tokens.len());
                tokens.swap(at, other);
            }
            3 => tokens[at] = (*random.pick(WORDS)).to_owned(),
            4 => tokens.insert(at, format!(" {} ", random.pick(WORDS))),
            _ => tokens.truncate(at.max(1)),
        }
    }
    tokens.concat()
}
