-- Conversations of users with agents, and their turns.

CREATE TABLE conversations (
    organization      TEXT COLLATE "C" NOT NULL,
    conversation      TEXT COLLATE "C" NOT NULL,
    sequence          BIGINT NOT NULL,
    agent             TEXT COLLATE "C" NOT NULL,
    account           TEXT COLLATE "C" NOT NULL,
    mode              TEXT COLLATE "C" NOT NULL CHECK (mode IN ('regular', 'conversation-simulation')),
    simulation_run_id TEXT COLLATE "C",
    unit_test_id      TEXT COLLATE "C",
    run_index         BIGINT,
    started_at        BIGINT NOT NULL,
    ended_at          BIGINT,
    PRIMARY KEY (organization, conversation),
    FOREIGN KEY (organization, agent) REFERENCES agents
);

CREATE UNIQUE INDEX conversations_by_sequence ON conversations (organization, sequence);
CREATE INDEX conversations_of_user ON conversations (organization, account, agent, sequence);

CREATE TRIGGER conversations_never_deleted BEFORE DELETE ON conversations
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a conversation is never deleted');

-- The tools that turns presented. Turns that present the same tools share a row.
CREATE TABLE presented_tools (
    organization TEXT COLLATE "C" NOT NULL REFERENCES organizations,
    digest       TEXT COLLATE "C" NOT NULL,
    tools        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (organization, digest)
);

CREATE TRIGGER presented_tools_never_rewritten BEFORE UPDATE ON presented_tools
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('presented tools are never rewritten');
CREATE TRIGGER presented_tools_never_deleted BEFORE DELETE ON presented_tools
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('presented tools are never deleted');

-- Turns of conversations, each with the revision and the tools that it presented.
CREATE TABLE turns (
    organization           TEXT COLLATE "C" NOT NULL,
    turn                   TEXT COLLATE "C" NOT NULL,
    conversation           TEXT COLLATE "C" NOT NULL,
    number                 BIGINT NOT NULL CHECK (number > 0),
    interaction            TEXT COLLATE "C" NOT NULL,
    agent_slug             TEXT COLLATE "C" NOT NULL,
    agent_revision         BIGINT NOT NULL,
    state                  TEXT COLLATE "C",
    state_type             TEXT COLLATE "C",
    spec_list              TEXT COLLATE "C",
    state_transition_index BIGINT NOT NULL,
    tool_call_round_index  BIGINT NOT NULL,
    presented              TEXT COLLATE "C" NOT NULL,
    began_at               BIGINT NOT NULL,
    PRIMARY KEY (organization, turn),
    UNIQUE (organization, conversation, number),
    FOREIGN KEY (organization, conversation) REFERENCES conversations,
    FOREIGN KEY (organization, presented) REFERENCES presented_tools
);

CREATE TRIGGER turns_never_rewritten BEFORE UPDATE ON turns
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a turn is never rewritten');
CREATE TRIGGER turns_never_deleted BEFORE DELETE ON turns
    FOR EACH ROW EXECUTE FUNCTION lathe_refuse('a turn is never deleted');
