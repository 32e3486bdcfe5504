namespace Tango.Model;

/// <summary>
/// Counts what is applied to a cohort, and says once when a checkpoint is due. Playback counts; the checkpointer
/// resets.
/// </summary>
internal sealed class CohortTraffic
{
    // Bytes of an update in the log beside its key and arguments, about. Thus a large object whose updates are small is
    // not played for ever.
    private const int BytesOfRecord = 32;

    // Both counts only grow, and playback alone writes them.
    private long _updates;
    private long _bytes;

    // Counts at the last checkpoint, or from which counting began; the checkpointer writes them.
    private long _updatesDone;
    private long _bytesDone;
    private long _checkpointSize;

    // Not null from when the cohort is open. _isTold: the checkpointer has it in hand.
    private CheckpointPolicy? _policy;
    private Action? _due;
    private volatile bool _isTold;

    public long Updates => Volatile.Read(ref _updates);

    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Bytes of the newest checkpoint that was made or loaded here; 0: none was.</summary>
    public long CheckpointSize
    {
        get => Volatile.Read(ref _checkpointSize);
        set => Volatile.Write(ref _checkpointSize, value);
    }

    /// <summary>Size in the log, about, of all updates since the newest checkpoint.</summary>
    public long BytesSinceCheckpoint =>
        Bytes - Volatile.Read(ref _bytesDone) + ((Updates - Volatile.Read(ref _updatesDone)) * BytesOfRecord);

    private bool IsDue
    {
        get
        {
            if (_policy is not { } policy) return false;
            var updates = Updates - Volatile.Read(ref _updatesDone);
            var bytes = Bytes - Volatile.Read(ref _bytesDone);
            return (updates >= policy.Updates || bytes >= policy.Bytes)
                && BytesSinceCheckpoint >= CheckpointSize / 2;
        }
    }

    public void Watch(CheckpointPolicy policy, Action due) => (_due, _policy) = (due, policy);

    /// <summary>Playback only.</summary>
    public void Count(long bytes)
    {
        Volatile.Write(ref _updates, _updates + 1);
        Volatile.Write(ref _bytes, _bytes + bytes);
        if (_isTold || !IsDue) return;
        _isTold = true;
        _due!();
    }

    /// <summary>Playback only: the cohort goes on with what another playback of it has counted.</summary>
    public void TakeOver(CohortTraffic other)
    {
        Volatile.Write(ref _updates, _updates + other._updates);
        Volatile.Write(ref _bytes, _bytes + other._bytes);
        CheckpointSize = other.CheckpointSize;
    }

    /// <summary>There is a checkpoint of when the counts were these.</summary>
    public void Done(long updates, long bytes)
    {
        Volatile.Write(ref _updatesDone, updates);
        Volatile.Write(ref _bytesDone, bytes);
        _isTold = false;
    }

    /// <summary>There is none: it is due again after half as much more.</summary>
    public void Failed() =>
        Done(Updates - (_policy!.Updates / 2), Bytes - (Math.Max(_policy.Bytes, CheckpointSize / 2) / 2));
}
