// Command round-trips makes round trips of go-mssqldb and pgx by one connection of database/sql; ../../README.md ("Round
// trips") says what is asked and answered. Both as database/sql has it: QueryRow and Exec with arguments. pgx keeps what it has
// prepared by itself; go-mssqldb sends the text each time.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/microsoft/go-mssqldb"
)

var (
	background   = context.Background()
	conn         *sql.Conn
	selectText   = "SELECT value, name FROM kept WHERE id = @p1"
	insertText   = "INSERT INTO added (value, name) VALUES (@p1, @p2)"
	at           int
	driver       = os.Getenv("MILLRACE_DRIVER")
	databaseName = "round_trips"
)

func main() {
	address := url.URL{
		User: url.UserPassword(os.Getenv("MILLRACE_USER"), os.Getenv("MILLRACE_PASSWORD")),
		Host: net.JoinHostPort(os.Getenv("MILLRACE_HOST"), os.Getenv("MILLRACE_PORT")),
	}
	kind := "sqlserver"
	if driver == "pgx" {
		kind, address.Scheme, address.Path, address.RawQuery = "pgx", "postgres", databaseName, "sslmode=disable"
		selectText = "SELECT value, name FROM kept WHERE id = $1"
		insertText = "INSERT INTO added (value, name) VALUES ($1, $2)"
	} else {
		address.Scheme, address.RawQuery = "sqlserver", "encrypt=disable&database="+databaseName
	}
	db, err := sql.Open(kind, address.String())
	must(err)
	defer db.Close()
	conn, err = db.Conn(background)
	must(err)
	defer conn.Close()
	works := map[string]func(){"select": selectOne, "insert": insertOne}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var name string
		var seconds float64
		_, err := fmt.Sscan(lines.Text(), &name, &seconds)
		must(err)
		work, count, begun := works[name], 0, time.Now()
		limit, took := time.Duration(seconds*float64(time.Second)), time.Duration(0)
		for took < limit {
			work()
			count++
			took = time.Since(begun)
		}
		fmt.Println(count, took.Seconds())
	}
}

// next is every one of the 10,000 rows in turn, in no order.
func next() int {
	at = (at*21 + 7) % 10_000
	return at + 1
}

func selectOne() {
	id := next()
	var value int
	var name string
	must(conn.QueryRowContext(background, selectText, id).Scan(&value, &name))
	if value != id || name != fmt.Sprintf("the name of row %d", id) {
		panic(fmt.Sprintf("row %d came as %d, %q", id, value, name))
	}
}

func insertOne() {
	value := next()
	_, err := conn.ExecContext(background, insertText, value, fmt.Sprintf("the name of row %d", value))
	must(err)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
