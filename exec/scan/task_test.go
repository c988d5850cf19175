package scan

import (
	"sync"
	"testing"
	"time"
)

// The regions of one server are read a few at a time even when nothing else is left, and all are read.
func TestTaskQueue(t *testing.T) {
	var tasks []task
	for i := range 100 {
		server := "a" // whose regions all come first
		if i >= 80 {
			server = "b"
		}
		tasks = append(tasks, task{server: server, start: []byte{byte(i)}})
	}
	q := newTaskQueue(tasks, 3)
	var mu sync.Mutex
	var wg sync.WaitGroup
	reading, most, mostOfOne := map[string]int{}, 0, 0
	seen := map[byte]bool{}
	for range 16 {
		wg.Go(func() {
			for {
				task, from := q.next()
				if from == nil {
					return
				}
				mu.Lock()
				reading[task.server]++
				most, mostOfOne = max(most, reading["a"]+reading["b"]), max(mostOfOne, reading[task.server])
				seen[task.start[0]] = true
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				reading[task.server]--
				mu.Unlock()
				q.done(from)
			}
		})
	}
	wg.Wait()
	if len(seen) != len(tasks) || most != 6 || mostOfOne != 3 {
		t.Errorf("%d tasks read, %d at a time, %d of one server; want 100, 6, 3", len(seen), most, mostOfOne)
	}
}
