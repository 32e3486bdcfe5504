namespace Corfu;

/// <summary>
/// A cursor with many streams asks about none that is known up to the last check. It reads the few positions since
/// then instead, and their headers say which streams they are in. The work of a check follows what is new in the log,
/// not the number of streams.
/// </summary>
public sealed partial class StreamCursor
{
    // A read of one position costs about as much as a check of 16 streams.
    private const int StreamsPerPosition = 16;
    private const int AlwaysScanned = 16;

    // Known up to _scanned.End, where a scan goes on. Invariant: a stream of _byId is either scanned or in _apart.
    private readonly ScannedUntil _scanned = new();
    private readonly List<StreamState> _apart = [];

    // Streams with positions in memory or below anchors: all others have nothing to deliver.
    private readonly List<StreamState> _active = [];

    // The last scan brought mostly entries of these streams, so that the next one reads them whole.
    private bool _readsWhole = true;

    /// <summary>Learns what is new of the scanned streams.</summary>
    /// <returns>False: too much is new, or not all of it tells its streams. Nothing has changed.</returns>
    private async ValueTask<bool> TryScanAsync(LogCheck check, CancellationToken cancellationToken)
    {
        var count = check.Tail - _scanned.End;
        if (count <= 0) return true;
        var most = Math.Max(AlwaysScanned, _streams.Count / StreamsPerPosition);
        if (count > Math.Min(most, _options.WalkWindow)) return false;
        var detail = _readsWhole && count <= _batchSize ? ReadDetail.Full : ReadDetail.Headers;
        var from = _scanned.End.Offset;
        // Holes are closed: one that is passed over here must never become an entry of these streams.
        var mode = ReadMode.CloseHoles;
        if (Planted.Is("scan-passes-holes")) mode = ReadMode.Observe;
        var results = await _log.ReadManyAsync(
            [.. Enumerable.Range(0, (int)count).Select(i => new LogPosition(from + i, check.Tail.Epoch))], detail, mode,
            cancellationToken);
        if (!results.All(TellsStreams)) return false;
        var own = 0;
        foreach (var result in results)
        {
            Settle(result);
            if (result.State != PageState.Data || !IsOwn(result)) continue;
            own++;
            if (detail == ReadDetail.Full) _kept[result.Position] = result;
        }

        _readsWhole = own * 2 >= results.Length;
        _scanned.End = check.Tail;
        return true;
    }

    // A trimmed or damaged page may have been any stream's. A page of a later epoch requires a check in that epoch
    // (R10).
    private bool TellsStreams(LogReadResult result)
    {
        if (Planted.Is("scan-passes-holes") && result.State == PageState.Unwritten) return true;
        return result.State is PageState.Data or PageState.Junk
            && !(result.Entry?.Position.Epoch > _epoch);
    }

    /// <summary>Takes in an entry of the scanned streams.</summary>
    private bool IsOwn(LogReadResult result)
    {
        var isOwn = false;
        foreach (var header in result.Entry!.Streams)
        {
            if (!_byId.TryGetValue(header.Stream, out var stream) || !stream.IsScanned) continue;
            isOwn = true;
            if (result.Position < stream.Next) continue;
            stream.Ready.Add(result.Position);
            Activate(stream);
        }

        return isOwn;
    }

    private void Activate(StreamState stream)
    {
        if (stream.IsActive) return;
        stream.IsActive = true;
        _active.Add(stream);
    }

    /// <summary>Forgets what was delivered.</summary>
    private void Compact()
    {
        foreach (var stream in _active)
        {
            stream.Compact(Position);
            stream.IsActive = stream.Ready.Count > 0 || stream.Anchors.Count > 0;
        }

        _active.RemoveAll(static stream => !stream.IsActive);
    }

    /// <summary>Every stream is asked about in the next check.</summary>
    private void EndScans()
    {
        if (_apart.Count == _streams.Count) return;
        foreach (var stream in _streams)
        {
            if (!stream.IsScanned) continue;
            stream.Separate();
            _apart.Add(stream);
        }
    }

    /// <summary>Streams that are known as far as the scanned ones need no questions of their own any more.</summary>
    private void BeginScans(LogPosition end)
    {
        if (_apart.Count == _streams.Count) _scanned.End = end;
        foreach (var stream in _apart)
        {
            if (stream.Anchors.Count == 0 && stream.KnownUntil == _scanned.End) stream.Share(_scanned);
        }

        _apart.RemoveAll(static stream => stream.IsScanned);
    }

    private void ForgetFrom(LogPosition position)
    {
        _scanned.End = LogPosition.Min(_scanned.End, position);
        foreach (var stream in _active) stream.ForgetFrom(position);
        foreach (var stream in _apart) stream.ForgetFrom(position);
    }
}
