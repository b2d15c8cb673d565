package sqlite

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"handrail/internal/task"
)

// A list of the size that people have is searched in memory, in a fifth of the
// time that the index takes. What is in memory is a copy, and never trusted
// alone: it serves while the index is the one it was read beside, and each title
// that it names is compared again where it is stored.
const (
	// copiedTasks is the longest list that is copied, copiedBytes the most text of
	// one list, and copies how many lists.
	copiedTasks = 4096
	copiedBytes = 1 << 20
	copies      = 16
)

const (
	// The index's own record of its parts changes with every change of a title.
	indexVersion = `coalesce((SELECT block FROM task_titles_data WHERE id = 10), x'') || '.' || coalesce((SELECT max(seq) FROM task_changes), 0)`

	// The titles come in one value: a row for each would cost more than reading it.
	copyTitles query = `SELECT coalesce(group_concat(title, char(0)), ''), coalesce(group_concat(row - ?2, ' '), '') FROM (
  SELECT title, row FROM tasks NOT INDEXED WHERE row > ?2 AND row <= ?3 AND user_id = ?1 ORDER BY row)`

	// someTitles are those of a few rows, of which the last may be repeated.
	someTitles query = `SELECT ` + taskColumns + ` FROM tasks t NOT INDEXED
  WHERE t.row IN (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) AND t.user_id = ?1 AND instr(lower(t.title), ?2) > 0 ORDER BY t.row`
	someRows = 8
)

// titles is the copy of a user's list, lowered. It does not change.
type titles struct {
	version string
	text    string  // with a NUL between two, which no query has
	rows    []int64 // rising
	ends    []int   // of each title in text
}

// after is the first place in the text that belongs to a row behind one.
func (t *titles) after(row int64) int {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i] > row })
	if i == 0 {
		return 0
	}
	return min(t.ends[i-1]+1, len(t.text))
}

// next is the row of the first title from a place in the text that contains
// needle, and the place behind that title; ok is false where there is none.
func (t *titles) next(place int, needle string) (row int64, behind int, ok bool) {
	i := strings.Index(t.text[place:], needle)
	if i < 0 {
		return 0, 0, false
	}
	k := sort.SearchInts(t.ends, place+i+1)
	return t.rows[k], min(t.ends[k]+1, len(t.text)), true
}

// shelf keeps the copies that were used last.
type shelf struct {
	mu    sync.Mutex
	lists map[string]*copied
	clock uint64
	// served is how many searches found their copy.
	served int
}

type copied struct {
	asked   string // the version that the last search found
	refused string // the version that could not be copied
	titles  *titles
	used    uint64
}

// get is the copy of a user's list in this version, if there is one. copy says
// that one should be made: the list was asked for twice since it changed.
func (s *shelf) get(user, version string) (t *titles, copy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	c := s.lists[user]
	if c == nil {
		c = s.room(user)
	}
	c.used = s.clock
	if c.titles != nil && c.titles.version == version {
		s.served++
		return c.titles, false
	}
	again := c.asked == version && c.refused != version
	c.asked, c.titles = version, nil
	return nil, again
}

// room makes a place for a list, that of the one that was not used for longest
// where there is no other.
func (s *shelf) room(user string) *copied {
	if s.lists == nil {
		s.lists = map[string]*copied{}
	}
	if len(s.lists) >= copies {
		oldest := ""
		for name, c := range s.lists {
			if oldest == "" || c.used < s.lists[oldest].used {
				oldest = name
			}
		}
		delete(s.lists, oldest)
	}
	c := &copied{}
	s.lists[user] = c
	return c
}

// put keeps what was made of a version; nil where it could not be copied.
func (s *shelf) put(user, version string, t *titles) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.lists[user]
	switch {
	case c == nil || c.asked != version:
	case t == nil:
		c.refused = version
	default:
		c.titles = t
	}
}

// search finds a page of the titles that contain needle, behind a row.
func (t *titles) search(ctx context.Context, c *conn, user, needle string, from int64, limit int) ([]task.Task, error) {
	list := make([]task.Task, 0, min(limit, 16))
	place := t.after(from)
	for len(list) < limit {
		var rows []int64
		for len(rows) < min(limit-len(list), someRows*8) {
			row, behind, ok := t.next(place, needle)
			if !ok {
				break
			}
			rows, place = append(rows, row), behind
		}
		if len(rows) == 0 {
			break
		}
		found, err := readRows(ctx, c, user, needle, rows, limit-len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// readRows reads the tasks of some rows, in order, if they contain needle. Where
// others between them do by now, it reads them too, at most limit in all.
func readRows(ctx context.Context, c *conn, user, needle string, rows []int64, limit int) ([]task.Task, error) {
	low, high := rows[0], rows[len(rows)-1]
	if high-low < int64(len(rows))*8 { // reading those between costs less than asking for each
		list, _, err := collect(ctx, c, len(rows), scanTitles, user, low-1, high, needle, limit)
		return list, err
	}
	list := make([]task.Task, 0, len(rows))
	for part := range slices.Chunk(rows, someRows) {
		args := []any{user, needle}
		for i := range someRows {
			args = append(args, part[min(i, len(part)-1)])
		}
		some, _, err := collect(ctx, c, len(part), someTitles, args...)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// readTitles copies a list; nil where it cannot be copied.
func readTitles(ctx context.Context, c *conn, user string, first, last int64, version string) (*titles, error) {
	var text, numbers string
	if err := c.get(ctx, copyTitles, []any{user, first, last}, &text, &numbers); err != nil {
		return nil, err
	}
	if len(text) > copiedBytes {
		return nil, nil
	}
	t := &titles{version: version, text: lower(text)}
	for number := range strings.FieldsSeq(numbers) {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || len(t.rows) > 0 && first+n <= t.rows[len(t.rows)-1] {
			return nil, nil
		}
		t.rows = append(t.rows, first+n)
	}
	t.ends = make([]int, 0, len(t.rows))
	for place := 0; len(t.ends) < len(t.rows); {
		i := strings.IndexByte(t.text[place:], 0)
		if i < 0 {
			t.ends = append(t.ends, len(t.text))
			break
		}
		t.ends = append(t.ends, place+i)
		place += i + 1
	}
	if len(t.ends) != len(t.rows) || strings.Count(t.text, "\x00") != max(len(t.rows)-1, 0) {
		return nil, nil // a title with a NUL in it, from elsewhere
	}
	return t, nil
}
