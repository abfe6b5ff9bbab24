//! Resource Governor at login and at work: the classifier, the limit of requests, groups in use. Source: SQL Server's
//! documentation of the classifier function and of ALTER RESOURCE GOVERNOR.

use device::SimFs;
use executor::Collected;
use session::{Instance, InstanceConfig, Login, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use types::Value;

fn run(session: &mut Session, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said
}

fn value(session: &mut Session, query: &str) -> String {
    match &run(session, query).sets[0].rows[0][0] {
        Value::Str(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}

fn login(instance: &Arc<Instance>, user: &str, application: &str) -> Session {
    let asked = Login {
        user: user.into(),
        application: application.into(),
        host: "desk".into(),
        ..Login::default()
    };
    Session::login(instance, &asked).map_err(|e| e.number).expect("logs in")
}

const OWN_GROUP: &str = "SELECT g.name FROM sys.dm_exec_sessions s JOIN sys.dm_resource_governor_workload_groups g \
     ON g.group_id = s.group_id WHERE s.session_id = @@SPID";

fn set_up(session: &mut Session) {
    run(
        session,
        "CREATE LOGIN app WITH PASSWORD = 'Str0ng-enough'; CREATE LOGIN boss WITH PASSWORD = 'Str0ng-enough'; \
         CREATE RESOURCE POOL low WITH (MAX_CPU_PERCENT = 5); \
         CREATE WORKLOAD GROUP reports WITH (GROUP_MAX_REQUESTS = 1, MAX_DOP = 1) USING low; \
         CREATE WORKLOAD GROUP bosses; \
         CREATE TABLE dbo.of_programs (program sysname, workload sysname); \
         INSERT dbo.of_programs VALUES ('report', 'reports'), ('odd', 'no such group'), ('server', 'internal')",
    );
    run(
        session,
        "CREATE FUNCTION dbo.sorts() RETURNS sysname WITH SCHEMABINDING AS BEGIN \
         IF SUSER_SNAME() = 'boss' AND HOST_NAME() = 'desk' RETURN N'bosses'; \
         IF APP_NAME() = 'fails' RETURN CAST(1 / 0 AS sysname); \
         RETURN (SELECT workload FROM dbo.of_programs WHERE program = APP_NAME()) END",
    );
    run(
        session,
        "ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.sorts); ALTER RESOURCE GOVERNOR RECONFIGURE",
    );
}

fn with_instance(test: impl FnOnce(&mut Session, &Arc<Instance>) + Send + 'static) {
    let instance = Instance::open(InstanceConfig::small("/data", SimFs::new(1))).expect("opens");
    let own = instance.clone();
    let ran = instance.spawn_session("test", move |session| {
        set_up(session);
        test(session, &own);
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}

#[test]
fn a_login_is_classified_and_what_fails_goes_to_default() {
    with_instance(|session, instance| {
        // A login that may execute nothing in master.
        let mut report = login(instance, "app", "report");
        let group = |of: &mut Session, by: &mut Session| {
            let query = OWN_GROUP.replace("@@SPID", &of.spid().to_string());
            value(by, &query)
        };
        assert_eq!(group(&mut report, session), "reports");
        for (user, program, named) in [
            ("boss", "any", "bosses"),
            ("app", "odd", "default"),
            ("app", "server", "default"),
            ("app", "unknown", "default"),
            ("app", "fails", "default"),
        ] {
            let mut other = login(instance, user, program);
            assert_eq!(group(&mut other, session), named, "{user} {program}");
            assert_eq!(value(&mut other, "SELECT SUSER_SNAME()"), user);
            assert_eq!(other.database_name(), "master");
        }
        // Its group stays while it is there.
        let mut said = Collected::default();
        let _ = session
            .execute("DROP WORKLOAD GROUP reports; ALTER RESOURCE GOVERNOR RECONFIGURE", &mut said);
        assert_eq!(said.errors(), [10904]);
        drop(report);
        run(session, "ALTER RESOURCE GOVERNOR RECONFIGURE");
        assert_eq!(
            value(session, "SELECT COUNT(*) FROM sys.dm_resource_governor_workload_groups"),
            "Int(3)"
        );
    });
}

#[test]
fn requests_beyond_the_limit_wait_for_those_before() {
    with_instance(|session, instance| {
        let over = Arc::new(AtomicBool::new(false));
        let (theirs, done) = (instance.clone(), over.clone());
        let long = instance.schedulers().spawn("long", None, move || {
            let mut report = login(&theirs, "app", "report");
            run(&mut report, "WAITFOR DELAY '00:00:00.4'");
            done.store(true, SeqCst);
        });
        let active = "SELECT active_request_count FROM sys.dm_resource_governor_workload_groups WHERE name = 'reports'";
        while value(session, active) == "Int(0)" {
            run(session, "WAITFOR DELAY '00:00:00.01'");
        }
        // A session of another group goes on.
        run(session, "SELECT 1");
        assert!(!over.load(SeqCst));
        let mut second = login(instance, "app", "report");
        run(&mut second, "SELECT 1");
        assert!(over.load(SeqCst), "it had to wait");
        let _ = long.join();
        let counts = "SELECT CONCAT(total_request_count, ' ', total_queued_request_count, ' ', active_request_count) FROM \
             sys.dm_resource_governor_workload_groups WHERE name = 'reports'";
        assert_eq!(value(session, counts), "2 1 0");
        let waits = "SELECT waiting_tasks_count FROM sys.dm_os_wait_stats WHERE wait_type = 'RESMGR_THROTTLED'";
        assert_ne!(value(session, waits), "BigInt(0)");
    });
}
