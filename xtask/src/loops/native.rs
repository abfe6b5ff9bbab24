//! The works over memory-optimised tables: each loop between two commits is an atomic block of a natively compiled procedure.

use super::works::{ROW, Work};

/// Room for the rows that a run changes, and for all that runs insert.
const PLAIN_IN_MEMORY: &str = "create table {t} (k bigint not null primary key nonclustered hash with (bucket_count = 131072), \
                               a int not null, b int not null, c char(40) not null default 'x', v varchar(60) null, d \
                               datetime not null default getdate()) with (memory_optimized = on)";
const KEY_AND_NUMBER: &str = "create table {t} (k bigint not null primary key nonclustered hash with (bucket_count = 33554432), \
                              a int not null) with (memory_optimized = on)";

pub const WORKS: &[Work] = &[
    Work {
        name: "native-insert",
        tables: &[KEY_AND_NUMBER],
        rows: "",
        body: "insert {t} (k, a) values (@k, @i)",
        commit_every: 1,
        native: true,
    },
    Work {
        name: "native-insert-1000",
        tables: &[KEY_AND_NUMBER],
        rows: "",
        body: "insert {t} (k, a) values (@k, @i)",
        commit_every: 1000,
        native: true,
    },
    Work {
        name: "native-read-1000",
        tables: &[PLAIN_IN_MEMORY],
        rows: ROW,
        body: "select @o = a from {t} where k = @k",
        commit_every: 1000,
        native: true,
    },
    Work {
        name: "native-update",
        tables: &[PLAIN_IN_MEMORY],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1,
        native: true,
    },
    Work {
        name: "native-update-1000",
        tables: &[PLAIN_IN_MEMORY],
        rows: ROW,
        body: "update {t} set a = a + 1 where k = @k",
        commit_every: 1000,
        native: true,
    },
    Work {
        // District, order, ten stocks, ten lines.
        name: "native-new-order",
        tables: &[
            "create table {t}_d (k bigint not null primary key nonclustered hash with (bucket_count = 64), next int not null, \
             ytd money not null) with (memory_optimized = on)",
            "insert {t}_d select n, 1, 0 from numbers where n < 64",
            "create table {t}_o (d bigint not null, o int not null, c int not null, at datetime not null, lines tinyint \
             not null, primary key nonclustered hash (d, o) with (bucket_count = 1048576), index {t}_oc nonclustered \
             (d, c, o)) with (memory_optimized = on)",
            "create table {t}_l (d bigint not null, o int not null, n tinyint not null, i int not null, quantity \
             smallint not null, amount money not null, dist char(24) not null, primary key nonclustered hash (d, o, n) \
             with (bucket_count = 4194304)) with (memory_optimized = on)",
            "create table {t} (k bigint not null primary key nonclustered hash with (bucket_count = 131072), quantity int \
             not null, ytd int not null, orders int not null, dist char(24) not null, data varchar(50) not null) with \
             (memory_optimized = on)",
        ],
        rows: "k, 50, 0, 0, 'dist', 'some data of the stock'",
        body: "select @o = next from {t}_d where k = @s; update {t}_d set next = @o + 1 where k = @s; insert {t}_o (d, o, \
               c, at, lines) values (@s, @o, @i % 3000, getdate(), 10); set @l = 1; while @l <= 10 begin set @j = (@i * 10 + \
               @l) * 331 % 1000; set @m = @first + (@i * 10 + @l) * 331 % 8192; select @q = quantity, @dist = dist from {t} \
               where k = @m; if @q >= 15 set @q = @q - 5 else set @q = @q + 86; update {t} set quantity = @q, ytd = ytd + \
               5, orders = orders + 1 where k = @m; insert {t}_l (d, o, n, i, quantity, amount, dist) values (@s, @o, @l, \
               @j, 5, 5 * @q, @dist); set @l = @l + 1 end",
        commit_every: 1,
        native: true,
    },
];

/// What such tables ask of the database: a filegroup, its container beside the server's data files.
pub const CONTAINER: [&str; 2] = [
    "use loops alter database loops add filegroup in_memory contains memory_optimized_data",
    "use loops declare @folder nvarchar(2000) = cast(serverproperty('InstanceDefaultDataPath') as nvarchar(2000)); exec(N'alter \
     database loops add file (name = in_memory, filename = ''' + @folder + N'loops_in_memory'') to filegroup in_memory')",
];
