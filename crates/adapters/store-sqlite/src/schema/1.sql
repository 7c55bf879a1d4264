-- A stream has its owner in every key: '' stands for "no project" and "no run", since NULL is never equal to NULL.
-- One row is the head of one stream; it appears with the first commit.
CREATE TABLE stream (
    ordinal       INTEGER PRIMARY KEY,
    organization  TEXT    NOT NULL CHECK (organization <> ''),
    project       TEXT    NOT NULL,
    run           TEXT    NOT NULL CHECK (run = '' OR project <> ''),
    head_seq      INTEGER NOT NULL CHECK (head_seq >= 0),
    head_leaf     BLOB    NOT NULL CHECK (length(head_leaf) = 32),
    head_key      BLOB    NOT NULL CHECK (length(head_key) = 32),
    head_signature BLOB   NOT NULL CHECK (length(head_signature) = 64),
    UNIQUE (organization, project, run)
) STRICT;

-- The runs of a project by age: an index ends in the row's ordinal.
CREATE INDEX stream_by_project ON stream (organization, project);

-- Not WITHOUT ROWID: such a table keeps whole rows in its inner pages, and records are too large for that.
CREATE TABLE record (
    position      INTEGER PRIMARY KEY,
    organization  TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    run           TEXT    NOT NULL,
    seq           INTEGER NOT NULL CHECK (seq >= 0),
    time_ms       INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    leaf          BLOB    NOT NULL CHECK (length(leaf) = 32),
    bytes         BLOB    NOT NULL CHECK (length(bytes) > 0),
    UNIQUE (organization, project, run, seq),
    FOREIGN KEY (organization, project, run) REFERENCES stream (organization, project, run)
) STRICT;

-- The row of a claim names the commit that took it by the position of its last record.
CREATE TABLE claim (
    organization  TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    key           TEXT    NOT NULL,
    value         TEXT    NOT NULL,
    run           TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    PRIMARY KEY (organization, project, key),
    FOREIGN KEY (organization, project, run) REFERENCES stream (organization, project, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
    id            INTEGER PRIMARY KEY,
    organization  TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    run           TEXT    NOT NULL,
    event_type    TEXT    NOT NULL,
    bytes         BLOB    NOT NULL,
    FOREIGN KEY (organization, project, run) REFERENCES stream (organization, project, run)
) STRICT;

CREATE INDEX outbox_by_project ON outbox (organization, project);

-- AUTOINCREMENT, since an id must not come back once its command was answered.
CREATE TABLE inbox (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    organization  TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    run           TEXT    NOT NULL,
    bytes         BLOB    NOT NULL
) STRICT;

CREATE INDEX inbox_by_stream ON inbox (organization, project, run);

-- The row of a stream stays when its lease was given back, so that its fences never begin anew.
CREATE TABLE lease (
    organization  TEXT    NOT NULL CHECK (organization <> ''),
    project       TEXT    NOT NULL,
    run           TEXT    NOT NULL CHECK (run = '' OR project <> ''),
    owner         TEXT    NOT NULL,
    fence         INTEGER NOT NULL CHECK (fence > 0),
    expires_ms    INTEGER NOT NULL,
    PRIMARY KEY (organization, project, run)
) STRICT, WITHOUT ROWID;

-- What follows binds every client that speaks SQL to this file, not this program alone. INSERT OR REPLACE deletes
-- the old row without asking the triggers for deletion, so each insertion is guarded as well.

CREATE TRIGGER stream_guards_insertion BEFORE INSERT ON stream
WHEN EXISTS (SELECT 1 FROM stream WHERE ordinal = NEW.ordinal)
    OR EXISTS (SELECT 1 FROM stream
               WHERE organization = NEW.organization AND project = NEW.project AND run = NEW.run)
BEGIN
    SELECT RAISE(ABORT, 'a head only advances');
END;

CREATE TRIGGER stream_guards_update BEFORE UPDATE ON stream
WHEN NEW.head_seq <= OLD.head_seq OR NEW.ordinal <> OLD.ordinal OR NEW.organization <> OLD.organization
    OR NEW.project <> OLD.project OR NEW.run <> OLD.run
BEGIN
    SELECT RAISE(ABORT, 'a head only advances');
END;

CREATE TRIGGER stream_guards_deletion BEFORE DELETE ON stream
BEGIN
    SELECT RAISE(ABORT, 'a head only advances');
END;

CREATE TRIGGER record_guards_insertion BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE position = NEW.position)
    OR NEW.seq <> (SELECT coalesce(max(seq) + 1, 0) FROM record
                   WHERE organization = NEW.organization AND project = NEW.project AND run = NEW.run)
BEGIN
    SELECT RAISE(ABORT, 'records are only appended');
END;

CREATE TRIGGER record_guards_update BEFORE UPDATE ON record
BEGIN
    SELECT RAISE(ABORT, 'records are only appended');
END;

CREATE TRIGGER record_guards_deletion BEFORE DELETE ON record
BEGIN
    SELECT RAISE(ABORT, 'records are only appended');
END;

CREATE TRIGGER claim_guards_insertion BEFORE INSERT ON claim
WHEN EXISTS (SELECT 1 FROM claim
             WHERE organization = NEW.organization AND project = NEW.project AND key = NEW.key)
BEGIN
    SELECT RAISE(ABORT, 'a claim never changes');
END;

CREATE TRIGGER claim_guards_update BEFORE UPDATE ON claim
BEGIN
    SELECT RAISE(ABORT, 'a claim never changes');
END;

CREATE TRIGGER claim_guards_deletion BEFORE DELETE ON claim
BEGIN
    SELECT RAISE(ABORT, 'a claim never changes');
END;

CREATE TRIGGER outbox_guards_insertion BEFORE INSERT ON outbox
WHEN EXISTS (SELECT 1 FROM outbox WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'messages are only appended');
END;

CREATE TRIGGER outbox_guards_update BEFORE UPDATE ON outbox
BEGIN
    SELECT RAISE(ABORT, 'messages are only appended');
END;

CREATE TRIGGER outbox_guards_deletion BEFORE DELETE ON outbox
BEGIN
    SELECT RAISE(ABORT, 'messages are only appended');
END;

CREATE TRIGGER lease_guards_insertion BEFORE INSERT ON lease
WHEN EXISTS (SELECT 1 FROM lease
             WHERE organization = NEW.organization AND project = NEW.project AND run = NEW.run)
BEGIN
    SELECT RAISE(ABORT, 'a fence only grows');
END;

CREATE TRIGGER lease_guards_update BEFORE UPDATE ON lease
WHEN NEW.fence < OLD.fence OR NEW.organization <> OLD.organization OR NEW.project <> OLD.project
    OR NEW.run <> OLD.run OR (NEW.owner <> OLD.owner AND NEW.fence = OLD.fence)
BEGIN
    SELECT RAISE(ABORT, 'a fence only grows');
END;

CREATE TRIGGER lease_guards_deletion BEFORE DELETE ON lease
BEGIN
    SELECT RAISE(ABORT, 'a fence only grows');
END;
