//! LOGON triggers: `Session::login` as the server calls it. Sources: SQL Server's documentation, "Logon Triggers" and
//! CREATE TRIGGER.

use device::SimFs;
use executor::Collected;
use session::{Instance, InstanceConfig, Login, Session};
use types::Value;

fn with_instance(
    test: impl FnOnce(&mut Session, &dyn Fn(&str) -> Result<Session, String>) + Send + 'static,
) {
    let instance = Instance::open(InstanceConfig::small("/data", SimFs::new(1))).expect("opens");
    let own = instance.clone();
    let ran = instance.spawn_session("test", move |session| {
        run(session, "CREATE LOGIN app WITH PASSWORD = 'Str0ng-enough'");
        run(session, "CREATE DATABASE d");
        run(session, "USE d");
        run(session, "CREATE USER app");
        run(session, "USE master");
        run(session, "CREATE TABLE log (what nvarchar(max))");
        let login = |user: &str| {
            let asked = Login {
                user: user.into(),
                database: (user == "app").then(|| "d".into()),
                application: "test".into(),
                ..Login::default()
            };
            Session::login(&own, &asked)
                .map_err(|e| format!("{}: {}", e.number, e.to_message().text))
        };
        test(session, &login);
    });
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}

fn run(session: &mut Session, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = session.execute(batch, &mut said);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said
}

/// The first column of what a query answers.
fn column(session: &mut Session, query: &str) -> Vec<String> {
    let said = run(session, query);
    let text = |v: &Value| match v {
        Value::Str(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    said.sets[0].rows.iter().map(|row| text(&row[0])).collect()
}

const REFUSED: &str = "17892: Logon failed for login 'app' due to trigger execution.";

#[test]
fn a_login_fires_them_in_master() {
    with_instance(|session, login| {
        run(
            session,
            "CREATE TRIGGER heard ON ALL SERVER WITH EXECUTE AS 'sa' FOR LOGON, CREATE_LOGIN AS \
             INSERT master.dbo.log VALUES (CAST(EVENTDATA() AS nvarchar(max))), \
             (CONCAT(ORIGINAL_LOGIN(), ' ', SUSER_SNAME(), ' ', DB_NAME(), ' ', APP_NAME(), ' ', @@TRANCOUNT, ' ', \
             TRIGGER_NESTLEVEL())) \
             SET LANGUAGE Deutsch CREATE TABLE #t (x int) PRINT 'nobody hears this' RAISERROR ('nor this', 16, 1)",
        );
        let mut app = login("app").expect("logs in");
        assert_eq!(app.database_name(), "d");
        assert_eq!(app.language(), "us_english");
        assert_eq!(app.trancount(), 0);
        assert_eq!(column(&mut app, "SELECT CONCAT(DB_NAME(), ' ', USER_NAME())"), ["d app"]);
        assert_eq!(column(&mut app, "SELECT ISNULL(OBJECT_ID('tempdb..#t'), 0)"), ["Int(0)"]);
        let log = column(session, "SELECT what FROM log");
        assert_eq!(log[1], "app sa master test 1 1");
        let document = &log[0];
        let begin = "<EVENT_INSTANCE><EventType>LOGON</EventType><PostTime>";
        assert!(document.starts_with(begin), "{document}");
        assert!(
            document.contains("<LoginName>app</LoginName><LoginType>SQL Login</LoginType><SID>")
        );
        let end = "</SID><ClientHost>&lt;local machine&gt;</ClientHost><IsPooled>0</IsPooled></EVENT_INSTANCE>";
        assert!(document.ends_with(end), "{document}");
        // Another session, and a trigger that is off.
        run(session, "DISABLE TRIGGER heard ON ALL SERVER");
        login("app").expect("logs in");
        assert_eq!(column(session, "SELECT what FROM log").len(), 2);
        run(session, "DROP TRIGGER heard ON ALL SERVER");
    });
}

#[test]
fn a_login_is_refused() {
    with_instance(|session, login| {
        let bodies = [
            // The user of `app` in master may not write.
            "INSERT master.dbo.log VALUES ('denied')",
            "IF ORIGINAL_LOGIN() = 'app' ROLLBACK",
            "IF ORIGINAL_LOGIN() = 'app' SELECT 1 AS a_result_set",
            "DECLARE @x int = 1 IF ORIGINAL_LOGIN() = 'app' SET @x = 1 / 0",
            "IF ORIGINAL_LOGIN() = 'app' THROW 50001, 'no', 1",
            "IF ORIGINAL_LOGIN() = 'app' BEGIN TRANSACTION",
        ];
        for body in bodies {
            run(
                session,
                &format!("CREATE OR ALTER TRIGGER door ON ALL SERVER FOR LOGON AS {body}"),
            );
            assert_eq!(login("app").err().as_deref(), Some(REFUSED), "{body}");
            login("sa").expect("logs in");
        }
        assert_eq!(column(session, "SELECT what FROM log").len(), 1);
        run(session, "DROP TRIGGER door ON ALL SERVER");
        login("app").expect("logs in");
    });
}
