package parser_test

import (
	"errors"
	"fmt"

	"github.com/hql-db/hql/parser"
)

func ExampleParseStatement() {
	s, err := parser.ParseStatement("select * from trades where seller_id = ? and ts between ? and ? order by ts desc limit 10")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	fmt.Println(s.(*parser.Select).Cores[0].Where.(*parser.Binary).Op)
	// Output:
	// SELECT * FROM trades WHERE seller_id = $1 AND ts BETWEEN $2 AND $3 ORDER BY ts DESC LIMIT 10
	// AND
}

func ExampleError_Format() {
	_, err := parser.Parse("SELECT * FROM t WERE uid = 7")
	var e *parser.Error
	if errors.As(err, &e) {
		fmt.Println(e.Format())
	}
	// Output:
	// error: 1:22: expected a comma, JOIN, WHERE, GROUP BY, HAVING or another clause, found "uid"
	//   SELECT * FROM t WERE uid = 7
	//                        ^
	// hint: did you mean WHERE?
}

func ExampleWalk() {
	e, err := parser.ParseExpr("LEFT(MD5(uid), 6) = 'abc' AND ts % 16 < f:limit")
	if err != nil {
		fmt.Println(err)
		return
	}
	parser.Walk(e, func(e parser.Expr) bool {
		if c, ok := e.(*parser.ColumnRef); ok {
			fmt.Println(c.Name)
		}
		return true
	})
	// Output:
	// uid
	// ts
	// f:limit
}
