//! The catalog on an engine with files in memory, by plain threads.

use crate::*;
use device::{FileSystem, SimFs};
use engine::{DataFile, DbFiles, DbOptions, Durability, LogConfig, TxnOptions};
use std::sync::Arc;
use types::{Len, SqlType, Value};

fn options() -> DbOptions {
    DbOptions {
        log: LogConfig {
            ring_bytes: 1 << 20,
            vlf_bytes: 256 << 10,
            initial_vlfs: 4,
            ..LogConfig::default()
        },
        buffer_pool_bytes: 8 << 20,
        ..DbOptions::default()
    }
}

fn files() -> DbFiles {
    let mut files = DbFiles::named("/db", "t");
    files.data[0].initial_bytes = 2 << 20;
    files.data.push(DataFile { filegroup: 2, file_id: 3, ..DataFile::primary("/db/t2.ndf") });
    files.data[1].initial_bytes = 1 << 20;
    files
}

struct Fixture {
    fs: Arc<SimFs>,
    db: Arc<Database>,
    catalog: Arc<Catalog>,
}

impl Fixture {
    fn new(seed: u64) -> Fixture {
        let fs = SimFs::new(seed);
        let db = Database::create(fs.clone() as Arc<dyn FileSystem>, &files(), options())
            .expect("create");
        let catalog = Catalog::create(&db).expect("catalog");
        Fixture { fs, db, catalog }
    }

    /// Closes and opens again: everything must come from the system tables.
    fn reopen(self) -> Fixture {
        let Fixture { fs, db, catalog } = self;
        drop(catalog);
        db.close().expect("close");
        drop(db);
        let db = Database::open(fs.clone() as Arc<dyn FileSystem>, "/db/t.mdf".as_ref(), options())
            .expect("open");
        let catalog = Catalog::open(&db).expect("catalog");
        Fixture { fs, db, catalog }
    }

    /// One statement in a transaction of its own.
    fn run<T>(
        &self,
        work: impl FnOnce(&Catalog, &mut Txn, &mut DdlScope) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let mut txn = self.db.begin(TxnOptions::default());
        let mut scope = DdlScope::default();
        txn.begin_statement();
        match work(&self.catalog, &mut txn, &mut scope) {
            Ok(result) => {
                txn.end_statement();
                txn.commit(Durability::Full).expect("commit");
                self.catalog.commit(scope);
                Ok(result)
            }
            Err(e) => {
                txn.rollback().expect("rollback");
                Err(e)
            }
        }
    }

    fn create(&self, spec: &TableSpec) -> Result<Arc<TableDef>, CatalogError> {
        self.run(|c, txn, scope| c.create_table(txn, scope, spec))
    }

    fn alter(&self, name: &str, change: &AlterTable) -> Result<Arc<TableDef>, CatalogError> {
        self.run(|c, txn, scope| Ok(c.alter_table(txn, scope, None, name, change)?.new))
    }

    fn insert_row(&self, table: &TableDef, n: i64) {
        let mut txn = self.db.begin(TxnOptions::default());
        let image = engine::RowImage::new(b"row");
        txn.insert(&self.db.tree(table.tree), &n.to_be_bytes(), &image, &mut Default::default())
            .expect("insert");
        txn.commit(Durability::Full).expect("commit");
    }
}

fn column(name: &str, ty: SqlType) -> ColumnSpec {
    ColumnSpec::new(name, ty)
}

/// The table of the posts.
fn big_table(name: &str) -> TableSpec {
    let with = |name: &str, ty, default: &str| ColumnSpec {
        default: Some((None, default.into())),
        ..column(name, ty)
    };
    TableSpec {
        schema: "dbo".into(),
        name: name.into(),
        columns: vec![
            column("c1", SqlType::BigInt),
            with("c2", SqlType::DateTime, "getdate()"),
            with("c3", SqlType::Char(111), "'a'"),
            with("c4", SqlType::Int, "1"),
            column("c5", SqlType::VarChar(Len::Max)),
            column("c6", SqlType::decimal(12, 3)),
        ],
        primary_key: Some(KeySpec {
            name: Some(format!("pk_{name}").into()),
            columns: vec![("C1".into(), false)],
            clustered: true,
            ignore_dup_key: false,
            fill_factor: 0,
            options: Default::default(),
            filegroup: None,
            buckets: None,
        }),
        ..TableSpec::default()
    }
}

fn number<T: std::fmt::Debug>(result: Result<T, CatalogError>) -> i32 {
    result.expect_err("must fail").number()
}

#[test]
fn a_table_is_found_again() {
    let mut f = Fixture::new(1);
    let made = f.create(&big_table("MyBigTable")).expect("create");
    for round in 0..2 {
        let t = f.catalog.table(None, None, "mybigtable").expect("found");
        assert_eq!(
            f.catalog.table(None, Some("DBO"), "MYBIGTABLE").map(|t| t.object_id),
            Some(t.object_id)
        );
        assert!(f.catalog.table(None, Some("sales"), "mybigtable").is_none());
        assert_eq!((t.object_id, t.tree, &*t.name), (made.object_id, made.tree, "MyBigTable"));
        assert_eq!(t.columns, made.columns, "round {round}");
        assert_eq!(t.primary_key, made.primary_key);
        assert_eq!(t.layout, made.layout);
        assert_eq!(t.key_layout, made.key_layout);
        assert_eq!(t.created_unix_ns / 1_000_000_000, made.created_unix_ns / 1_000_000_000);
        assert!(!t.columns[0].nullable && t.columns[1].nullable && !t.is_heap());
        assert_eq!(t.column("C3"), Some(2));
        assert_eq!(t.columns[2].default.as_ref().map(|d| &*d.text), Some("'a'"));
        assert!(matches!(f.catalog.object_by_id(t.object_id), Some(ObjectRef::Table(_))));
        assert_eq!(f.catalog.objects().len(), 1);
        if round == 0 {
            f = f.reopen();
        }
    }
    // Ids go on after those there.
    let other = f.create(&big_table("Other")).expect("create");
    assert!(other.object_id > made.object_id && other.tree != made.tree);
}

#[test]
fn refusals() {
    let f = Fixture::new(2);
    f.create(&big_table("t")).expect("create");
    let spec = |change: &dyn Fn(&mut TableSpec)| {
        let mut spec = big_table("u");
        change(&mut spec);
        number(f.create(&spec))
    };
    assert_eq!(number(f.create(&big_table("T"))), 2714, "case does not matter");
    // A constraint's name is an object's name.
    assert_eq!(spec(&|s| s.primary_key.as_mut().unwrap().name = Some("PK_T".into())), 2714);
    assert_eq!(spec(&|s| s.schema = "nowhere".into()), 2760);
    assert_eq!(spec(&|s| s.columns.push(column("C1", SqlType::Int))), 2705);
    assert_eq!(spec(&|s| s.primary_key.as_mut().unwrap().columns[0].0 = "no".into()), 1911);
    assert_eq!(spec(&|s| s.primary_key.as_mut().unwrap().columns.push(("c1".into(), true))), 1909);
    assert_eq!(spec(&|s| s.primary_key.as_mut().unwrap().columns[0].0 = "c5".into()), 1919);
    assert_eq!(spec(&|s| s.columns[0].nullable = Some(true)), 8111);
    assert_eq!(spec(&|s| s.filegroup = Some("fast".into())), 1921);
    assert_eq!(spec(&|s| s.columns.push(column("x", SqlType::Char(8000)))), 1701);
    let identity = Some(Identity { seed: 1, increment: 1 });
    assert_eq!(
        spec(&|s| for name in ["x", "y"] {
            s.columns.push(ColumnSpec { identity, ..column(name, SqlType::Int) });
        }),
        2744
    );
    assert_eq!(f.catalog.objects().len(), 1, "nothing of a refused table stays");
    assert_eq!(number(f.run(|c, t, s| c.drop_table(t, s, None, "u"))), 3701);
    assert_eq!(number(f.run(|c, t, s| c.truncate_table(t, s, None, "u"))), 4701);
    assert_eq!(number(f.run(|c, t, s| c.drop_procedure(t, s, None, "t"))), 3701);
    let add = AlterTable::AddColumns(vec![]);
    assert_eq!(number(f.alter("u", &add)), 4902);
    f.create(&big_table("u")).expect("the names were given back");
}

#[test]
fn definitions_are_transactional() {
    let f = Fixture::new(3);
    let old = f.create(&big_table("old")).expect("create");
    let version = f.catalog.version();
    let mut txn = f.db.begin(TxnOptions::default());
    let mut scope = DdlScope::default();
    txn.begin_statement();
    let c = &f.catalog;
    c.create_table(&mut txn, &mut scope, &big_table("new")).expect("create");
    let mark = scope.mark();
    c.drop_table(&mut txn, &mut scope, None, "old").expect("drop");
    assert!(c.table(Some(&scope), None, "new").is_some(), "own changes are seen");
    assert!(c.table(Some(&scope), None, "old").is_none());
    assert!(c.table(None, None, "new").is_none(), "others' are not");
    assert!(c.table(None, None, "old").is_some());
    assert_eq!(c.version(), version);
    txn.rollback().expect("rollback");
    drop(txn);
    scope.rollback_to(mark);
    assert!(c.table(Some(&scope), None, "old").is_some());
    scope.rollback_to(0);
    assert!(scope.is_empty());
    // After the rollback the name is free and the old table is whole.
    f.create(&big_table("new")).expect("create");
    assert!(f.catalog.version() > version);
    f.insert_row(&old, 1);
    let f = f.reopen();
    assert_eq!(f.catalog.objects().len(), 2);
    // Drop and create again in one transaction.
    let again = f
        .run(|c, txn, scope| {
            c.drop_table(txn, scope, None, "old")?;
            c.create_table(txn, scope, &big_table("old"))
        })
        .expect("drop and create");
    assert_ne!(again.object_id, old.object_id);
    assert_eq!(f.catalog.table(None, None, "old").map(|t| t.object_id), Some(again.object_id));
    assert!(f.catalog.object_by_id(old.object_id).is_none());
    let f = f.reopen();
    assert_eq!(f.catalog.table(None, None, "old").map(|t| t.tree), Some(again.tree));
    assert_eq!(f.catalog.objects().len(), 2);
}

#[test]
fn a_table_made_changed_and_dropped_in_one_transaction() {
    let f = Fixture::new(10);
    let mut txn = f.db.begin(TxnOptions::default());
    let mut scope = DdlScope::default();
    let c = &f.catalog;
    txn.begin_statement();
    c.create_table(&mut txn, &mut scope, &big_table("t")).expect("create");
    txn.end_statement();
    let (savepoint, mark) = (txn.savepoint(), scope.mark());
    txn.begin_statement();
    let add = AlterTable::AddColumns(vec![column("x", SqlType::Int)]);
    let wider = c.alter_table(&mut txn, &mut scope, None, "t", &add).expect("alter").new;
    assert_eq!(wider.columns.len(), 7);
    c.truncate_table(&mut txn, &mut scope, None, "t").expect("truncate");
    c.drop_table(&mut txn, &mut scope, None, "T").expect("drop");
    assert!(c.table(Some(&scope), None, "t").is_none());
    txn.end_statement();
    txn.rollback_to(savepoint).expect("to the savepoint");
    scope.rollback_to(mark);
    let t = c.table(Some(&scope), None, "t").expect("as before the savepoint");
    assert_eq!(t.columns.len(), 6);
    txn.begin_statement();
    c.alter_table(&mut txn, &mut scope, None, "t", &add).expect("alter again");
    txn.end_statement();
    txn.commit(Durability::Full).expect("commit");
    c.commit(scope);
    drop(txn);
    let f = f.reopen();
    let after = f.catalog.table(None, None, "t").expect("committed");
    assert_eq!((after.columns.len(), after.tree), (7, t.tree));
    f.insert_row(&after, 1);
}

#[test]
fn altering() {
    let f = Fixture::new(4);
    let t = f.create(&TableSpec { primary_key: None, ..big_table("t") }).expect("create");
    assert!(t.is_heap());
    let add_key = |column: &str| {
        AlterTable::AddPrimaryKey(KeySpec {
            name: None,
            columns: vec![(column.into(), true)],
            clustered: true,
            ignore_dup_key: false,
            fill_factor: 0,
            options: Default::default(),
            filegroup: None,
            buckets: None,
        })
    };
    assert_eq!(number(f.alter("t", &add_key("c1"))), 8111, "c1 allows NULL");
    let not_null = ColumnSpec { nullable: Some(false), ..column("id", SqlType::Int) };
    let t = f.alter("t", &AlterTable::AddColumns(vec![not_null.clone()])).expect("empty table");
    let keyed = f.alter("t", &add_key("id")).expect("add key");
    assert_eq!(keyed.primary_key.as_ref().map(|k| k.columns.clone()), Some(vec![(6, true)]));
    assert_ne!(keyed.tree, t.tree, "a heap's tree has other keys");
    assert!(keyed.version > t.version);
    assert_eq!(number(f.alter("t", &add_key("id"))), 1779);
    f.insert_row(&keyed, 7);
    // With rows.
    let more = |spec: ColumnSpec| AlterTable::AddColumns(vec![spec]);
    let late = ColumnSpec { name: "late".into(), ..not_null };
    assert_eq!(number(f.alter("t", &more(late.clone()))), 4901);
    let filled = ColumnSpec {
        default: Some((Some("df_late".into()), "(5)".into())),
        absent: Some(Value::Int(5)),
        ..late
    };
    f.alter("t", &more(filled)).expect("with a default");
    f.alter("t", &more(column("loose", SqlType::VarChar(Len::N(9))))).expect("nullable");
    let default = |column: &str| AlterTable::AddDefault {
        name: Some("df_c1".into()),
        column: column.into(),
        text: "(9)".into(),
    };
    assert_eq!(number(f.alter("t", &default("none"))), 1752);
    assert_eq!(number(f.alter("t", &default("late"))), 1781);
    f.alter("t", &default("c1")).expect("default");
    let drop = |name: &str, if_exists| AlterTable::DropConstraint { name: name.into(), if_exists };
    assert_eq!(number(f.alter("t", &drop("nope", false))), 3728);
    f.alter("t", &drop("nope", true)).expect("if exists");
    let pk = keyed.primary_key.as_ref().expect("key").name.clone();
    let heap = f.alter("t", &drop(&pk, false)).expect("drop key: whoever asked moves the rows");
    assert!(heap.is_heap() && heap.tree != keyed.tree);
    f.alter("t", &drop("DF_LATE", false)).expect("drop default");
    let before = f.catalog.table(None, None, "t").expect("table");
    let f = f.reopen();
    let t = f.catalog.table(None, None, "t").expect("table");
    assert_eq!(t.columns, before.columns);
    assert_eq!(t.layout, before.layout);
    assert_eq!(t.columns[7].absent, Value::Int(5));
    assert_eq!(t.columns[7].default, None);
    assert_eq!(t.columns[0].default.as_ref().map(|d| &*d.name), Some("df_c1"));
    // Emptied, it may have a key again.
    f.run(|c, txn, s| c.truncate_table(txn, s, None, "t")).expect("truncate");
    let t = f.catalog.table(None, None, "t").expect("table");
    assert_ne!(t.tree, before.tree);
    let t2 = f.alter("t", &add_key("id")).expect("add key");
    assert!(!t2.is_heap() && t2.filegroup == t.filegroup);
}

#[test]
fn procedures() {
    let f = Fixture::new(5);
    let options = ModuleOptions { quoted_identifier: true, ansi_nulls: false };
    let put = |f: &Fixture, mode, text: &str| {
        f.run(|c, txn, s| c.put_procedure(txn, s, mode, None, "p", text, options))
    };
    assert_eq!(number(put(&f, PutMode::Alter, "x")), 208);
    let first = put(&f, PutMode::Create, "create proc p as select 1").expect("create");
    assert_eq!(number(put(&f, PutMode::Create, "x")), 2714);
    // Long, and with characters of all widths.
    let long = "create proc p as -- é€😀\n".repeat(2000);
    let second = put(&f, PutMode::Alter, &long).expect("alter");
    assert_eq!(second.object_id, first.object_id);
    assert!(second.version > first.version);
    let f = f.reopen();
    let p = f.catalog.procedure(None, None, "P").expect("found");
    assert_eq!(&*p.text, &*long);
    assert!(p.quoted_identifier && !p.ansi_nulls);
    put(&f, PutMode::CreateOrAlter, "short").expect("create or alter");
    let f = f.reopen();
    assert_eq!(&*f.catalog.procedure(None, None, "p").expect("found").text, "short");
    assert_eq!(number(f.run(|c, txn, s| c.drop_table(txn, s, None, "p"))), 3701);
    f.run(|c, txn, s| c.drop_procedure(txn, s, Some("dbo"), "p")).expect("drop");
    assert!(f.catalog.procedure(None, None, "p").is_none());
    let f = f.reopen();
    assert!(f.catalog.objects().is_empty());
    put(&f, PutMode::CreateOrAlter, "again").expect("create");
}

#[test]
fn filegroups() {
    let f = Fixture::new(6);
    assert_eq!(f.catalog.filegroups().len(), 1);
    let mut groups = f.catalog.filegroups();
    groups.push(FilegroupDef {
        name: "Fast".into(),
        is_default: false,
        memory: None,
        files: vec![FileDef {
            file_id: 3,
            name: "t2".into(),
            path: "/db/t2.ndf".into(),
            size_bytes: 1 << 20,
            max_bytes: Some(1 << 30),
        }],
    });
    f.catalog.set_filegroups(&groups).expect("set");
    let on = |name: Option<&str>, table: &str| TableSpec {
        filegroup: name.map(Into::into),
        ..big_table(table)
    };
    assert_eq!(&*f.create(&on(Some("fast"), "a")).expect("create").filegroup, "Fast");
    assert_eq!(&*f.create(&on(None, "b")).expect("create").filegroup, "PRIMARY");
    groups[0].is_default = false;
    groups[1].is_default = true;
    f.catalog.set_filegroups(&groups).expect("set");
    assert_eq!(&*f.create(&on(None, "c")).expect("create").filegroup, "Fast");
    let f = f.reopen();
    assert_eq!(f.catalog.filegroups(), groups);
    assert_eq!(&*f.catalog.table(None, None, "a").expect("a").filegroup, "Fast");
    f.run(|c, txn, s| c.truncate_table(txn, s, None, "a")).expect("truncate");
    assert_eq!(&*f.catalog.table(None, None, "a").expect("a").filegroup, "Fast");
}

#[test]
fn identity_values() {
    let f = Fixture::new(7);
    let with = |name: &str, seed, increment| {
        let identity = Some(Identity { seed, increment });
        let id = ColumnSpec { identity, ..column("id", SqlType::BigInt) };
        TableSpec { columns: vec![id], primary_key: None, ..big_table(name) }
    };
    let up = f.create(&with("up", 10, 5)).expect("create");
    let down = f.create(&with("down", -1, -1)).expect("create");
    assert!(!up.columns[0].nullable);
    let next = |f: &Fixture, t: &TableDef, n| f.catalog.next_identity(t, n).expect("value").0;
    assert_eq!([next(&f, &up, 1), next(&f, &up, 2), next(&f, &up, 1)], [10, 15, 25]);
    assert_eq!(next(&f, &up, 5000), 30, "more than a block");
    assert_eq!(next(&f, &up, 1), 30 + 5 * 5000);
    assert_eq!([next(&f, &down, 1), next(&f, &down, 1)], [-1, -2]);
    let f = f.reopen();
    let up = f.catalog.table(None, None, "up").expect("up");
    let after = next(&f, &up, 1);
    assert!(after > 30 + 5 * 5000 && (after - 10) % 5 == 0, "{after} was not given before");
    f.run(|c, txn, s| c.truncate_table(txn, s, None, "up")).expect("truncate");
    let fresh = f.catalog.table(None, None, "up").expect("up");
    assert_eq!(next(&f, &fresh, 1), 10, "from the seed again");
    // The end of bigint.
    let last = f.create(&with("last", i64::MAX - 1, 1)).expect("create");
    assert_eq!([next(&f, &last, 1), next(&f, &last, 1)], [i64::MAX - 1, i64::MAX]);
    assert_eq!(number(f.catalog.next_identity(&last, 1)), 8115);
    // Threads never share a value.
    let t = f.create(&with("shared", 1, 1)).expect("create");
    let mut all: Vec<i64> = std::thread::scope(|s| {
        let takers: Vec<_> = (0..4)
            .map(|_| s.spawn(|| (0..2000).map(|_| next(&f, &t, 1)).collect::<Vec<_>>()))
            .collect();
        takers.into_iter().flat_map(|t| t.join().expect("taker")).collect()
    });
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8000);
}

#[test]
fn concurrent_definitions_of_one_table() {
    let f = Fixture::new(8);
    f.create(&big_table("t")).expect("create");
    // Each thread adds columns: every one must be there in the end, none lost to a stale copy.
    std::thread::scope(|s| {
        for thread in 0..3 {
            let f = &f;
            s.spawn(move || {
                for i in 0..10 {
                    let spec = column(&format!("x{thread}_{i}"), SqlType::Int);
                    f.alter("t", &AlterTable::AddColumns(vec![spec])).expect("alter");
                }
            });
        }
    });
    let f = f.reopen();
    assert_eq!(f.catalog.table(None, None, "t").expect("t").columns.len(), 6 + 30);
    // One of many creators of a name wins.
    let wins: usize = std::thread::scope(|s| {
        let creators: Vec<_> = (0..4).map(|_| s.spawn(|| f.create(&big_table("one")))).collect();
        creators
            .into_iter()
            .map(|c| match c.join().expect("creator") {
                Ok(_) => 1,
                Err(e) => {
                    assert_eq!(e.number(), 2714);
                    0
                }
            })
            .sum()
    });
    assert_eq!(wins, 1);
}

#[test]
fn the_list_of_databases() {
    let f = Fixture::new(9);
    let server = ServerCatalog::create(&f.db).expect("list");
    let filegroups = f.catalog.filegroups();
    let def = |name: &str| DatabaseDef {
        database_id: 0,
        name: name.into(),
        state: DatabaseState::Creating,
        options: vec![("recovery".into(), "SIMPLE".into())],
        log: FileDef {
            file_id: 2,
            name: format!("{name}_log").into(),
            path: format!("{name}_log.ldf").into(),
            size_bytes: 0,
            max_bytes: None,
        },
        filegroups: filegroups.clone(),
        created_unix_ns: 17,
    };
    let a = server.add(def("Alpha")).expect("add");
    let b = server.add(def("beta")).expect("add");
    assert_eq!((a.database_id, b.database_id), (5, 6));
    assert_eq!(number(server.add(def("ALPHA"))), 1801);
    assert_eq!(number(server.add(def("tempdb"))), 1801);
    assert_eq!(number(server.database("gamma")), 911);
    let online = DatabaseDef {
        state: DatabaseState::Online,
        options: vec![("delayed_durability".into(), "FORCED".into())],
        ..(*a).clone()
    };
    server.update(online.clone()).expect("update");
    server.remove("BETA").expect("remove");
    assert_eq!(number(server.remove("beta")), 911);
    drop(server);
    let f = f.reopen();
    let server = ServerCatalog::open(&f.db).expect("list");
    assert_eq!(server.databases().iter().map(|d| (**d).clone()).collect::<Vec<_>>(), [online]);
    assert_eq!(server.add(def("beta")).expect("add").database_id, 6, "the lowest free id");
}

#[test]
fn definitions_survive_a_crash_whole_or_not_at_all() {
    for seed in 0..12 {
        let f = Fixture::new(100 + seed);
        // What is acknowledged must be there; what was under way may be there, whole.
        let acknowledged = seed as usize % 5;
        for i in 0..acknowledged {
            f.create(&big_table(&format!("t{i}"))).expect("create");
        }
        f.fs.power_off_at(Some(f.fs.ops() + 1 + seed % 4));
        let late = f.catalog.clone();
        let unfinished = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut txn = f.db.begin(TxnOptions::default());
            let mut scope = DdlScope::default();
            txn.begin_statement();
            late.create_table(&mut txn, &mut scope, &big_table("late"))?;
            txn.end_statement();
            txn.commit(Durability::Full).map_err(CatalogError::from)
        }));
        let certain = matches!(unfinished, Ok(Ok(_)));
        let fs = f.fs.crash(seed);
        let db = Database::open(fs.clone() as Arc<dyn FileSystem>, "/db/t.mdf".as_ref(), options())
            .expect("open");
        let catalog = Catalog::open(&db).expect("catalog");
        for i in 0..acknowledged {
            let t = catalog.table(None, None, &format!("t{i}")).expect("acknowledged");
            assert_eq!((t.columns.len(), &*t.filegroup), (6, "PRIMARY"));
            assert!(t.primary_key.is_some());
        }
        let late = catalog.table(None, None, "late");
        assert!(late.is_some() || !certain);
        assert_eq!(late.map_or(6, |t| t.columns.len()), 6);
        assert!(catalog.objects().len() <= acknowledged + 1);
    }
}

#[test]
fn principals_are_found_again_and_a_rollback_leaves_no_trace() {
    use security::{GrantKey, GrantState, GrantValue, Permission, PrincipalKind, Securable};
    let mut f = Fixture::new(31);
    let add = |name: &'static str| {
        move |d: &mut Directory| -> Result<(), CatalogError> {
            let id = d.free_id(security::database_role::FIRST);
            let mut user = security::Principal::new(id, name, PrincipalKind::User, id);
            user.sid = Some([7; 16].into());
            user.default = Some("dbo".into());
            d.put(user);
            d.members.insert((security::database_role::DATAREADER, id));
            let key = GrantKey {
                securable: Securable::Schema(1),
                grantee: id,
                permission: Permission::Select,
            };
            d.grants.insert(key, GrantValue { state: GrantState::Deny, grantor: 1 });
            Ok(())
        }
    };
    let refused: Result<(), CatalogError> = f.run(|c, txn, scope| {
        c.change_directory(txn, scope, add("gone"))?;
        assert!(c.directory(Some(scope)).find("GONE").is_some(), "its own transaction sees it");
        assert!(c.directory(None).find("gone").is_none(), "others do not");
        Err(CatalogError::NotSupported { what: "on purpose".into() })
    });
    assert!(refused.is_err());
    assert!(f.catalog.directory(None).find("gone").is_none());
    f.run(|c, txn, scope| c.change_directory(txn, scope, add("ann")).map(drop)).unwrap();
    f.run(|c, txn, scope| {
        let mark = scope.mark();
        c.change_directory(txn, scope, add("ben"))?;
        c.change_directory(txn, scope, |d| -> Result<(), CatalogError> {
            d.members.remove(&(security::database_role::OWNER, 1));
            let ben = d.find("ben").unwrap().id;
            d.remove(ben);
            d.schemas.insert(5, security::SchemaDef { id: 5, name: "sales".into(), owner: 5 });
            Ok(())
        })?;
        assert!(scope.mark() > mark);
        Ok(())
    })
    .unwrap();
    let before = f.catalog.directory(None);
    assert!(before.find("ANN").is_some() && before.find("ben").is_none());
    assert!(before.schema("Sales").is_some());
    f = f.reopen();
    assert_eq!(*f.catalog.directory(None), *before);
    assert!(!before.members.contains(&(security::database_role::OWNER, 1)), "taken away for good");
}

#[test]
fn the_servers_principals_are_durable_at_once() {
    let f = Fixture::new(32);
    let server = ServerCatalog::create(&f.db).unwrap();
    assert_eq!(*server.directory(), Directory::server());
    let hash = security::PasswordHash::parse(&[&[2u8, 0][..], &[9; 68]].concat()).unwrap();
    server
        .change_directory(|d| -> Result<(), CatalogError> {
            let sa = d.principals.get_mut(&security::SA_ID).unwrap();
            sa.login.as_mut().unwrap().password = Some(hash.clone());
            sa.name = "boss".into();
            Ok(())
        })
        .unwrap();
    let refused = server.change_directory(|d| {
        d.principals.clear();
        Err::<(), _>(CatalogError::NotSupported { what: "on purpose".into() })
    });
    assert!(refused.is_err());
    let before = server.directory();
    assert_eq!(before.name(security::SA_ID), "boss");
    drop(server);
    let f = f.reopen();
    let again = ServerCatalog::open(&f.db).unwrap();
    assert_eq!(*again.directory(), *before);
    assert_eq!(*f.catalog.directory(None), Directory::database(&security::SA_SID));
}

/// Fixed roles are not stored: a folder of an earlier version has those of this one, but for names that are taken.
#[test]
fn a_fixed_role_gives_way_to_an_older_namesake() {
    let f = Fixture::new(33);
    let server = ServerCatalog::create(&f.db).unwrap();
    let name = "##ms_LoginManager##";
    server
        .change_directory(|d| -> Result<(), CatalogError> {
            let id = security::server_role::FIRST;
            d.put(security::Principal::new(id, name, security::PrincipalKind::User, id));
            Ok(())
        })
        .unwrap();
    drop(server);
    let f = f.reopen();
    let directory = ServerCatalog::open(&f.db).unwrap().directory();
    let all: Vec<i32> = directory.principals.keys().copied().collect();
    assert!(!all.contains(&security::server_role::LOGIN_MANAGER));
    assert!(all.contains(&security::server_role::DATABASE_MANAGER));
    let found = directory.find("##MS_LoginManager##").map(|p| p.id);
    assert_eq!(found, Some(security::server_role::FIRST));
}
