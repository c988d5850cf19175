package infer

import "fmt"

// counted are texts behind their length in 1, 2 or 4 bytes.
func (s *search) counted(at []int) []option {
	var out []option
	for _, width := range []int{1, 2, 4} {
		next := make([]int, len(at))
		var texts [][]byte
		widths := map[int]bool{}
		lost, total := 0, alive(at)
		for i, p := range at {
			next[i] = -1
			if p < 0 {
				continue
			}
			text, ok := countedText(s.keys[i][p:], width)
			if !ok {
				if lost++; 20*lost > total {
					break
				}
				continue
			}
			texts = append(texts, text)
			widths[len(text)] = true
			next[i] = p + width + len(text)
		}
		if 20*lost > total || len(widths) < 2 { // of one width: a constant, rather
			continue
		}
		g := variable(texts, 0)
		g.part, g.typ, g.base = fmt.Sprintf("{} AS COUNT%d TEXT", 8*width), "STRING", "id"
		g.bits -= 16 // a length that is right in each key; and parts that the text may have are not told apart
		g.why = fmt.Sprintf("behind its length in %d bytes: %s", width, describe("text", texts))
		out = append(out, option{segs: []segment{g}, next: next})
	}
	return out
}

// countedText is the text at the beginning of b, behind its length; it does not go on after that.
func countedText(b []byte, width int) ([]byte, bool) {
	if len(b) < width {
		return nil, false
	}
	n := bigEndian(string(b[:width]))
	b = b[width:]
	if n < 1 || n > int64(len(b)) || !isText(b[:n]) || n < int64(len(b)) && b[n] < 0x80 && isAlnum(b[n]) {
		return nil, false
	}
	return b[:n], true
}
