//! Coming in: every way of encryption, every refusal, and those who only knock.

use crate::support::{Client, encrypted, eventually, login, serve, shake_hands};
use server::Limits;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;
use tds::client::Token;
use tds::login7::Password;
use tds::prelogin::Encryption;
use types::Value;

#[test]
fn a_login_in_the_clear_tells_what_clients_want_to_know() {
    let served = serve(Limits::default());
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::NotSupported);
    let mut asked = login();
    asked.packet_size = 8000;
    asked.features = vec![(0x0A, vec![]), (0x04, vec![1])];
    let answer = client.log_in(&asked);
    assert!(answer.is_login());
    let numbers: Vec<i32> = answer.messages.iter().map(|m| m.number).collect();
    assert_eq!(numbers, [5701, 5703]);
    let text = format!("{:?}", answer.tokens);
    assert!(text.contains("Database(\"master\")") && text.contains("Language(\"us_english\")"));
    assert!(text.contains("PacketSize"), "{text}");
    let acknowledged = answer.tokens.iter().find_map(|token| match token {
        Token::FeatureExtAck(features) => Some(features.clone()),
        _ => None,
    });
    assert_eq!(acknowledged, Some(vec![(0x0A, vec![1])]));
    assert_eq!(client.query("SELECT 1").rows, [[Value::Int(1)]]);
}

#[test]
fn encryption_is_as_the_client_likes() {
    let served = serve(Limits::default());
    // The login only.
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::Off);
    let mut tls = served.tls(false);
    shake_hands(&mut client, &mut tls);
    let mut inside = encrypted(client, tls);
    inside.writer.login(&login());
    inside.send();
    let (_, stream) = inside.stream.into_parts();
    let mut client = Client::new(stream);
    assert!(client.answer().expect("an answer in the clear").is_login());
    assert_eq!(client.query("SELECT 2").rows, [[Value::Int(2)]]);

    // Everything, in TLS 1.2.
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::On);
    let mut tls = served.tls(false);
    shake_hands(&mut client, &mut tls);
    assert_eq!(tls.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_2));
    let mut client = encrypted(client, tls);
    assert!(client.log_in(&login()).is_login());
    let many = client.query("SELECT REPLICATE(CAST('x' AS varchar(max)), 3000000)");
    assert_eq!(many.rows.len(), 1);
    assert_eq!(client.query("SELECT 3").rows, [[Value::Int(3)]]);

    // Strict, in TLS 1.3.
    let tls = served.tls(true);
    let mut client = encrypted(Client::new(served.raw()), tls);
    client.prelogin(Encryption::On);
    assert_eq!(client.stream.conn.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
    assert_eq!(client.stream.conn.alpn_protocol(), Some(&b"tds/8.0"[..]));
    assert!(client.log_in(&login()).is_login());
    assert_eq!(client.query("SELECT 4").rows, [[Value::Int(4)]]);
}

#[test]
fn refusals_have_one_form_and_close() {
    let served = serve(Limits::default());
    let attempt = |change: &dyn Fn(&mut tds::login7::Login7)| {
        let mut client = Client::new(served.raw());
        client.prelogin(Encryption::NotSupported);
        let mut asked = login();
        change(&mut asked);
        let answer = client.log_in(&asked);
        assert!(!answer.is_login() && client.is_closed());
        assert!(answer.messages.iter().all(|m| m.state == 1), "{answer:?}");
        answer.errors()
    };
    assert_eq!(attempt(&|l| l.password = Password::new("Wrong.1234")), [18456]);
    assert_eq!(attempt(&|l| l.user = "nobody".into()), [18456]);
    assert_eq!(attempt(&|l| l.database = "nowhere".into()), [4060, 18456]);
    assert_eq!(attempt(&|l| l.integrated_security = true), [18452]);
    assert_eq!(attempt(&|l| l.features = vec![(0x02, vec![1])]), [18452]);
    assert_eq!(attempt(&|l| l.new_password = Some(Password::new("allsmall"))), [18466]);
}

#[test]
fn one_session_too_many_is_told_so() {
    let served = serve(Limits { connections: 2, ..Limits::default() });
    let (first, _second) = (served.client(), served.client());
    let mut third = Client::new(served.raw());
    third.prelogin(Encryption::NotSupported);
    assert_eq!(third.log_in(&login()).errors(), [17809]);
    drop(first);
    eventually("a place is free", || {
        let mut again = Client::new(served.raw());
        again.prelogin(Encryption::NotSupported);
        again.log_in(&login()).is_login()
    });
}

#[test]
fn strangers_are_closed_and_others_served() {
    let served = serve(Limits { login_ns: 2_000_000_000, ..Limits::default() });
    let mut session = served.client();
    // Mute, half a packet, half open, and what is no TDS at all.
    let mut mute = Client::new(served.raw());
    let mut slow = Client::new(served.raw());
    slow.stream.write_all(&[0x12, 0x01, 0x00]).expect("sent");
    let half = served.raw();
    half.shutdown(Shutdown::Write).expect("half closed");
    let mut half = Client::new(half);
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        &[0; 64],
        &[0xff; 64],
        // LOGIN7 that lies about its length, and a batch before any login.
        &[0x10, 1, 0, 16, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0],
        &[0x01, 1, 0, 12, 0, 0, 1, 0, 0, 0, 0, 0],
        // A TLS hello cut short by something else.
        &[0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5],
    ] {
        let mut stranger = Client::new(served.raw());
        stranger.stream.write_all(garbage).expect("sent");
        assert!(stranger.is_closed(), "{garbage:x?}");
    }
    assert!(half.is_closed() && mute.is_closed() && slow.is_closed());
    assert_eq!(session.query("SELECT 5").rows, [[Value::Int(5)]]);
    eventually("only the session is left", || served.server.connections() == 1);
}

#[test]
fn a_login_message_has_a_limit() {
    let served = serve(Limits::default());
    let mut client = Client::new(served.raw());
    client.prelogin(Encryption::NotSupported);
    // Packets that never end their message.
    let mut packet = vec![0x10, 0, 0x10, 0, 0, 0, 1, 0];
    packet.resize(0x1000, 0);
    let sent = (0..1000).take_while(|_| client.stream.write_all(&packet).is_ok()).count();
    assert!(client.is_closed() && sent < 1000);
}

#[test]
fn a_crowd_without_a_login_does_not_stop_the_others() {
    const CROWD: usize = 10_000;
    let served = serve(Limits { before_login: 200, ..Limits::default() });
    let mut session = served.client();
    let address = served.address();
    let crowd = std::thread::spawn(move || {
        let mut last = std::collections::VecDeque::new();
        for _ in 0..CROWD {
            last.push_back(std::net::TcpStream::connect(address).expect("connected"));
            if last.len() > 500 {
                last.pop_front();
            }
        }
        last
    });
    let mut slowest = Duration::ZERO;
    let mut queries = 0;
    while !crowd.is_finished() {
        let (answer, took) = crate::support::timed(|| session.query("SELECT 6"));
        assert_eq!(answer.rows, [[Value::Int(6)]]);
        slowest = slowest.max(took);
        queries += 1;
    }
    let mut last = crowd.join().expect("all connected");
    println!("{queries} queries during {CROWD} connections, the slowest took {slowest:?}");
    assert!(queries > 0);
    // Only so many of them are kept; and who wants to log in still can.
    eventually("the oldest are closed", || served.server.connections() <= 201);
    let mut newcomer = served.client();
    assert_eq!(newcomer.query("SELECT 7").rows, [[Value::Int(7)]]);
    let mut byte = [0];
    let oldest = &mut last[0];
    oldest.set_read_timeout(Some(Duration::from_secs(10))).expect("a time-out");
    assert!(matches!(oldest.read(&mut byte), Ok(0) | Err(_)));
}

#[test]
fn a_password_is_changed_at_login() {
    let served = serve(Limits::default());
    served.client().query("CREATE LOGIN changing WITH PASSWORD = 'Old-pass-1!'");
    let with = |old: &str, new: Option<&str>| {
        let mut client = Client::new(served.raw());
        client.prelogin(Encryption::NotSupported);
        let mut asked = login();
        asked.user = "changing".into();
        asked.password = Password::new(old);
        asked.new_password = new.map(Password::new);
        let answer = client.log_in(&asked);
        match answer.is_login() {
            true => vec![0],
            false => answer.errors(),
        }
    };
    // Not simple enough, too short; with a wrong old one; with all that a text may have.
    assert_eq!(with("Old-pass-1!", Some("allsmall")), [18466]);
    assert_eq!(with("Old-pass-1!", Some("Aa1!")), [18464]);
    assert_eq!(with("wrong", Some("New-pass-2!")), [18456]);
    assert_eq!(with("Old-pass-1!", Some("New'-]\u{3a9}pass-2!")), [0]);
    assert_eq!(with("Old-pass-1!", None), [18456]);
    assert_eq!(with("New'-]\u{3a9}pass-2!", None), [0]);
}

#[test]
fn who_must_change_his_password_comes_in_with_a_new_one() {
    let served = serve(Limits::default());
    served.client().query(
        "CREATE LOGIN novice WITH PASSWORD = 'First-pass-1!' MUST_CHANGE, CHECK_EXPIRATION = ON",
    );
    let with = |old: &str, new: Option<&str>| {
        let mut client = Client::new(served.raw());
        client.prelogin(Encryption::NotSupported);
        let mut asked = login();
        asked.user = "novice".into();
        asked.password = Password::new(old);
        asked.new_password = new.map(Password::new);
        let answer = client.log_in(&asked);
        match answer.is_login() {
            true => vec![0],
            false => answer.errors(),
        }
    };
    assert_eq!(with("wrong", None), [18456], "who does not know it hears nothing");
    assert_eq!(with("First-pass-1!", None), [18488]);
    assert_eq!(with("wrong", Some("Second-pass-2!")), [18456]);
    assert_eq!(with("First-pass-1!", Some("short")), [18464]);
    assert_eq!(with("First-pass-1!", None), [18488], "it has not been changed");
    assert_eq!(with("First-pass-1!", Some("Second-pass-2!")), [0]);
    assert_eq!(with("Second-pass-2!", None), [0]);
}
