namespace Corfu.Protocol;

/// <summary>Operation of a frame. Numbers are part of the wire format and never reused; an answer carries its
/// request's. Each role has a range: a unit 1 to 31, a sequencer 32 to 63, an acceptor 64 to 95, an agent 96 to 127.
/// Numbers from 128 on belong to other systems' roles, which define them beside their messages.</summary>
public enum Opcode : byte
{
    None = 0,

    Write = 1,
    Complete = 2,
    Fill = 3,
    Read = 4,
    Trim = 5,
    TrimPrefix = 6,
    Seal = 7,
    Install = 8,
    ConfirmEpoch = 9,
    StreamTails = 10,
    UnitInfo = 11,
    Repair = 12,
    CompleteMany = 13,
    ListStreamTails = 14,
    ImportStreamTails = 15,

    Bootstrap = 32,
    Token = 33,
    Tail = 34,
    LoadStreams = 35,
    Grants = 36,
    SequencerInfo = 37,
    Advance = 38,

    Prepare = 64,
    Accept = 65,
    Decided = 66,
    Latest = 67,
    ReadSlot = 68,
    Watch = 69,

    Ping = 96,
    Suspicion = 97,
    AgentInfo = 98,
    SetAutomation = 99,

    /// <summary>Since version 2.</summary>
    Deny = 100,

    /// <summary>Since version 2.</summary>
    ProcessInfo = 101,
}
