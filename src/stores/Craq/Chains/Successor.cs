namespace Craq.Chains;

/// <summary>The knowledge of a member about its successor in this epoch, and the records under way to it.</summary>
/// <remarks>Invariant: in <see cref="SuccessorState.Stream"/> the successor holds everything up to <see cref="Sent"/>,
/// or it is under way.</remarks>
internal sealed class Successor(CraqNodeOptions options)
{
    private long _retryAt;
    private long _askAt;

    public SuccessorState State { get; private set; }

    /// <summary>Answers of an earlier generation say nothing about what is under way.</summary>
    public long Generation { get; private set; }

    public ObjectVersion Sent { get; private set; }

    /// <summary>Records up to here go whole: a successor that was asked may have been started anew, and a relayed value
    /// does not survive that.</summary>
    public ObjectVersion WholeUntil { get; private set; }

    public int Records { get; private set; }

    public long Bytes { get; private set; }

    private int Calls { get; set; }

    public bool HasRoom => Records < options.WindowRecords && Bytes < options.WindowBytes;

    /// <summary>Nothing is under way, and the successor has it all.</summary>
    public bool IsLevel(ObjectVersion last) => State == SuccessorState.Stream && Calls == 0 && Sent >= last;

    /// <summary>Nothing under way will bring a mark, and a probe is due for it.</summary>
    public bool IsQuiet(long now) => State == SuccessorState.Stream && Calls == 0 && now >= _askAt;

    public bool MayProbe(long now) => State == SuccessorState.Probe && now >= _retryAt;

    /// <summary>Another epoch, or an answer that is missing: everything is asked anew.</summary>
    public void BecomeProbe(long retryAt)
    {
        State = SuccessorState.Probe;
        Generation++;
        (Records, Bytes, Calls, _retryAt) = (0, 0, 0, retryAt);
    }

    public override string ToString() => $"{State} {Sent} {Calls}";

    public void BecomeProbing() => State = SuccessorState.Probing;

    /// <summary>The successor holds everything up to there.</summary>
    /// <param name="last">The newest record of the sender.</param>
    /// <param name="askAt">When to ask for the mark if nothing else is sent.</param>
    public void BecomeStream(ObjectVersion held, ObjectVersion last, long askAt)
    {
        WholeUntil = last;
        _askAt = askAt;
        State = SuccessorState.Stream;
        Generation++;
        Sent = held;
        (Records, Bytes, Calls) = (0, 0, 0);
    }

    public void Add(ObjectVersion sent, int records, long bytes, long askAt)
    {
        _askAt = askAt;
        Sent = sent;
        Records += records;
        Bytes += bytes;
        Calls++;
    }

    public void Remove(int records, long bytes)
    {
        Records -= records;
        Bytes -= bytes;
        Calls--;
    }
}

internal enum SuccessorState
{
    /// <summary>The records that the successor holds are unknown: ask.</summary>
    Probe,

    /// <summary>The question is under way.</summary>
    Probing,

    Stream,
}
