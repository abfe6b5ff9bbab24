//! Values larger than a row, with the power failing while they are written, replaced and deleted.

use device::SimFs;
use executor::Collected;
use session::{Instance, InstanceConfig};
use std::sync::Arc;

fn config(fs: &Arc<SimFs>) -> InstanceConfig {
    let mut config = InstanceConfig::small("/data", fs.clone());
    config.buffer_pool_bytes = 2 << 20;
    config
}

/// Runs batches until one fails; how many succeeded, and what they said.
fn run(instance: &Arc<Instance>, batches: Vec<String>) -> (usize, Collected) {
    let ran = instance.spawn_session("test", move |session| {
        let mut said = Collected::default();
        let mut done = 0;
        for batch in batches {
            if session.execute(&batch, &mut said).is_err() {
                break;
            }
            done += 1;
        }
        (done, said)
    });
    match ran.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn numbers(instance: &Arc<Instance>, query: &str) -> Vec<Vec<i64>> {
    let (_, said) = run(instance, vec!["USE shop".into(), query.into()]);
    assert_eq!(said.errors(), [] as [i32; 0], "{query}: {:?}", said.messages);
    let rows = &said.sets.last().expect("a result").rows;
    rows.iter().map(|row| row.iter().map(|v| v.as_i64().expect("a number")).collect()).collect()
}

/// A text of `n` characters that says in every one of them what it is.
fn text(n: usize) -> String {
    format!("REPLICATE(CAST(CHAR(65 + {n} % 26) AS varchar(max)), {n})")
}

/// Rows after each of the batches, as (id, length).
fn script() -> (Vec<String>, Vec<Vec<(i64, i64)>>) {
    let mut batches = Vec::new();
    let mut states = Vec::new();
    let mut rows: Vec<(i64, i64)> = Vec::new();
    let mut step = |batch: String, rows: &[(i64, i64)]| {
        batches.push(batch);
        states.push(rows.to_vec());
    };
    for id in 1..=4i64 {
        let n = 9_000 + 30_000 * id;
        rows.push((id, n));
        step(format!("INSERT big VALUES ({id}, {n}, {})", text(n as usize)), &rows);
    }
    step("CHECKPOINT".into(), &rows);
    rows[1].1 = 100_007;
    step(format!("UPDATE big SET n = 100007, t = {} WHERE id = 2", text(100_007)), &rows);
    rows.remove(0);
    step("DELETE big WHERE id = 1".into(), &rows);
    rows[0].1 = 17;
    rows[1].1 = 50_000;
    let both = format!(
        "BEGIN TRAN UPDATE big SET n = 17, t = {} WHERE id = 2 UPDATE big SET n = 50000, t = {} WHERE id = 3 COMMIT",
        text(17),
        text(50_000)
    );
    step(both, &rows);
    rows.push((9, 20_000));
    let undone =
        format!("BEGIN TRAN DELETE big ROLLBACK INSERT big VALUES (9, 20000, {})", text(20_000));
    step(undone, &rows);
    step("CHECKPOINT".into(), &rows);
    (batches, states)
}

const WHOLE: &str = "SELECT id, n FROM big WHERE LEN(t) = n AND t = REPLICATE(CAST(CHAR(65 + n % 26) AS varchar(max)), n)";

#[test]
fn rows_and_their_large_values_survive_together_or_not_at_all() {
    let made = SimFs::new(11);
    let instance = Instance::open(config(&made)).expect("opens");
    let table = "CREATE TABLE big (id int PRIMARY KEY, n int, t varchar(max))";
    let (done, said) =
        run(&instance, vec!["CREATE DATABASE shop".into(), "USE shop".into(), table.into()]);
    assert_eq!(done, 3, "{:?}", said.messages);
    instance.shutdown().expect("closes");
    drop(instance);

    let (batches, states) = script();
    // How many operations of the disk the whole takes.
    let whole = made.crash(0);
    let instance = Instance::open(config(&whole)).expect("opens");
    let first = whole.ops();
    let all = [vec!["USE shop".into()], batches.clone()].concat();
    let (done, said) = run(&instance, all.clone());
    assert_eq!(done, all.len(), "{:?}", said.messages);
    let last = whole.ops();
    drop(instance);
    assert!(last - first > 20, "the script takes {} operations", last - first);

    let mut ends = std::collections::BTreeSet::new();
    for at in (first..=last).step_by(((last - first) as usize / 40).max(1)) {
        let fs = made.crash(0);
        fs.power_off_at(Some(at));
        let Ok(instance) = Instance::open(config(&fs)) else { continue };
        let (done, _) = run(&instance, all.clone());
        fs.power_off();
        drop(instance);
        for seed in 0..2 {
            let after = fs.crash(at * 2 + seed);
            let instance = Instance::open(config(&after)).expect("recovers");
            let found: Vec<(i64, i64)> =
                numbers(&instance, WHOLE).iter().map(|row| (row[0], row[1])).collect();
            let count = numbers(&instance, "SELECT COUNT(*) FROM big")[0][0];
            assert_eq!(count, found.len() as i64, "cut at {at}: a row without its value");
            // What was acknowledged is there; the batch that was cut may be.
            let acknowledged = done.saturating_sub(1);
            let before = acknowledged.checked_sub(1).map_or(&[][..], |i| &states[i]);
            let next = states.get(acknowledged).map_or(before, |s| s);
            assert!(found == before || found == next, "cut at {at} after {done}: {found:?}");
            ends.insert(found.len());
            // What is left can be changed, and its space is used again.
            let more = format!("INSERT big VALUES (100, 70000, {})", text(70_000));
            let clear = "DELETE big WHERE id < 100".to_string();
            let (done, said) = run(&instance, vec!["USE shop".into(), clear, more]);
            assert_eq!(done, 3, "{:?}", said.messages);
            assert_eq!(numbers(&instance, WHOLE), [[100, 70_000]]);
            instance.shutdown().expect("closes");
        }
    }
    assert!(ends.len() > 2, "cuts fell at different places: {ends:?}");
}
