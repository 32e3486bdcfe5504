using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Calls;

/// <summary>
/// A commit record that the sequencer is asked to decide. Granted, it commits with its append, whatever playback finds
/// (R29). Else it is not in the log, and its transaction goes on: <see cref="End"/> says why.
/// </summary>
/// <param name="played">Not null: the caller waits until its writes are applied.</param>
/// <param name="follower">Null: nothing that it writes is played here.</param>
internal sealed class AskCall(ReadOnlyMemory<byte> record, ImmutableArray<StreamId> streams, IPlayedEntries? played,
    IPlayedEntries? follower, DirectoryEntry firstWritten)
    : CommitCall(record, streams, played, SpillList.Empty, long.MaxValue, firstWritten)
{
    // The most that a transaction reads and writes, of 4,096 for a request.
    public const int MaxScopes = 1_024;

    private volatile int _end;

    public override IPlayedEntries? Follower => follower;

    /// <summary>The tail up to which everything that was read is known here, with its epoch (R27).</summary>
    public required LogPosition Since { get; init; }

    public required ImmutableArray<CellScope> Reads { get; init; }

    public int Scopes => Writes.Length + Reads.Length;

    /// <summary>Why it is not in the log, and never will be; set before the caller is answered.</summary>
    public AskEnd End => (AskEnd)_end;

    /// <summary>With <see cref="AskEnd.Written"/> and <see cref="AskEnd.TooOld"/>.</summary>
    public Refusal? Refusal { get; private set; }

    /// <summary>In the log it has committed.</summary>
    public override bool IsDecidedByPlace => true;

    /// <summary>The record leaves its entry; <see cref="TellRefused"/> answers the caller.</summary>
    public void Refuse(AskEnd end, Refusal? refusal)
    {
        Refusal = refusal;
        _end = (int)end;
    }

    public void TellRefused()
    {
        if (TryBecomeNotWritten()) Tell(NotWritten());
    }

    /// <summary>A planted bug (R33): the entry is not at all replicas yet.</summary>
    public void BelieveVerdict() => Tell(DecideByPlace(new RecordVersion(Since, 0)));
}

/// <summary>How an ask ended without its record in the log.</summary>
internal enum AskEnd
{
    None,

    /// <summary>A grant may write what was read.</summary>
    Written,

    /// <summary>The sequencer does not know all grants since the tail that was sent, or is of a newer epoch.</summary>
    TooOld,

    /// <summary>The sequencer does not decide.</summary>
    NotDecided,

    /// <summary>Granted, and the position was lost (R28).</summary>
    PositionLost,
}
