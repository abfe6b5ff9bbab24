//! Logins over the wire, with an audit on.

use crate::support::{Client, PASSWORD, Served, login, serve};
use server::Limits;
use std::time::Instant;
use tds::login7::Password;
use tds::prelogin::Encryption;
use types::Value;

fn attempt(served: &Served, user: &str, password: &str) -> Vec<i32> {
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::NotSupported);
    let mut asked = login();
    asked.user = user.into();
    asked.password = Password::new(password);
    let answer = client.log_in(&asked);
    answer.errors()
}

fn texts(rows: &[Vec<Value>]) -> Vec<String> {
    rows.iter().map(|row| row[0].as_str().unwrap_or("").to_owned()).collect()
}

#[test]
fn who_comes_in_and_who_does_not_is_recorded() {
    let served = serve(Limits::default());
    let mut client = served.client();
    for batch in [
        "CREATE LOGIN app WITH PASSWORD = 'Str0ng-enough'; CREATE LOGIN changer WITH PASSWORD = 'Str0ng-enough'; \
         EXEC xp_create_subdir 'audits'",
        "CREATE SERVER AUDIT a TO FILE (FILEPATH = 'audits') WITH (QUEUE_DELAY = 0); ALTER SERVER AUDIT a WITH (STATE = ON)",
        "CREATE SERVER AUDIT SPECIFICATION s FOR SERVER AUDIT a ADD (SUCCESSFUL_LOGIN_GROUP), ADD (FAILED_LOGIN_GROUP), \
         ADD (LOGOUT_GROUP), ADD (LOGIN_CHANGE_PASSWORD_GROUP) WITH (STATE = ON)",
    ] {
        assert_eq!(client.query(batch).errors(), [] as [i32; 0], "{batch}");
    }
    assert_eq!(attempt(&served, "app", "wrong"), [18456]);
    assert_eq!(attempt(&served, "stranger", "wrong"), [18456]);
    assert_eq!(attempt(&served, "app", "Str0ng-enough"), [] as [i32; 0]);
    let mut changer = Client::new(served.raw());
    changer.prelogin(Encryption::NotSupported);
    let mut asked = login();
    asked.user = "changer".into();
    asked.password = Password::new("Str0ng-enough");
    asked.new_password = Some(Password::new("Str0nger-enough"));
    assert!(changer.log_in(&asked).is_login());
    let read = "FROM sys.fn_get_audit_file('audits/*', DEFAULT, DEFAULT)";
    let rows = client.query(&format!(
        "SELECT CONCAT(action_id, ' ', server_principal_name, ' ', succeeded, ' ', client_ip, ' ', statement) {read} \
         WHERE server_principal_name <> 'sa' AND action_id <> 'LGO'"
    ));
    let expected = [
        "LGIF app 0 127.0.0.1 Login failed for user 'app'. Reason: Password did not match that for the login provided. \
         [CLIENT: 127.0.0.1]",
        "LGIF stranger 0 127.0.0.1 Login failed for user 'stranger'. Reason: Could not find a login matching the name \
         provided. [CLIENT: 127.0.0.1]",
        "LGIS app 1 127.0.0.1 ",
        "LGIS changer 1 127.0.0.1 ",
        "PWCS changer 1 127.0.0.1 ALTER LOGIN [changer] WITH PASSWORD = '******' OLD_PASSWORD = '******'",
    ];
    assert_eq!(texts(&rows.rows), expected);
    let secrets = client.query(&format!(
        "SELECT COUNT(*) {read} WHERE CONCAT(statement, additional_information) LIKE '%enough%' \
         OR CONCAT(statement, additional_information) LIKE '%{PASSWORD}%'"
    ));
    assert_eq!(secrets.rows, [[Value::Int(0)]]);
}

#[test]
fn many_logins_at_once_are_all_recorded() {
    const THREADS: usize = 8;
    const LOGINS: usize = 100;
    let served = serve(Limits::default());
    let mut client = served.client();
    let storm = || {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..LOGINS).for_each(|_| drop(served.client())));
            }
        });
        (THREADS * LOGINS) as f64 / began.elapsed().as_secs_f64()
    };
    let without = storm();
    for batch in [
        "EXEC xp_create_subdir 'audits'",
        "CREATE SERVER AUDIT a TO FILE (FILEPATH = 'audits', MAXSIZE = 2 MB) WITH (QUEUE_DELAY = 0, ON_FAILURE = \
         FAIL_OPERATION); ALTER SERVER AUDIT a WITH (STATE = ON)",
        "CREATE SERVER AUDIT SPECIFICATION s FOR SERVER AUDIT a ADD (SUCCESSFUL_LOGIN_GROUP), ADD (LOGOUT_GROUP) WITH \
         (STATE = ON)",
    ] {
        assert_eq!(client.query(batch).errors(), [] as [i32; 0], "{batch}");
    }
    let with = storm();
    println!(
        "logins a second: {without:.0} without an audit, {with:.0} with one that is synchronous"
    );
    let count = |action: &str, client: &mut Client<std::net::TcpStream>| {
        let query = format!(
            "SELECT COUNT(*) FROM sys.fn_get_audit_file('audits/*', DEFAULT, DEFAULT) WHERE action_id = '{action}'"
        );
        client.query(&query).rows
    };
    let all = [[Value::Int((THREADS * LOGINS) as i32)]];
    assert_eq!(count("LGIS", &mut client), all);
    crate::support::eventually("every logout is there", || count("LGO", &mut client) == all);
}
