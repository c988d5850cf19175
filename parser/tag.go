package parser

// CommandTag returns the words that PostgreSQL's command tag of a statement begins with, and whether a number of rows follows them.
func CommandTag(s Statement) (verb string, counted bool) {
	switch s := s.(type) {
	case *Select:
		return "SELECT", true
	case *Insert:
		return "INSERT 0", true
	case *Update:
		return "UPDATE", true
	case *Delete:
		return "DELETE", true
	case *Copy:
		return "COPY", true
	case *CreateTable:
		if s.Query != nil {
			return "SELECT", true
		}
		return "CREATE TABLE", false
	case *DropTable:
		return "DROP TABLE", false
	case *CreateView:
		return "CREATE VIEW", false
	case *DropView:
		return "DROP VIEW", false
	case *Explain:
		return "EXPLAIN", false
	case *Analyze:
		return "ANALYZE", false
	case *CheckTable:
		return "CHECK TABLE", false
	case *Set:
		return "SET", false
	case *Transaction:
		return s.Verb, false
	}
	return "SHOW", false
}
