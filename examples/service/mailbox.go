// Package service reads the messages of a mail service from HBase. Its test shows how such a service makes
// sure, without a cluster, that none of its queries scans a table.
package service

import (
	"context"
	_ "embed"
	"time"

	"github.com/hql-db/hql"
)

// Tables is the service's catalog.
//
//go:embed tables.sql
var Tables string

// Message is one message of a user.
type Message struct {
	ID      int64 `db:"msg_id"`
	Sent    time.Time
	Subject string
	Unread  bool
}

// queries are all that the service asks, by name: the test goes through them.
var queries = map[string]string{
	"latest": "SELECT msg_id, sent, subject, unread FROM messages WHERE user_id = @user AND sent < @before ORDER BY sent DESC LIMIT @n",
	"unread": "SELECT COUNT(*) FROM messages WHERE user_id = @user AND unread",
	"one":    "SELECT msg_id, sent, subject, unread FROM messages WHERE user_id = @user AND sent = @sent AND msg_id = @id",
}

// Mailboxes gives the mailboxes of all users.
type Mailboxes struct{ latest, unread, one *hql.Stmt }

// New prepares the service's queries on db, which must know Tables.
func New(ctx context.Context, db *hql.DB) (*Mailboxes, error) {
	m := &Mailboxes{}
	for name, stmt := range map[string]**hql.Stmt{"latest": &m.latest, "unread": &m.unread, "one": &m.one} {
		var err error
		if *stmt, err = db.Prepare(ctx, queries[name]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Latest gives the user's n messages before a time, the newest first.
func (m *Mailboxes) Latest(ctx context.Context, user int64, before time.Time, n int) ([]Message, error) {
	rows, err := m.latest.Query(ctx, hql.NamedArgs{"user": user, "before": before, "n": n})
	if err != nil {
		return nil, err
	}
	return hql.Collect[Message](rows)
}

// Unread counts the user's unread messages.
func (m *Mailboxes) Unread(ctx context.Context, user int64) (n int, err error) {
	err = m.unread.QueryRow(ctx, hql.NamedArgs{"user": user}).Scan(&n)
	return n, err
}

// One gives a message; hql.ErrNoRows when there is none.
func (m *Mailboxes) One(ctx context.Context, user int64, sent time.Time, id int64) (Message, error) {
	rows, err := m.one.Query(ctx, hql.NamedArgs{"user": user, "sent": sent, "id": id})
	if err != nil {
		return Message{}, err
	}
	return hql.CollectExactlyOneRow(rows, hql.RowToStructByName[Message])
}
