using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Model;

namespace Tango.Checkpoints;

/// <summary>Finds the members that a checkpoint has.</summary>
/// <param name="end">The checkpoint has the members that were born below.</param>
/// <param name="count">Number of members in the checkpoint, if the directory is known as far.</param>
internal delegate ValueTask<IReadOnlyList<CohortMember>> MemberLookup(LogPosition end, int count);

/// <summary>Loads checkpoints from the log.</summary>
/// <param name="newestLevel">The highest feature level that the code reads.</param>
internal sealed class CheckpointReader(ICorfuLog log, int newestLevel, ILogger logger)
{
    // In positions: how far below the tail a checkpoint is looked for first, and the factor from then on.
    private const int FirstSpan = 4096;
    private const int SpanFactor = 8;

    // Entries in one read, and reads on their way.
    private const int BatchSize = 8;
    private const int BatchesInFlight = 4;

    /// <summary>
    /// The cohort as of its newest checkpoint that is complete and readable here: the one with the highest end not
    /// above
    /// <paramref name="atMost"/>. Null: there is none.
    /// </summary>
    /// <param name="first">The cohort's first member.</param>
    public async ValueTask<CohortSnapshot?> LoadNewestAsync(ObjectId first, MemberLookup findMembers,
        LogPosition? atMost, CancellationToken cancellationToken)
    {
        var check = await log.CheckAsync(
            [CheckpointFormat.StreamOf(first)], ReadConsistency.Linearizable, cancellationToken);
        var finals = new List<FinalRecord>();
        var chunks = new HashSet<LogPosition>();
        var until = check.Tail;
        for (long span = FirstSpan; ; span *= SpanFactor)
        {
            var from = new LogPosition(Math.Max(0, check.Tail.Offset - span));
            var positions = await StreamPositions.FindAsync(log, check.Streams[0], from, until, cancellationToken);
            await ReadFinalsAsync(positions, finals, chunks, cancellationToken);

            // A final record below 'from' has an end below 'from': it is no newer than these.
            var ready = finals.Where(final => final.End >= from).OrderByDescending(static final => final.End).ToList();
            foreach (var final in ready)
            {
                finals.Remove(final);
                if (final.End > atMost) continue;
                var members = await findMembers(final.End, final.PartLengths.Length - 1);
                if (await TryLoadAsync(final, members, cancellationToken) is { } loaded) return loaded;
            }

            if (from == LogPosition.Zero) return null;
            until = from;
        }
    }

    /// <summary>The lowest end, not below a position, of a checkpoint that is complete; it was not loaded. Null: there
    /// is none.</summary>
    /// <param name="first">The cohort's first member.</param>
    public async ValueTask<LogPosition?> FindOldestAsync(
        ObjectId first, LogPosition from, CancellationToken cancellationToken)
    {
        var check = await log.CheckAsync(
            [CheckpointFormat.StreamOf(first)], ReadConsistency.Linearizable, cancellationToken);
        var positions = await StreamPositions.FindAsync(log, check.Streams[0], from, check.Tail, cancellationToken);
        var finals = new List<FinalRecord>();
        await ReadFinalsAsync(positions, finals, [], cancellationToken);
        var ends = finals.Where(final => final.End >= from).Select(static final => final.End).ToList();
        return ends.Count == 0 ? null : ends.Min();
    }

    /// <summary>Loads the checkpoint whose final record stands there.</summary>
    /// <exception cref="TangoException">The checkpoint cannot be read.</exception>
    public async ValueTask<CohortSnapshot> LoadAsync(
        LogPosition position, IReadOnlyList<CohortMember> members, CancellationToken cancellationToken)
    {
        var page = (await log.ReadManyAsync([position], cancellationToken: cancellationToken))[0];
        var final = page.IsData ? CheckpointFormat.TryDecodeFinal(page.Entry!.Payload) : null;
        if (final is null) throw new TangoFormatException($"No checkpoint ends at {position}");
        return await LoadAsync(final, members, cancellationToken);
    }

    private async ValueTask ReadFinalsAsync(IReadOnlyList<LogPosition> positions, List<FinalRecord> finals,
        HashSet<LogPosition> chunks, CancellationToken cancellationToken)
    {
        // The first entry is read alone: the newest one is a final record as a rule, and names the chunks below it.
        var next = 0;
        for (var size = 1; next < positions.Count; size = BatchSize)
        {
            var batch = ImmutableArray.CreateBuilder<LogPosition>(size);
            for (; next < positions.Count && batch.Count < size; next++)
            {
                if (!chunks.Contains(positions[next])) batch.Add(positions[next]);
            }

            if (batch.Count == 0) continue;
            var wanted = batch.DrainToImmutable();
            foreach (var page in await log.ReadManyAsync(wanted, cancellationToken: cancellationToken))
            {
                if (!page.IsData || CheckpointFormat.TryDecodeFinal(page.Entry!.Payload) is not { } final) continue;
                finals.Add(final);
                chunks.UnionWith(final.Positions);
            }
        }
    }

    private async ValueTask<CohortSnapshot?> TryLoadAsync(
        FinalRecord final, IReadOnlyList<CohortMember> members, CancellationToken cancellationToken)
    {
        try
        {
            return await LoadAsync(final, members, cancellationToken);
        }
        catch (TangoException e)
        {
            logger.LogWarning(e, "The checkpoint of {Object} that ends at {End} cannot be read", members[0].Entry.Name,
                final.End);
            return null;
        }
    }

    private async ValueTask<CohortSnapshot> LoadAsync(
        FinalRecord final, IReadOnlyList<CohortMember> members, CancellationToken cancellationToken)
    {
        if (final.OldestReader > newestLevel) throw TangoLevelException.TooNew(final.OldestReader, newestLevel);
        var (chunks, check) = await ReadContentAsync(final.Id, final.Positions, cancellationToken);
        if (check != final.Check) throw new TangoFormatException("The checkpoint is damaged");
        var parts = Split(chunks, final.PartLengths);
        chunks.Clear();
        return Decode(parts, members, final.End) with { Size = final.PartLengths.Sum() };
    }

    private static CohortSnapshot Decode(
        ImmutableArray<ReadOnlyMemory<byte>> parts, IReadOnlyList<CohortMember> members, LogPosition end)
    {
        CohortSnapshot loaded;
        try
        {
            loaded = CheckpointContent.Read(parts, members);
        }
        catch (Exception e) when (e is not (TangoException or OutOfMemoryException))
        {
            // Damage, or the user's LoadState.
            throw new TangoException($"The content cannot be loaded: {e.Message}", e);
        }

        return loaded.End == end ? loaded : throw new TangoFormatException($"It ends at {loaded.End}, not {end}");
    }

    /// <summary>Chunks in order, a bounded number of reads on their way.</summary>
    private async ValueTask<(List<ReadOnlyMemory<byte>> Chunks, uint Check)> ReadContentAsync(
        CheckpointId id, ImmutableArray<LogPosition> positions, CancellationToken cancellationToken)
    {
        var chunks = new List<ReadOnlyMemory<byte>>();
        var checks = new List<uint>();
        var reads = new Queue<Task<ImmutableArray<LogReadResult>>>();
        try
        {
            for (var next = 0; next < positions.Length || reads.Count > 0;)
            {
                while (next < positions.Length && reads.Count < BatchesInFlight)
                {
                    var count = Math.Min(BatchSize, positions.Length - next);
                    reads.Enqueue(log.ReadManyAsync(
                        positions.Slice(next, count), cancellationToken: cancellationToken).AsTask());
                    next += count;
                }

                foreach (var page in await reads.Dequeue()) Take(page);
            }
        }
        finally
        {
            foreach (var read in reads) _ = read.ContinueWith(
                static ended => ended.Exception, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Current);
        }

        return (chunks, CheckpointFormat.CheckAll(checks));

        void Take(LogReadResult page)
        {
            if (!page.IsData) throw new TangoFormatException($"Chunk {chunks.Count} of {id} is {page.State}");
            var chunk = CheckpointFormat.DecodeChunk(page.Entry!.Payload, id, chunks.Count);
            chunks.Add(chunk);
            checks.Add(CheckpointFormat.Check(chunk.Span));
        }
    }

    private static ImmutableArray<ReadOnlyMemory<byte>> Split(
        List<ReadOnlyMemory<byte>> chunks, ImmutableArray<long> lengths)
    {
        // Before memory is taken on the word of a length.
        var total = chunks.Sum(static chunk => (long)chunk.Length);
        if (lengths.Any(length => length < 0 || length > total) || lengths.Sum() != total)
            throw new TangoFormatException($"Parts of {lengths.Sum()} bytes in a content of {total}");
        var parts = ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>(lengths.Length);
        var chunk = 0;
        var offset = 0;
        foreach (var length in lengths)
        {
            if (length > Array.MaxLength)
                throw new TangoFormatException($"A part of {length} bytes, and the limit is {Array.MaxLength}");
            var part = new byte[length];
            for (var filled = 0; filled < part.Length;)
            {
                var taken = Math.Min(part.Length - filled, chunks[chunk].Length - offset);
                chunks[chunk].Slice(offset, taken).CopyTo(part.AsMemory(filled));
                filled += taken;
                offset += taken;
                if (offset < chunks[chunk].Length) continue;
                chunk++;
                offset = 0;
            }

            parts.Add(part);
        }

        return parts.MoveToImmutable();
    }
}
