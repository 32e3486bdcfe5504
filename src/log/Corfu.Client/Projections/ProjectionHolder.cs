namespace Corfu.Client;

/// <summary>The newest projection known, replaced whole (CORFU 2.2). Epochs only rise.</summary>
/// <param name="resolution">Resolution of the views' <see cref="GrantClock"/>, in ticks.</param>
internal sealed class ProjectionHolder(Projection first, long resolution)
{
    private readonly Lock _gate = new();
    private volatile EpochView _current = new(first, new GrantClock(resolution));
    private TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public EpochView Current => _current;

    /// <summary>False when the projection is not newer.</summary>
    public bool TryAdvance(Projection projection)
    {
        TaskCompletionSource changed;
        lock (_gate)
        {
            if (projection.Epoch <= _current.Epoch) return false;
            if (projection.Cluster != _current.Projection.Cluster)
                throw new CorfuException(
                    $"A projection of cluster {projection.Cluster} came in place of one of "
                    + $"{_current.Projection.Cluster}.");
            _current = new EpochView(projection, new GrantClock(resolution));
            changed = _changed;
            _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        changed.SetResult();
        return true;
    }

    /// <summary>Completes at the first change after <paramref name="epoch"/>.</summary>
    public Task ChangedAfter(Epoch epoch)
    {
        lock (_gate) return _current.Epoch > epoch ? Task.CompletedTask : _changed.Task;
    }
}

/// <summary>An epoch as this client knows it: the projection, and the grants seen under it.</summary>
internal sealed class EpochView(Projection projection, GrantClock grants)
{
    public Projection Projection { get; } = projection;

    public Epoch Epoch => Projection.Epoch;

    public GrantClock Grants { get; } = grants;

    public HandOverBatches HandOvers { get; } = new();

    /// <summary>The longest grace that a writer asked for, as last heard (R10).</summary>
    public ushort GraceMilliseconds { get; private set; }

    public void Saw(TailResponse tail, long time)
    {
        Grants.Saw(tail.Tail, time);
        GraceMilliseconds = tail.GraceMilliseconds;
    }
}
