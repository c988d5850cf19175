// Package page writes the HTML pages of EXPLAIN, hql design and hql hot. It does not use html/template: a program that
// links a template engine keeps every exported method of every type, which made the command a sixth larger.
package page

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
)

//go:embed page.css
var css string

// Writer writes HTML. Its zero value is empty.
type Writer struct{ strings.Builder }

// Put writes format with args as fmt.Fprintf does. It escapes texts among args, so that they fit between tags and in quoted attributes.
func (w *Writer) Put(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = html.EscapeString(a)
		case fmt.Stringer:
			args[i] = html.EscapeString(a.String())
		}
	}
	fmt.Fprintf(w, format, args...)
}

// Begin begins a page, up to its first heading; End ends it.
func (w *Writer) Begin(title string) {
	w.Put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
`, title)
	w.WriteString(css)
	w.WriteString(`</style>
</head>
<body>
<main>
`)
}

// End ends a page and returns it.
func (w *Writer) End() string {
	w.WriteString("</main>\n</body>\n</html>\n")
	return w.String()
}
