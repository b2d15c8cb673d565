package sqlite

// applicationID marks the file as Handrail's: "HRL1".
const applicationID = 0x48524c31

// migrations bring a database from the version that is their index to the next
// one. They are only ever added to.
var migrations = []query{schema1}

// schemaVersion is the newest layout this program knows (PRAGMA user_version).
func schemaVersion() int64 { return int64(len(migrations)) }

// schema1 is the first layout.
//
// A task's row number is its user's number times 2^32 plus a count that only
// grows, so that one user's tasks lie together in the order of their ids, and
// the search index can be asked for one user's rows alone.
//
// The index of titles takes its text from tasks. It is written by the store in
// the same transaction, after the savepoints of a batch: a savepoint would make
// it write a segment for every task. Only a change of a title, which the store
// never makes, needs a trigger.
const schema1 query = `
CREATE TABLE users (
  user_no  INTEGER PRIMARY KEY CHECK (user_no BETWEEN 1 AND 2147483647),
  user_id  TEXT NOT NULL UNIQUE,
  last_id  INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  tasks    INTEGER NOT NULL
) STRICT;

CREATE TABLE tasks (
  row          INTEGER PRIMARY KEY,
  user_id      TEXT NOT NULL,
  id           INTEGER NOT NULL CHECK (id BETWEEN 1 AND 9007199254740991),
  title        TEXT NOT NULL,
  status       TEXT NOT NULL CHECK (status IN ('open', 'done')),
  due          TEXT,
  tags         TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX tasks_by_id ON tasks (user_id, id);
CREATE INDEX tasks_open ON tasks (user_id) WHERE status = 'open';

CREATE TABLE task_tags (
  user_id TEXT NOT NULL,
  tag     TEXT NOT NULL,
  row     INTEGER NOT NULL,
  PRIMARY KEY (user_id, tag, row)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE task_titles USING fts5 (
  title, content='tasks', content_rowid='row', tokenize='trigram', detail='none', columnsize=0
);
CREATE TRIGGER tasks_retitled AFTER UPDATE OF title ON tasks BEGIN
  INSERT INTO task_titles (task_titles, rowid, title) VALUES ('delete', OLD.row, OLD.title);
  INSERT INTO task_titles (rowid, title) VALUES (NEW.row, NEW.title);
END;

CREATE TABLE task_changes (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  id      INTEGER NOT NULL,
  kind    TEXT NOT NULL
) STRICT;

CREATE TABLE spent_confirmations (
  nonce      TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_log (
  seq         INTEGER PRIMARY KEY,
  at          TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  pos         INTEGER NOT NULL,
  call_id     TEXT NOT NULL,
  tool        TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  code        TEXT NOT NULL,
  args        ANY NOT NULL,
  args_bytes  INTEGER NOT NULL,
  args_sha256 TEXT NOT NULL,
  duration_us INTEGER NOT NULL,
  prev_hash   TEXT NOT NULL,
  hash        TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_log_chain ON audit_log (user_id, pos);
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN
  SELECT RAISE(ABORT, 'audit_log is append-only: entries cannot be changed');
END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log BEGIN
  SELECT RAISE(ABORT, 'audit_log is append-only: entries cannot be deleted');
END;
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
WHEN NEW.seq <= (SELECT max(seq) FROM audit_log)
  OR EXISTS (SELECT 1 FROM audit_log WHERE user_id = NEW.user_id AND pos = NEW.pos)
BEGIN
  SELECT RAISE(ABORT, 'audit_log is append-only: an entry can only follow the last one');
END;

PRAGMA application_id = 1213353009;
PRAGMA user_version = 1;
`

// ourTables must all be there for a file to be Handrail's.
var ourTables = []string{"users", "tasks", "task_tags", "task_titles", "task_changes", "spent_confirmations", "audit_log"}
