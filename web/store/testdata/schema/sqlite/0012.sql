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
INSERT INTO goose_db_version VALUES(7,6,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(8,7,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(9,8,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(10,9,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(11,10,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(12,11,1,'2026-11-30 12:53:12');
INSERT INTO goose_db_version VALUES(13,12,1,'2026-11-30 16:56:04');
CREATE TABLE browsers (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash TEXT   NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL
);
INSERT INTO browsers VALUES(1,'fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029',1700000000000,1700000900000);
INSERT INTO browsers VALUES(2,'81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9',1700000100000,1700000100000);
INSERT INTO browsers VALUES(3,'sitting:GRACE',1700000082000,1700003000000);
INSERT INTO browsers VALUES(4,'sitting:LINUS',1700000083000,1700003000000);
CREATE TABLE drafts (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  version    BIGINT NOT NULL CHECK (version >= 1),
  files      TEXT   NOT NULL,
  size       BIGINT NOT NULL CHECK (size >= 0),
  created_at BIGINT NOT NULL, auto BOOLEAN NOT NULL DEFAULT FALSE, by_editor BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (browser_id, exercise, version)
);
INSERT INTO drafts VALUES(1,'core/charge-once',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]',32,1700000001000,0,0);
INSERT INTO drafts VALUES(1,'core/charge-once',2,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]',32,1700000002000,0,0);
INSERT INTO drafts VALUES(1,'core/by-itself',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]',32,1700000040000,1,0);
INSERT INTO drafts VALUES(1,'core/by-itself',2,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]',32,1700000041000,0,0);
INSERT INTO drafts VALUES(3,'core/charge-once',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]',32,1700000100000,1,0);
INSERT INTO drafts VALUES(4,'core/outbox',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]',32,1700002300000,1,1);
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
  finished_at      BIGINT, begun_at BIGINT, waited_until BIGINT, replaced_at BIGINT CHECK (replaced_at IS NULL OR state = 'queued'),
  CHECK ((outcome <> '') = (state = 'graded')),
  CHECK ((verdict <> '') = (state = 'graded')),
  CHECK ((finished_at IS NOT NULL) = (state = 'graded'))
);
INSERT INTO submissions VALUES(1,'failed',1,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]','aa01','graded','failed','{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"failed","summary":"The payment was charged twice.","findings":[{"kind":"duplicate","object":"p-1","message":"Charged twice."}],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}',1,1,1700000010000,1700000011000,1700000014000,1700000011000,1700000011000,NULL);
INSERT INTO submissions VALUES(2,'passed',1,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]','aa02','graded','passed','{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"passed","summary":"It holds.","findings":[],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}',2,1,1700000020000,1700000021000,1700000024000,1700000021000,1700000021000,NULL);
INSERT INTO submissions VALUES(3,'waits',2,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]','aa01','queued','','',3,0,1700000030000,NULL,NULL,NULL,NULL,NULL);
INSERT INTO submissions VALUES(4,'of Grace',3,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]','aa01','graded','failed','{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"failed","summary":"The payment was charged twice.","findings":[{"kind":"duplicate","object":"p-1","message":"Charged twice."}],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}',4,1,1700000200000,1700000203000,1700000206000,1700000203000,1700000203000,NULL);
INSERT INTO submissions VALUES(5,'of Linus',4,'core/charge-once','1.0.0','1',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]','aa02','graded','passed','{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"passed","summary":"It holds.","findings":[],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}',5,2,1700002100000,1700002107000,1700002110000,1700002107000,1700002107000,NULL);
INSERT INTO submissions VALUES(6,'replaced',2,'core/outbox','1.0.0','4',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]','aa01','queued','','',8,1,1700000130000,1700000131000,NULL,1700000131000,NULL,1700000132000);
INSERT INTO submissions VALUES(7,'newer',2,'core/outbox','1.0.0','4',1,'[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]','aa02','queued','','',9,0,1700000132000,NULL,NULL,NULL,NULL,NULL);
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
CREATE TABLE identities (
  issuer     TEXT   NOT NULL,
  subject    TEXT   NOT NULL CHECK (subject <> ''),
  person_id  BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject)
);
INSERT INTO identities VALUES('https://id.example','7',2,1700000070000);
CREATE TABLE assignments (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  person_id   BIGINT  REFERENCES people (id) ON DELETE SET NULL, -- owners see what nobody else does
  title       TEXT    NOT NULL CHECK (title <> ''),              -- for the interviewer
  note        TEXT    NOT NULL,                                  -- to the candidate
  lang        TEXT    NOT NULL CHECK (lang <> ''),
  minutes     BIGINT  NOT NULL CHECK (minutes = 0 OR (minutes >= 30 AND minutes <= 180)), -- 0: no limit
  opens_at    BIGINT,
  closes_at   BIGINT, -- when candidates begin at the latest; without a limit also the end
  warm_up     TEXT    NOT NULL,   -- an exercise before the clock, or ''
  hints       BOOLEAN NOT NULL,   -- what candidates see
  approaches  BOOLEAN NOT NULL,
  all_phases  BOOLEAN NOT NULL,   -- FALSE: of a verdict only the happy path
  retain_days BIGINT  NOT NULL CHECK (retain_days >= 1 AND retain_days <= 1000),
  open_hash   TEXT    UNIQUE,     -- of the token of a link for everybody
  created_at  BIGINT  NOT NULL,
  CHECK (closes_at IS NULL OR opens_at IS NULL OR closes_at > opens_at)
);
INSERT INTO assignments VALUES(1,2,'Backend','Good luck.','en',60,1700000000000,1701000000000,'core/warm-up',1,0,0,30,'open',1700000080000);
INSERT INTO assignments VALUES(2,NULL,'Of who is gone','','de',0,NULL,NULL,'',0,0,1,90,NULL,1700000081000);
CREATE TABLE assignment_exercises (
  assignment_id BIGINT NOT NULL REFERENCES assignments (id) ON DELETE CASCADE,
  place         BIGINT NOT NULL CHECK (place >= 1),
  exercise      TEXT   NOT NULL,
  PRIMARY KEY (assignment_id, place),
  UNIQUE (assignment_id, exercise)
);
INSERT INTO assignment_exercises VALUES(1,1,'core/charge-once');
INSERT INTO assignment_exercises VALUES(1,2,'core/outbox');
INSERT INTO assignment_exercises VALUES(2,1,'core/outbox');
CREATE TABLE candidates (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  assignment_id BIGINT  NOT NULL REFERENCES assignments (id) ON DELETE CASCADE,
  browser_id    BIGINT  NOT NULL UNIQUE REFERENCES browsers (id) ON DELETE CASCADE,
  token_hash    TEXT    NOT NULL UNIQUE,
  name          TEXT    NOT NULL CHECK (name <> ''),
  self          BOOLEAN NOT NULL, -- came by the open link and typed the name
  extra_minutes BIGINT  NOT NULL CHECK (extra_minutes >= 0 AND extra_minutes <= 180),
  created_at    BIGINT  NOT NULL,
  cancelled_at  BIGINT,
  started_at    BIGINT,
  ended_at      BIGINT,
  ended_by      TEXT    NOT NULL DEFAULT '' CHECK (ended_by IN ('', 'time', 'candidate', 'cancelled')),
  given_back    BIGINT  NOT NULL DEFAULT 0 CHECK (given_back >= 0), -- milliseconds, as it was at the end
  -- Everything is handed in as it stood at the end.
  handed_in     BOOLEAN NOT NULL DEFAULT FALSE,
  CHECK (ended_at IS NULL OR started_at IS NOT NULL),
  CHECK ((ended_by <> '') = (ended_at IS NOT NULL)),
  CHECK (NOT handed_in OR ended_at IS NOT NULL)
);
INSERT INTO candidates VALUES(1,1,3,'grace','Grace',0,15,1700000082000,NULL,1700000090000,1700003000000,'candidate',4000,1);
INSERT INTO candidates VALUES(2,1,4,'linus','Linus',1,0,1700000083000,NULL,1700002000000,NULL,'',0,0);
CREATE TABLE outages (
  began_at BIGINT PRIMARY KEY,
  ended_at BIGINT NOT NULL,
  CHECK (ended_at > began_at)
);
INSERT INTO outages VALUES(1700002200000,1700002260000);
CREATE TABLE alive (
  only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
  at       BIGINT NOT NULL -- the last sign of life
);
INSERT INTO alive VALUES(1,1700003000000);
CREATE TABLE candidate_notes (
  candidate_id BIGINT NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
  exercise     TEXT   NOT NULL,
  met          TEXT   NOT NULL, -- the numbers of the rubric's lines, from 1, with spaces between
  note         TEXT   NOT NULL,
  noted_at     BIGINT NOT NULL,
  PRIMARY KEY (candidate_id, exercise)
);
INSERT INTO candidate_notes VALUES(1,'core/charge-once','1 3','Found the window.',1700003100000);
INSERT INTO candidate_notes VALUES(1,'','','Yes.',1700003200000);
CREATE TABLE own_answers (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  question   TEXT   NOT NULL,
  answer     TEXT   NOT NULL CHECK (answer <> ''),
  saved_at   BIGINT NOT NULL,
  PRIMARY KEY (browser_id, question)
);
INSERT INTO own_answers VALUES(1,'dedup','С ключом.',1700000110000);
CREATE TABLE api_tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  person_id  BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  token_hash TEXT   NOT NULL UNIQUE,
  name       TEXT   NOT NULL CHECK (name <> ''),
  created_at BIGINT NOT NULL,
  expires_at BIGINT, -- NULL: it does not end by itself
  used_at    BIGINT
);
INSERT INTO api_tokens VALUES(1,2,'token','from the tracker',1700000120000,NULL,1700000121000);
CREATE TABLE webhooks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  url        TEXT   NOT NULL CHECK (url <> ''),
  secret     TEXT   NOT NULL CHECK (secret <> ''), -- as it is: requests are signed with it
  created_at BIGINT NOT NULL
);
INSERT INTO webhooks VALUES(1,'https://hooks.example/redeliver','whsec_0001',1700000122000);
CREATE TABLE webhook_deliveries (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id   BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  candidate_id BIGINT REFERENCES candidates (id) ON DELETE CASCADE, -- NULL: a test
  message_id   TEXT   NOT NULL, -- the same in every attempt
  event        TEXT   NOT NULL CHECK (event IN ('test', 'sitting.started', 'submission.graded', 'sitting.ended')),
  body         TEXT   NOT NULL,
  state        TEXT   NOT NULL CHECK (state IN ('waits', 'delivered', 'failed')),
  attempts     BIGINT NOT NULL DEFAULT 0,
  status       BIGINT NOT NULL DEFAULT 0, -- of the last answer; 0: there was none
  error        TEXT   NOT NULL DEFAULT '',
  created_at   BIGINT NOT NULL,
  tried_at     BIGINT,
  job_id       BIGINT,
  UNIQUE (webhook_id, message_id)
);
INSERT INTO webhook_deliveries VALUES(1,1,NULL,'msg_1','test','{}','delivered',1,204,'',1700000123000,1700000124000,6);
INSERT INTO webhook_deliveries VALUES(2,1,1,'msg_2','sitting.ended','{"candidate":1}','waits',1,500,'status 500',1700003000000,1700003001000,7);
CREATE TABLE pastes (
  browser_id BIGINT  NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT    NOT NULL,
  mark       TEXT    NOT NULL CHECK (mark <> ''),
  version    BIGINT  NOT NULL CHECK (version >= 1), -- of the draft that the lines are of
  file       TEXT    NOT NULL,
  from_line  BIGINT  NOT NULL CHECK (from_line >= 1),
  to_line    BIGINT  NOT NULL CHECK (to_line >= from_line),
  lines      BIGINT  NOT NULL CHECK (lines >= 1),   -- as it was pasted
  size       BIGINT  NOT NULL CHECK (size >= 1),    -- the same in characters
  moved      BOOLEAN NOT NULL,                      -- the text was in the editor or in the task before
  pasted_at  BIGINT  NOT NULL,
  PRIMARY KEY (browser_id, exercise, mark)
);
INSERT INTO pastes VALUES(4,'core/outbox','m1',1,'handler.go',1,1,1,22,0,1700002299000);
CREATE TABLE api_answers (
  token_id   BIGINT NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  key        TEXT   NOT NULL CHECK (key <> ''),
  request    TEXT   NOT NULL, -- hash of all that was asked for
  created_at BIGINT NOT NULL,
  -- base64; empty only inside of the transaction that makes it. Nothing stands after it:
  -- SQLite reads all of a long text to come to the next column.
  answer     TEXT   NOT NULL,
  PRIMARY KEY (token_id, key)
);
INSERT INTO api_answers VALUES(1,'8e03978e-40d5-43dd-bc93-6894a57f9324','2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',1700003000000,'c2VhbGVk');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',13);
INSERT INTO sqlite_sequence VALUES('browsers',4);
INSERT INTO sqlite_sequence VALUES('submissions',7);
INSERT INTO sqlite_sequence VALUES('people',2);
INSERT INTO sqlite_sequence VALUES('invitations',2);
INSERT INTO sqlite_sequence VALUES('audit',2);
INSERT INTO sqlite_sequence VALUES('assignments',2);
INSERT INTO sqlite_sequence VALUES('candidates',2);
INSERT INTO sqlite_sequence VALUES('api_tokens',1);
INSERT INTO sqlite_sequence VALUES('webhooks',1);
INSERT INTO sqlite_sequence VALUES('webhook_deliveries',2);
CREATE INDEX browsers_by_seen ON browsers (seen_at);
CREATE INDEX submissions_by_browser ON submissions (browser_id, exercise, id);
CREATE INDEX submissions_by_any_source ON submissions (source_hash, exercise, state);
CREATE INDEX sessions_by_person ON sessions (person_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX audit_by_action ON audit (action, id);
CREATE INDEX audit_by_person ON audit (person_id, action);
CREATE INDEX identities_by_person ON identities (person_id);
CREATE INDEX assignments_by_person ON assignments (person_id, id);
CREATE INDEX candidates_by_assignment ON candidates (assignment_id, id);
CREATE INDEX candidates_sitting ON candidates (started_at) WHERE started_at IS NOT NULL AND NOT handed_in;
CREATE INDEX api_tokens_by_person ON api_tokens (person_id, id);
CREATE INDEX webhook_deliveries_by_candidate ON webhook_deliveries (candidate_id);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (job_id) WHERE state = 'waits';
CREATE INDEX submissions_queued ON submissions (id) WHERE state = 'queued' AND replaced_at IS NULL;
CREATE UNIQUE INDEX submissions_one_unfinished ON submissions (browser_id, exercise) WHERE state = 'queued' AND replaced_at IS NULL;
CREATE INDEX submissions_finished ON submissions (finished_at) WHERE started_at IS NOT NULL;
CREATE INDEX drafts_sizes ON drafts (browser_id, exercise, version, auto, created_at, size);
CREATE INDEX api_answers_created ON api_answers (created_at);
COMMIT;
