package main

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"
)

// scale is the number of fractional digits of a time's text.
func scale(text string) int {
	_, after, found := strings.Cut(text, ".")
	if !found {
		return 0
	}
	digits, _, _ := strings.Cut(after, " ")
	return len(digits)
}

func fraction(digits int) string {
	if digits == 0 {
		return ""
	}
	return "." + strings.Repeat("0", digits)
}

// same tells whether what the client gave is the value, exactly.
func same(kind, text string, got any) bool {
	switch kind {
	case "bit":
		return got == (text == "1")
	case "int", "bigint":
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && got == n
	case "decimal", "money":
		b, ok := got.([]byte)
		return ok && string(b) == text
	case "float":
		f, err := strconv.ParseFloat(text, 64)
		return err == nil && got == f
	case "real":
		f, err := strconv.ParseFloat(text, 32)
		g, ok := got.(float64)
		return err == nil && ok && float32(g) == float32(f)
	case "varchar", "nvarchar":
		return got == text
	case "binary":
		b, ok := got.([]byte)
		return ok && hex.EncodeToString(b) == text
	case "guid":
		var id mssql.UniqueIdentifier
		return id.Scan(got) == nil && id.String() == text
	}
	moment, ok := got.(time.Time)
	return ok && moment.Format(layout(kind, text)) == text
}

func layout(kind, text string) string {
	switch kind {
	case "date":
		return "2006-01-02"
	case "time":
		return "15:04:05" + fraction(scale(text))
	case "datetimeoffset":
		return "2006-01-02 15:04:05" + fraction(scale(text)) + " -07:00"
	default:
		return "2006-01-02 15:04:05" + fraction(scale(text))
	}
}

// native is the value as a program would pass it.
func native(kind, text string) any {
	parsed := func() time.Time {
		moment, err := time.Parse(layout(kind, text), text)
		must(err)
		return moment
	}
	switch kind {
	case "bit":
		return text == "1"
	case "int", "bigint":
		n, err := strconv.ParseInt(text, 10, 64)
		must(err)
		return n
	case "float", "real":
		f, err := strconv.ParseFloat(text, 64)
		must(err)
		return f
	case "decimal", "money":
		// A program without a decimal package passes text; the server converts.
		return text
	case "varchar":
		// VarChar sends the bytes of the string as they are, so it is for ASCII.
		if strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) {
			return text
		}
		return mssql.VarChar(text)
	case "nvarchar":
		return text
	case "binary":
		b, err := hex.DecodeString(text)
		must(err)
		return b
	case "date":
		return civil.DateOf(parsed())
	case "time":
		return civil.TimeOf(parsed())
	case "datetime":
		return mssql.DateTime1(parsed())
	case "datetime2":
		return civil.DateTimeOf(parsed())
	case "datetimeoffset":
		return mssql.DateTimeOffset(parsed())
	case "guid":
		var id mssql.UniqueIdentifier
		must(id.Scan(text))
		return id
	}
	panic(fmt.Sprintf("kind %s", kind))
}

// null is NULL of that kind: a nil has no type of its own.
func null(kind string) any {
	if kind == "binary" {
		return []byte(nil)
	}
	return nil
}
