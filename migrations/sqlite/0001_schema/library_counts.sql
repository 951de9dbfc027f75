-- Counts of the Library, which triggers keep.

-- The bytes and the rows that each owner has: items with their earlier revisions, and rows of deleted items, which have no bytes. An
-- empty owner stands for the whole organisation.
CREATE TABLE library_usage (
    organization TEXT NOT NULL,
    owner        TEXT NOT NULL,
    bytes        INTEGER NOT NULL,
    items        INTEGER NOT NULL,
    PRIMARY KEY (organization, owner)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER library_usage_begun AFTER INSERT ON library_usage WHEN NEW.owner <> '' BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (NEW.organization, '', NEW.bytes, NEW.items)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
END;
CREATE TRIGGER library_usage_changed AFTER UPDATE ON library_usage WHEN NEW.owner <> '' BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (NEW.organization, '', NEW.bytes - OLD.bytes, NEW.items - OLD.items)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
END;

-- Counts the changes of what a user sees of a family: of own items in an application, and of items of others, whose application is `*`.
-- A client that watches a list compares the numbers and reads no items.
CREATE TABLE library_changes (
    organization TEXT NOT NULL,
    reader       TEXT NOT NULL,
    family       TEXT NOT NULL,
    app          TEXT NOT NULL,
    changes      INTEGER NOT NULL,
    PRIMARY KEY (organization, reader, family, app)
) STRICT, WITHOUT ROWID;

-- A live item counts 200 bytes besides its texts: about what its row and its index entries take.
CREATE TRIGGER library_items_created AFTER INSERT ON library_items BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (NEW.organization, NEW.owner, CASE WHEN NEW.deleted_at IS NULL THEN
            200 + NEW.content_bytes + length(CAST(NEW.body AS BLOB)) + length(CAST(NEW.tags AS BLOB))
            + length(CAST(coalesce(NEW.key, '') AS BLOB)) + length(CAST(coalesce(NEW.label, '') AS BLOB)) ELSE 0 END, 1)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
    INSERT INTO library_changes (organization, reader, family, app, changes)
        VALUES (NEW.organization, NEW.owner, NEW.family, NEW.app, 1)
        ON CONFLICT (organization, reader, family, app) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER library_items_resized AFTER UPDATE ON library_items BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (NEW.organization, NEW.owner, (CASE WHEN NEW.deleted_at IS NULL THEN
            200 + NEW.content_bytes + length(CAST(NEW.body AS BLOB)) + length(CAST(NEW.tags AS BLOB))
            + length(CAST(coalesce(NEW.key, '') AS BLOB)) + length(CAST(coalesce(NEW.label, '') AS BLOB)) ELSE 0 END)
            - (CASE WHEN OLD.deleted_at IS NULL THEN
            200 + OLD.content_bytes + length(CAST(OLD.body AS BLOB)) + length(CAST(OLD.tags AS BLOB))
            + length(CAST(coalesce(OLD.key, '') AS BLOB)) + length(CAST(coalesce(OLD.label, '') AS BLOB)) ELSE 0 END), 0)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
END;
CREATE TRIGGER library_items_changed AFTER UPDATE ON library_items
    WHEN NEW.revision <> OLD.revision OR NEW.deleted_at IS NOT OLD.deleted_at BEGIN
    INSERT INTO library_changes (organization, reader, family, app, changes)
        VALUES (NEW.organization, NEW.owner, NEW.family, NEW.app, 1)
        ON CONFLICT (organization, reader, family, app) DO UPDATE SET changes = changes + 1;
    INSERT INTO library_changes (organization, reader, family, app, changes)
        SELECT s.organization, s.account, s.family, '*', 1 FROM library_shares s
        WHERE s.organization = NEW.organization AND s.item = NEW.item ORDER BY s.account
        ON CONFLICT (organization, reader, family, app) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER library_items_gone AFTER DELETE ON library_items BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (OLD.organization, OLD.owner, -(CASE WHEN OLD.deleted_at IS NULL THEN
            200 + OLD.content_bytes + length(CAST(OLD.body AS BLOB)) + length(CAST(OLD.tags AS BLOB))
            + length(CAST(coalesce(OLD.key, '') AS BLOB)) + length(CAST(coalesce(OLD.label, '') AS BLOB)) ELSE 0 END), -1)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
END;

CREATE TRIGGER library_revisions_kept AFTER INSERT ON library_revisions BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (NEW.organization, NEW.owner, 200 + NEW.content_bytes + length(CAST(NEW.body AS BLOB)), 0)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
END;
CREATE TRIGGER library_revisions_gone AFTER DELETE ON library_revisions BEGIN
    INSERT INTO library_usage (organization, owner, bytes, items)
        VALUES (OLD.organization, OLD.owner, -(200 + OLD.content_bytes + length(CAST(OLD.body AS BLOB))), 0)
        ON CONFLICT (organization, owner) DO UPDATE SET bytes = bytes + excluded.bytes, items = items + excluded.items;
END;

CREATE TRIGGER library_shares_begun AFTER INSERT ON library_shares BEGIN
    INSERT INTO library_changes (organization, reader, family, app, changes)
        VALUES (NEW.organization, NEW.account, NEW.family, '*', 1)
        ON CONFLICT (organization, reader, family, app) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER library_shares_ended AFTER DELETE ON library_shares BEGIN
    INSERT INTO library_changes (organization, reader, family, app, changes)
        VALUES (OLD.organization, OLD.account, OLD.family, '*', 1)
        ON CONFLICT (organization, reader, family, app) DO UPDATE SET changes = changes + 1;
END;
