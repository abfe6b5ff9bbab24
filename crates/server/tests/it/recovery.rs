//! Connection resiliency, as a client does it: what it is told of its session, and the session that it gets back.

use crate::support::{Answer, Client, Served, eventually, login, serve};
use server::Limits;
use std::net::TcpStream;
use tds::client::{Change, Token};
use tds::login7::{Login7, feature};
use tds::prelogin::Encryption;
use tds::recovery::{Recorded, Recovery, States};
use types::Value;

fn connect(served: &Served, asked: &Login7) -> (Client<TcpStream>, Answer) {
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::NotSupported);
    let answer = client.log_in(asked);
    (client, answer)
}

/// A login that asks for a session that can be recovered: a new one, or this one.
fn recoverable(recovery: Option<&Recovery>) -> Login7 {
    let data = recovery.map(Recovery::encode).unwrap_or_default();
    Login7 { features: vec![(feature::SESSION_RECOVERY, data)], ..login() }
}

/// The states in FEATUREEXTACK.
fn acknowledged(answer: &Answer) -> Option<States> {
    let features = answer.tokens.iter().find_map(|token| match token {
        Token::FeatureExtAck(features) => Some(features),
        _ => None,
    })?;
    let (_, data) = features.iter().find(|(id, _)| *id == feature::SESSION_RECOVERY)?;
    let mut states = States::new();
    let mut rest = &data[..];
    while let [id, length, more @ ..] = rest {
        let (bytes, more) = more.split_at(usize::from(*length));
        states.push((*id, bytes.to_vec()));
        rest = more;
    }
    Some(states)
}

/// The SESSIONSTATE of an answer, which must stand before its last DONE.
fn told(answer: &Answer) -> Option<(u32, bool, States)> {
    let at = answer.tokens.iter().position(|t| matches!(t, Token::SessionState { .. }))?;
    assert_eq!(at + 2, answer.tokens.len(), "{:?}", answer.tokens);
    assert!(matches!(answer.tokens[at + 1], Token::Done(_)));
    match &answer.tokens[at] {
        Token::SessionState { sequence, recoverable, states } => {
            Some((*sequence, *recoverable, states.clone()))
        }
        _ => None,
    }
}

#[test]
fn a_session_comes_back_with_its_settings() {
    let served = serve(Limits::default());
    let (mut client, answer) = connect(&served, &recoverable(None));
    let initial = acknowledged(&answer).expect("the feature is acknowledged");
    client.query("CREATE DATABASE elsewhere");
    assert_eq!(told(&client.query("SELECT 1")), None);

    let answer = client.query(
        "USE elsewhere; SET DATEFIRST 3; SET DATEFORMAT ydm; SET LOCK_TIMEOUT 1234; SET NOCOUNT ON; SET XACT_ABORT ON; \
         SET TEXTSIZE 5000; SET ANSI_NULLS OFF; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; \
         SET DEADLOCK_PRIORITY -3; SET CONTEXT_INFO 0x0102",
    );
    let (sequence, whole, states) = told(&answer).expect("the settings have changed");
    assert!(sequence == 0 && whole);
    assert_eq!(told(&client.query("SELECT 1; SELECT 2")), None);
    const SETTINGS: &str = "SELECT DB_NAME(), @@DATEFIRST, @@LOCK_TIMEOUT, @@OPTIONS, @@TEXTSIZE, CONTEXT_INFO(), \
        s.transaction_isolation_level, s.deadlock_priority, s.date_format \
        FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID";
    let before = client.query(SETTINGS).rows;

    // The connection breaks.
    drop(client);
    let recovery = Recovery {
        initial: Recorded {
            database: "master".into(),
            language: "us_english".into(),
            states: initial.clone(),
        },
        last: Recorded { database: "elsewhere".into(), language: String::new(), states },
    };
    let (mut client, answer) = connect(&served, &recoverable(Some(&recovery)));
    assert!(answer.is_login(), "{answer:?}");
    let entered = |token: &Token| matches!(token, Token::Change(Change::Database(name)) if name == "elsewhere");
    assert!(answer.tokens.iter().any(entered), "{answer:?}");
    assert_eq!(acknowledged(&answer), Some(recovery.last.states.clone()));
    assert_eq!(client.query(SETTINGS).rows, before);

    // A database that is gone since.
    drop(client);
    let (mut client, _) = connect(&served, &login());
    eventually("nobody is in the database any more", || {
        client.query("DROP DATABASE elsewhere").errors().is_empty()
    });
    let (_, answer) = connect(&served, &recoverable(Some(&recovery)));
    assert!(!answer.is_login());
    assert_eq!(answer.errors(), [4060, 18456]);
}

#[test]
fn what_a_new_session_would_lack_is_not_recovered() {
    let served = serve(Limits::default());
    let (mut client, _) = connect(&served, &recoverable(None));
    let mut sequence = 0;
    for (begin, end) in [
        ("BEGIN TRANSACTION", "COMMIT"),
        ("CREATE TABLE #t (a int)", "DROP TABLE #t"),
        ("DECLARE c CURSOR GLOBAL FOR SELECT 1; OPEN c", "CLOSE c; DEALLOCATE c"),
        ("EXEC sp_getapplock 'a', 'Exclusive', 'Session'", "EXEC sp_releaseapplock 'a', 'Session'"),
        ("DBCC TRACEON (1117)", "DBCC TRACEOFF (1117)"),
    ] {
        for (text, whole) in [(begin, false), (end, true)] {
            let answer = client.query(text);
            let (number, recoverable, _) = told(&answer).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((number, recoverable), (sequence, whole), "{text}");
            sequence += 1;
        }
    }
    // Who has not asked is told nothing.
    let (mut client, answer) = connect(&served, &login());
    assert_eq!(acknowledged(&answer), None);
    assert_eq!(told(&client.query("SET DATEFIRST 3")), None);
}

#[test]
fn junk_is_refused() {
    let served = serve(Limits::default());
    let states: [States; 6] = [
        vec![(0, vec![0xFF; 5])],
        vec![(1, vec![200, 7, 0])],
        vec![(1, vec![0, 8, 0])],
        vec![(4, vec![9, 0])],
        vec![(5, vec![0; 129])],
        vec![(77, vec![])],
    ];
    for states in states {
        let last = Recorded { states, ..Recorded::default() };
        let recovery = Recovery { initial: Recorded::default(), last };
        let (_, answer) = connect(&served, &recoverable(Some(&recovery)));
        assert!(!answer.is_login(), "{recovery:?}");
        assert_eq!(answer.errors().last(), Some(&18456), "{recovery:?}");
    }
    let asked = Login7 { features: vec![(feature::SESSION_RECOVERY, vec![1, 2, 3])], ..login() };
    let (_, answer) = connect(&served, &asked);
    assert!(!answer.is_login());
    let (mut client, _) = connect(&served, &recoverable(None));
    assert_eq!(client.query("SELECT 1").rows, [[Value::Int(1)]]);
}
