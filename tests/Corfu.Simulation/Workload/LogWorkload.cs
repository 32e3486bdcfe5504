using System.Buffers.Binary;
using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>One client's work straight on the log, with everything it was told written down.</summary>
public sealed partial class LogWorkload(World world, SeedPlan plan, LogHistory history, ClusterMonitor monitor, Ledger ledger)
{
    // Marks our payloads, so that a scan can tell them from anything else.
    private const ulong Magic = 0xC0FF_EE00_5EED_0000;

    public async Task WorkAsync(int client, ICorfuLog log, Func<IStreamCursor> openCursor, SimRandom random, Func<bool> mayTrim)
    {
        var streams = Enumerable.Range(0, plan.Streams).Select(i => new StreamId(StreamId.FirstUserValue + (ulong)i)).ToArray();
        while (!ledger.Exhausted)
        {
            double dice = random.NextDouble();
            Task step = dice switch
            {
                < 0.55 => AppendAsync(client, log, PickStreams(streams, random), random),
                < 0.72 => ReadAsync(client, log, random),
                < 0.84 => CheckAsync(client, log, streams),
                < 0.93 => ReadStreamAsync(client, openCursor(), random.Pick(streams)),
                < 0.96 when ledger.AnyGranted => FillAsync(client, log, random),
                _ => ledger.AnyGranted && mayTrim() ? TrimAsync(client, log, random) : CheckAsync(client, log, streams),
            };
            try
            {
                await step;
                ledger.Done();
            }
            catch (LogUnavailableException)
            {
                monitor.Mark("operation given up");
            }
        }
    }

    public async Task AppendAsync(int client, ICorfuLog log, ImmutableArray<StreamId> streams, SimRandom random)
    {
        long id = ledger.NextPayload();
        byte[] payload = PayloadOf(id, random.Chance(0.05) ? random.Next(3000) : random.Next(100));
        long start = world.Steps;
        int slot = history.Appends.Count;
        var op = new AppendOp(client, id, [.. streams.Select(s => s.Value)], start, LogHistory.Never, Checkers.AppendOutcome.Unknown, -1);
        history.Appends.Add(op);
        AppendResult result;
        try
        {
            result = await log.AppendAsync(payload, streams);
        }
        catch (LogUnavailableException)
        {
            // That says: certainly not in the log.
            history.Appends[slot] = op with { End = world.Steps, Outcome = Checkers.AppendOutcome.Refused };
            throw;
        }

        Client.AppendOutcome outcome = result.Outcome;
        for (int attempt = 0; outcome == Client.AppendOutcome.Unknown && attempt < 3; attempt++)
        {
            monitor.Mark("append unknown");
            outcome = await log.ResolveAsync(result);
        }

        if (outcome == Client.AppendOutcome.Appended)
        {
            monitor.Acknowledged(result.Position, result.Origin.Writer.Value, result.Origin.Sequence);
            history.Appends[slot] = op with { End = world.Steps, Outcome = Checkers.AppendOutcome.Acknowledged, Position = result.Position.Offset };
            ledger.Learn(result.Position.Offset);
        }
        else if (outcome == Client.AppendOutcome.NotAppended)
        {
            monitor.Mark("append resolved as not appended");
            history.Appends[slot] = op with { End = world.Steps, Outcome = Checkers.AppendOutcome.Refused, Position = result.Position.Offset };
        }
    }

    public async Task ReadAsync(int client, ICorfuLog log, SimRandom random)
    {
        int count = random.Between(1, 5);
        ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, count).Select(_ => new LogPosition(ledger.SomePosition(random))).Distinct()];
        // A read of what is not granted yet must say so; holes are closed only in the other mode.
        ReadMode mode = random.Chance(0.3) ? ReadMode.Observe : ReadMode.CloseHoles;
        ReadDetail detail = random.Chance(0.8) ? ReadDetail.Full : ReadDetail.Headers;
        long start = world.Steps;
        ImmutableArray<LogReadResult> results = await log.ReadManyAsync(positions, detail, mode);
        for (int i = 0; i < results.Length; i++)
        {
            if (results[i].Position != positions[i]) world.Fail($"read of {positions[i]} answered {results[i].Position}");
            Note(client, start, results[i], detail);
        }
    }

    public async Task CheckAsync(int client, ICorfuLog log, IReadOnlyList<StreamId> streams)
    {
        long start = world.Steps;
        LogCheck check = await log.CheckAsync([.. streams.Take(2)]);
        history.Tails.Add(new TailOp(client, start, world.Steps, check.Tail.Offset));
        ledger.Learn(check.Tail.Offset - 1);
    }

    public async Task ReadStreamAsync(int client, IStreamCursor cursor, StreamId stream)
    {
        long start = world.Steps;
        List<(long Position, long Payload)> seen = [];
        try
        {
            cursor.Add(stream, LogPosition.Zero);
            await cursor.SyncAsync();
            while (await cursor.ReadNextAsync() is { } entry)
            {
                seen.Add((entry.Position.Offset, PayloadNumber(entry.Payload.Span)));
            }
        }
        catch (LogTrimmedException) when (plan.Trims)
        {
            monitor.Mark("stream reader met a trim");
            return;
        }

        history.StreamReads.Add(new StreamReadOp(client, stream.Value, start, world.Steps, seen));
    }

    public async Task FillAsync(int client, ICorfuLog log, SimRandom random)
    {
        long start = world.Steps;
        var position = new LogPosition(ledger.SomeGranted(random));
        monitor.FillAskedFor(position);
        LogReadResult result = await log.FillAsync(position);
        Note(client, start, result, ReadDetail.Full);
    }

    private async Task TrimAsync(int client, ICorfuLog log, SimRandom random)
    {
        long position = ledger.SomeGranted(random) / (random.Chance(0.5) ? 2 : 1);
        bool prefix = random.Chance(0.3);
        int slot = history.Trims.Count;
        history.Trims.Add(new TrimOp(client, position, prefix, world.Steps, LogHistory.Never));
        if (prefix) await log.TrimPrefixAsync(new LogPosition(position));
        else await log.TrimAsync(new LogPosition(position));
        history.Trims[slot] = history.Trims[slot] with { End = world.Steps };
    }

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
        if (kind == SeenKind.Data)
        {
            // Only the headers were asked for: the value is not known, the kind is.
            if (detail != ReadDetail.Full) return;
            payload = PayloadNumber(result.Entry!.Payload.Span);
        }

        history.Reads.Add(new ReadOp(client, result.Position.Offset, start, world.Steps, kind, payload));
    }

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
