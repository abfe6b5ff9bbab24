//! Every construct of the language, grown until a documented limit answers (docs/limits.md).
//!
//! A construct is a text of a size: so many statements, operands, levels, names, characters. Each is doubled until it is
//! refused or its largest size has run. What must hold: an answer always comes, the session goes on after it, a refusal is
//! one of the numbers that the construct may be refused with, and the time does not grow with its square.
//! `GROW=part-of-a-name cargo test -p session --test it growth -- --nocapture` shows the figures of some, `GROW=` of all.

use executor::{Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Session};
use std::time::{Duration, Instant};
use types::Value;

#[derive(Default)]
struct Answer {
    errors: Vec<i32>,
    rows: u64,
    last: Vec<Value>,
}

impl ResultSink for Answer {
    fn columns(&mut self, _: &[executor::ColumnMeta]) {}
    fn row(&mut self, row: &[Value]) {
        self.rows += 1;
        if self.last.is_empty() {
            self.last.extend(row.iter().take(4).cloned());
        }
    }
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.errors.push(message.number);
        }
    }
}

struct Construct {
    name: &'static str,
    /// The text of size n.
    text: Box<dyn Fn(usize) -> String>,
    /// The largest size that is tried.
    most: usize,
    /// At least so large a one must work.
    works: usize,
    /// What larger ones may be refused with.
    refused: &'static [i32],
}

fn construct(
    name: &'static str,
    works: usize,
    most: usize,
    refused: &'static [i32],
    text: impl Fn(usize) -> String + 'static,
) -> Construct {
    Construct { name, text: Box::new(text), most, works, refused }
}

/// n times `part` with `between`.
fn many(n: usize, between: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(between)
}

fn repeated(n: usize, part: &str) -> String {
    part.repeat(n)
}

/// `open` n times, `core`, `close` n times.
fn nested(n: usize, open: &str, core: &str, close: &str) -> String {
    format!("{}{core}{}", open.repeat(n), close.repeat(n))
}

fn constructs() -> Vec<Construct> {
    let big = 1 << 16;
    vec![
        // Counts.
        construct("statements set", big, big, &[], |n| {
            format!("declare @a int {}", repeated(n, "set @a=1;"))
        }),
        construct("statements set numbers", big, big, &[], |n| {
            format!("declare @a bigint {}", many(n, ";", |i| format!("set @a={i}+1")))
        }),
        construct("statements select", 1 << 12, 1 << 12, &[], |n| {
            many(n, ";", |i| format!("select {i}"))
        }),
        construct("statements insert", 1 << 12, 1 << 12, &[], |n| {
            format!("create table #s(a int);{}", many(n, ";", |i| format!("insert #s values({i})")))
        }),
        construct("statements if", 1 << 14, 1 << 14, &[], |n| {
            format!("declare @a int=1 {}", repeated(n, "if @a=1 set @a=1 else set @a=2;"))
        }),
        construct("statements try", 1 << 12, 1 << 14, &[], |n| {
            format!(
                "declare @a int=1 {}",
                repeated(n, "begin try set @a=1 end try begin catch set @a=2 end catch ")
            )
        }),
        construct("try and insert commit", 1 << 11, 1 << 11, &[], |n| {
            format!(
                "create table #s(a int);{}",
                repeated(
                    n,
                    "begin try begin tran insert #s values(1) commit end try begin catch rollback end catch "
                )
            )
        }),
        construct("variables", big, big, &[], |n| {
            format!("declare {}", many(n, ",", |i| format!("@v{i} int")))
        }),
        construct("variables used", big, big, &[], |n| {
            format!(
                "declare {} {}",
                many(n, ",", |i| format!("@v{i} int")),
                many(n, ";", |i| format!("set @v{i}={i}"))
            )
        }),
        construct("variables of a select", 1 << 12, 1 << 14, &[1056], |n| {
            format!(
                "declare {} select {}",
                many(n, ",", |i| format!("@v{i} int")),
                many(n, ",", |i| format!("@v{i}={i}"))
            )
        }),
        construct("table variables", 1 << 10, 1 << 12, &[], |n| {
            many(n, ";", |i| format!("declare @t{i} table(a int)"))
        }),
        construct("labels", 1 << 12, 1 << 14, &[], |n| {
            format!("{} goto l0", many(n, " ", |i| format!("goto l{i} l{i}:")))
                .replace(" goto l0 l0:", " l0:")
                .trim_end_matches(" goto l0")
                .to_owned()
        }),
        construct("select items", 4096, 8192, &[1056], |n| {
            format!("select {}", many(n, ",", |i| i.to_string()))
        }),
        construct("select items of a table", 4096, 8192, &[1056], |n| {
            format!("select {} from sys.databases where 1=0", many(n, ",", |_| "name".to_owned()))
        }),
        construct("derived columns", 4096, 8192, &[1056], |n| {
            format!("select 1 from (select {}) t", many(n, ",", |i| format!("{i} c{i}")))
        }),
        construct("columns of a table", 1024, 2048, &[1702], |n| {
            format!("create table #c({});drop table #c", many(n, ",", |i| format!("c{i} bit")))
        }),
        construct("columns of a table variable", 1024, 2048, &[1702], |n| {
            format!("declare @c table({})", many(n, ",", |i| format!("c{i} bit")))
        }),
        construct("key columns", 32, 64, &[1904], |n| {
            format!(
                "create table #k({},primary key({}));drop table #k",
                many(n, ",", |i| format!("c{i} bit not null")),
                many(n, ",", |i| format!("c{i}"))
            )
        }),
        construct("constraints", 512, 1024, &[], |n| {
            format!(
                "create table #k(a int,{});drop table #k",
                many(n, ",", |i| format!("check(a>{i})"))
            )
        }),
        construct("order by", 512, 1 << 12, &[], |n| {
            format!(
                "select a from (values(1)) t(a) order by {}",
                many(n, ",", |i| format!("a+{i}"))
            )
        }),
        construct("group by", 512, 1 << 12, &[], |n| {
            format!(
                "select max(a) from (values(1)) t(a) group by {}",
                many(n, ",", |i| format!("a+{i}"))
            )
        }),
        construct("cube", 8, 16, &[10703, 8631], |n| {
            format!(
                "select {0} from (values({1})) t({0}) group by cube({0})",
                many(n, ",", |i| format!("a{i}")),
                many(n, ",", |_| "1".to_owned())
            )
        }),
        construct("aggregates", 1 << 10, 1 << 12, &[], |n| {
            format!("select {} from (values(1)) t(a)", many(n, ",", |i| format!("sum(a+{i})")))
        }),
        construct("values rows", 1000, big, &[10738], |n| {
            format!("create table #v(a int);insert #v values{}", many(n, ",", |i| format!("({i})")))
        }),
        construct("derived values rows", 1 << 14, 1 << 15, &[], |n| {
            format!("select count(*) from (values{}) t(a)", many(n, ",", |i| format!("({i})")))
        }),
        construct("in list", 1 << 14, 1 << 15, &[], |n| {
            format!("select 1 where 5 in ({})", many(n, ",", |i| i.to_string()))
        }),
        construct("in list of a column", 1 << 14, 1 << 15, &[], |n| {
            format!(
                "select count(*) from (values(1)) t(a) where a in ({})",
                many(n, ",", |i| i.to_string())
            )
        }),
        construct("in list of variables", 1 << 11, 1 << 13, &[], |n| {
            format!(
                "declare @a int=1 select count(*) from (values(1)) t(a) where a in ({})",
                many(n, ",", |_| "@a".to_owned())
            )
        }),
        construct("case arms", 1 << 10, 1 << 14, &[], |n| {
            format!("select case 1 {} end", many(n, " ", |i| format!("when {} then {i}", i + 2)))
        }),
        construct("searched case arms", 1 << 10, 1 << 14, &[], |n| {
            format!(
                "declare @a int=1 select case {} end",
                many(n, " ", |i| format!("when @a={} then {i}", i + 2))
            )
        }),
        construct("coalesce", 1 << 10, 1 << 12, &[], |n| {
            format!("declare @a int select coalesce({},1)", many(n, ",", |_| "@a".to_owned()))
        }),
        construct("concat", 254, 1 << 12, &[189], |n| {
            format!("select len(concat({}))", many(n.max(2), ",", |_| "'a'".to_owned()))
        }),
        construct("choose", 254, 1 << 12, &[189], |n| {
            format!("select choose(1,{})", many(n, ",", |i| i.to_string()))
        }),
        construct("greatest", 254, 1 << 12, &[189], |n| {
            format!("select greatest({})", many(n, ",", |i| i.to_string()))
        }),
        // Chains.
        construct("sum", 1 << 12, 1 << 14, &[], |n| {
            format!("select {}", many(n, "+", |_| "1".to_owned()))
        }),
        construct("sum of variables", 1 << 12, 1 << 14, &[], |n| {
            format!("declare @a bigint=1 select {}", many(n, "+", |_| "@a".to_owned()))
        }),
        construct("sum of columns", 1 << 12, 1 << 14, &[], |n| {
            format!("select {} from (values(1)) t(a)", many(n, "+", |_| "a".to_owned()))
        }),
        construct("sum of cases", 1 << 12, 1 << 12, &[], |n| {
            format!(
                "select sum({}) from (values(1)) t(a)",
                many(n, "+", |i| format!("case when a={i} then 1 else 0 end"))
            )
        }),
        construct("mixed chain", 1 << 12, 1 << 14, &[], |n| {
            format!(
                "declare @a float=1 select {}",
                many(n, " ", |i| format!("@a {}", ["+", "-", "*", "/"][i % 4])) + " 1"
            )
        }),
        construct("chain of bits", 1 << 12, 1 << 14, &[], |n| {
            format!("declare @a int=1 select {}", many(n, "|", |_| "@a".to_owned()))
        }),
        construct("texts joined", 1 << 16, 1 << 16, &[], |n| {
            format!("select len({})", many(n, "+", |_| "'a'".to_owned()))
        }),
        construct("texts of variables joined", 1 << 14, 1 << 14, &[], |n| {
            format!("declare @a varchar(max)='x' select len({})", many(n, "+", |_| "@a".to_owned()))
        }),
        construct("texts and numbers joined", 1 << 12, 1 << 13, &[], |n| {
            format!(
                "declare @a varchar(max)='x' select len({})",
                many(n, "+", |i| format!("'x'+str({i})"))
            )
        }),
        construct("dates added", 1 << 12, 1 << 12, &[], |n| {
            format!("declare @a datetime=0 select {}", many(n, "+", |_| "@a".to_owned()))
        }),
        construct("and", 1 << 14, 1 << 14, &[], |n| {
            format!("declare @a int=1 select 1 where {}", many(n, " and ", |_| "@a=1".to_owned()))
        }),
        construct("or", 1 << 14, 1 << 14, &[], |n| {
            format!("declare @a int=1 select 1 where {}", many(n, " or ", |i| format!("@a={i}")))
        }),
        construct("and or", 1 << 12, 1 << 14, &[], |n| {
            format!(
                "declare @a int=1 select 1 where {}",
                many(n, " or ", |i| format!("@a={i} and @a<>{i}"))
            )
        }),
        construct("and of columns", 1 << 12, 1 << 13, &[], |n| {
            format!(
                "select count(*) from (values(1)) t(a) where {}",
                many(n, " and ", |i| format!("a<>{i}"))
            )
        }),
        construct("or of columns", 1 << 12, 1 << 13, &[], |n| {
            format!(
                "select count(*) from (values(1)) t(a) where {}",
                many(n, " or ", |i| format!("a={i}"))
            )
        }),
        construct("if condition", 1 << 12, 1 << 13, &[], |n| {
            format!("declare @a int=1 if {} print 'x'", many(n, " and ", |_| "@a=1".to_owned()))
        }),
        construct("union all", 256, 1 << 12, &[], |n| {
            format!(
                "select count(*) from ({}) t",
                many(n, " union all ", |i| format!("select {i} a"))
            )
        }),
        construct("union", 256, 1 << 12, &[], |n| {
            format!("select count(*) from ({}) t", many(n, " union ", |i| format!("select {i} a")))
        }),
        construct("except", 128, 1 << 11, &[191], |n| {
            many(n, " except ", |i| format!("select {i} a"))
        }),
        construct("joins", 256, 1 << 11, &[191], |n| {
            format!(
                "select count(*) from {}",
                many(n, " cross join ", |i| format!("(values(1)) t{i}(a)"))
            )
        }),
        construct("joined tables", 256, 1 << 10, &[191], |n| {
            format!(
                "create table #j(a int primary key);select count(*) from #j t {}",
                many(n, " ", |i| format!("join #j t{i} on t{i}.a=t.a"))
            )
        }),
        construct("windows", 128, 1 << 10, &[8631], |n| {
            let windows =
                many(n, ",", |i| format!("sum(a) over (order by a+{i} rows {i} preceding)"));
            format!("select {windows} from (select 1 a union all select 2) t")
        }),
        construct("windows nested", 8, 1 << 6, &[8631, 191], |n| {
            let windows =
                many(16, ",", |i| format!("sum(a) over (order by a+{i} rows 1 preceding) s{i}"));
            (0..n).fold("select 1 a".to_owned(), |within, _| {
                format!("select a,{windows} from ({within}) t")
            })
        }),
        construct("wide derived tables", 64, 1 << 6, &[], |n| {
            let columns = many(2_000, ",", |i| format!("1 a{i}"));
            format!("select count(*) from {}", many(n, ",", |i| format!("(select {columns}) t{i}")))
        }),
        construct("bounds of equal columns", 128, 1 << 7, &[], |n| {
            format!(
                "create table #j(a int primary key);select count(*) from {} where 1=1{}{}",
                many(n, ",", |i| format!("#j t{i}")),
                many(n - 1, "", |i| format!(" and t{i}.a=t{}.a", i + 1)),
                many(n, "", |i| format!(" and t0.a<>{i}"))
            )
        }),
        construct("or of ands", 1 << 15, 1 << 15, &[], |n| {
            let half = |from: usize| many(n, " and ", |i| format!("@@spid<>{}", 99_999 + from + i));
            format!("select 1 where ({}) or ({})", half(0), half(n / 2))
        }),
        construct("checks of a table", 1 << 10, 1 << 10, &[], |n| {
            format!(
                "create table #w(k int,{}) insert #w(k) values(1) alter table #w add z int",
                many(n - 2, ",", |i| format!("c{i} int default {i} check(c{i}>=0)"))
            )
        }),
        construct("left joins", 256, 1 << 10, &[191], |n| {
            format!(
                "create table #j(a int primary key);select count(*) from #j t {}",
                many(n, " ", |i| format!("left join #j t{i} on t{i}.a=t.a"))
            )
        }),
        construct("ctes", 256, 1 << 11, &[], |n| {
            format!("with {} select 1", many(n, ",", |i| format!("c{i} as (select {i} a)")))
        }),
        construct("cte chain", 32, 1 << 11, &[8631, 8623, 8621], |n| {
            format!(
                "with c0 as (select 1 a),{} select * from c{n}",
                many(n, ",", |i| format!("c{} as (select a from c{i})", i + 1))
            )
        }),
        construct("cte doubled", 8, 32, &[8631, 8623, 8621, 701], |n| {
            format!(
                "with c0 as (select 1 a),{} select 1 from c{n} where 1=0",
                many(n, ",", |i| format!(
                    "c{} as (select x.a from c{i} x cross join c{i} y)",
                    i + 1
                ))
            )
        }),
        construct("pivot values", 1 << 10, 1 << 12, &[1056], |n| {
            format!(
                "select 1 from (select 1 a,2 b) s pivot(max(a) for b in ({})) p",
                many(n, ",", |i| format!("[{i}]"))
            )
        }),
        construct("unpivot columns", 1 << 9, 1 << 12, &[], |n| {
            format!(
                "select count(*) from (select {}) s unpivot(v for k in ({})) p",
                many(n, ",", |i| format!("{i} c{i}")),
                many(n, ",", |i| format!("c{i}"))
            )
        }),
        construct("exists", 64, 1 << 10, &[], |n| {
            format!(
                "create table #e(a int);select 1 where {}",
                many(n, " and ", |i| format!("not exists(select 1 from #e where a={i})"))
            )
        }),
        construct("scalar subqueries", 64, 1 << 10, &[], |n| {
            format!(
                "create table #e(a int);select {}",
                many(n, ",", |i| format!("(select max(a) from #e where a={i})"))
            )
        }),
        construct("update set", 512, 1024, &[1702], |n| {
            format!(
                "create table #u({});update #u set {}",
                many(n, ",", |i| format!("c{i} int")),
                many(n, ",", |i| format!("c{i}={i}"))
            )
        }),
        construct("merge arms", 1, 64, &[5324, 10713, 10714, 5325, 10715, 102, 156, 10700], |n| {
            format!(
                "create table #m(a int);merge #m t using #m s on t.a=s.a {};",
                many(n, " ", |i| format!("when matched and t.a={i} then delete"))
            )
        }),
        construct("execute arguments", 0, 1 << 12, &[8144, 15009], |n| {
            format!("exec sp_help {}", many(n, ",", |i| i.to_string()))
        }),
        construct("sp_executesql parameters", 2100, 4096, &[180], |n| {
            format!(
                "exec sp_executesql N'select 1',N'{}',{}",
                many(n, ",", |i| format!("@p{i} int")),
                many(n, ",", |i| i.to_string())
            )
        }),
        construct("procedure parameters", 2100, 4096, &[180], |n| {
            format!(
                "exec('create procedure #p({}) as select 1')",
                many(n, ",", |i| format!("@p{i} int"))
            )
        }),
        // Depth.
        construct("parentheses", 64, 1 << 14, &[191, 8631], |n| {
            format!("select {}", nested(n, "(", "1", ")"))
        }),
        construct("minus", 64, 1 << 14, &[191, 8631], |n| format!("select {}1", "- ".repeat(n))),
        construct("not", 64, 1 << 14, &[191, 8631], |n| {
            format!("select 1 where {}1=1", "not ".repeat(n))
        }),
        construct("functions nested", 32, 1 << 14, &[191, 8631], |n| {
            format!("select {}", nested(n, "abs(", "1", ")"))
        }),
        construct("case nested", 10, 1 << 12, &[191, 8631, 125], |n| {
            format!("select {}", nested(n, "case when 1=1 then ", "1", " end"))
        }),
        construct("case else nested", 10, 1 << 12, &[191, 8631, 125], |n| {
            format!("select {}", nested(n, "case when 1=2 then 0 else ", "1", " end"))
        }),
        construct("iif nested", 10, 1 << 12, &[191, 8631, 125], |n| {
            format!("select {}", nested(n, "iif(1=1,", "1", ",0)"))
        }),
        construct("coalesce nested", 10, 1 << 12, &[191, 8631, 125], |n| {
            format!("select {}", nested(n, "coalesce(null,", "1", ")"))
        }),
        construct("right chain", 32, 1 << 12, &[191, 8631], |n| {
            format!("select {}", nested(n, "1+(", "1", ")"))
        }),
        construct("subqueries nested", 16, 1 << 10, &[191, 8631], |n| {
            format!("select {}", nested(n, "(select ", "1", ")"))
        }),
        construct("derived nested", 16, 1 << 10, &[191, 8631], |n| {
            nested(n, "select * from (", "select 1 a", ") t")
        }),
        construct("exists nested", 16, 1 << 10, &[191, 8631], |n| {
            format!("select 1 where {}", nested(n, "exists(select 1 where ", "1=1", ")"))
        }),
        construct("blocks nested", 32, 1 << 12, &[191, 8631], |n| {
            nested(n, "begin ", "select 1", " end")
        }),
        construct("if nested", 32, 1 << 12, &[191, 8631], |n| {
            format!("{} select 1", "if 1=1 ".repeat(n))
        }),
        construct("else if", 64, 1 << 12, &[191, 8631], |n| {
            format!(
                "declare @a int=0 {} print 'x'",
                many(n, " ", |i| format!("if @a={} print 'y' else", i + 1))
            )
        }),
        construct("while nested", 32, 1 << 12, &[191, 8631], |n| {
            format!("{} break", "while 1=0 ".repeat(n))
        }),
        construct("try nested", 16, 1 << 12, &[191, 8631], |n| {
            nested(n, "begin try ", "select 1", " end try begin catch end catch")
        }),
        construct("joins nested", 16, 1 << 10, &[191, 8631], |n| {
            format!(
                "select 1 from {}",
                (0..n).fold("(values(1)) t(a)".to_owned(), |inner, i| format!(
                    "((values(1)) t{i}(a) cross join {inner})"
                ))
            )
        }),
        construct("comments nested", 1 << 10, big, &[191, 113], |n| {
            nested(n, "/*", "", "*/") + "select 1"
        }),
        construct("dynamic nested", 8, 24, &[217, 191, 103], |n| {
            (0..n.min(14)).fold("select 1".to_owned(), |inner, _| {
                format!("exec('{}')", inner.replace('\'', "''"))
            })
        }),
        // Lengths.
        construct("identifier", 128, 1 << 12, &[103], |n| {
            format!("select 1 as [{}]", "a".repeat(n))
        }),
        construct("variable name", 127, 1 << 12, &[103], |n| {
            format!("declare @{} int", "a".repeat(n))
        }),
        construct("temporary name", 64, 1 << 12, &[103, 193, 1112], |n| {
            format!("create table #{}(a int)", "a".repeat(n))
        }),
        construct("literal", 1 << 20, 1 << 20, &[], |n| format!("select len('{}')", "a".repeat(n))),
        construct("number", 38, 1 << 12, &[1007], |n| format!("select {}", "9".repeat(n))),
        construct("float digits", 64, 1 << 14, &[], |n| {
            format!("select {}e0", "9".repeat(n.min(300)))
        }),
        construct("float exponent", 2, 1 << 14, &[232, 168], |n| {
            format!("select 1e{}", "9".repeat(n))
        }),
        construct("decimal places", 37, 1 << 12, &[1007], |n| {
            format!("select 0.{}", "9".repeat(n))
        }),
        construct("hex", 1 << 18, 1 << 20, &[], |n| {
            format!("select datalength(0x{})", "ab".repeat(n))
        }),
        construct("blanks", 1 << 20, 1 << 20, &[], |n| format!("select{}1", " ".repeat(n))),
        construct("names with dots", 1, 1 << 12, &[117, 102, 4104, 207, 4118, 208, 911], |n| {
            format!(
                "select * from {}",
                if n == 1 { "(select 1 a) a".to_owned() } else { many(n, ".", |_| "a".to_owned()) }
            )
        }),
        construct("dots of columns", 2, 1 << 12, &[117, 102, 4104, 207, 4118], |n| {
            format!("select {} from (select 1 a) a", many(n, ".", |_| "a".to_owned()))
        }),
        construct("semicolons", big, big, &[], |n| format!("{}select 1", ";".repeat(n))),
        construct("print", 1 << 13, 1 << 20, &[], |n| format!("print '{}'", "a".repeat(n))),
        construct("raiserror", 0, 1 << 16, &[50000, 2787, 103], |n| {
            format!("raiserror('{}',16,1)", "%s".repeat(n).as_str())
        }),
        construct("like pattern", 1 << 12, 1 << 18, &[], |n| {
            format!("select 1 where '{}' like '{}'", "a".repeat(n), "%a".repeat(n / 2))
        }),
        construct("like fails", 1 << 12, 1 << 15, &[], |n| {
            format!("select 1 where '{}' like '%a%a%a%Z%'", "a".repeat(n))
        }),
        construct("patindex fails", 1 << 12, 1 << 15, &[], |n| {
            format!("select patindex('%a%a%a%Z%',replicate(cast('a' as varchar(max)),{n}))")
        }),
        construct("patindex of stars", 1 << 10, 1 << 13, &[], |n| {
            format!("select patindex('{}Z','{}')", "%a".repeat(n / 4), "a".repeat(n))
        }),
        // Values of a text.
        construct("json depth", 64, 1 << 16, &[13609, 13605], |n| {
            format!("select json_value('{}','$.a')", nested(n, "[", "1", "]"))
        }),
        construct("json path", 64, 1 << 14, &[], |n| {
            format!("select json_value('{{}}','${}')", ".a".repeat(n))
        }),
        construct("json members", 1 << 14, 1 << 15, &[], |n| {
            format!("select count(*) from openjson('[{}]')", many(n, ",", |i| i.to_string()))
        }),
        construct("json keys", 1 << 13, 1 << 15, &[], |n| {
            format!("select json_value('{{{}}}','$.a1')", many(n, ",", |i| format!("\"a{i}\":{i}")))
        }),
        construct("xml depth", 100, 1 << 16, &[6335, 9400, 9455], |n| {
            format!("declare @x xml='{}'", nested(n, "<a>", "", "</a>"))
        }),
        construct("xml elements", 1 << 13, 1 << 15, &[], |n| {
            format!("declare @x xml='{}' select @x.value('count(/a)','int')", "<a/>".repeat(n))
        }),
        construct("xml attributes", 1 << 13, 1 << 15, &[], |n| {
            format!(
                "declare @x xml='<a {}/>' select @x.value('count(/a/@*)','int')",
                many(n, " ", |i| format!("a{i}=\"1\""))
            )
        }),
        construct("xml namespaces", 1 << 12, 1 << 13, &[], |n| {
            format!("declare @x xml='<a {}/>'", many(n, " ", |i| format!("xmlns:a{i}=\"u{i}\"")))
        }),
        construct("xpath steps", 64, 1 << 12, &[], |n| {
            format!("declare @x xml='<a/>' select @x.query('{}')", "/a".repeat(n))
        }),
        construct("xpath or", 64, 1 << 13, &[], |n| {
            format!(
                "declare @x xml='<a/>' select @x.value('sum(({}))','int')",
                many(n, ",", |i| i.to_string())
            )
        }),
        construct("xpath sum", 64, 1 << 13, &[2363], |n| {
            format!(
                "declare @x xml='<a/>' select @x.value('{}','int')",
                many(n, "+", |_| "1".to_owned())
            )
        }),
        construct("xpath nested", 32, 1 << 12, &[2363], |n| {
            format!("declare @x xml='<a/>' select @x.value('{}','int')", nested(n, "(", "1", ")"))
        }),
        construct("string_split", 1 << 16, 1 << 18, &[], |n| {
            format!("select count(*) from string_split('{}',',')", ",".repeat(n))
        }),
        construct("replace", 1 << 16, 1 << 20, &[], |n| {
            format!("select len(replace('{}','a','bb'))", "a".repeat(n))
        }),
        construct("translate", 1 << 10, 1 << 15, &[], |n| {
            format!("select len(translate('{0}','{0}','{0}'))", "a".repeat(n))
        }),
        construct("trim", 1 << 16, 1 << 20, &[], |n| {
            format!("select len(trim('{}'))", " ".repeat(n))
        }),
        construct("charindex", 1 << 14, 1 << 18, &[], |n| {
            format!("select charindex('{0}b','{0}{0}')", "a".repeat(n / 2))
        }),
        construct("soundex", 1 << 16, 1 << 18, &[], |n| {
            format!("select soundex('{0}'),difference('{0}','{0}')", "b".repeat(n))
        }),
        construct("format", 1 << 10, 1 << 14, &[], |n| {
            format!("select len(format(1,'{}'))", "0".repeat(n))
        }),
        construct("collate", 64, 1 << 12, &[191, 8631, 102, 156], |n| {
            format!("select 'a'{}", " collate Latin1_General_BIN2".repeat(n))
        }),
        construct("methods", 1, 1 << 10, &[191, 8631, 102, 156, 258], |n| {
            format!("declare @x xml='<a/>' select @x{}", ".query('.')".repeat(n))
        }),
        construct("create type columns", 512, 2048, &[1702], |n| {
            format!(
                "begin tran create type dbo.tt as table({}) rollback",
                many(n, ",", |i| format!("c{i} bit"))
            )
        }),
        construct("grants", 128, 1 << 10, &[], |n| {
            format!(
                "begin tran grant select on database::t to {} rollback",
                many(n, ",", |_| "guest".to_owned())
            )
        }),
        construct("options", 1, 1 << 10, &[], |n| {
            format!("select 1 option({})", many(n, ",", |_| "recompile".to_owned()))
        }),
        construct("hints", 1, 1 << 10, &[], |n| {
            format!(
                "create table #h(a int);select 1 from #h with({})",
                many(n, ",", |_| "nolock".to_owned())
            )
        }),
    ]
}

/// So long may the largest text of a construct take: those below take some 0.1 s here, and machines under load ten times
/// that; what grows with the square of its size takes more.
const SLOWEST: Duration = Duration::from_secs(4);

fn run(session: &mut Session, text: &str) -> (Answer, Duration) {
    let mut answer = Answer::default();
    // Of CPU: how busy the machine is is nobody's defect.
    let began = runtime::clock::process_cpu_ns();
    let _ = session.execute(text, &mut answer);
    (answer, Duration::from_nanos(runtime::clock::process_cpu_ns() - began))
}

#[test]
fn every_dimension_grows_until_a_documented_limit_answers() {
    let only = std::env::var("GROW").ok();
    let shows = only.is_some();
    let fs = device::SimFs::new(1);
    let instance = Instance::open(InstanceConfig::small("/data", fs)).expect("a fresh instance");
    let sessions = instance.clone();
    let run = instance.spawn_session("growth", move |first| {
        run(first, "CREATE DATABASE t");
        run(first, "USE t");
        let mut wrong = Vec::new();
        for construct in constructs() {
            if only.as_ref().is_some_and(|only| !construct.name.contains(only.as_str())) {
                continue;
            }
            let began = Instant::now();
            let mut line = format!("{:28}", construct.name);
            let mut times = Vec::new();
            let mut n = construct.works.clamp(1, 64);
            loop {
                let mut session = Session::new(&sessions);
                let _ = run(&mut session, "USE t");
                let (answer, took) = run(&mut session, &(construct.text)(n));
                times.push((n, took));
                let unknown = answer.errors.iter().find(|e| !construct.refused.contains(e));
                if let Some(error) = unknown {
                    wrong.push(format!("{} of {n}: error {error}", construct.name));
                }
                if let Some(error) = answer.errors.first() {
                    line += &format!(" refused at {n} by {error}");
                    if n <= construct.works && construct.works > 0 {
                        wrong.push(format!("{} of {n}: refused by {error}", construct.name));
                    }
                    break;
                }
                let (alive, _) = run(&mut session, "select 1");
                if alive.rows != 1 {
                    wrong.push(format!("{} of {n}: the session is over", construct.name));
                }
                if n >= construct.most || took > SLOWEST {
                    break;
                }
                n = if n < construct.works {
                    (n * 4).min(construct.works)
                } else {
                    (n * 2).min(construct.most)
                };
            }
            let slow = times.iter().max_by_key(|t| t.1).expect("it ran");
            if shows {
                eprintln!("{line}  slowest {} {:?}, all {:?}", slow.0, slow.1, began.elapsed());
            }
            if slow.1 > SLOWEST {
                wrong.push(format!("{} of {}: {:?}", construct.name, slow.0, slow.1));
            }
        }
        wrong
    });
    match run.join() {
        Ok(wrong) => assert!(wrong.is_empty(), "\n{}", wrong.join("\n")),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// docs/limits.md names for each limit the construct that grows up to it.
#[test]
fn every_limit_is_documented() {
    let page = std::fs::read_to_string("../../docs/limits.md").expect("docs/limits.md");
    let named: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.rsplit(" | ").next())
        .flat_map(|cell| cell.split(", "))
        .collect();
    for construct in constructs() {
        let refused = !construct.refused.is_empty();
        assert!(!refused || named.contains(&construct.name), "no limit names {}", construct.name);
    }
    for name in named.iter().filter(|name| !matches!(**name, "Shown by" | "---" | "-")) {
        assert!(constructs().iter().any(|c| c.name == *name), "there is no construct {name}");
    }
}
