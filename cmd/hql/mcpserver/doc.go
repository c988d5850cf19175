// Package mcpserver lets assistants ask the tables of a DB through the Model Context Protocol. It only reads. Full scans
// are refused unless the operator allows them, and every answer is bounded in rows, bytes and time.
package mcpserver
