-- Conversations of users with agents, and their turns.

CREATE TABLE conversations (
    organization      TEXT NOT NULL,
    conversation      TEXT NOT NULL,
    sequence          INTEGER NOT NULL,
    agent             TEXT NOT NULL,
    account           TEXT NOT NULL,
    mode              TEXT NOT NULL CHECK (mode IN ('regular', 'conversation-simulation')),
    simulation_run_id TEXT,
    unit_test_id      TEXT,
    run_index         INTEGER,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER,
    PRIMARY KEY (organization, conversation),
    FOREIGN KEY (organization, agent) REFERENCES agents
) STRICT;

CREATE UNIQUE INDEX conversations_by_sequence ON conversations (organization, sequence);
CREATE INDEX conversations_of_user ON conversations (organization, account, agent, sequence);

CREATE TRIGGER conversations_never_deleted BEFORE DELETE ON conversations
BEGIN SELECT RAISE(ABORT, 'a conversation is never deleted'); END;

-- The tools that turns presented. Turns that present the same tools share a row.
CREATE TABLE presented_tools (
    organization TEXT NOT NULL REFERENCES organizations,
    digest       TEXT NOT NULL,
    tools        TEXT NOT NULL,
    PRIMARY KEY (organization, digest)
) STRICT;

CREATE TRIGGER presented_tools_never_rewritten BEFORE UPDATE ON presented_tools
BEGIN SELECT RAISE(ABORT, 'presented tools are never rewritten'); END;
CREATE TRIGGER presented_tools_never_deleted BEFORE DELETE ON presented_tools
BEGIN SELECT RAISE(ABORT, 'presented tools are never deleted'); END;

-- Turns of conversations, each with the revision and the tools that it presented.
CREATE TABLE turns (
    organization           TEXT NOT NULL,
    turn                   TEXT NOT NULL,
    conversation           TEXT NOT NULL,
    number                 INTEGER NOT NULL CHECK (number > 0),
    interaction            TEXT NOT NULL,
    agent_slug             TEXT NOT NULL,
    agent_revision         INTEGER NOT NULL,
    state                  TEXT,
    state_type             TEXT,
    spec_list              TEXT,
    state_transition_index INTEGER NOT NULL,
    tool_call_round_index  INTEGER NOT NULL,
    presented              TEXT NOT NULL,
    began_at               INTEGER NOT NULL,
    PRIMARY KEY (organization, turn),
    UNIQUE (organization, conversation, number),
    FOREIGN KEY (organization, conversation) REFERENCES conversations,
    FOREIGN KEY (organization, presented) REFERENCES presented_tools
) STRICT;

CREATE TRIGGER turns_never_rewritten BEFORE UPDATE ON turns
BEGIN SELECT RAISE(ABORT, 'a turn is never rewritten'); END;
CREATE TRIGGER turns_never_deleted BEFORE DELETE ON turns
BEGIN SELECT RAISE(ABORT, 'a turn is never deleted'); END;
