-- Counts of the Library, which triggers keep.

-- The bytes and the rows that each owner has: items with their earlier revisions, and rows of deleted items, which have no bytes. An
-- empty owner stands for the whole organisation.
CREATE TABLE library_usage (
    organization TEXT COLLATE "C" NOT NULL,
    owner        TEXT COLLATE "C" NOT NULL,
    bytes        BIGINT NOT NULL,
    items        BIGINT NOT NULL,
    PRIMARY KEY (organization, owner)
);

CREATE FUNCTION lathe_use_library(of_organization TEXT, of_owner TEXT, added_bytes BIGINT, added_items BIGINT)
RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF added_bytes <> 0 OR added_items <> 0 THEN
        INSERT INTO library_usage AS used (organization, owner, bytes, items)
            VALUES (of_organization, of_owner, added_bytes, added_items)
            ON CONFLICT (organization, owner)
            DO UPDATE SET bytes = used.bytes + excluded.bytes, items = used.items + excluded.items;
    END IF;
END
$$;

-- All writers of an organisation wait for its row, which therefore comes after that of the owner.
CREATE FUNCTION lathe_library_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM lathe_use_library(NEW.organization, '', NEW.bytes, NEW.items);
    ELSE
        PERFORM lathe_use_library(NEW.organization, '', NEW.bytes - OLD.bytes, NEW.items - OLD.items);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER library_usage_begun AFTER INSERT ON library_usage
    FOR EACH ROW WHEN (NEW.owner <> '') EXECUTE FUNCTION lathe_library_usage();
CREATE TRIGGER library_usage_changed AFTER UPDATE ON library_usage
    FOR EACH ROW WHEN (NEW.owner <> '') EXECUTE FUNCTION lathe_library_usage();

-- Counts the changes of what a user sees of a family: of own items in an application, and of items of others, whose application is `*`.
-- A client that watches a list compares the numbers and reads no items.
CREATE TABLE library_changes (
    organization TEXT COLLATE "C" NOT NULL,
    reader       TEXT COLLATE "C" NOT NULL,
    family       TEXT COLLATE "C" NOT NULL,
    app          TEXT COLLATE "C" NOT NULL,
    changes      BIGINT NOT NULL,
    PRIMARY KEY (organization, reader, family, app)
);

CREATE FUNCTION lathe_note_library_change(of_organization TEXT, of_reader TEXT, of_family TEXT, of_app TEXT)
RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO library_changes AS noted (organization, reader, family, app, changes)
        VALUES (of_organization, of_reader, of_family, of_app, 1)
        ON CONFLICT (organization, reader, family, app) DO UPDATE SET changes = noted.changes + 1;
END
$$;

-- A live item counts 200 bytes besides its texts: about what its row and its index entries take.
CREATE FUNCTION lathe_library_bytes(one library_items) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN one.deleted_at IS NULL THEN 200 + one.content_bytes + octet_length(one.body) + octet_length(one.tags)
        + octet_length(coalesce(one.key, '')) + octet_length(coalesce(one.label, '')) ELSE 0 END
$$;

CREATE FUNCTION lathe_library_item_creation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lathe_note_library_change(NEW.organization, NEW.owner, NEW.family, NEW.app);
    PERFORM lathe_use_library(NEW.organization, NEW.owner, lathe_library_bytes(NEW), 1);
    RETURN NULL;
END
$$;

CREATE FUNCTION lathe_library_item_size() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM lathe_use_library(OLD.organization, OLD.owner, -lathe_library_bytes(OLD), -1);
    ELSE
        PERFORM lathe_use_library(NEW.organization, NEW.owner, lathe_library_bytes(NEW) - lathe_library_bytes(OLD), 0);
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION lathe_library_item_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lathe_note_library_change(NEW.organization, NEW.owner, NEW.family, NEW.app);
    PERFORM lathe_note_library_change(s.organization, s.account, s.family, '*') FROM
        (SELECT * FROM library_shares WHERE organization = NEW.organization AND item = NEW.item ORDER BY account) s;
    RETURN NULL;
END
$$;

CREATE TRIGGER library_items_created AFTER INSERT ON library_items
    FOR EACH ROW EXECUTE FUNCTION lathe_library_item_creation();
CREATE TRIGGER library_items_resized AFTER UPDATE ON library_items
    FOR EACH ROW EXECUTE FUNCTION lathe_library_item_size();
CREATE TRIGGER library_items_changed AFTER UPDATE ON library_items
    FOR EACH ROW WHEN (NEW.revision <> OLD.revision OR NEW.deleted_at IS DISTINCT FROM OLD.deleted_at)
    EXECUTE FUNCTION lathe_library_item_change();
CREATE TRIGGER library_items_gone AFTER DELETE ON library_items
    FOR EACH ROW EXECUTE FUNCTION lathe_library_item_size();

CREATE FUNCTION lathe_library_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM lathe_use_library(NEW.organization, NEW.owner, 200 + NEW.content_bytes + octet_length(NEW.body), 0);
    ELSE
        PERFORM lathe_use_library(OLD.organization, OLD.owner, -(200 + OLD.content_bytes + octet_length(OLD.body)), 0);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER library_revisions_kept AFTER INSERT ON library_revisions
    FOR EACH ROW EXECUTE FUNCTION lathe_library_revision();
CREATE TRIGGER library_revisions_gone AFTER DELETE ON library_revisions
    FOR EACH ROW EXECUTE FUNCTION lathe_library_revision();

CREATE FUNCTION lathe_library_share() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM lathe_note_library_change(NEW.organization, NEW.account, NEW.family, '*');
    ELSE
        PERFORM lathe_note_library_change(OLD.organization, OLD.account, OLD.family, '*');
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER library_shares_begun AFTER INSERT ON library_shares
    FOR EACH ROW EXECUTE FUNCTION lathe_library_share();
CREATE TRIGGER library_shares_ended AFTER DELETE ON library_shares
    FOR EACH ROW EXECUTE FUNCTION lathe_library_share();
