//! Logins other than sa: who gets in, what they may do, and what changes while they are connected.

use crate::support::{Answer, Client, Served, eventually, login, serve};
use server::Limits;
use std::net::TcpStream;
use tds::login7::Password;
use tds::prelogin::Encryption;
use types::Value;

const ANNA: &str = "Sesam.open.1";

fn attempt(
    served: &Served,
    user: &str,
    password: &str,
    database: &str,
) -> (Client<TcpStream>, Answer) {
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::NotSupported);
    let mut asked = login();
    (asked.user, asked.password, asked.database) =
        (user.into(), Password::new(password), database.into());
    let answer = client.log_in(&asked);
    (client, answer)
}

fn enter(served: &Served, user: &str, password: &str, database: &str) -> Client<TcpStream> {
    let (client, answer) = attempt(served, user, password, database);
    assert!(answer.is_login(), "{user}: {answer:?}");
    client
}

/// sa, in a database `shop` with tables `open`, `closed` and a procedure; and a login and user `anna`.
fn shop(served: &Served) -> Client<TcpStream> {
    let mut sa = served.client();
    for batch in [
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE dbo.goods (id int PRIMARY KEY, price int NOT NULL)",
        "CREATE TABLE dbo.salaries (id int PRIMARY KEY, amount int NOT NULL)",
        "INSERT dbo.goods VALUES (1, 10); INSERT dbo.salaries VALUES (1, 5000)",
        "CREATE PROCEDURE dbo.raise @by int AS UPDATE dbo.salaries SET amount = amount + @by",
        &format!("CREATE LOGIN anna WITH PASSWORD = '{ANNA}', DEFAULT_DATABASE = shop"),
        "CREATE USER anna FOR LOGIN anna",
        "GRANT SELECT, INSERT ON dbo.goods TO anna",
    ] {
        assert_eq!(sa.query(batch).errors(), [0; 0], "{batch}");
    }
    sa
}

#[test]
fn a_user_does_what_was_granted_and_nothing_else() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    let mut anna = enter(&served, "anna", ANNA, "");
    let Value::SmallInt(spid) = sa.query("SELECT @@SPID").rows[0][0] else { panic!("a smallint") };
    let who =
        "SELECT 1 WHERE SUSER_SNAME() = 'anna' AND USER_NAME() = 'anna' AND DB_NAME() = 'shop'";
    assert_eq!(anna.query(who).rows.len(), 1);

    assert_eq!(anna.query("SELECT price FROM dbo.goods").rows, [[Value::Int(10)]]);
    assert_eq!(anna.query("INSERT dbo.goods VALUES (2, 20)").errors(), [0; 0]);
    for (batch, number) in [
        ("UPDATE dbo.goods SET price = 0", 229),
        ("DELETE dbo.goods", 229),
        ("SELECT * FROM dbo.salaries", 229),
        ("EXEC dbo.raise 1", 229),
        ("DROP TABLE dbo.goods", 3701),
        ("CREATE TABLE dbo.mine (id int)", 262),
        ("CREATE LOGIN eve WITH PASSWORD = 'Sesam.open.1'", 15247),
        ("SELECT * FROM sys.dm_os_wait_stats", 300),
        (&format!("KILL {spid}"), 6102),
    ] {
        let answer = anna.query(batch);
        assert!(answer.errors().contains(&number), "{batch}: {:?}", answer.messages);
        assert_eq!(anna.query("SELECT 1").rows, [[Value::Int(1)]], "after {batch}");
    }
    assert_eq!(sa.query("SELECT SUM(price) FROM dbo.goods").rows, [[Value::Int(30)]]);
    assert_eq!(sa.query("SELECT amount FROM dbo.salaries").rows, [[Value::Int(5000)]]);

    // The procedure's owner is the table's: EXECUTE is enough.
    assert_eq!(sa.query("GRANT EXECUTE ON dbo.raise TO anna").errors(), [0; 0]);
    assert_eq!(anna.query("EXEC dbo.raise 1").errors(), [0; 0]);
    assert_eq!(anna.query("SELECT * FROM dbo.salaries").errors(), [229]);
    assert_eq!(sa.query("SELECT amount FROM dbo.salaries").rows, [[Value::Int(5001)]]);
}

#[test]
fn what_is_granted_and_denied_counts_from_the_next_request_on() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    let mut anna = enter(&served, "anna", ANNA, "shop");
    let read = "SELECT price FROM dbo.goods";
    assert_eq!(anna.query(read).errors(), [0; 0]);
    sa.query("DENY SELECT ON dbo.goods TO anna");
    assert_eq!(anna.query(read).errors(), [229]);
    // A role that may read everything does not outweigh the DENY; without the DENY it is enough.
    sa.query("ALTER ROLE db_datareader ADD MEMBER anna");
    assert_eq!(anna.query(read).errors(), [229]);
    sa.query("REVOKE SELECT ON dbo.goods TO anna");
    assert_eq!(anna.query(read).errors(), [0; 0]);
    sa.query("ALTER ROLE db_datareader DROP MEMBER anna");
    assert_eq!(anna.query(read).errors(), [229]);
    sa.query("ALTER ROLE db_owner ADD MEMBER anna");
    assert_eq!(anna.query("CREATE TABLE dbo.hers (id int); DROP TABLE dbo.hers").errors(), [0; 0]);
}

#[test]
fn a_server_role_reaches_the_server_and_no_data() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    let mut anna = enter(&served, "anna", ANNA, "shop");
    assert_eq!(anna.query("SELECT COUNT(*) FROM sys.dm_os_wait_stats").errors(), [300, 297]);
    // What is of the server is granted in master.
    assert_eq!(sa.query("GRANT VIEW SERVER STATE TO anna").errors(), [4621]);
    assert_eq!(sa.query("USE master; GRANT VIEW SERVER STATE TO anna; USE shop").errors(), [0; 0]);
    assert_eq!(anna.query("SELECT COUNT(*) FROM sys.dm_os_wait_stats").errors(), [0; 0]);
    assert_eq!(anna.query("SELECT * FROM dbo.salaries").errors(), [229]);
    assert_eq!(sa.query("ALTER SERVER ROLE sysadmin ADD MEMBER anna").errors(), [0; 0]);
    let mut again = enter(&served, "anna", ANNA, "shop");
    assert_eq!(again.query("SELECT amount FROM dbo.salaries").rows, [[Value::Int(5000)]]);
}

#[test]
fn logins_are_closed_disabled_changed_and_dropped() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    let refused = |password: &str, database: &str| {
        let (mut client, answer) = attempt(&served, "anna", password, database);
        assert!(!answer.is_login() && client.is_closed(), "{password} {database:?}: {answer:?}");
        assert!(answer.messages.iter().all(|m| m.state == 1), "{answer:?}");
        answer.errors()
    };
    assert_eq!(refused("Sesam.shut.1", ""), [18456]);
    sa.query("CREATE DATABASE other");
    assert_eq!(refused(ANNA, "other"), [4060, 18456]);

    sa.query("ALTER LOGIN anna DISABLE");
    assert_eq!(refused(ANNA, ""), [18470]);
    assert_eq!(refused("Sesam.shut.1", ""), [18456]);
    sa.query("ALTER LOGIN anna ENABLE");
    drop(enter(&served, "anna", ANNA, ""));

    // A password that was remembered is forgotten with its change.
    sa.query("ALTER LOGIN anna WITH PASSWORD = 'Sesam.open.2'");
    assert_eq!(refused(ANNA, ""), [18456]);
    drop(enter(&served, "anna", "Sesam.open.2", ""));

    assert_eq!(sa.query("USE master; DENY CONNECT SQL TO anna").errors(), [0; 0]);
    assert_eq!(refused("Sesam.open.2", ""), [18456]);
    sa.query("GRANT CONNECT SQL TO anna");
    eventually("anna has left", || sa.query("DROP LOGIN anna").errors().is_empty());
    assert_eq!(refused("Sesam.open.2", ""), [18456]);
}

#[test]
fn a_reset_connection_is_its_login_again() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    for batch in ["CREATE USER bert WITHOUT LOGIN", "GRANT IMPERSONATE ON USER::bert TO anna"] {
        assert_eq!(sa.query(batch).errors(), [0; 0], "{batch}");
    }
    let mut anna = enter(&served, "anna", ANNA, "shop");
    assert_eq!(anna.query("EXECUTE AS USER = 'bert'").errors(), [0; 0]);
    assert_eq!(anna.query("SELECT price FROM dbo.goods").errors(), [229]);
    anna.writer.reset_connection(false);
    assert_eq!(anna.query("SELECT 1 WHERE USER_NAME() = 'anna'").rows.len(), 1);
    assert_eq!(anna.query("SELECT price FROM dbo.goods").rows, [[Value::Int(10)]]);
}

/// What SQL Server 2022 split: who may look at performance sees no security, and a fixed role is enough for either.
#[test]
fn performance_and_security_are_looked_at_by_different_people() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    let mut anna = enter(&served, "anna", ANNA, "shop");
    let (performance, security) = (
        "SELECT COUNT(*) FROM sys.dm_exec_connections",
        "SELECT COUNT(*) FROM sys.dm_tcp_listener_states",
    );
    let sessions = "SELECT 1 FROM sys.dm_exec_sessions WHERE is_user_process = 1";
    assert_eq!(anna.query(performance).errors(), [300, 297]);
    assert_eq!(anna.query(sessions).rows.len(), 1);

    let role = "USE master; ALTER SERVER ROLE ##MS_ServerPerformanceStateReader## ADD MEMBER anna";
    assert_eq!(sa.query(role).errors(), [0; 0]);
    let mut anna = enter(&served, "anna", ANNA, "shop");
    assert_eq!(anna.query(performance).errors(), [0; 0]);
    assert!(anna.query(sessions).rows.len() > 1);
    assert_eq!(anna.query(security).errors(), [300, 297]);

    // What is granted counts for a connection that is there.
    assert_eq!(sa.query("GRANT VIEW SERVER SECURITY STATE TO anna").errors(), [0; 0]);
    assert_eq!(anna.query(security).errors(), [0; 0]);
    assert_eq!(sa.query("DENY VIEW SERVER STATE TO anna").errors(), [0; 0]);
    assert_eq!(anna.query(security).errors(), [300, 297]);
    assert_eq!(anna.query(performance).errors(), [300, 297]);
}

/// A login manager makes logins that get in, and gives nobody any right.
#[test]
fn who_manages_logins_manages_nothing_else() {
    let served = serve(Limits::default());
    let mut sa = shop(&served);
    let role = "USE master; ALTER SERVER ROLE ##MS_LoginManager## ADD MEMBER anna";
    assert_eq!(sa.query(role).errors(), [0; 0]);
    let mut anna = enter(&served, "anna", ANNA, "shop");
    for (batch, errors) in [
        ("CREATE LOGIN eve WITH PASSWORD = 'Sesam.open.3'", &[][..]),
        ("USE master", &[]),
        ("GRANT CONTROL SERVER TO eve", &[4613]),
        ("ALTER SERVER ROLE sysadmin ADD MEMBER eve", &[15151]),
        ("ALTER SERVER ROLE ##MS_ServerStateManager## ADD MEMBER eve", &[15151]),
        ("ALTER LOGIN sa WITH PASSWORD = 'Sesam.open.4'", &[15151]),
        ("CREATE SERVER ROLE team", &[15247]),
    ] {
        assert_eq!(anna.query(batch).errors(), errors, "{batch}");
    }
    let mut eve = enter(&served, "eve", "Sesam.open.3", "master");
    assert_eq!(eve.query("CREATE DATABASE hers").errors(), [262]);
    assert_eq!(sa.query("CREATE USER eve; GRANT CREATE DATABASE TO eve").errors(), [0; 0]);
    assert_eq!(eve.query("CREATE DATABASE hers").errors(), [0; 0]);
    assert_eq!(eve.query("USE hers; CREATE TABLE dbo.mine (id int)").errors(), [0; 0]);
    assert_eq!(eve.query("SELECT COUNT(*) FROM sys.dm_os_wait_stats").errors(), [300, 297]);
}
