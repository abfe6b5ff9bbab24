//! A transaction over two databases, the power cut at every step of its commit.

use super::{config, number, run, run_fine};
use device::SimFs;
use session::Instance;

const TWO: &[&str] = &[
    "CREATE DATABASE a",
    "CREATE DATABASE b",
    "CREATE TABLE a.dbo.t (id int PRIMARY KEY)",
    "CREATE TABLE b.dbo.t (id int PRIMARY KEY)",
];
const BOTH: &[&str] =
    &["USE a BEGIN TRAN INSERT t VALUES (1) INSERT b.dbo.t VALUES (1), (2) COMMIT"];
const COUNT: &[&str] =
    &["SELECT (SELECT COUNT(*) FROM a.dbo.t) * 10 + (SELECT COUNT(*) FROM b.dbo.t)"];

#[test]
fn power_loss_leaves_it_in_all_databases_or_in_none() {
    let fs = SimFs::new(11);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(&instance, TWO);
    let before = fs.ops();
    run_fine(&instance, BOTH);
    let steps = fs.ops() - before;
    assert_eq!(number(&run_fine(&instance, COUNT)), 12);
    drop(instance);
    let (mut none, mut all) = (0, 0);
    for step in 0..=steps + 1 {
        let fs = SimFs::new(11);
        let instance = Instance::open(config(&fs)).expect("opens");
        run_fine(&instance, TWO);
        fs.power_off_at(Some(fs.ops() + step));
        let acknowledged = run(&instance, BOTH).errors().is_empty();
        fs.power_off();
        drop(instance);
        for seed in 0..4 {
            let instance = Instance::open(config(&fs.crash(step * 10 + seed))).expect("recovers");
            match number(&run_fine(&instance, COUNT)) {
                0 => none += 1,
                12 => all += 1,
                found => panic!("{found}, the power lost at step {step}"),
            }
            if acknowledged {
                assert_eq!(number(&run_fine(&instance, COUNT)), 12, "acknowledged at step {step}");
            }
            // It goes on as ever, and what was decided is not asked again.
            run_fine(&instance, &["INSERT a.dbo.t VALUES (9)", "DELETE a.dbo.t WHERE id = 9"]);
            instance.shutdown().expect("closes");
        }
    }
    assert!(none > 0 && all > 0, "{none} without, {all} with");
}

#[test]
fn the_decision_waits_for_a_database_that_was_away() {
    let fs = SimFs::new(12);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(&instance, TWO);
    run_fine(&instance, BOTH);
    run_fine(&instance, &["ALTER DATABASE b SET OFFLINE"]);
    drop(instance);
    let instance = Instance::open(config(&fs.crash(1))).expect("recovers");
    run_fine(&instance, &["ALTER DATABASE b SET ONLINE"]);
    assert_eq!(number(&run_fine(&instance, COUNT)), 12);
    instance.shutdown().expect("closes");
}
