package python

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Spark is a session of Spark that answers questions through spark/tests/answers.py.
type Spark struct {
	Pid     int
	connect string
	in      io.Writer
	out     *bufio.Reader
}

// Question is a question to Spark: see spark/tests/answers.py.
type Question struct {
	Options map[string]string `json:"options"`
	Input   []string          `json:"input,omitempty"`
	Query   string            `json:"query,omitempty"`
	Spark   string            `json:"spark,omitempty"`
	Filters int               `json:"filters,omitempty"`
	Seed    uint64            `json:"seed"`
}

// Answer is the answer to a Question.
type Answer struct {
	Rows  [][]*string `json:"rows"`
	Some  int         `json:"some"` // filters that keep some rows and not others
	Error string      `json:"error"`
}

// StartSpark starts a session that reads the store connect, or the store of each question if that is "". It uses the
// hql of this module, whose directory is root. It ends with the test, which is skipped if something is missing. args
// are Spark's.
func StartSpark(t testing.TB, root, connect, master string, args ...string) *Spark {
	t.Helper()
	py := With(t, "pyspark", "pyarrow")
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("Spark needs java")
	}
	binary := filepath.Join(t.TempDir(), "hql")
	if out, err := exec.Command("go", "build", "-o", binary, filepath.Join(root, "cmd/hql")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folder, err := filepath.Abs(filepath.Join(root, "spark"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(py, filepath.Join(folder, "tests/answers.py"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HQL_BINARY="+binary, "PYTHONPATH="+folder, "PYSPARK_PYTHON="+py, "HQL_SPARK_MASTER="+master, "SPARK_LOCAL_IP=127.0.0.1",
		"PYSPARK_SUBMIT_ARGS=--driver-memory 768m "+strings.Join(args, " ")+" pyspark-shell")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &Spark{Pid: cmd.Process.Pid, connect: connect, in: in, out: bufio.NewReader(out)}
}

// Ask returns the answer to q.
func (s *Spark) Ask(t testing.TB, q Question) (a Answer) {
	t.Helper()
	if q.Options == nil {
		q.Options = map[string]string{}
	}
	q.Options["fullScan"] = "allow"
	if s.connect != "" {
		q.Options["connect"] = s.connect
	}
	b, err := json.Marshal(q)
	if err == nil {
		_, err = s.in.Write(append(b, '\n'))
	}
	if err == nil {
		b, err = s.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		t.Fatalf("Spark: %v", err)
	}
	return a
}
