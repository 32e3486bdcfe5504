namespace Salus.Writes;

/// <summary>A write, or a clearing of blocks, in its place. A call of the volume is one request, or several where it is
/// larger than a batch.</summary>
/// <param name="data">Empty: the blocks become empty.</param>
/// <param name="isEarly">The request ends when its batch leaves; else when that is committed.</param>
/// <param name="placedAt">A time stamp.</param>
internal sealed class PlacedRequest(
    long first, long count, ReadOnlyMemory<byte> data, bool isEarly, long placedAt)
{
    private readonly TaskCompletionSource _end = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public long First => first;

    public long End => first + count;

    /// <summary>The caller's memory: not to be touched once the request has ended.</summary>
    public ReadOnlyMemory<byte> Data => data;

    public bool IsEarly => isEarly;

    public long PlacedAt => placedAt;

    public Task Ended => _end.Task;

    public bool Overlaps(long from, long end) => first < end && from < End;

    public void Succeed() => _end.TrySetResult();

    /// <returns>False: it has ended before.</returns>
    public bool Fail(VolumeException why)
    {
        if (!_end.TrySetException(why)) return false;
        // A caller that is gone asks for no outcome.
        _ = _end.Task.Exception;
        return true;
    }
}
