namespace Salus.Runs;

/// <summary>A region as the driver knows it: its batches since the last committed one, the generation that takes
/// batches, space, and what is not in a checkpoint yet. Guarded by the driver's gate.</summary>
internal sealed class RegionLink
{
    // The region's last committed batch, then those under way, each with the region's root after it. What a resumed
    // region has must be one of them (S11).
    private readonly List<(BatchName Name, Hash128 Root)> _history;

    // Committed batches that are in no checkpoint, ascending.
    private readonly Queue<long> _uncut = new();

    // The last batch of earlier runs: which ones are between the newest checkpoint and that one is not known here.
    private readonly long _inherited;
    private TaskCompletionSource _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public RegionLink(int region, RegionBeginning beginning)
    {
        Region = region;
        _history = [(beginning.Last, beginning.Root)];
        _inherited = beginning.Last.Number;
        Serve(beginning.Generation);
    }

    public int Region { get; }

    public BatchName Last => _history[^1].Name;

    public BatchName Committed => _history[0].Name;

    /// <summary>The generation that was compared and is admitted; null: the region is being replaced (S6).</summary>
    public Epoch? Generation { get; private set; }

    /// <summary>A loop compares a new generation.</summary>
    public bool IsResuming { get; set; }

    /// <summary>The newest generation that was compared lacks acknowledged batches; null: it has all of them, or none
    /// was compared.</summary>
    public RegionLack? Lack { get; set; }

    /// <summary>Bytes that the fullest member takes, as last told.</summary>
    public long Free { get; set; } = long.MaxValue;

    /// <summary>Completes when a generation serves.</summary>
    public Task Ready => _ready.Task;

    public void Numbered(BatchName batch, Hash128 root) => _history.Add((batch, root));

    /// <summary>The batch, which is the region's oldest one under way, is committed.</summary>
    public void Commit(BatchName batch)
    {
        _history.RemoveAt(0);
        _uncut.Enqueue(batch.Number);
    }

    /// <summary>The newest batch under way is void.</summary>
    public void Void() => _history.RemoveAt(_history.Count - 1);

    /// <summary>The region's root after the batch; null: it is not one that the region may have last.</summary>
    public Hash128? RootAfter(BatchName batch)
    {
        foreach (var (name, root) in _history)
        {
            if (name == batch) return root;
        }

        return null;
    }

    public void Serve(Epoch generation)
    {
        Generation = generation;
        Lack = null;
        _ready.TrySetResult();
    }

    public void Suspend()
    {
        Generation = null;
        if (_ready.Task.IsCompleted)
            _ready = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    /// <summary>All batches of the region up to this one are in its checkpoints; null: all that are
    /// committed.</summary>
    /// <param name="cut">The last batch in the newest checkpoint.</param>
    public long? StableUpTo(long cut)
    {
        while (_uncut.TryPeek(out var oldest) && oldest <= cut) _uncut.Dequeue();
        if (cut < _inherited) return cut;
        return _uncut.TryPeek(out var first) ? first - 1 : null;
    }
}

/// <summary>A region at the beginning of a run.</summary>
/// <param name="Last">The region's last batch at or below the run's decision.</param>
internal readonly record struct RegionBeginning(BatchName Last, Hash128 Root, Epoch Generation);

/// <summary>A run whose regions have opened and were compared.</summary>
internal sealed record OpenedRun(long Run, RunDecision Decision, ImmutableArray<RegionBeginning> Regions);
