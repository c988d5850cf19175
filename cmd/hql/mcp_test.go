package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK's client speaks with hql mcp on standard input and output. Writes are refused, --write or not.
func TestMCP(t *testing.T) {
	dir := t.TempDir()
	if code := run(t.Context(), []string{"--connect", "dir:" + dir, "-c", "CREATE TABLE own (id INT PRIMARY KEY, v STRING); INSERT INTO own VALUES (1, 'a'), (2, 'b')"},
		strings.NewReader(""), io.Discard, os.Stderr); code != exitOK {
		t.Fatal(code)
	}
	stdin, to := io.Pipe()
	from, stdout := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- run(t.Context(), []string{"mcp", "--connect", "dir:" + dir, "--write", "--max-rows", "1"}, stdin, stdout, os.Stderr)
	}()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: from, Writer: to}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT v FROM own WHERE id IN (1, 2)": "there are more rows than 1",
		"DELETE FROM own WHERE id = 1":         "this server reads only",
		"SELECT id FROM own WHERE v = 'a'":     "refused: this would read all of own",
	} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "query", Arguments: map[string]any{"sql": sql}})
		if err != nil || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, want) {
			t.Errorf("%s: %v, %v", sql, r, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if code := <-ended; code != exitOK {
		t.Errorf("hql mcp ended with %d", code)
	}
}
