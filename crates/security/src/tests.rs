//! Signing in, in a simulated world: its clock stands still but for waits, so every delay is exact.

use super::*;
use parking_lot::Mutex;
use std::sync::Arc;

const CHEAP: Config = Config {
    cost: HashCost { memory_kib: 8, passes: 1 },
    threads: 2,
    rules: PasswordRules { lockout_after: 0, lockout_minutes: 0, age_days: 42 },
};

/// Logins in memory.
struct Logins(Mutex<Vec<StoredLogin>>);

fn principal(id: i32, name: &str) -> LoginPrincipal {
    LoginPrincipal {
        principal_id: id,
        name: name.into(),
        sid: SA_SID.into(),
        default_database: "master".into(),
    }
}

impl LoginStore for Logins {
    fn login(&self, name: &str) -> Option<StoredLogin> {
        self.0.lock().iter().find(|l| l.principal.name.eq_ignore_ascii_case(name)).cloned()
    }
    fn sa(&self) -> StoredLogin {
        self.0.lock()[0].clone()
    }
    fn lock(&self, principal_id: i32) {
        let mut all = self.0.lock();
        let login = all.iter_mut().find(|l| l.principal.principal_id == principal_id);
        login.expect("a login").locked = true;
    }
    fn set_sa_password(&self, hash: &PasswordHash, generated: bool) -> Result<(), String> {
        let sa = &mut self.0.lock()[0];
        (sa.password, sa.generated) = (Some(hash.clone()), generated);
        Ok(())
    }
}

/// An authenticator with `sa` (no password yet) and `app` (`Right-1234`).
fn kit() -> (Arc<Logins>, Authenticator) {
    kit_with(CHEAP)
}

fn kit_with(config: Config) -> (Arc<Logins>, Authenticator) {
    let login = |id, name| StoredLogin {
        principal: principal(id, name),
        password: None,
        generated: false,
        disabled: false,
        may_connect: true,
        may_be_locked: true,
        locked: false,
        must_change: false,
        expired: false,
    };
    let store = Arc::new(Logins(Mutex::new(vec![login(SA_ID, "sa"), login(260, "app")])));
    let authenticator = Authenticator::new(store.clone(), config);
    store.0.lock()[1].password = authenticator.hash(&password("Right-1234"));
    (store, authenticator)
}

fn password(text: &str) -> Password {
    Password::new(text.to_owned())
}

fn none(_: &str) -> Option<String> {
    None
}

#[test]
fn the_right_password_opens_and_every_other_has_its_reason() {
    let _sim = runtime::sim::enter(1);
    let (store, gate) = kit();
    let verify = |name: &str, text: &str| gate.verify(name, &password(text), "::1");
    assert_eq!(verify("APP", "Right-1234"), Ok(principal(260, "app")));
    assert_eq!(verify("app", "right-1234"), Err(LoginFailure::WrongPassword));
    assert_eq!(verify("app", ""), Err(LoginFailure::WrongPassword));
    assert_eq!(verify("nobody", "x"), Err(LoginFailure::UnknownLogin));
    assert_eq!(verify("sa", ""), Err(LoginFailure::WrongPassword), "sa has no password");
    assert_eq!(verify("app", &"x".repeat(5000)), Err(LoginFailure::UnknownLogin));
    store.0.lock()[1].may_connect = false;
    assert_eq!(verify("app", "Right-1234"), Err(LoginFailure::NoServerAccess));
    store.0.lock()[1].disabled = true;
    assert_eq!(verify("app", "Right-1234"), Err(LoginFailure::Disabled));
    assert_eq!(verify("app", "wrong"), Err(LoginFailure::DisabledWrongPassword));
}

#[test]
fn wrong_passwords_one_after_the_other_lock_a_login() {
    let _sim = runtime::sim::enter(1);
    let rules = PasswordRules { lockout_after: 3, ..CHEAP.rules };
    let (store, gate) = kit_with(Config { rules, ..CHEAP });
    let verify = |text: &str| gate.verify("app", &password(text), "::1").map(drop);
    for _ in 0..2 {
        assert_eq!(verify("wrong"), Err(LoginFailure::WrongPassword));
    }
    assert_eq!(gate.bad_passwords(260).map(|(count, _)| count), Some(2));
    // A right one ends the row.
    assert_eq!(verify("Right-1234"), Ok(()));
    assert_eq!(gate.bad_passwords(260), None);
    for _ in 0..3 {
        assert_eq!(verify("wrong"), Err(LoginFailure::WrongPassword));
    }
    assert!(store.0.lock()[1].locked);
    assert_eq!(
        verify("Right-1234"),
        Err(LoginFailure::Locked),
        "remembered, and locked all the same"
    );
    assert_eq!(verify("wrong"), Err(LoginFailure::Locked));
    // ALTER LOGIN ... UNLOCK.
    store.0.lock()[1].locked = false;
    gate.forget_bad_passwords(260);
    assert_eq!(verify("wrong"), Err(LoginFailure::WrongPassword));
    assert_eq!(verify("Right-1234"), Ok(()));
    // Without CHECK_POLICY nothing locks it.
    store.0.lock()[1].may_be_locked = false;
    for _ in 0..5 {
        assert_eq!(verify("wrong"), Err(LoginFailure::WrongPassword));
    }
    assert_eq!(verify("Right-1234"), Ok(()));
}

#[test]
fn a_password_that_is_to_be_changed_opens_nothing() {
    let _sim = runtime::sim::enter(1);
    let (store, gate) = kit();
    let verify = |text: &str| gate.verify("app", &password(text), "::1").map(drop);
    store.0.lock()[1].expired = true;
    assert_eq!(verify("Right-1234"), Err(LoginFailure::Expired));
    store.0.lock()[1].must_change = true;
    assert_eq!(verify("Right-1234"), Err(LoginFailure::MustChange));
    assert_eq!(
        verify("wrong"),
        Err(LoginFailure::WrongPassword),
        "who does not know it hears nothing"
    );
}

#[test]
fn states_are_those_of_sql_server_and_the_client_sees_one_text() {
    use LoginFailure::*;
    let all = [
        (UnknownLogin, 5),
        (DisabledWrongPassword, 7),
        (WrongPassword, 8),
        (NoServerAccess, 12),
        (NoDatabase, 38),
        (NoDefaultDatabase, 40),
    ];
    for (failure, state) in all {
        assert_eq!((failure.state(), failure.number()), (state, 18456));
        assert_eq!(failure.client_text("joe"), "Login failed for user 'joe'.");
    }
    assert_eq!(Disabled.number(), 18470);
    assert_eq!([Locked, Expired, MustChange].map(LoginFailure::number), [18486, 18487, 18488]);
}

#[test]
fn failures_cost_time_and_a_password_that_was_right_before_does_not() {
    let _sim = runtime::sim::enter(2);
    let (_, gate) = kit();
    let timed = |name: &str, text: &str, peer: &str| {
        let before = runtime::clock::now_ns();
        let opened = gate.verify(name, &password(text), peer).is_ok();
        (opened, (runtime::clock::now_ns() - before) / 1_000_000)
    };
    for wait in [0, 0, 0, 250, 500, 1000, 2000, 4000, 4000] {
        assert_eq!(timed("app", "guess", "10.1.1.1"), (false, wait));
    }
    assert_eq!(timed("app", "Right-1234", "10.1.1.2"), (true, 0), "from elsewhere at once");
    assert_eq!(timed("app", "Right-1234", "10.1.1.1"), (true, 0), "verified before");
    assert_eq!(timed("app", "guess", "10.1.1.1"), (false, 0), "the count began anew");
}

#[test]
fn a_changed_password_is_not_remembered() {
    let _sim = runtime::sim::enter(3);
    let (store, gate) = kit();
    assert!(gate.verify("app", &password("Right-1234"), "p").is_ok());
    let changed = gate.hash(&password("Other-1234"));
    store.0.lock()[1].password = changed;
    assert!(gate.verify("app", &password("Right-1234"), "p").is_err());
    assert!(gate.verify("app", &password("Other-1234"), "p").is_ok());
    store.0.lock()[1].password = None;
    assert!(gate.verify("app", &password("Other-1234"), "p").is_err());
}

#[test]
fn many_sign_in_at_once_on_threads_of_their_own() {
    let (_, gate) = kit();
    std::thread::scope(|scope| {
        for i in 0..20 {
            let gate = &gate;
            scope.spawn(move || {
                let right = i % 2 == 0;
                let text = if right { "Right-1234" } else { "wrong" };
                let peer = format!("10.0.0.{i}");
                assert_eq!(gate.verify("app", &password(text), &peer).is_ok(), right);
            });
        }
    });
}

#[test]
fn the_first_password_comes_from_the_environment_once() {
    let _sim = runtime::sim::enter(4);
    let (_, gate) = kit();
    assert!(!gate.sa_password_was_set());
    let weak = |name: &str| (name == "MILLRACE_SA_PASSWORD").then(|| "secret".to_owned());
    let refused = gate.first_start(&weak).unwrap_err();
    assert_eq!(
        refused,
        FirstStartError::Policy { variable: "MILLRACE_SA_PASSWORD", error: PolicyError::TooShort }
    );
    let both = |name: &str| match name {
        "MILLRACE_SA_PASSWORD" => Some("First-1234".to_owned()),
        _ => Some("Second-1234".to_owned()),
    };
    let first = gate.first_start(&both).unwrap();
    assert!(matches!(first, FirstStart::Set { variable: "MILLRACE_SA_PASSWORD" }), "{first:?}");
    assert!(gate.sa_password_was_set());
    let later = |_: &str| Some("Third-1234".to_owned());
    assert!(matches!(gate.first_start(&later).unwrap(), FirstStart::NotFirst));
    assert!(gate.verify("sa", &password("First-1234"), "p").is_ok());
    assert!(gate.verify("sa", &password("Third-1234"), "p").is_err());
}

#[test]
fn a_generated_password_works_and_does_not_count_as_set() {
    let _sim = runtime::sim::enter(5);
    let (_, gate) = kit();
    let FirstStart::Generated(made) = gate.first_start(&none).unwrap() else {
        panic!("nothing was in the environment")
    };
    assert!(made.reveal().len() >= 20 && made.check_policy("sa").is_ok());
    assert!(gate.verify("sa", &made, "p").is_ok());
    assert!(!gate.sa_password_was_set());
}

#[test]
fn the_policy() {
    let check = |text: &str| password(text).check_policy("joe");
    assert_eq!(check("Ab1-xyz"), Err(PolicyError::TooShort));
    assert_eq!(check(&"Ab1-".repeat(33)), Err(PolicyError::TooLong));
    assert_eq!(check("abcdefgh1"), Err(PolicyError::NotComplex));
    assert_eq!(check("iAmJOE-1234"), Err(PolicyError::NotComplex), "the name is in it");
    assert_eq!(check("Password1"), Ok(()));
    assert_eq!(check("Grüße-wörld"), Ok(()));
    assert_eq!(PolicyError::NotComplex.number(), 15118);
}

#[test]
fn nothing_secret_is_printed() {
    let _sim = runtime::sim::enter(6);
    let (store, gate) = kit();
    let secret = password("Right-1234");
    let login = store.login("app").unwrap();
    let hash = login.password.clone().unwrap();
    let stored = String::from_utf8(hash.stored().to_vec()).unwrap();
    let salt_and_hash = stored.rsplit('$').next().unwrap();
    gate.verify("app", &secret, "p").unwrap();
    let printed = format!(
        "{secret:?} {hash:?} {login:?} {gate:?} {:?}",
        FirstStart::Generated(secret.clone())
    );
    assert!(!printed.contains("Right"), "{printed}");
    assert!(!printed.contains(salt_and_hash), "{printed}");
}
