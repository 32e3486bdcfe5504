namespace Corfu.Protocol;

/// <summary>The outcome of one request. Numbers are part of the wire format and never reused.
/// <see cref="CorfuStatusException.Create"/> makes exceptions of those that are no values for the caller.</summary>
public enum Status : byte
{
    Ok = 0,

    /// <summary>The request's epoch is below the node's: learn the newer projection (TOCS 2.5).</summary>
    Sealed = 1,

    /// <summary>The request's epoch is above the node's: install that projection there, then retry.</summary>
    NotInstalled = 2,

    /// <summary>The position holds a value; the answer says which.</summary>
    AlreadyWritten = 3,

    Unwritten = 4,
    Trimmed = 5,

    /// <summary>The page is there but damaged: neither readable nor unwritten; never filled.</summary>
    Corrupt = 6,

    /// <summary>No space for pages left; seals and trims still work.</summary>
    NoSpace = 7,

    /// <summary>The node met a fatal error (a failed fsync, say) and serves nothing until it is restarted.</summary>
    Failed = 8,

    /// <summary>The sequencer does not know a stream's tail: hand it over, then retry.</summary>
    UnknownStream = 9,

    /// <summary>The sequencer's stream table is full.</summary>
    StreamLimit = 10,

    /// <summary>The answering role is not the identity that the request named.</summary>
    WrongNode = 11,

    BadRequest = 12,
    TooLarge = 13,

    /// <summary>A named limit of the node is reached; nothing was done.</summary>
    Overloaded = 14,

    /// <summary>The layout's register for that epoch is below the prune floor; the answer carries the latest
    /// projection.</summary>
    Superseded = 15,

    /// <summary>The sequencer incarnation has no bootstrap for this epoch yet.</summary>
    NotBootstrapped = 16,

    /// <summary>An acceptor has promised a higher ballot.</summary>
    Outbid = 17,

    /// <summary>Opcode or version not understood.</summary>
    Unsupported = 18,

    /// <summary>A repair or bootstrap contradicts what the node holds.</summary>
    Conflict = 19,

    /// <summary>The log is a mirror: it grants and fills nothing until it is promoted.</summary>
    Mirror = 20,

    /// <summary>A mirror whose copier has not completed the positions below the epoch's start: wait for it.</summary>
    Unready = 21,

    /// <summary>The peer's role does not allow the request; nothing was done.</summary>
    Denied = 22,
}
