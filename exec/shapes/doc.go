// Package shapes has only tests: queries and conditions in many forms, with how much each may read. Their files are in
// exec/testdata/shapes and testdata/forms.
package shapes
