//! T-SQL to plans, as text.

use crate::fixture::{Fixture, check_cases};
use ir::{InsertSource, SelectTarget, Stmt, StmtKind, UpdateSet};

const TABLES: &str = "
CREATE TABLE dbo.MyBigTable (
  c1 bigint NOT NULL, c2 datetime NULL DEFAULT (GETDATE()), c3 char(111) NULL DEFAULT ('a'),
  c4 int NULL DEFAULT (1), c5 int NULL DEFAULT (2), c6 bigint NULL DEFAULT (42),
  CONSTRAINT PK_MyBigTable PRIMARY KEY CLUSTERED (c1 ASC))
CREATE TABLE heap (a int, b varchar(20), c decimal(10,2))
CREATE TABLE pair (x smallint NOT NULL, y varchar(10) NOT NULL, z int, PRIMARY KEY (x, y DESC))
CREATE TABLE counter (id int IDENTITY(1,1) NOT NULL PRIMARY KEY, name nvarchar(50))
CREATE TABLE dbo.tran_stats (server_config varchar(100), users int, cpus smallint,
  thread_name varchar(20), tran_begin datetime)
CREATE TABLE Dim_users (id_users int IDENTITY, users int)
CREATE TABLE orders (id int NOT NULL PRIMARY KEY, cust int NOT NULL, day date NULL, state char(1) NOT NULL, note varchar(100),
  INDEX by_cust (cust, day DESC) INCLUDE (state), INDEX by_day (day), INDEX ux UNIQUE (note), INDEX open_ones (day) WHERE state = 'o')
CREATE TABLE custs (id int NOT NULL PRIMARY KEY, name varchar(20))";

fn show(stmt: &Stmt, out: &mut String) {
    use std::fmt::Write;
    let mut put = |text: String| writeln!(out, "{}", text.trim_end()).expect("a String takes all");
    match &stmt.kind {
        StmtKind::Select(select) => {
            let plan = planner::plan_select(select, &planner::Known::default());
            let columns: Vec<String> = plan
                .plan
                .output
                .iter()
                .map(|c| format!("{} {}", c.name.as_deref().unwrap_or("?"), c.ty))
                .collect();
            match (&select.target, &plan.target) {
                (SelectTarget::Client, _) => put(format!("SELECT {}", columns.join(", "))),
                (SelectTarget::Into { name, spec }, _) => {
                    put(format!("SELECT INTO {name} {} columns", spec.columns.len()));
                }
                (_, planner::SelectTarget::Vars(vars)) => {
                    let vars: Vec<String> =
                        vars.iter().map(|(v, e)| format!("@{} = {e}", v.0)).collect();
                    put(format!("SELECT {}", vars.join(", ")));
                }
                _ => {}
            }
            put(plan.plan.to_string());
        }
        StmtKind::Insert(insert) => {
            let plan = planner::plan_insert(insert, &planner::Known::default());
            put(format!("INSERT {}", plan.table.name));
            match (&plan.source, &insert.source) {
                (planner::InsertSource::Values { rows, .. }, _) => {
                    for row in rows {
                        let row: Vec<String> = row.iter().map(ToString::to_string).collect();
                        put(format!("({})", row.join(", ")));
                    }
                }
                (planner::InsertSource::Query { plan, row }, InsertSource::Query { .. }) => {
                    let row: Vec<String> = row.iter().map(ToString::to_string).collect();
                    put(format!("({})", row.join(", ")));
                    put(plan.to_string());
                }
                _ => put("EXEC".into()),
            }
        }
        StmtKind::Update(update) => {
            let plan = planner::plan_update(update, &planner::Known::default());
            let set: Vec<String> = plan
                .set
                .iter()
                .map(|s| match s {
                    UpdateSet::Column { ordinal, value } => {
                        format!("{} = {value}", plan.table.columns[*ordinal].name)
                    }
                    UpdateSet::Var { var, value } => format!("@{} = {value}", var.0),
                    UpdateSet::Both { var, ordinal, value } => {
                        format!("@{} = {} = {value}", var.0, plan.table.columns[*ordinal].name)
                    }
                })
                .collect();
            put(format!("UPDATE {} ${} SET {}", plan.table.name, plan.locator, set.join(", ")));
            put(plan.source.to_string());
            if let Some(output) = &plan.output {
                let columns: Vec<String> =
                    output.columns.iter().map(|(_, e)| e.to_string()).collect();
                put(format!("OUTPUT {}", columns.join(", ")));
            }
        }
        StmtKind::Delete(delete) => {
            let plan = planner::plan_delete(delete, &planner::Known::default());
            put(format!("DELETE {} ${}", plan.table.name, plan.locator));
            put(plan.source.to_string());
        }
        StmtKind::SetVars(sets) => {
            for (v, e) in sets {
                put(format!("@{} = {}", v.0, planner::plan_expr(e)));
            }
        }
        StmtKind::If { condition, then, otherwise } => {
            match &condition.expr {
                Some(e) => put(format!("IF {}", planner::plan_expr(e))),
                None => put("IF later".into()),
            }
            then.iter().for_each(|s| show(s, out));
            otherwise.iter().for_each(|s| show(s, out));
        }
        StmtKind::While { condition, body } => {
            match &condition.expr {
                Some(e) => put(format!("WHILE {}", planner::plan_expr(e))),
                None => put("WHILE later".into()),
            }
            body.iter().for_each(|s| show(s, out));
        }
        StmtKind::Block(body) => body.iter().for_each(|s| show(s, out)),
        StmtKind::Nothing => {}
        StmtKind::Deferred => put("deferred".into()),
        other => {
            let text = format!("{other:?}");
            put(text.split(['(', '{']).next().unwrap_or("").trim().to_string());
        }
    }
}

#[test]
fn statements_get_the_plans_they_should() {
    let names = Fixture::new(TABLES);
    check_cases("tests/plans.txt", |sql| {
        let batch = match syntax::parse_batch(sql, &Default::default()) {
            Ok(batch) => batch,
            Err(errors) => return format!("does not parse: {}", errors[0]),
        };
        let program = match binder::bind_batch(&batch, sql, &names) {
            Ok(program) => program,
            Err(e) => return e.to_string(),
        };
        let mut out = String::new();
        program.body.iter().for_each(|s| show(s, &mut out));
        out
    });
}
