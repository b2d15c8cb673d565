// Package note owns a folder of Markdown notes: which paths name a note, how a
// note is reached without ever leaving the folder, and how notes are read,
// listed, searched, written and watched.
//
// A [Vault] is one root folder. Every path goes through our own rules first
// ([ParseNotePath], [ParseFolderPath]), so that a refusal names the rule it
// broke and is the same on every platform. The path is then walked component by
// component through os.Root, so that no link, no swapped folder and no race
// leads outside. Only regular files are opened, and opening never blocks.
//
// The package refuses to know who is calling, through which protocol, whether
// the call is allowed, and what is recorded of it. Errors are faults
// (handrail/internal/fault); no message holds an absolute path.
package note

import "time"

// Limits bounds what a vault reads, writes and returns. A field that is zero
// takes its default.
type Limits struct {
	// MaxNoteBytes is the largest size of a note after a write or an append.
	// Default 100,000.
	MaxNoteBytes int
	// MaxReadBytes is the most bytes Read returns of one note. Larger notes are
	// skipped by search and never replaced. Default 100,000.
	MaxReadBytes int
	// MaxSearchResults is the default and the upper bound of a search's limit.
	// Default 20.
	MaxSearchResults int
}

// The defaults of [Limits].
const (
	DefaultMaxNoteBytes     = 100_000
	DefaultMaxReadBytes     = 100_000
	DefaultMaxSearchResults = 20
)

func (l Limits) withDefaults() Limits {
	if l.MaxNoteBytes <= 0 {
		l.MaxNoteBytes = DefaultMaxNoteBytes
	}
	if l.MaxReadBytes <= 0 {
		l.MaxReadBytes = DefaultMaxReadBytes
	}
	if l.MaxSearchResults <= 0 {
		l.MaxSearchResults = DefaultMaxSearchResults
	}
	return l
}

// pageBytes is where a page of a list or a search is cut, counted as the JSON
// that it will become: a quarter of it is tokens, and no answer may take more
// than 25,000 of those.
const pageBytes = 80_000

// Content is one note as Read returns it.
type Content struct {
	Path string `json:"path"`
	// Content is the note's text, at most MaxReadBytes of the file, cut at a
	// character boundary. A byte that is no UTF-8 is shown as U+FFFD, and then
	// InvalidUTF8 says so.
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	// TotalBytes is the size of the whole file.
	TotalBytes int64 `json:"totalBytes"`
	// SHA256 is the hash of the whole file's bytes, in hex.
	SHA256     string `json:"sha256"`
	ModifiedAt string `json:"modifiedAt"`
	// Hidden lists the first 100 characters of Content that a person cannot see
	// and a model can; HiddenMore counts those beyond.
	Hidden     []Hidden `json:"hidden,omitempty"`
	HiddenMore int      `json:"hiddenMore,omitzero"`
	// InvalidUTF8 is how many bytes of what was returned are no UTF-8. Such a
	// note is never replaced, because what was shown is not what it holds.
	InvalidUTF8 int `json:"invalidUtf8,omitzero"`
}

// Hidden is the position of one invisible character: line and column count from
// 1, columns in characters (code points). CodePoint reads like "U+200B".
type Hidden struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	CodePoint string `json:"codePoint"`
}

// Entry is one note in a listing.
type Entry struct {
	Path string `json:"path"`
	// Title is the first level-1 heading, else the front matter's title, else
	// the file name without ".md"; looked for in the first 64 KiB and cut at 200
	// characters.
	Title      string `json:"title"`
	Bytes      int64  `json:"bytes"`
	ModifiedAt string `json:"modifiedAt"`
}

// ListQuery asks for one page of a listing.
type ListQuery struct {
	// Folder limits the listing to what lies beneath it; "" is the whole root.
	Folder string
	// Limit is 1 to 500; 0 means 500.
	Limit int
	// Cursor is the NextCursor of the page before, or "".
	Cursor string
}

// Listing is one page of notes, ordered by the bytes of their paths.
type Listing struct {
	Notes      []Entry `json:"notes"`
	Truncated  bool    `json:"truncated"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

// SearchQuery asks for the lines that contain Query in any case.
type SearchQuery struct {
	// Query is 1 to 200 UTF-16 units on one line.
	Query string
	// Folder limits the search to what lies beneath it; "" is the whole root.
	Folder string
	// Limit is 1 to MaxSearchResults; 0 means MaxSearchResults.
	Limit int
}

// Matches is what a search found, ordered by path and line.
type Matches struct {
	Matches []Match `json:"matches"`
	// Truncated says that there are more matches than were returned. The part
	// of the folder behind the last one was then not looked at.
	Truncated bool `json:"truncated"`
	// Skipped lists the first 50 notes that were not searched, with the reason;
	// SkippedMore counts those beyond.
	Skipped     []Unsearched `json:"skipped"`
	SkippedMore int          `json:"skippedMore,omitzero"`
}

// Match is one matching line, counted from 1. Text is the line without its line
// ending, or the 500 UTF-16 units of it around the match, and then Cut is true.
// Bytes that are no UTF-8 show as U+FFFD.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitzero"`
}

// Unsearched is a note that was not searched.
type Unsearched struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Draft is a note to be written.
type Draft struct {
	Path    string
	Content string
	// Overwrite allows an existing note to be replaced.
	Overwrite bool
	// IfSHA256, where not "", is the hash that the note must still have.
	IfSHA256 string
}

// Written is what a write or an append left behind.
type Written struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Created bool   `json:"created"`
}

// stampText is how a modification time reaches a caller: RFC 3339, UTC, in
// milliseconds.
func stampText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
