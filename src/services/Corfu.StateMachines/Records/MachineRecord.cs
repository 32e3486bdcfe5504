using System.Buffers.Binary;
using System.IO.Hashing;

namespace Corfu.StateMachines.Records;

/// <summary>A record of a machine's stream. Numbers of kinds are part of the format and never used again.</summary>
internal abstract record MachineRecord;

/// <summary>Names a record of one replica. With it the replica knows its own record when it plays it, whatever its
/// append has returned.</summary>
internal readonly record struct ProposalKey(Guid Replica, long Sequence);

/// <summary>The first one of a stream says whose the stream is.</summary>
internal sealed record ConfigureRecord(string Machine, int Version, int MaxSessions, int MaxResultBytes)
    : MachineRecord;

/// <summary>A record that a replica waits for.</summary>
internal abstract record ProposalRecord(ProposalKey Key) : MachineRecord;

/// <summary>Commands of one replica.</summary>
/// <param name="Applied">The replica had played the entries below.</param>
/// <param name="Digest">The digest of its results below.</param>
internal sealed record CommandsRecord(ProposalKey Key, LogPosition Applied, ulong Digest,
    ImmutableArray<Command> Commands) : ProposalRecord(Key);

internal sealed record OpenRecord(ProposalKey Key) : ProposalRecord(Key)
{
    /// <summary>The session's id, from the key: no two records have it. A position would do only in one log: a promoted
    /// mirror grants the positions beyond its copy anew, and two clients would share a session (M1).</summary>
    public long Session
    {
        get
        {
            Span<byte> key = stackalloc byte[24];
            Key.Replica.TryWriteBytes(key, bigEndian: true, out _);
            BinaryPrimitives.WriteInt64LittleEndian(key[16..], Key.Sequence);
            return (long)(XxHash3.HashToUInt64(key) & long.MaxValue);
        }
    }
}

internal sealed record CloseRecord(ProposalKey Key, long Session) : ProposalRecord(Key);

/// <summary>A replica is about to write a snapshot. It counts if no other has counted since the one that it
/// names.</summary>
/// <param name="Behind">The newest intent that counts, as its writer knows; null: none.</param>
internal sealed record IntentRecord(ProposalKey Key, LogPosition? Behind) : ProposalRecord(Key);

/// <param name="Session"><see cref="NoSession"/>, or the id of one.</param>
internal readonly record struct Command(long Session, long Number, long AnsweredBelow, ReadOnlyMemory<byte> Body)
{
    public const long NoSession = -1;

    public bool HasSession => Session != NoSession;
}
