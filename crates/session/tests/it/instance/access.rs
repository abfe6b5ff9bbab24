//! SINGLE_USER, RESTRICTED_USER, READ_ONLY and OFFLINE with others in the database.

use super::{config, run_fine};
use device::SimFs;
use executor::Collected;
use session::{Instance, Session};
use std::sync::Arc;

const NONE: [i32; 0] = [];

fn say(session: &mut Session, batch: &str) -> Vec<i32> {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said);
    said.errors().to_vec()
}

/// Runs `body` on a task of an instance that has a database `shop` with a table of one row.
fn with_shop(body: impl FnOnce(&Arc<Instance>) + Send + 'static) -> Arc<SimFs> {
    let fs = SimFs::new(1);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(
        &instance,
        &[
            "CREATE DATABASE shop",
            "USE shop CREATE TABLE t (id int PRIMARY KEY)",
            "USE shop INSERT t VALUES (1)",
        ],
    );
    let shared = instance.clone();
    let ran = instance.spawn_session("access", move |_| body(&shared)).join();
    if let Err(panic) = ran {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
    fs
}

#[test]
fn one_user_at_a_time() {
    with_shop(|instance| {
        let (mut first, mut second) = (Session::new(instance), Session::new(instance));
        assert_eq!(say(&mut first, "USE shop"), NONE);
        assert_eq!(
            say(&mut second, "ALTER DATABASE shop SET SINGLE_USER WITH NO_WAIT"),
            [5070, 5069]
        );
        assert_eq!(
            say(&mut second, "USE shop; USE master"),
            NONE,
            "a change given up left nothing"
        );
        assert_eq!(say(&mut first, "ALTER DATABASE shop SET SINGLE_USER"), NONE);
        assert_eq!(say(&mut second, "USE shop"), [924]);
        assert_eq!(say(&mut second, "ALTER DATABASE shop SET MULTI_USER"), [5064, 5069]);
        assert_eq!(say(&mut first, "USE master"), NONE);
        assert_eq!(say(&mut second, "USE shop"), NONE, "the place was free");
        assert_eq!(say(&mut first, "USE shop"), [924]);
        assert_eq!(say(&mut second, "ALTER DATABASE shop SET MULTI_USER"), NONE);
        assert_eq!(say(&mut first, "USE shop"), NONE);
    });
}

#[test]
fn rollback_immediate_ends_the_others() {
    with_shop(|instance| {
        let (mut first, mut second) = (Session::new(instance), Session::new(instance));
        assert_eq!(say(&mut first, "USE shop; BEGIN TRAN; INSERT t VALUES (2)"), NONE);
        assert_eq!(
            say(&mut second, "ALTER DATABASE shop SET SINGLE_USER WITH ROLLBACK IMMEDIATE"),
            NONE
        );
        assert_eq!(say(&mut first, "SELECT 1"), [596]);
        drop(first);
        assert_eq!(say(&mut second, "DROP DATABASE shop"), NONE);
    });
}

#[test]
fn read_only_and_restricted_outlive_the_instance() {
    let fs = with_shop(|instance| {
        let mut session = Session::new(instance);
        assert_eq!(say(&mut session, "CREATE LOGIN mere WITH PASSWORD = 'Correct1horse'"), NONE);
        assert_eq!(say(&mut session, "USE shop; CREATE USER mere"), NONE);
        assert_eq!(say(&mut session, "ALTER DATABASE shop SET READ_ONLY, RESTRICTED_USER"), NONE);
        assert_eq!(say(&mut session, "INSERT t VALUES (2)"), [3906]);
    });
    let instance = Instance::open(config(&fs)).expect("opens");
    let shared = instance.clone();
    let ran = instance.spawn_session("after", move |_| {
        let mut session = Session::new(&shared);
        assert_eq!(say(&mut session, "INSERT shop..t VALUES (2)"), [3906]);
        assert_eq!(say(&mut session, "USE shop"), NONE);
        assert_eq!(say(&mut session, "INSERT t VALUES (2)"), [3906]);
        assert_eq!(say(&mut session, "CREATE TABLE u (a int)"), [3906]);
        assert_eq!(say(&mut session, "USE master; EXECUTE AS LOGIN = 'mere'"), NONE);
        assert_eq!(say(&mut session, "USE shop"), [923]);
        assert_eq!(
            say(&mut session, "REVERT; ALTER DATABASE shop SET READ_WRITE, MULTI_USER"),
            NONE
        );
        assert_eq!(say(&mut session, "EXECUTE AS LOGIN = 'mere'; USE shop; SELECT 1"), NONE);
        assert_eq!(say(&mut session, "USE master; REVERT; USE shop; INSERT t VALUES (2)"), NONE);
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}
