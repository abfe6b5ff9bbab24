package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"
)

const database = "drv_go_mssqldb"

var (
	background = context.Background()
	made       bool
	opened     []*sql.DB
)

// dsn is a connection string: encrypted, and the server's certificate is the only one trusted.
func dsn(name, password string, more ...string) string {
	query := url.Values{}
	query.Set("database", name)
	query.Set("encrypt", "true")
	query.Set("certificate", os.Getenv("MILLRACE_CERTIFICATE"))
	query.Set("dial timeout", "10")
	for i := 0; i < len(more); i += 2 {
		if more[i+1] == "" {
			query.Del(more[i])
		} else {
			query.Set(more[i], more[i+1])
		}
	}
	address := url.URL{
		Scheme:   "sqlserver",
		User:     url.UserPassword(os.Getenv("MILLRACE_USER"), password),
		Host:     os.Getenv("MILLRACE_HOST") + ":" + os.Getenv("MILLRACE_PORT"),
		RawQuery: query.Encode(),
	}
	return address.String()
}

func password() string { return os.Getenv("MILLRACE_PASSWORD") }

func pool(text string) *sql.DB {
	db, err := sql.Open("sqlserver", text)
	must(err)
	opened = append(opened, db)
	return db
}

func closeAll() {
	for _, db := range opened {
		_ = db.Close()
	}
	opened = nil
}

// open gives a pool on the suite's own database, which it makes when first asked.
func open(more ...string) *sql.DB {
	if !made {
		db := pool(dsn("master", password()))
		exec(db, fmt.Sprintf("IF DB_ID(N'%[1]s') IS NULL CREATE DATABASE %[1]s", database))
		made = true
	}
	return pool(dsn(database, password(), more...))
}

type querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

func exec(db querier, text string, arguments ...any) int64 {
	result, err := db.ExecContext(background, text, arguments...)
	must(err)
	count, err := result.RowsAffected()
	must(err)
	return count
}

func try(db querier, text string, arguments ...any) error {
	_, err := db.ExecContext(background, text, arguments...)
	return err
}

// rows reads one result whole.
func rows(db querier, text string, arguments ...any) [][]any {
	found, err := db.QueryContext(background, text, arguments...)
	must(err)
	defer found.Close()
	all := read(found)
	must(found.Err())
	return all
}

func read(found *sql.Rows) [][]any {
	columns, err := found.Columns()
	must(err)
	all := [][]any{}
	for found.Next() {
		row := make([]any, len(columns))
		places := make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		must(found.Scan(places...))
		all = append(all, row)
	}
	return all
}

func scalar(db querier, text string, arguments ...any) any {
	all := rows(db, text, arguments...)
	if len(all) == 0 {
		panic("no row: " + text)
	}
	return all[0][0]
}

func fixture(db querier, name string) {
	for _, batch := range fixtures[name] {
		exec(db, batch)
	}
}

func one(db *sql.DB) *sql.Conn {
	connection, err := db.Conn(background)
	must(err)
	return connection
}

func text(value any) string {
	if b, ok := value.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(value)
}

var scenarios = map[string]func(){
	"connect": func() {
		db := open()
		equal(scalar(db, "SELECT 1"), int64(1), "SELECT 1")
		equal(scalar(db, "SELECT DB_NAME()"), database, "DB_NAME()")
		check(len(scalar(db, "SELECT @@VERSION").(string)) > 10, "@@VERSION")
		first, second := one(db), one(db)
		id := scalar(first, "SELECT @@SPID")
		check(id != scalar(second, "SELECT @@SPID"), "two connections have one @@SPID")
		must(second.Close())
		equal(scalar(first, "SELECT @@SPID"), id, "@@SPID after the other closed")
		must(first.Close())
		must(db.Ping())
	},

	"encryption": func() {
		const option = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"
		err := pool(dsn("master", password(), "certificate", "")).Ping()
		check(err != nil && strings.Contains(err.Error(), "certificate"), "without the certificate: %v", err)
		// The default without the word: only the login is encrypted.
		standard := open("encrypt", "", "certificate", "")
		equal(scalar(standard, "SELECT 1"), int64(1), "the default")
		strict := open("encrypt", "strict")
		equal(scalar(strict, "SELECT 1"), int64(1), "encrypt=strict")
		equal(scalar(open(), option), "TRUE", "encrypt_option")
		equal(scalar(standard, option), "FALSE", "encrypt_option of the default")
		equal(scalar(strict, option), "TRUE", "encrypt_option of encrypt=strict")
		equal(scalar(open("encrypt", "disable"), option), "FALSE", "encrypt_option of encrypt=disable")
	},

	"wrong-password": func() {
		refused(18456, "wrong password", pool(dsn("master", "not-it")).Ping())
		refused(18456, "empty password", pool(dsn("master", "")).Ping())
		equal(scalar(open(), "SELECT 1"), int64(1), "the next login")
	},

	"unknown-database": func() {
		err := pool(dsn("no_such_database", password())).Ping()
		var failure mssql.Error
		found := false
		if errors.As(err, &failure) {
			for _, each := range failure.All {
				found = found || each.Number == 4060
			}
		}
		check(found, "unknown database: expected 4060, got %v", err)
		connection := one(open())
		refused(911, "USE of an unknown database", try(connection, "USE no_such_database"))
		equal(scalar(connection, "SELECT DB_NAME()"), database, "DB_NAME() after the refusal")
	},

	"types": func() {
		db := open()
		for _, t := range types {
			noting(t.Type, func() {
				for _, v := range t.Values {
					got := scalar(db, fmt.Sprintf("SELECT CAST(%s AS %s) AS v", v.SQL, t.Type))
					check(same(t.Kind, v.Text, got), "%s CAST: expected %s, got %s", t.Type, short(v.Text), short(got))
				}
				exec(db, "DROP TABLE IF EXISTS dbo.typed")
				exec(db, fmt.Sprintf("CREATE TABLE dbo.typed (id int NOT NULL PRIMARY KEY, v %s NULL)", t.Type))
				for n, v := range t.Values {
					exec(db, fmt.Sprintf("INSERT INTO dbo.typed (id, v) VALUES (%d, %s)", n, v.SQL))
				}
				exec(db, "INSERT INTO dbo.typed (id, v) VALUES (1000, NULL)")
				got := rows(db, "SELECT id, v FROM dbo.typed ORDER BY id")
				equal(len(got), len(t.Values)+1, t.Type+": rows in the table")
				for n, v := range t.Values {
					check(same(t.Kind, v.Text, got[n][1]), "%s column: expected %s, got %s", t.Type, short(v.Text), short(got[n][1]))
				}
				equal(got[len(got)-1][1], nil, t.Type+": NULL")
			})
		}
	},

	"parameters": func() {
		db := open()
		for _, t := range types {
			noting(t.Type, func() {
				exec(db, "DROP TABLE IF EXISTS dbo.sent")
				exec(db, fmt.Sprintf("CREATE TABLE dbo.sent (id int NOT NULL PRIMARY KEY, v %s NULL)", t.Type))
				for n, v := range t.Values {
					noting(t.Type+" "+short(v.Text), func() {
						exec(db, "INSERT INTO dbo.sent (id, v) VALUES (@p1, @p2)", n, native(t.Kind, v.Text))
						query := "SELECT v, CASE WHEN v = CAST(%s AS %s) THEN 1 ELSE 0 END FROM dbo.sent WHERE id = @id"
						got := rows(db, fmt.Sprintf(query, v.SQL, t.Type), sql.Named("id", n))[0]
						check(same(t.Kind, v.Text, got[0]), "%s: sent %s, got back %s", t.Type, short(v.Text), short(got[0]))
						equal(got[1], int64(1), t.Type+" "+short(v.Text)+": equal on the server")
					})
				}
				exec(db, "INSERT INTO dbo.sent (id, v) VALUES (1000, @p1)", null(t.Kind))
				equal(scalar(db, "SELECT COUNT(*) FROM dbo.sent WHERE v IS NULL"), int64(1), t.Type+": NULL sent")
			})
		}
		got := rows(db, "SELECT @a + @b, @s, @none", sql.Named("a", 40), sql.Named("b", 2), sql.Named("s", "x'y😀"), sql.Named("none", nil))
		equal(got[0], []any{int64(42), "x'y😀", nil}, "several parameters")
	},

	"output-parameters": func() {
		db := open()
		fixture(db, "out_params")
		fixture(db, "out_and_rows")
		var b int64
		s, status := "abc", mssql.ReturnStatus(0)
		var d sql.NullFloat64
		_, err := db.Exec("dbo.out_params", sql.Named("a", 21), sql.Named("b", sql.Out{Dest: &b}),
			sql.Named("s", sql.Out{Dest: &s, In: true}), sql.Named("d", sql.Out{Dest: &d}), &status)
		must(err)
		equal([]any{b, s, d.Float64, int32(status)}, []any{int64(42), "abc 😀", 1234567.891, int32(42)}, "outputs and status")
		var n int64
		found, err := db.Query("dbo.out_and_rows", sql.Named("n", sql.Out{Dest: &n}), &status)
		must(err)
		equal(read(found), [][]any{{int64(1)}, {int64(2)}}, "first result of a procedure")
		check(found.NextResultSet(), "there is a second result")
		equal(read(found), [][]any{{"x"}}, "second result of a procedure")
		check(!found.NextResultSet(), "there is no third result")
		must(found.Close())
		equal([]int64{n, int64(status)}, []int64{7, -3}, "output and status after results")
		n = 4
		_, err = db.Exec("SET @n = @n + 1", sql.Named("n", sql.Out{Dest: &n, In: true}))
		must(err)
		equal(n, int64(5), "an output of a statement")
	},

	"prepared": func() {
		db := open()
		fixture(db, "everything")
		insert, err := db.Prepare("INSERT INTO dbo.everything (id, n, s) VALUES (@p1, @p2, @p3)")
		must(err)
		for n := range 100 {
			_, err := insert.Exec(n, int64(n)*1e12, fmt.Sprintf("row %d Ω", n))
			must(err)
		}
		_, err = insert.Exec(100, nil, nil)
		must(err)
		_, err = insert.Exec(1, 1, "x")
		refused(2627, "a duplicate by a prepared statement", err)
		_, err = insert.Exec(101, 1, "after the error")
		must(err)
		must(insert.Close())
		query, err := db.Prepare("SELECT n, s FROM dbo.everything WHERE id = @p1")
		must(err)
		for n := range 100 {
			var m int64
			var s string
			must(query.QueryRow(n).Scan(&m, &s))
			check(m == int64(n)*1e12 && s == fmt.Sprintf("row %d Ω", n), "row %d: %d %q", n, m, s)
		}
		check(errors.Is(query.QueryRow(12345).Scan(new(int64), new(string)), sql.ErrNoRows), "no row of an unknown key")
		must(query.Close())
		equal(scalar(db, "SELECT COUNT(*) FROM dbo.everything"), int64(102), "rows")
	},

	"transactions": func() {
		db := open()
		fixture(db, "account")
		balance := func() string { return text(scalar(db, "SELECT balance FROM dbo.account WHERE id = 1")) }
		const add = "UPDATE dbo.account SET balance = balance + 1 WHERE id = 1"
		tx, err := db.Begin()
		must(err)
		equal(exec(tx, add), int64(1), "rows updated")
		equal(scalar(tx, "SELECT @@TRANCOUNT"), int64(1), "@@TRANCOUNT")
		must(tx.Rollback())
		equal(balance(), "100.0000", "after rollback")
		tx, err = db.Begin()
		must(err)
		exec(tx, add)
		must(tx.Commit())
		equal(balance(), "101.0000", "after commit")
		own := open()
		tx, err = own.Begin()
		must(err)
		exec(tx, "DELETE FROM dbo.account WHERE id = 2")
		cancelled, cancel := context.WithCancel(background)
		other, err := own.BeginTx(cancelled, nil)
		must(err)
		exec(other, add)
		cancel()
		must(tx.Rollback())
		_ = other.Rollback()
		must(own.Close())
		equal(balance(), "101.0000", "after the context of a transaction was cancelled")
		equal(scalar(db, "SELECT COUNT(*) FROM dbo.account"), int64(3), "rows after a delete that was rolled back")
		connection := one(db)
		for _, sql := range []string{"BEGIN TRANSACTION", "DELETE FROM dbo.account", "ROLLBACK TRANSACTION"} {
			exec(connection, sql)
		}
		equal(scalar(connection, "SELECT COUNT(*) FROM dbo.account"), int64(3), "rows after ROLLBACK TRANSACTION")
	},

	"savepoints": func() {
		db := open()
		fixture(db, "account")
		tx, err := db.Begin()
		must(err)
		exec(tx, "UPDATE dbo.account SET balance = 1 WHERE id = 1")
		exec(tx, "SAVE TRANSACTION here")
		exec(tx, "UPDATE dbo.account SET balance = 2 WHERE id = 1")
		exec(tx, "INSERT INTO dbo.account (id, owner) VALUES (9, N'Gone')")
		exec(tx, "ROLLBACK TRANSACTION here")
		equal(scalar(tx, "SELECT COUNT(*) FROM dbo.account"), int64(3), "rows after going back")
		must(tx.Commit())
		equal(text(scalar(db, "SELECT balance FROM dbo.account WHERE id = 1")), "1.0000", "what was before the save point")
	},

	"isolation-levels": func() {
		db := open()
		fixture(db, "account")
		exec(db, "ALTER DATABASE "+database+" SET ALLOW_SNAPSHOT_ISOLATION ON")
		levels := []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable, sql.LevelSnapshot}
		for n, level := range levels {
			noting(level.String(), func() {
				tx, err := db.BeginTx(background, &sql.TxOptions{Isolation: level})
				must(err)
				defer tx.Rollback()
				equal(text(scalar(tx, "SELECT balance FROM dbo.account WHERE id = 1")), "100.0000", level.String())
				seen := scalar(tx, "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID")
				equal(seen, int64(n+1), level.String()+": as the server sees it")
				must(tx.Commit())
			})
		}
		tx, err := db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelSnapshot})
		must(err)
		scalar(tx, "SELECT balance FROM dbo.account WHERE id = 1")
		exec(db, "UPDATE dbo.account SET balance = 7 WHERE id = 1")
		equal(text(scalar(tx, "SELECT balance FROM dbo.account WHERE id = 1")), "100.0000", "SNAPSHOT reads what was")
		refused(3960, "an update of what changed since", try(tx, "UPDATE dbo.account SET balance = 8 WHERE id = 1"))
		_ = tx.Rollback()
		tx, err = db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelSerializable})
		must(err)
		equal(scalar(tx, "SELECT COUNT(*) FROM dbo.account WHERE id BETWEEN 1 AND 50"), int64(3), "rows of the range")
		other := one(db)
		exec(other, "SET LOCK_TIMEOUT 200")
		refused(1222, "a writer under SERIALIZABLE", try(other, "INSERT INTO dbo.account (id, owner) VALUES (20, N'Phantom')"))
		must(tx.Commit())
	},

	"result-sets": func() {
		db := open()
		fixture(db, "account")
		found, err := db.Query("SELECT 1 AS a; SELECT N'x' AS b, 2 AS c WHERE 1 = 0; SELECT id, owner FROM dbo.account ORDER BY id")
		must(err)
		equal(read(found), [][]any{{int64(1)}}, "first result")
		check(found.NextResultSet(), "there is a second result")
		names, err := found.Columns()
		must(err)
		equal(names, []string{"b", "c"}, "names of an empty result")
		equal(read(found), [][]any{}, "empty result")
		check(found.NextResultSet(), "there is a third result")
		equal(read(found), [][]any{{int64(1), "Ann"}, {int64(2), "Bob"}, {int64(3), "Çelik 😀"}}, "third result")
		check(!found.NextResultSet(), "there is no fourth result")
		must(found.Close())
		equal(exec(db, "UPDATE dbo.account SET balance = 0 WHERE id <= 2"), int64(2), "rows updated")
		equal(exec(db, "UPDATE dbo.account SET balance = 0 WHERE id = 77"), int64(0), "no rows updated")
		equal(exec(db, "DELETE FROM dbo.account WHERE id = 3"), int64(1), "rows deleted")
		exec(db, "INSERT INTO dbo.account (id, owner) VALUES (3, N'C')")
		many := rows(db, "SELECT TOP 5000 ROW_NUMBER() OVER (ORDER BY a.id) AS n FROM dbo.account a, dbo.account b, dbo.account c, dbo.account d, dbo.account e, dbo.account f, dbo.account g, dbo.account h")
		sum := int64(0)
		for _, row := range many {
			sum += row[0].(int64)
		}
		equal([]int64{int64(len(many)), sum}, []int64{5000, 12502500}, "a long result")
	},

	"messages": func() {
		db := open()
		fixture(db, "says")
		queue := &sqlexp.ReturnMessage{}
		found, err := db.QueryContext(background, "EXEC dbo.says", queue)
		must(err)
		defer found.Close()
		var got []string
		for active := true; active; {
			switch message := queue.Message(background).(type) {
			case sqlexp.MsgNotice:
				got = append(got, message.Message.String())
			case sqlexp.MsgError:
				check(false, "an error: %v", message.Error)
			case sqlexp.MsgNextResultSet:
				active = found.NextResultSet()
			case sqlexp.MsgNext:
				for found.Next() {
				}
			}
		}
		equal(got, []string{"hello Ω", "warned once"}, "messages")
	},

	"errors": func() {
		db := open()
		fixture(db, "account")
		fixture(db, "fails")
		for _, want := range []mssql.Error{
			{Message: "EXEC dbo.fails\x00boom 42", Number: 50000, Class: 15, State: 7, LineNo: 4, ProcName: "fails"},
			{Message: "\n\nSELECT 1/0 AS x\x00Divide by zero", Number: 8134, Class: 16, State: 1, LineNo: 3},
			{Message: "SELECT *\nFROM dbo.nothing_here\x00nothing_here", Number: 208, Class: 16, State: 1, LineNo: 2},
			{Message: "INSERT INTO dbo.account (id, owner) VALUES (1, N'again')\x00pk_account", Number: 2627, Class: 14, State: 1, LineNo: 1},
			{Message: "SELEC * FROM t\x00*", Number: 102, Class: 15, State: 1, LineNo: 1},
			{Message: "THROW 51234, N'thrown Ω', 9\x00thrown Ω", Number: 51234, Class: 16, State: 9, LineNo: 1},
		} {
			query, part, _ := strings.Cut(want.Message, "\x00")
			var got mssql.Error
			if !errors.As(try(db, query), &got) {
				check(false, "%s: no error", query)
				continue
			}
			if len(got.All) > 0 {
				got = got.All[0]
			}
			procedure := got.ProcName[strings.LastIndex(got.ProcName, ".")+1:]
			equal([]any{got.Number, got.Class, got.State, got.LineNo, procedure},
				[]any{want.Number, want.Class, want.State, want.LineNo, want.ProcName}, query)
			check(strings.Contains(got.Message, part), "%s: text %q", query, got.Message)
		}
		must(db.Ping())
	},

	"error-mid-batch": func() {
		db := open()
		fixture(db, "account")
		found, err := db.Query("SELECT 1 AS a; INSERT INTO dbo.account (id, owner) VALUES (1, N'twice'); INSERT INTO dbo.account (id, owner) VALUES (5, N'after'); SELECT 2 AS b")
		must(err)
		equal(read(found), [][]any{{int64(1)}}, "the result before the error")
		for found.NextResultSet() {
			read(found)
		}
		refused(2627, "the batch", found.Err())
		_ = found.Close()
		equal(scalar(db, "SELECT COUNT(*) FROM dbo.account"), int64(4), "the batch went on after the error")
		refused(245, "a conversion that fails", try(db, "SELECT CONVERT(int, N'x') AS x"))
		must(db.Ping())
	},

	"cancel": func() {
		db := open()
		db.SetMaxOpenConns(1)
		fixture(db, "account")
		connection := one(db)
		id := scalar(connection, "SELECT @@SPID")
		work, cancel := context.WithCancel(background)
		time.AfterFunc(300*time.Millisecond, cancel)
		start := time.Now()
		_, err := connection.ExecContext(work, "WAITFOR DELAY '00:00:20'")
		check(err != nil, "the statement was not cancelled")
		check(time.Since(start) < 10*time.Second, "cancel took %v", time.Since(start))
		equal(scalar(connection, "SELECT @@SPID"), id, "the connection after the cancel")
		tables := make([]string, 16)
		for n := range tables {
			tables[n] = fmt.Sprintf("dbo.account t%d", n)
		}
		work, cancel = context.WithCancel(background)
		start = time.Now()
		found, err := connection.QueryContext(work, "SELECT t1.owner FROM "+strings.Join(tables, ", "))
		must(err)
		check(found.Next(), "a first row")
		cancel()
		_ = found.Close()
		check(time.Since(start) < 10*time.Second, "cancel of a result took %v", time.Since(start))
		equal(scalar(connection, "SELECT 2"), int64(2), "the connection after the second cancel")
	},

	"query-timeout": func() {
		db := open()
		work, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		start := time.Now()
		_, err := db.ExecContext(work, "WAITFOR DELAY '00:00:20'")
		check(errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "deadline"), "time-out: %v", err)
		check(time.Since(start) < 10*time.Second, "time-out took %v", time.Since(start))
		must(db.Ping())
	},

	"large-values": func() {
		db := open()
		fixture(db, "blob")
		const size = 1 << 20
		ascii := strings.Repeat("0123456789abcdef", size/16)
		wide := strings.Repeat("Ωμέγα😀 ", 65536)
		binary := bytes.Repeat([]byte{0, 1, 2, 254, 255, 10, 13, 26}, size/8)
		exec(db, "INSERT INTO dbo.blob (id, v, n, b) VALUES (1, @p1, @p2, @p3)", mssql.VarCharMax(ascii), mssql.NVarCharMax(wide), binary)
		got := rows(db, "SELECT v, n, b, DATALENGTH(v), DATALENGTH(n), DATALENGTH(b) FROM dbo.blob")[0]
		check(got[0] == ascii, "varchar(max): %s", short(got[0]))
		check(got[1] == wide, "nvarchar(max): %s", short(got[1]))
		check(bytes.Equal(got[2].([]byte), binary), "varbinary(max)")
		equal(fmt.Sprint(got[3:]), fmt.Sprint([]int{size, 65536 * 16, size}), "DATALENGTH")
		exec(db, "UPDATE dbo.blob SET v = NULL, n = @p1, b = 0x", "")
		equal(rows(db, "SELECT v, n, b FROM dbo.blob")[0], []any{nil, "", []byte{}}, "NULL and empty")
		equal(len(scalar(db, "SELECT REPLICATE(CAST('y' AS varchar(max)), 3000000)").(string)), 3000000, "3 MB")
	},

	"bulk-copy": func() {
		db := open()
		fixture(db, "everything")
		start := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
		row := func(n int) []any {
			if n%10 == 9 {
				return []any{n, nil, nil, nil, nil, nil, nil, nil, nil, nil}
			}
			id := mssql.UniqueIdentifier{14: byte(n >> 8), 15: byte(n)}
			raw, err := id.Value()
			must(err)
			return []any{n, int64(n) * 1e10, fmt.Sprintf("%.4f", float64(n)/4), float64(n) / 8, n%2 == 0, fmt.Sprintf("Ω %d", n), fmt.Sprintf("v%d", n),
				bytes.Repeat([]byte{byte(n)}, n%20), start.Add(time.Duration(n) * time.Millisecond), raw}
		}
		load := func(first, count int) error {
			tx, err := db.Begin()
			must(err)
			defer tx.Rollback()
			statement, err := tx.Prepare(mssql.CopyIn("dbo.everything", mssql.BulkOptions{KeepNulls: true}, "id", "n", "d", "f", "b", "s", "v", "x", "t", "g"))
			if err != nil {
				return err
			}
			for n := first; n < first+count; n++ {
				if _, err := statement.Exec(row(n)...); err != nil {
					return err
				}
			}
			result, err := statement.Exec()
			if err != nil {
				return err
			}
			loaded, err := result.RowsAffected()
			must(err)
			equal(loaded, int64(count), "rows of the load")
			must(statement.Close())
			return tx.Commit()
		}
		must(load(0, 1000))
		all := rows(db, "SELECT id, n, d, f, b, s, v, x, t, g FROM dbo.everything ORDER BY id")
		equal(len(all), 1000, "rows after the load")
		for n, got := range all {
			want := row(n)
			want[0] = int64(n)
			if s, ok := want[2].(string); ok {
				want[2] = []byte(s)
			}
			if t, ok := got[8].(time.Time); ok {
				got[8] = t.UTC()
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				check(false, "row %d: expected %v, got %v", n, want, got)
				break
			}
		}
		refused(2627, "a load of a duplicate", load(999, 5))
		equal(scalar(db, "SELECT COUNT(*) FROM dbo.everything"), int64(1000), "rows after a load that failed")
	},

	"table-valued-parameters": func() {
		db := open()
		fixture(db, "id_list")
		type item struct {
			ID   int32
			Name *string
		}
		list := []item{}
		for n := range 500 {
			name := fmt.Sprintf("name %03d", n)
			list = append(list, item{int32(n), &name})
		}
		list = append(list, item{500, nil})
		got := rows(db, "EXEC dbo.take_list @rows", sql.Named("rows", mssql.TVP{TypeName: "dbo.id_list", Value: list}))
		equal(got[0], []any{int64(501), int64(125250), "name 499"}, "a table of 501 rows")
		got = rows(db, "EXEC dbo.take_list @rows", sql.Named("rows", mssql.TVP{TypeName: "dbo.id_list", Value: []item{}}))
		equal(got[0], []any{int64(0), nil, nil}, "a table without rows")
	},

	"pooling-reset": func() {
		db := open()
		db.SetMaxOpenConns(1)
		first := one(db)
		id := scalar(first, "SELECT @@SPID")
		for _, sql := range []string{"CREATE TABLE #left (a int)", "SET LOCK_TIMEOUT 4321", "SET DATEFIRST 3",
			"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "USE master", "BEGIN TRANSACTION"} {
			exec(first, sql)
		}
		must(first.Close())
		second := one(db)
		equal(scalar(second, "SELECT @@SPID"), id, "the pooled connection comes back")
		equal(scalar(second, "SELECT DB_NAME()"), database, "database after reset")
		equal(scalar(second, "SELECT OBJECT_ID('tempdb..#left')"), nil, "temporary table after reset")
		equal(scalar(second, "SELECT @@LOCK_TIMEOUT"), int64(-1), "LOCK_TIMEOUT after reset")
		equal(scalar(second, "SELECT @@DATEFIRST"), int64(7), "DATEFIRST after reset")
		equal(scalar(second, "SELECT @@TRANCOUNT"), int64(0), "@@TRANCOUNT after reset")
	},

	"time-zones": func() {
		db := open()
		fixture(db, "moments")
		for n, minutes := range []int{0, 60, 330, -480, 840, -840, -1, 345} {
			moment := time.Date(2024, 3, 31, 1, 59, 59, 123e6, time.FixedZone("", minutes*60))
			exec(db, "INSERT INTO dbo.moments (id, o) VALUES (@p1, @p2)", n, moment)
			exec(db, "UPDATE dbo.moments SET d = CAST(SWITCHOFFSET(o, '+00:00') AS datetime2(3)) WHERE id = @p1", n)
			got := rows(db, "SELECT o, d, DATEPART(tz, o) FROM dbo.moments WHERE id = @p1", n)[0]
			back := got[0].(time.Time)
			_, offset := back.Zone()
			check(back.Equal(moment) && offset == minutes*60, "moment at %d: %v, got %v", minutes, moment, back)
			check(got[1].(time.Time).Equal(moment), "in UTC, %d: %v", minutes, got[1])
			equal(got[2], int64(minutes), fmt.Sprintf("DATEPART(tz) %d", minutes))
		}
		now := scalar(db, "SELECT SYSDATETIMEOFFSET()").(time.Time)
		check(time.Since(now).Abs() < 5*time.Second, "SYSDATETIMEOFFSET() is %v", now)
	},

	"metadata": func() {
		db := open()
		fixture(db, "family")
		found, err := db.Query("SELECT a, b, c, a + 1 AS e FROM dbo.parent")
		must(err)
		columns, err := found.ColumnTypes()
		must(err)
		var got []string
		for _, column := range columns {
			nullable, _ := column.Nullable()
			length, _ := column.Length()
			precision, scale, _ := column.DecimalSize()
			got = append(got, fmt.Sprintf("%s %s %v %d %d %d", column.Name(), column.DatabaseTypeName(), nullable, length, precision, scale))
		}
		must(found.Close())
		equal(got, []string{"a INT false 0 0 0", "b NVARCHAR false 20 0 0", "c DECIMAL true 0 10 2", "e INT true 0 0 0"}, "columns")
		names := rows(db, "SELECT name FROM sys.tables WHERE name IN (N'parent', N'child') ORDER BY name")
		equal(names, [][]any{{"child"}, {"parent"}}, "sys.tables")
		keys := rows(db, "sp_pkeys", sql.Named("table_name", "parent"))
		pairs := [][]any{}
		for _, row := range keys {
			pairs = append(pairs, []any{row[3], row[4]})
		}
		equal(pairs, [][]any{{"b", int64(1)}, {"a", int64(2)}}, "sp_pkeys")
	},
}
