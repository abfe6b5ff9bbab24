//! Audits of logins, and what becomes of work when an audit cannot write. Source: SQL Server's documentation of CREATE SERVER
//! AUDIT (ON_FAILURE, QUEUE_DELAY) and of the action groups of logins.

use device::{FileSystem, SimFs};
use executor::Collected;
use session::{FailedLogin, Instance, InstanceConfig, Login, OpenError, Session};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use types::Value;

fn answer(session: &mut Session, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said);
    said
}

fn run(session: &mut Session, batch: &str) -> Collected {
    let said = answer(session, batch);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said
}

/// The first column of what a query answers.
fn column(session: &mut Session, query: &str) -> Vec<String> {
    let text = |v: &Value| match v {
        Value::Str(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    run(session, query).sets[0].rows.iter().map(|row| text(&row[0])).collect()
}

const READ: &str = "sys.fn_get_audit_file('/audits/*', DEFAULT, DEFAULT)";

fn login(instance: &Arc<Instance>, user: &str, dedicated: bool) -> Result<Session, i32> {
    let asked = Login {
        user: user.into(),
        application: "test".into(),
        host: "desk".into(),
        dedicated,
        ..Login::default()
    };
    Session::login(instance, &asked).map_err(|error| error.number)
}

fn audit(options: &str, groups: &[&str]) -> String {
    let groups: Vec<String> = groups.iter().map(|group| format!("ADD ({group})")).collect();
    format!(
        "CREATE SERVER AUDIT a TO FILE (FILEPATH = '/audits') WITH ({options}); ALTER SERVER AUDIT a WITH (STATE = ON); \
         CREATE SERVER AUDIT SPECIFICATION s FOR SERVER AUDIT a {} WITH (STATE = ON)",
        groups.join(", ")
    )
}

fn open(fs: &Arc<SimFs>) -> Arc<Instance> {
    fs.create_dir_all(Path::new("/audits")).expect("a folder");
    Instance::open(InstanceConfig::small("/data", fs.clone())).expect("opens")
}

fn with_instance(
    fs: &Arc<SimFs>,
    test: impl FnOnce(&mut Session, &Arc<Instance>) + Send + 'static,
) {
    let instance = open(fs);
    let own = instance.clone();
    let ran = instance.spawn_session("test", move |session| test(session, &own));
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}

const LOGINS: &[&str] = &["SUCCESSFUL_LOGIN_GROUP", "FAILED_LOGIN_GROUP", "LOGOUT_GROUP"];

#[test]
fn logins_are_recorded_before_the_client_hears_and_after_a_restart() {
    let fs = SimFs::new(1);
    with_instance(&fs, |session, instance| {
        run(session, "CREATE LOGIN app WITH PASSWORD = 'Str0ng-enough'");
        run(session, &audit("QUEUE_DELAY = 0", LOGINS));
        let app = login(instance, "app", false).expect("logs in");
        let query = format!(
            "SELECT CONCAT(action_id, ' ', server_principal_name, ' ', host_name) FROM {READ}"
        );
        assert_eq!(column(session, &query)[1..], ["LGIS app desk"]);
        drop(app);
        instance.audit_failed_login(&FailedLogin {
            user: "app",
            number: 18456,
            state: 8,
            why: "Password did not match that for the login provided.",
            address: "10.0.0.1",
            application: "guess",
            host: "far",
        });
        assert_eq!(column(session, &query)[2..], ["LGO app desk", "LGIF app far"]);
        let statement =
            format!("SELECT statement FROM {READ} WHERE action_id = 'LGIF' AND succeeded = 0");
        assert_eq!(
            column(session, &statement),
            [
                "Login failed for user 'app'. Reason: Password did not match that for the login provided. [CLIENT: 10.0.0.1]"
            ]
        );
    });
    with_instance(&fs, |session, instance| {
        drop(login(instance, "app", false).expect("logs in"));
        let query = format!("SELECT COUNT(*) FROM {READ} WHERE action_id = 'LGIS'");
        assert_eq!(column(session, &query), ["Int(2)"]);
    });
}

#[test]
fn a_connection_used_again_is_a_logout_and_a_login() {
    with_instance(&SimFs::new(2), |session, instance| {
        run(session, "CREATE LOGIN app WITH PASSWORD = 'Str0ng-enough'");
        run(session, &audit("QUEUE_DELAY = 0", LOGINS));
        let mut app = login(instance, "app", false).expect("logs in");
        app.reset(false, &mut Collected::default());
        let pooled = "CHARINDEX('<pooled_connection>1<', additional_information)";
        let query =
            format!("SELECT CONCAT(action_id, SIGN({pooled})) FROM {READ} WHERE class_type = 'LX'");
        assert_eq!(column(session, &query), ["LGIS0", "LGO1", "LGIS1"]);
    });
}

#[test]
fn a_full_disk_fails_what_must_be_recorded_and_nothing_else() {
    let fs = SimFs::new(3);
    let disk = fs.clone();
    with_instance(&fs, move |session, instance| {
        run(session, "CREATE LOGIN app WITH PASSWORD = 'Str0ng-enough'");
        run(session, "CREATE TABLE dbo.t (i int)");
        let groups = ["SUCCESSFUL_LOGIN_GROUP", "SCHEMA_OBJECT_CHANGE_GROUP"];
        run(session, &audit("QUEUE_DELAY = 0, ON_FAILURE = FAIL_OPERATION", &groups));
        run(session, "CREATE TABLE dbo.before (i int)");
        disk.set_capacity(disk.total_bytes());
        // The one that finds out is undone.
        assert_eq!(answer(session, "CREATE TABLE dbo.first (i int)").errors(), [33239]);
        assert_eq!(answer(session, "CREATE TABLE dbo.second (i int)").errors(), [33239]);
        let there = "SELECT name FROM sys.tables ORDER BY name";
        assert_eq!(column(session, there), ["before", "t"]);
        assert_eq!(login(instance, "app", false).err(), Some(33239));
        // What no audit wants goes on, and so does who comes to mend it.
        run(session, "INSERT dbo.t VALUES (1)");
        drop(login(instance, "sa", true).expect("the administrator's own connection"));
        let status = "SELECT status_desc FROM sys.dm_server_audit_status";
        assert_eq!(column(session, status), ["RUNTIME_FAIL"]);
        disk.set_capacity(u64::MAX);
        let again = (0..100).any(|_| {
            run(session, "WAITFOR DELAY '00:00:00.1'");
            answer(session, "CREATE TABLE dbo.again (i int)").errors().is_empty()
        });
        assert!(again, "it goes on when there is room");
        assert_eq!(column(session, status), ["STARTED"]);
        let records = format!(
            "SELECT object_name FROM {READ} WHERE object_name IS NOT NULL AND action_id = 'CR'"
        );
        assert_eq!(column(session, &records), ["before", "again"]);
        // A backup is no part of a transaction, whatever an audit must have of it.
        run(
            session,
            "ALTER SERVER AUDIT SPECIFICATION s WITH (STATE = OFF); ALTER SERVER AUDIT SPECIFICATION s ADD \
             (BACKUP_RESTORE_GROUP), ADD (DBCC_GROUP) WITH (STATE = ON); BACKUP LOG master TO DISK = 'NUL'; DBCC TRACESTATUS",
        );
        // While it fails, it can be turned off.
        disk.set_capacity(disk.total_bytes());
        let fails = (0..100).any(|i| {
            answer(session, &format!("CREATE TABLE dbo.more{i} (i int)")).errors() == [33239]
        });
        assert!(fails, "the room of a writer's trial is used up");
        run(session, "ALTER SERVER AUDIT a WITH (STATE = OFF)");
        disk.set_capacity(u64::MAX);
        run(session, "CREATE TABLE dbo.third (i int)");
    });
}

#[test]
fn an_audit_that_goes_on_without_loses_records_and_nothing_else() {
    let fs = SimFs::new(4);
    let disk = fs.clone();
    with_instance(&fs, move |session, _| {
        run(session, &audit("QUEUE_DELAY = 0", &["SCHEMA_OBJECT_CHANGE_GROUP"]));
        disk.set_capacity(disk.total_bytes());
        run(session, "CREATE TABLE dbo.lost (i int)");
        disk.set_capacity(u64::MAX);
        let query = format!("SELECT COUNT(*) FROM {READ} WHERE object_name LIKE 'kept%'");
        let kept = (0..100).any(|i| {
            run(session, &format!("WAITFOR DELAY '00:00:00.1'; CREATE TABLE dbo.kept{i} (i int)"));
            column(session, &query) != ["Int(0)"]
        });
        assert!(kept, "it records again when there is room");
        let lost = format!("SELECT COUNT(*) FROM {READ} WHERE object_name = 'lost'");
        assert_eq!(column(session, &lost), ["Int(0)"]);
    });
}

#[test]
fn an_audit_may_end_the_server_and_keep_it_from_starting() {
    let fs = SimFs::new(5);
    let disk = fs.clone();
    let ended = Arc::new(AtomicUsize::new(0));
    let heard = ended.clone();
    with_instance(&fs, move |session, instance| {
        let ends = heard.clone();
        instance.on_shutdown(Box::new(move || {
            ends.fetch_add(1, SeqCst);
        }));
        let groups = ["SCHEMA_OBJECT_CHANGE_GROUP"];
        run(session, &audit("QUEUE_DELAY = 0, ON_FAILURE = SHUTDOWN", &groups));
        disk.set_capacity(disk.total_bytes());
        assert_eq!(answer(session, "CREATE TABLE dbo.t (i int)").errors(), [33239]);
        // Whoever failed may be told before the instance is.
        for _ in 0..100 {
            if heard.load(SeqCst) > 0 {
                break;
            }
            run(session, "WAITFOR DELAY '00:00:00.1'");
        }
        assert_eq!(heard.load(SeqCst), 1);
        assert_eq!(answer(session, "CREATE TABLE dbo.t (i int)").errors(), [33239]);
        assert_eq!(heard.load(SeqCst), 1);
    });
    let refused = Instance::open(InstanceConfig::small("/data", fs.clone())).err();
    assert!(matches!(refused, Some(OpenError::Audit { .. })), "{refused:?}");
    fs.set_capacity(u64::MAX);
    open(&fs).shutdown().expect("closes");
}

#[test]
fn what_is_queued_is_written_in_time_and_at_the_end() {
    let fs = SimFs::new(6);
    with_instance(&fs, |session, _| {
        run(session, &audit("QUEUE_DELAY = 60000", &["SCHEMA_OBJECT_CHANGE_GROUP"]));
        run(session, "CREATE TABLE dbo.late (i int)");
        let query = format!("SELECT COUNT(*) FROM {READ} WHERE object_name = 'late'");
        assert_eq!(column(session, &query), ["Int(0)"]);
        run(session, "ALTER SERVER AUDIT a WITH (STATE = OFF)");
        assert_eq!(column(session, &query), ["Int(1)"]);
        run(session, "ALTER SERVER AUDIT a WITH (STATE = ON); CREATE TABLE dbo.later (i int)");
    });
    with_instance(&fs, |session, _| {
        let query = format!("SELECT COUNT(*) FROM {READ} WHERE object_name = 'later'");
        assert_eq!(column(session, &query), ["Int(1)"]);
    });
}

#[test]
fn an_audit_is_dropped_under_load() {
    with_instance(&SimFs::new(7), |session, instance| {
        run(session, &audit("QUEUE_DELAY = 0", LOGINS));
        let busy: Vec<_> = (0..4)
            .map(|_| {
                let theirs = instance.clone();
                instance.spawn_session("logins", move |_| {
                    (0..50).for_each(|_| drop(login(&theirs, "sa", false).expect("logs in")));
                })
            })
            .collect();
        for _ in 0..5 {
            run(
                session,
                "ALTER SERVER AUDIT a WITH (STATE = OFF); ALTER SERVER AUDIT a WITH (STATE = ON)",
            );
        }
        run(
            session,
            "ALTER SERVER AUDIT SPECIFICATION s WITH (STATE = OFF); DROP SERVER AUDIT SPECIFICATION s; \
             ALTER SERVER AUDIT a WITH (STATE = OFF); DROP SERVER AUDIT a",
        );
        for sessions in busy {
            sessions.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        let said = run(session, &format!("SELECT COUNT(*) FROM {READ}"));
        assert!(said.messages.iter().all(|m| m.number != 33226), "{:?}", said.messages);
    });
}

#[test]
fn a_torn_record_is_told_by_its_place() {
    let fs = SimFs::new(8);
    let disk = fs.clone();
    with_instance(&fs, move |session, _| {
        run(session, &audit("QUEUE_DELAY = 0", &["SCHEMA_OBJECT_CHANGE_GROUP"]));
        run(session, "CREATE TABLE dbo.whole (i int); CREATE TABLE dbo.torn (i int)");
        run(session, "ALTER SERVER AUDIT a WITH (STATE = OFF)");
        let query = format!("SELECT object_name FROM {READ} WHERE action_id = 'CR'");
        assert_eq!(column(session, &query), ["whole", "torn"]);
        let places = run(
            session,
            &format!("SELECT file_name, audit_file_offset FROM {READ} WHERE object_name = 'torn'"),
        );
        let row = &places.sets[0].rows[0];
        let (file, offset) = (row[0].as_str().expect("a name"), row[1].as_i64().expect("a place"));
        disk.flip(Path::new(file), offset as u64 + 30, 1).expect("a bit");
        let said = run(session, &query);
        assert_eq!(said.sets[0].rows.len(), 1);
        let told = said.messages.iter().find(|m| m.number == 33226).expect("it is told");
        assert_eq!(
            told.text,
            format!(
                "The fn_get_audit_file function is skipping records from '{file}' at offset {offset}."
            )
        );
    });
}
