PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO goose_db_version VALUES(1,0,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(2,1,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(3,2,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(4,3,1,'2026-11-30 12:53:12');
CREATE TABLE browsers (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash TEXT   NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL
);
INSERT INTO browsers VALUES(1,'fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029',1700000000000,1700000900000);
INSERT INTO browsers VALUES(2,'81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9',1700000100000,1700000100000);
CREATE TABLE drafts (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  version    BIGINT NOT NULL CHECK (version >= 1),
  files      TEXT   NOT NULL,
  size       BIGINT NOT NULL CHECK (size >= 0),
  created_at BIGINT NOT NULL, auto BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (browser_id, exercise, version)
);
INSERT INTO drafts VALUES(1,'core/charge-once',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]',32,1700000001000,0);
INSERT INTO drafts VALUES(1,'core/charge-once',2,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]',32,1700000002000,0);
INSERT INTO drafts VALUES(1,'core/by-itself',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]',32,1700000040000,1);
INSERT INTO drafts VALUES(1,'core/by-itself',2,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]',32,1700000041000,0);
CREATE TABLE submissions (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id        TEXT   NOT NULL UNIQUE,
  browser_id       BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise         TEXT   NOT NULL,
  exercise_version TEXT   NOT NULL,
  engine           TEXT   NOT NULL,
  seed             BIGINT NOT NULL,
  files            TEXT   NOT NULL,
  source_hash      TEXT   NOT NULL,
  state            TEXT   NOT NULL CHECK (state IN ('queued', 'graded')),
  outcome          TEXT   NOT NULL DEFAULT '' CHECK (outcome IN ('', 'passed', 'failed', 'rejected', 'inconclusive')),
  verdict          TEXT   NOT NULL DEFAULT '',
  job_id           BIGINT,
  attempt          BIGINT NOT NULL DEFAULT 0,
  created_at       BIGINT NOT NULL,
  started_at       BIGINT,
  finished_at      BIGINT,
  CHECK ((outcome <> '') = (state = 'graded')),
  CHECK ((verdict <> '') = (state = 'graded')),
  CHECK ((finished_at IS NOT NULL) = (state = 'graded'))
);
INSERT INTO submissions VALUES(1,'failed',1,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]','aa01','graded','failed','{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"failed","summary":"The payment was charged twice.","findings":[{"kind":"duplicate","object":"p-1","message":"Charged twice."}],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}',1,1,1700000010000,1700000011000,1700000014000);
INSERT INTO submissions VALUES(2,'passed',1,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]','aa02','graded','passed','{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"passed","summary":"It holds.","findings":[],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}',2,1,1700000020000,1700000021000,1700000024000);
INSERT INTO submissions VALUES(3,'waits',2,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]','aa01','queued','','',3,0,1700000030000,NULL,NULL);
CREATE TABLE submission_steps (
  submission_id BIGINT NOT NULL REFERENCES submissions (id) ON DELETE CASCADE,
  number        BIGINT NOT NULL CHECK (number >= 1),
  step          TEXT   NOT NULL,
  created_at    BIGINT NOT NULL,
  PRIMARY KEY (submission_id, number)
);
INSERT INTO submission_steps VALUES(1,1,'{"stage":"check"}',1700000011000);
INSERT INTO submission_steps VALUES(1,2,'{"stage":"build"}',1700000012000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',4);
INSERT INTO sqlite_sequence VALUES('browsers',2);
INSERT INTO sqlite_sequence VALUES('submissions',3);
CREATE INDEX browsers_by_seen ON browsers (seen_at);
CREATE INDEX submissions_by_browser ON submissions (browser_id, exercise, id);
CREATE INDEX submissions_queued ON submissions (id) WHERE state = 'queued';
CREATE UNIQUE INDEX submissions_one_unfinished ON submissions (browser_id, exercise) WHERE state = 'queued';
CREATE INDEX submissions_by_any_source ON submissions (source_hash, exercise, state);
COMMIT;
