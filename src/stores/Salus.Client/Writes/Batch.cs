namespace Salus.Writes;

internal enum BatchStage
{
    /// <summary>Takes requests.</summary>
    Open,

    /// <summary>The data of the requests is being copied: they do not end.</summary>
    Copying,

    /// <summary>Waits for leaves of the tree, then for its number.</summary>
    Copied,

    /// <summary>Numbered and sent.</summary>
    Sent,

    Committed,

    /// <summary>Failed: the run has ended without it, or the volume is lost here.</summary>
    Void,
}

/// <summary>Requests that commit as a whole. Guarded by the driver's gate.</summary>
/// <param name="also">Regions that take part though nothing changes them: all of them in a marker (S22).</param>
internal sealed class Batch(bool isMarker, ImmutableArray<int> also)
{
    private readonly TaskCompletionSource<bool> _end = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<PlacedRequest> _requests = [];

    // All requests lie within.
    private long _from = long.MaxValue;
    private long _to;

    public bool IsMarker => isMarker;

    public ImmutableArray<int> Also => also;

    public BatchStage Stage { get; set; }

    public IReadOnlyList<PlacedRequest> Requests => _requests;

    /// <summary>Bytes of the blocks that are written.</summary>
    public long Bytes { get; private set; }

    public bool IsFull => Bytes >= BatchLimits.MaxBytes || _requests.Count >= BatchLimits.MaxRequests;

    /// <summary>From <see cref="BatchStage.Sent"/> on.</summary>
    public BatchHeader? Header { get; private set; }

    public WeakSignature Signature { get; private set; }

    public ImmutableArray<BatchPart> Parts { get; private set; } = [];

    public long SentAt { get; private set; }

    public bool IsEnded => Stage is BatchStage.Committed or BatchStage.Void;

    /// <summary>Whether the batch was committed.</summary>
    public Task<bool> Ended => _end.Task;

    /// <summary>The reason, of a void batch.</summary>
    public VolumeException? Failure { get; private set; }

    public bool Takes(PlacedRequest request) =>
        Stage == BatchStage.Open && also.IsEmpty && _requests.Count < BatchLimits.MaxRequests
        && (_requests.Count == 0 || Bytes + request.Data.Length <= BatchLimits.MaxBytes);

    public void Add(PlacedRequest request)
    {
        if (Planted.Is("ordered-when-ready")) _requests.Insert(0, request);
        else _requests.Add(request);
        Bytes += request.Data.Length;
        _from = Math.Min(_from, request.First);
        _to = Math.Max(_to, request.End);
    }

    /// <summary>Takes back a request whose data is not copied yet.</summary>
    public void Remove(PlacedRequest request)
    {
        _requests.Remove(request);
        Bytes -= request.Data.Length;
    }

    public bool Touches(long from, long end) => _from < end && from < _to;

    /// <summary>The part of a region; null: it takes no part.</summary>
    public BatchPart? Find(int region)
    {
        foreach (var part in Parts)
        {
            if (part.Region == region) return part;
        }

        return null;
    }

    public void Sent(BatchHeader header, WeakSignature signature, ImmutableArray<BatchPart> parts, long now)
    {
        (Header, Signature, Parts, SentAt, Stage) = (header, signature, parts, now, BatchStage.Sent);
    }

    /// <summary>Ends the batch; its requests end by <see cref="Answer"/>, outside the gate.</summary>
    public void End(VolumeException? failure)
    {
        Failure = failure;
        Stage = failure is null ? BatchStage.Committed : BatchStage.Void;
    }

    /// <summary>Ends the requests, and what waits for the batch.</summary>
    public void Answer()
    {
        foreach (var request in _requests)
        {
            if (Failure is { } failure) request.Fail(failure);
            else request.Succeed();
        }

        _end.TrySetResult(Failure is null);
    }
}
