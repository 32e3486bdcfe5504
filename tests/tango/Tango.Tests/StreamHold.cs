using System.Collections.Concurrent;
using Corfu;

namespace Tango.Tests;

/// <summary>Cursors that stop in front of the entries of held streams until these are let go.</summary>
internal sealed class StreamHold(Func<IStreamCursor> openCursor)
{
    private readonly ConcurrentDictionary<StreamId, TaskCompletionSource> _held = new();
    private readonly ConcurrentDictionary<StreamId, TaskCompletionSource> _reached = new();

    private TaskCompletionSource? _syncs;

    public IStreamCursor OpenCursor() => new Cursor(this, openCursor());

    public void Hold(StreamId stream)
    {
        _reached[stream] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _held[stream] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    public void HoldSyncs() =>
        _syncs = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void ReleaseSyncs()
    {
        _syncs!.SetResult();
        _syncs = null;
    }

    /// <summary>A cursor stands in front of an entry of the stream.</summary>
    public Task Reached(StreamId stream) => _reached[stream].Task;

    public void Release(StreamId stream)
    {
        if (_held.TryRemove(stream, out var held)) held.SetResult();
    }

    private async ValueTask PassAsync(LogEntry entry, CancellationToken cancellationToken)
    {
        foreach (var header in entry.Streams)
        {
            if (!_held.TryGetValue(header.Stream, out var held)) continue;
            _reached[header.Stream].TrySetResult();
            await held.Task.WaitOrCancelAsync(cancellationToken);
        }
    }

    private sealed class Cursor(StreamHold hold, IStreamCursor inner) : CursorWrapper(inner)
    {
        // Read, and not delivered when a call was cancelled.
        private LogEntry? _entry;

        public override async ValueTask<LogPosition> SyncAsync(
            ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
        {
            if (hold._syncs is { } syncs) await syncs.Task.WaitOrCancelAsync(cancellationToken);
            return await base.SyncAsync(consistency, cancellationToken);
        }

        public override async ValueTask<LogEntry?> ReadNextAsync(CancellationToken cancellationToken = default)
        {
            _entry ??= await base.ReadNextAsync(cancellationToken);
            if (_entry is not { } entry) return null;
            await hold.PassAsync(entry, cancellationToken);
            _entry = null;
            return entry;
        }
    }
}
