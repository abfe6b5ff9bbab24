//! `millrace serve` as a process: what must not end it does not, and what must does.

use client::{Address, Connection, Encrypt};
use session::Collected;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tds::login7::Password;

const PASSWORD: &str = "Mill.race.1";

struct Served {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Served {
    fn start(name: &str, stderr: Stdio) -> Served {
        let folder = std::env::temp_dir().join(format!("millrace-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let port = {
            let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
            free.local_addr().expect("its number").port()
        };
        let child = Command::new(env!("CARGO_BIN_EXE_millrace"))
            .args(["serve", "--memory", "256", "--listen", &format!("127.0.0.1:{port}"), "--data"])
            .arg(&folder)
            .env("MILLRACE_SA_PASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .expect("started");
        Served { child, port, folder }
    }

    fn connect(&mut self) -> Connection<TcpStream> {
        let address = Address {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            user: "sa".to_owned(),
            password: Some(Password::new(PASSWORD)),
            database: None,
            encrypt: Encrypt::No,
            certificate: None,
            trust_any: false,
        };
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match Connection::open(&address, "a test") {
                Ok(connection) => return connection,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            assert_eq!(self.child.try_wait().expect("looked"), None, "it ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// SIGTERM; how long it took to end.
    fn terminate(&mut self) -> Duration {
        let begun = Instant::now();
        let sent = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill is there").success());
        while self.child.try_wait().expect("looked").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        begun.elapsed()
    }

    fn resident_mb(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let text = text.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kb.expect("its memory") >> 10
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn errors(connection: &mut Connection<TcpStream>, text: &str) -> Vec<i32> {
    let mut said = Collected::default();
    connection.execute(text, &mut said).expect("an answer");
    said.errors()
}

#[test]
fn a_log_on_a_full_disk_ends_nothing() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut served = Served::start("full", full.into());
    let mut connection = served.connect();
    assert_eq!(errors(&mut connection, "SELECT 1"), [0; 0]);
    drop(connection);
    served.terminate();
}

#[test]
fn a_statement_that_cannot_get_on_is_701_for_itself_alone() {
    let mut served = Served::start("memory", Stdio::null());
    let mut other = served.connect();
    let texts = [
        "DECLARE @a varchar(max) = 'x' WHILE 1 = 1 SET @a = @a + @a",
        "DECLARE @t TABLE (a varchar(max))
         WHILE 1 = 1 INSERT @t VALUES (REPLICATE(CAST('x' AS varchar(max)), 1000000))",
        "CREATE TABLE #t (a varchar(8000)) INSERT #t VALUES (REPLICATE('x', 8000))
         WHILE 1 = 1 INSERT #t SELECT a FROM #t",
        "DECLARE @x xml = REPLICATE(CAST('<a/>' AS varchar(max)), 20000000)",
        "SELECT LEN(REPLACE(REPLICATE(CAST('x' AS varchar(max)), 200000), 'x', REPLICATE('y', 8000)))",
    ];
    for text in texts {
        let mut connection = served.connect();
        assert_eq!(errors(&mut connection, text), [701], "{text}");
        assert_eq!(errors(&mut connection, "SELECT 1"), [0; 0], "{text}");
        assert_eq!(errors(&mut other, "SELECT 1"), [0; 0], "{text}");
        let resident = served.resident_mb();
        // 256 MB, a tenth above, and the program itself.
        assert!(resident < 256 + 26 + 64, "{text}: {resident} MB");
    }
    assert_eq!(errors(&mut other, "CREATE DATABASE d"), [0; 0]);
    served.terminate();
}

#[test]
fn a_lower_limit_leaves_a_server_that_answers() {
    let mut served = Served::start("lower", Stdio::null());
    let mut connection = served.connect();
    // Plans that nobody needs any more.
    let texts = "
        DECLARE @i int = 0, @s nvarchar(100)
        WHILE @i < 5000 BEGIN
            SET @s = CONCAT(N'DECLARE @x int = @p + ', @i) EXEC sp_executesql @s, N'@p int', 1
            SET @i += 1
        END";
    assert_eq!(errors(&mut connection, texts), [0; 0]);
    let lower = "
        EXEC sp_configure 'show advanced options', 1 RECONFIGURE
        EXEC sp_configure 'max server memory (MB)', 128 RECONFIGURE";
    assert_eq!(errors(&mut connection, lower), [0; 0]);
    // What queries may have is a quarter of it.
    let granted = "
        IF (SELECT MAX(max_target_memory_kb) FROM sys.dm_exec_query_resource_semaphores) <> 32768
            RAISERROR('it does not follow', 16, 1)";
    assert_eq!(errors(&mut connection, granted), [0; 0]);
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        let mut other = served.connect();
        assert_eq!(errors(&mut other, "SELECT 1"), [0; 0]);
        assert_eq!(errors(&mut connection, "SELECT COUNT(*) FROM sys.objects"), [0; 0]);
    }
    served.terminate();
}

#[test]
fn the_server_ends_in_time_whatever_runs() {
    let mut served = Served::start("end", Stdio::null());
    let mut busy = served.connect();
    let work = std::thread::spawn(move || {
        let mut said = Collected::default();
        let _ = busy.execute(
            "SELECT COUNT(*) FROM sys.all_columns a, sys.all_columns b, sys.all_columns c WHERE a.name LIKE '%x%' + b.name",
            &mut said,
        );
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(served.terminate() < Duration::from_secs(11));
    work.join().expect("it was answered, or not");
}
