using System.Buffers.Binary;
using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>Work of one client straight on the log, with every answer written down.</summary>
public sealed partial class LogWorkload(World world, SeedPlan plan, LogHistory history, ClusterMonitor monitor,
    Ledger ledger)
{
    // Marks our payloads, so that a scan can tell them from anything else.
    private const ulong Magic = 0xC0FF_EE00_5EED_0000;

    private const int OperationsOfLastStream = 40;

    public async Task WorkAsync(
        int client, ClientProfile profile, ICorfuLog log, Func<IStreamCursor> openCursor, TimeProvider time,
        SimRandom random)
    {
        var streams = Enumerable.Range(0, plan.Streams).Select(i => new StreamId(StreamId.FirstRawValue + (ulong)i))
            .ToArray();
        var reader = new StreamReader(client, openCursor);
        while (!ledger.Exhausted)
        {
            if (profile.Think > 0) await Task.Delay(TimeSpan.FromTicks(random.Exponential(profile.Think) + 1), time);
            try
            {
                await StepAsync(client, profile, log, reader, streams, random);
                ledger.Done();
            }
            catch (LogUnavailableException)
            {
                monitor.Mark("operation given up");
            }
            catch (CorfuStatusException e) when (e.Status == Status.NoSpace && plan.Has(FaultKind.FullDisk))
            {
                monitor.Mark("append refused by a full disk");
                // As a program would: tried again at once, refused appends only burn positions (seed 20717).
                await Task.Delay(TimeSpan.FromMilliseconds(1), time);
            }
        }
    }

    private Task StepAsync(
        int client, ClientProfile profile, ICorfuLog log, StreamReader reader, StreamId[] streams, SimRandom random)
    {
        double dice = random.NextDouble() * profile.Total;
        bool Falls(double weight) => (dice -= weight) < 0;
        if (Falls(profile.Append)) return AppendAsync(client, log, PickStreams(Growing(streams), random), random);
        if (Falls(profile.Burst)) return BurstAsync(client, log, [random.Pick(Growing(streams))], random);
        if (Falls(profile.Read)) return ReadAsync(client, log, random);
        if (Falls(profile.ReadStream)) return ReadStreamAsync(reader, random.Pick(streams), random);
        if (Falls(profile.Fill) && ledger.AnyGranted) return FillAsync(client, log, ledger.SomeGranted(random));
        if (Falls(profile.Trim) && ledger.AnyGranted && plan.Trims) return TrimAsync(client, log, random);
        return CheckAsync(client, log, streams);
    }

    /// <summary>Many appends to the same streams at once: neighbours that share their tokens, and their fate.</summary>
    private async Task BurstAsync(int client, ICorfuLog log, ImmutableArray<StreamId> streams, SimRandom random)
        =>
        await Task.WhenAll(Enumerable.Range(0, random.Between(3, 10))
            .Select(_ => AppendAsync(client, log, streams, random)));

    public async Task AppendAsync(int client, ICorfuLog log, ImmutableArray<StreamId> streams, SimRandom random)
    {
        long id = ledger.NextPayload();
        byte[] payload = PayloadOf(id, random.Chance(0.05) ? random.Next(3000) : random.Next(100));
        long start = world.Steps;
        int slot = history.Appends.Count;
        var op = new AppendOp(client, id, [.. streams.Select(s => s.Value)], start, LogHistory.Never,
            AppendFate.Unknown, -1);
        history.Appends.Add(op);
        AppendResult result;
        try
        {
            result = await log.AppendAsync(payload, streams);
        }
        catch (CorfuStatusException e) when (e.Status == Status.NoSpace && plan.Has(FaultKind.Duplication))
        {
            // Here a frame may arrive twice, which a connection's never do: the second copy may have met room.
            throw;
        }
        catch (Exception e) when (e is LogUnavailableException or CorfuStatusException { Status: Status.NoSpace })
        {
            // That says: certainly not in the log.
            history.Appends[slot] = op with { End = world.Steps, Outcome = AppendFate.Refused };
            throw;
        }

        AppendOutcome outcome = result.Outcome;
        for (int attempt = 0; outcome == AppendOutcome.Unknown && attempt < 3; attempt++)
        {
            monitor.Mark("append unknown");
            outcome = await log.ResolveAsync(result);
        }

        if (outcome == AppendOutcome.Appended)
        {
            monitor.Acknowledged(result.Position, result.Origin.Writer.Value, result.Origin.Sequence);
            history.Appends[slot] = op with
            {
                End = world.Steps,
                Outcome = AppendFate.Acknowledged,
                Position = result.Position.Offset
            };
            ledger.Learn(result.Position.Offset, result.Position.Epoch);
            if (plan.Has(FaultKind.WildPositions) && random.Chance(0.2))
                await ResolveWildlyAsync(slot, log, result, random);
            if (plan.Has(FaultKind.WildPositions) && log is IDelegatedLog delegated && random.Chance(0.1))
                await LoseAnswerAsync(client, delegated, random);
        }
        else if (outcome == AppendOutcome.NotAppended)
        {
            monitor.Mark("append resolved as not appended");
            history.Appends[slot] = op with
            {
                End = world.Steps,
                Outcome = AppendFate.Refused,
                Position = result.Position.Offset
            };
        }
    }

    public async Task ReadAsync(int client, ICorfuLog log, SimRandom random)
    {
        int count = random.Between(1, 5);
        ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, count)
            .Select(_ => new LogPosition(ledger.SomePosition(random))).Distinct()];
        // A read of what is not granted yet must say so; holes are closed only in the other mode.
        ReadMode mode = random.Chance(0.3) ? ReadMode.Observe : ReadMode.CloseHoles;
        ReadDetail detail = random.Chance(0.8) ? ReadDetail.Full : ReadDetail.Headers;
        long start = world.Steps;
        ImmutableArray<LogReadResult> results = await log.ReadManyAsync(positions, detail, mode);
        for (int i = 0; i < results.Length; i++)
        {
            if (results[i].Position != positions[i])
                world.Fail($"read of {positions[i]} answered {results[i].Position}");
            Note(client, start, results[i], detail);
        }
    }

    public async Task CheckAsync(int client, ICorfuLog log, IReadOnlyList<StreamId> streams)
    {
        long start = world.Steps;
        LogCheck check = await log.CheckAsync([.. streams]);
        history.Tails.Add(new TailOp(client, start, world.Steps, check.Tail.Offset));
        foreach (StreamTail tail in check.Streams) monitor.CompareTail(tail, start);
        ledger.Learn(check.Tail.Offset - 1, check.Tail.Epoch);
        // A position granted in an older epoch is above the log's end now, unless it is granted again before the fill.
        LogPosition known = ledger.Newest;
        if (known.Epoch < check.Tail.Epoch && known >= check.Tail) await FillAsync(client, log, known);
    }

    /// <summary>By a new cursor from the beginning, or by one that lasts and goes on where it was, through
    /// epochs.</summary>
    private async Task ReadStreamAsync(StreamReader reader, StreamId stream, SimRandom random)
    {
        long start = world.Steps;
        try
        {
            IReadOnlyList<(long, long)> seen = await reader.ReadAsync(stream, lasting: random.Chance(0.5));
            history.StreamReads.Add(new StreamReadOp(reader.Client, stream.Value, start, world.Steps, seen));
        }
        catch (LogTrimmedException) when (plan.Trims)
        {
            monitor.Mark("stream reader met a trim");
        }
    }

    private async Task FillAsync(int client, ICorfuLog log, LogPosition position)
    {
        long start = world.Steps;
        monitor.FillAskedFor(position);
        try
        {
            Note(client, start, await log.FillAsync(position), ReadDetail.Full);
        }
        catch (PositionNotGrantedException)
        {
            // R10: granted by an epoch that ended before anybody wrote there, and not yet by the next one.
            monitor.Mark("fill of a grant that died with its epoch");
        }
    }

    private async Task TrimAsync(int client, ICorfuLog log, SimRandom random)
    {
        LogPosition granted = ledger.SomeGranted(random);
        long position = granted.Offset / (random.Chance(0.5) ? 2 : 1);
        bool prefix = random.Chance(0.3);
        // People name bare positions, programs those that they were given.
        LogPosition named = position % 2 == 0 ? new LogPosition(position, granted.Epoch) : new LogPosition(position);
        int slot = history.Trims.Count;
        long start = world.Steps;
        history.Trims.Add(new TrimOp(client, position, prefix, start, LogHistory.Never));
        try
        {
            if (prefix) await log.TrimPrefixAsync(named);
            else await log.TrimAsync(named);
            history.Trims[slot] = history.Trims[slot] with { End = world.Steps };
        }
        catch (PositionNotGrantedException)
            when (named.Epoch == Epoch.None && !IsBelowTail(prefix ? position - 1 : position, start))
        {
            // R10: only granted by an epoch that ended before anybody wrote there, and not yet by the next one.
            monitor.Mark("trim of a grant that died with its epoch");
        }
    }

    // An acknowledged entry stays below all later tails.
    private bool IsBelowTail(long position, long before) =>
        history.Appends.Exists(
            a => a.Outcome == AppendFate.Acknowledged && a.End < before && a.Position >= position);

    private void Note(int client, long start, LogReadResult result, ReadDetail detail)
    {
        long payload = 0;
        SeenKind kind = result.State switch
        {
            PageState.Unwritten => SeenKind.Unwritten,
            PageState.Data => SeenKind.Data,
            PageState.Junk => SeenKind.Junk,
            PageState.Trimmed => SeenKind.Trimmed,
            _ => throw new InvalidOperationException($"{result.Position} was answered as {result.State}"),
        };
        if (kind is SeenKind.Data or SeenKind.Junk) monitor.Shown(result.Position);
        if (kind == SeenKind.Trimmed) monitor.ShownTrimmed(result.Position);
        if (kind == SeenKind.Data)
        {
            // Only the headers were asked for: the value is not known, the kind is.
            if (detail != ReadDetail.Full) return;
            payload = PayloadNumber(result.Entry!.Payload.Span);
        }

        history.Reads.Add(new ReadOp(client, result.Position.Offset, start, world.Steps, kind, payload));
    }

    // Under trims the last stream gets no entries after a while, so that all that it has may be trimmed.
    private StreamId[] Growing(StreamId[] streams) =>
        plan.Trims && ledger.Acknowledged >= OperationsOfLastStream ? streams[..^1] : streams;

    private static ImmutableArray<StreamId> PickStreams(StreamId[] streams, SimRandom random)
    {
        int count = random.Pick([0, 1, 1, 1, 2, 3]);
        StreamId[] shuffled = [.. streams];
        random.Shuffle(shuffled);
        return [.. shuffled.Take(count)];
    }

    private static byte[] PayloadOf(long id, int padding)
    {
        byte[] payload = new byte[16 + padding];
        BinaryPrimitives.WriteUInt64LittleEndian(payload, Magic);
        BinaryPrimitives.WriteInt64LittleEndian(payload.AsSpan(8), id);
        for (int i = 16; i < payload.Length; i++) payload[i] = (byte)((id * 31) + (i * 7));
        return payload;
    }

    /// <summary>The number that the payload carries; -1 where the bytes are not what was appended.</summary>
    public static long PayloadNumber(ReadOnlySpan<byte> payload)
    {
        if (payload.Length < 16 || BinaryPrimitives.ReadUInt64LittleEndian(payload) != Magic) return -1;
        long id = BinaryPrimitives.ReadInt64LittleEndian(payload[8..]);
        for (int i = 16; i < payload.Length; i++)
        {
            if (payload[i] != (byte)((id * 31) + (i * 7))) return -1;
        }

        return id;
    }
}
