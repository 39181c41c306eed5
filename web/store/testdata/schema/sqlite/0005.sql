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
INSERT INTO goose_db_version VALUES(5,4,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(6,5,1,'2026-11-30 12:53:12');
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
CREATE TABLE practised (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  tried_at   BIGINT NOT NULL, -- the first verdict
  passed_at  BIGINT,          -- the first one that is a pass
  PRIMARY KEY (browser_id, exercise)
);
INSERT INTO practised VALUES(1,'core/charge-once',1700000014000,1700000024000);
INSERT INTO practised VALUES(2,'core/outbox',1700000050000,NULL);
CREATE TABLE predictions (
  browser_id  BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise    TEXT   NOT NULL,
  guess       TEXT   NOT NULL CHECK (guess IN ('passed', 'duplicate', 'lost', 'misordered', 'stuck', 'other')),
  source_hash TEXT   NOT NULL, -- of the starter
  made_at     BIGINT NOT NULL,
  came        TEXT   NOT NULL DEFAULT '',
  came_at     BIGINT,
  PRIMARY KEY (browser_id, exercise),
  CHECK ((came <> '') = (came_at IS NOT NULL))
);
INSERT INTO predictions VALUES(2,'core/charge-once','duplicate','aa03',1700000051000,'duplicate',1700000052000);
INSERT INTO predictions VALUES(2,'core/outbox','lost','aa04',1700000053000,'',NULL);
CREATE TABLE mistakes (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  kind       TEXT   NOT NULL,
  times      BIGINT NOT NULL CHECK (times >= 1), -- submissions
  last_at    BIGINT NOT NULL,
  PRIMARY KEY (browser_id, exercise, kind)
);
INSERT INTO mistakes VALUES(2,'core/outbox','lost',2,1700000054000);
CREATE TABLE cards (
  browser_id  BIGINT           NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  card        TEXT             NOT NULL, -- question/slug, pitfall/slug/id, prediction/pack/slug
  stability   DOUBLE PRECISION NOT NULL CHECK (stability > 0),
  difficulty  DOUBLE PRECISION NOT NULL CHECK (difficulty >= 1 AND difficulty <= 10),
  reps        BIGINT           NOT NULL CHECK (reps >= 1),
  lapses      BIGINT           NOT NULL CHECK (lapses >= 0),
  created_at  BIGINT           NOT NULL, -- the first rating
  reviewed_at BIGINT           NOT NULL, -- the last one
  due_at      BIGINT           NOT NULL,
  PRIMARY KEY (browser_id, card)
);
INSERT INTO cards VALUES(2,'question/dedup',2.5,5.25,2,1,1700000055000,1700000056000,1700086456000);
CREATE TABLE people (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  login        TEXT   NOT NULL UNIQUE CHECK (login <> ''),
  name         TEXT   NOT NULL CHECK (name <> ''),
  role         TEXT   NOT NULL CHECK (role IN ('owner', 'interviewer')),
  password     TEXT   NOT NULL, -- argon2id in its usual form, never the password
  created_at   BIGINT NOT NULL,
  signed_in_at BIGINT
);
INSERT INTO people VALUES(1,'ada@example.org','Ada','owner','hash of a password',1700000060000,1700000061000);
INSERT INTO people VALUES(2,'ivan','Иван','interviewer','hash of another',1700000062000,NULL);
CREATE TABLE invitations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash TEXT    NOT NULL UNIQUE,
  role       TEXT    NOT NULL CHECK (role IN ('owner', 'interviewer')),
  person_id  BIGINT  REFERENCES people (id) ON DELETE CASCADE,
  -- Printed by a start without an owner. They end together.
  first      BOOLEAN NOT NULL,
  note       TEXT    NOT NULL,
  made_by    BIGINT  REFERENCES people (id) ON DELETE CASCADE,
  created_at BIGINT  NOT NULL,
  expires_at BIGINT  NOT NULL,
  CHECK (NOT first OR (role = 'owner' AND person_id IS NULL))
);
INSERT INTO invitations VALUES(1,'invitation','interviewer',NULL,0,'for Eve',1,1700000063000,1700604863000);
INSERT INTO invitations VALUES(2,'new password','interviewer',2,0,'',1,1700000064000,1700086464000);
CREATE TABLE sessions (
  token_hash  TEXT   PRIMARY KEY,
  person_id   BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL, -- moves on while the session is used
  deadline_at BIGINT NOT NULL, -- does not
  CHECK (expires_at <= deadline_at)
);
INSERT INTO sessions VALUES('session',1,1700000061000,1700172861000,1701209661000);
CREATE TABLE audit (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  at        BIGINT NOT NULL,
  person_id BIGINT REFERENCES people (id) ON DELETE SET NULL,
  who       TEXT   NOT NULL,
  action    TEXT   NOT NULL CHECK (action <> ''),
  subject   TEXT   NOT NULL,
  network   TEXT   NOT NULL
);
INSERT INTO audit VALUES(1,1700000060000,1,'ada@example.org','joined','','192.0.2.1');
INSERT INTO audit VALUES(2,1700000065000,NULL,'','refused','','192.0.2.2');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',6);
INSERT INTO sqlite_sequence VALUES('browsers',2);
INSERT INTO sqlite_sequence VALUES('submissions',3);
INSERT INTO sqlite_sequence VALUES('people',2);
INSERT INTO sqlite_sequence VALUES('invitations',2);
INSERT INTO sqlite_sequence VALUES('audit',2);
CREATE INDEX browsers_by_seen ON browsers (seen_at);
CREATE INDEX submissions_by_browser ON submissions (browser_id, exercise, id);
CREATE INDEX submissions_queued ON submissions (id) WHERE state = 'queued';
CREATE UNIQUE INDEX submissions_one_unfinished ON submissions (browser_id, exercise) WHERE state = 'queued';
CREATE INDEX submissions_by_any_source ON submissions (source_hash, exercise, state);
CREATE INDEX sessions_by_person ON sessions (person_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX audit_by_action ON audit (action, id);
CREATE INDEX audit_by_person ON audit (person_id, action);
COMMIT;
