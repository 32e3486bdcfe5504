using System.Collections.Immutable;
using Corfu;
using Tango.Model;

namespace Tango.Checkpoints;

/// <summary>
/// Puts a checkpoint into the cohort's checkpoint stream: chunks side by side, then the final record. Until that one is
/// in the log there is no checkpoint, and an attempt that ends before leaves nothing but unused entries.
/// </summary>
internal sealed class CheckpointWriter(ICorfuLog log, ulong runtime, TangoOptions options)
{
    private const int AppendsInFlight = 4;

    private long _sequence;

    /// <returns>Position of the final record.</returns>
    /// <exception cref="TangoTooLargeException">The encoded state is above what one checkpoint may have. Nothing was
    /// written.</exception>
    /// <exception cref="TangoException">The checkpoint was not written, or it is not known whether it was.</exception>
    public async ValueTask<LogPosition> WriteAsync(CohortSnapshot snapshot, CancellationToken cancellationToken)
    {
        var id = new CheckpointId(runtime, Interlocked.Increment(ref _sequence));
        ImmutableArray<StreamId> stream = [CheckpointFormat.StreamOf(snapshot.Members[0].Entry.Id)];
        var content = new ChunkedBuffer();
        var parts = CheckpointContent.Write(content, snapshot);
        var limit = CheckpointFormat.MaxContent(parts.Length, log.MaxPayload);
        if (content.Length > limit)
            throw TangoTooLargeException.OfCheckpoint(snapshot.Members[0].Entry.Name, content.Length, limit);
        var (positions, check) = await AppendContentAsync(content, id, stream, cancellationToken);
        // R23: the directory's state has its level's form.
        var oldestReader = snapshot.Members[0].View is TangoDirectory directory ? directory.Level : FeatureLevel.First;
        var final = new FinalRecord(id, oldestReader, snapshot.End, parts, check, positions);
        return await AppendAsync(CheckpointFormat.EncodeFinal(final), stream, cancellationToken);
    }

    private async ValueTask<(ImmutableArray<LogPosition> Positions, uint Check)> AppendContentAsync(
        ChunkedBuffer content, CheckpointId id, ImmutableArray<StreamId> stream, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var appends = new List<Task<LogPosition>>();
        var checks = new List<uint>();
        try
        {
            foreach (var chunk in content.Cut(CheckpointFormat.ChunkSize(log.MaxPayload)))
            {
                if (appends.Count >= AppendsInFlight) await appends[^AppendsInFlight];
                var payload = CheckpointFormat.EncodeChunk(id, appends.Count, chunk.Span);
                checks.Add(CheckpointFormat.Check(chunk.Span));
                appends.Add(AppendAsync(payload, stream, stop.Token).AsTask());
            }

            return ([.. await Task.WhenAll(appends)], CheckpointFormat.CheckAll(checks));
        }
        catch
        {
            // The others end on their own; what they say does not matter any more.
            stop.Cancel();
            foreach (var append in appends) _ = append.ContinueWith(
                static ended => ended.Exception, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Current);
            throw;
        }
    }

    private async ValueTask<LogPosition> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> stream, CancellationToken cancellationToken)
    {
        while (true)
        {
            var result = await log.AppendToObjectsAsync(payload, stream, cancellationToken);
            for (var attempt = 0; result.Outcome == AppendOutcome.Unknown && attempt < options.MaxResolveAttempts;
                attempt++)
                result = result with { Outcome = await log.ResolveAsync(result, cancellationToken) };
            if (result.IsAppended) return result.Position;
            if (result.Outcome == AppendOutcome.Unknown)
                throw new TangoException($"Whether the checkpoint's entry at {result.Position} was written is unknown");
        }
    }
}
