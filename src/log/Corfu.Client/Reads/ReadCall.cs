namespace Corfu.Client;

/// <summary>A call of a reader and its progress.</summary>
internal sealed class ReadCall(
    IEnumerable<LogPosition> positions, ReadDetail detail, ReadMode mode, CancellationToken cancellationToken)
{
    public ReadDetail Detail { get; } = detail;

    public ReadMode Mode { get; } = mode;

    public CancellationToken CancellationToken { get; } = cancellationToken;

    public ReadItem[] Items { get; } = [.. positions.Select(p => new ReadItem(p))];

    /// <summary>A replica was slow once: from then on answers are waited for.</summary>
    public bool IsPatient { get; set; }
}

/// <summary>A position of a call.</summary>
internal sealed class ReadItem(LogPosition position)
{
    public LogPosition Position { get; } = position;

    /// <summary>The final result; null while there is none.</summary>
    public LogReadResult? Result { get; set; }

    /// <summary>Known to be committed (R11): any full replica will do; else the chain's tail is asked.</summary>
    public bool IsKnown { get; set; }

    /// <summary>The index of the replica asked in this pass, and what it answered.</summary>
    public int Replica { get; set; }

    public PageResult? Page { get; set; }

    /// <summary>Replicas, a bit each, that cannot give the page, or did not answer in time.</summary>
    public ulong Tried { get; private set; }

    public ulong Slow { get; set; }

    public bool IsDamaged { get; set; }

    public bool IsUnwritten => !IsKnown && Page is { State: PageState.Unwritten };

    public void CannotGive() => Tried |= 1UL << Replica;

    public void IsSlow() => Slow |= 1UL << Replica;

    /// <summary>A new epoch, or another attempt: what single replicas did before does not count.</summary>
    public void Reset()
    {
        Tried = Slow = 0;
        IsDamaged = false;
    }
}
