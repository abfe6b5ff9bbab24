//! How long parsing, binding and planning take: `cargo run --release -p planner --example plan_bench`.

#[path = "../../binder/tests/fixture/mod.rs"]
mod fixture;

use std::time::Instant;

use fixture::Fixture;
use ir::StmtKind;

const ROUNDS: u32 = 20_000;

fn main() {
    let names = Fixture::new(
        "CREATE TABLE t (c1 bigint PRIMARY KEY, c2 datetime DEFAULT (getdate()),
           c3 char(111) DEFAULT ('a'), c4 int DEFAULT ((1)), c5 int DEFAULT ((2)),
           c6 bigint DEFAULT ((42)))",
    );
    for sql in [
        "INSERT INTO t (c1) VALUES (5)",
        "SELECT c4, c6 FROM t WHERE c1 = 5",
        "UPDATE t SET c4 = c4 + 1 WHERE c1 = 5",
        "SELECT a.c4, COUNT(*) FROM t a JOIN t b ON a.c1 = b.c4 WHERE a.c5 > 3 GROUP BY a.c4 ORDER BY 2",
        "DECLARE @i int = 0 WHILE @i < 10 BEGIN SET @i += 1 END",
    ] {
        let mut spent = [0u128; 3];
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let batch = syntax::parse_batch(sql, &Default::default()).expect("it parses");
            let parsed = Instant::now();
            let program = binder::bind_batch(&batch, sql, &names).expect("it binds");
            let bound = Instant::now();
            for stmt in &program.body {
                match &stmt.kind {
                    StmtKind::Select(s) => {
                        drop(planner::plan_select(s, &planner::Known::default()))
                    }
                    StmtKind::Insert(s) => {
                        drop(planner::plan_insert(s, &planner::Known::default()))
                    }
                    StmtKind::Update(s) => {
                        drop(planner::plan_update(s, &planner::Known::default()))
                    }
                    _ => {}
                }
            }
            let planned = Instant::now();
            spent[0] += (parsed - start).as_nanos();
            spent[1] += (bound - parsed).as_nanos();
            spent[2] += (planned - bound).as_nanos();
        }
        let [parse, bind, plan] = spent.map(|ns| ns / u128::from(ROUNDS));
        println!("parse {parse:>6} ns  bind {bind:>6} ns  plan {plan:>6} ns  {sql}");
    }
}
