using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload.Log;
using Corfu.Transport;

namespace Corfu.Simulation.Runner;

/// <summary>Looks at the whole log once everything is healed and nothing moves: by the client library, and at each
/// replica by itself.</summary>
/// <param name="scanned">Told of each entry, in log order.</param>
public sealed class Auditor(
    World world, SimCluster cluster, LogHistory log, Action<LogEntry> scanned, List<Violation> found)
{
    private const int Batch = 50;

    public async Task ScanAsync(SimClientNode node)
    {
        ICorfuLog client = node.Log!;
        LogPosition end = await CheckAsync(node, client);
        while (true)
        {
            await ScanAsync(client, end);
            LogPosition after = await CheckAsync(node, client);
            if (after.Epoch == end.Epoch) return;

            // Agents may begin an epoch even now. A position that was granted before and not written is at its tail
            // then, and no hole (seed 1419).
            log.Final.Clear();
            end = after;
        }
    }

    private async Task<LogPosition> CheckAsync(SimClientNode node, ICorfuLog client)
    {
        long start = world.Steps;
        LogCheck check = await client.CheckAsync([]);
        log.Tails.Add(new TailOp(node.Number, start, world.Steps, check.Tail.Offset));
        return check.Tail;
    }

    private async Task ScanAsync(ICorfuLog client, LogPosition end)
    {
        for (long from = 0; from < end.Offset; from += Batch)
        {
            ImmutableArray<LogPosition> positions =
                [.. Enumerable.Range(0, (int)Math.Min(Batch, end.Offset - from))
                    .Select(i => new LogPosition(from + i))];
            foreach (LogReadResult result in await client.ReadManyAsync(positions)) Note(result);
        }
    }

    /// <summary>Every stream's tail, as any client is told it, against what its entries were.</summary>
    public async Task CompareTailsAsync(SimClientNode node)
    {
        long asked = world.Steps;
        LogCheck check = await ((ICorfuLog)node.Log!).CheckAsync([.. cluster.Monitor.Streams]);
        foreach (StreamTail tail in check.Streams) cluster.Monitor.CompareTail(tail, asked);
    }

    /// <summary>Replicas of a chain never differ, after all faults.</summary>
    public async Task CompareReplicasAsync(SimClientNode node)
    {
        Projection projection = cluster.Monitor.Newest;
        Dictionary<NodeId, Dictionary<long, PageResult>>? states;
        // Agents may begin an epoch even now.
        while ((states = await ReadReplicasAsync(node, projection)) is null)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(20), node.Process!.Time);
            projection = cluster.Monitor.Newest;
        }

        Compare(projection, states);
    }

    /// <returns>Null: not all units serve this epoch any more, or yet.</returns>
    private async Task<Dictionary<NodeId, Dictionary<long, PageResult>>?> ReadReplicasAsync(SimClientNode node,
        Projection projection)
    {
        // Whole pages where a disk decayed: what is damaged is known only when it is read.
        ReadDetail detail = cluster.Units.Exists(u => u.IsDamaged) ? ReadDetail.Full : ReadDetail.State;
        var states = new Dictionary<NodeId, Dictionary<long, PageResult>>();
        foreach (NodeAddress unit in projection.Units)
        {
            Dictionary<long, PageResult> pages = [];
            states.Add(unit.Id, pages);
            for (long from = 0; from < log.Final.Count; from += Batch)
            {
                ImmutableArray<LogPosition> positions =
                    [.. Enumerable.Range(0, (int)Math.Min(Batch, log.Final.Count - from))
                        .Select(i => new LogPosition(from + i))];
                if (await TryReadAsync(node, unit, projection, new ReadRequest(projection.Epoch, positions, detail))
                    is not { } response) return null;
                foreach (PageResult page in response.Pages) pages[page.Position.Offset] = page;
            }
        }

        return states;
    }

    private static async Task<ReadResponse?> TryReadAsync(SimClientNode node, NodeAddress unit, Projection projection,
        ReadRequest request)
    {
        try
        {
            ReadResponse response = await node.Transport!.CallAsync(unit, request, default);

            // R14: a unit that its reconfigurer missed hears of the epoch from the first client that calls it.
            if (response.Status == Status.NotInstalled)
                await node.Transport!.CallAsync(unit, new InstallRequest(projection), default);
            return response.IsOk ? response : null;
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private void Compare(Projection projection, Dictionary<NodeId, Dictionary<long, PageResult>> states)
    {
        foreach (FinalEntry entry in log.Final)
        {
            Chain chain = projection.ChainOf(new LogPosition(entry.Position));
            PageResult[] copies = [.. chain.Replicas.Where(r => !r.Joining)
                .Select(r => states[r.Unit].GetValueOrDefault(entry.Position))];
            // Half-written, and damaged where it is: no client was told that it is there, and only the unit's removal
            // decides it (R4).
            if (copies[^1].State == PageState.Unwritten && copies.Any(c => c.State == PageState.Corrupt)) continue;
            foreach (PageResult copy in copies.Where(
                c => c.State != PageState.Trimmed && copies[0].State != PageState.Trimmed))
            {
                if (copy.State == copies[0].State && copy.Origin == copies[0].Origin) continue;
                found.Add(new(
                    CheckerNames.ChainPrefix,
                    $"replicas of {entry.Position} differ after healing: {copies[0].State} {copies[0].Origin} and "
                    + $"{copy.State} {copy.Origin}"));
            }
        }
    }

    private void Note(LogReadResult result)
    {
        SeenKind kind = result.State switch
        {
            PageState.Unwritten => SeenKind.Unwritten,
            PageState.Data => SeenKind.Data,
            PageState.Junk => SeenKind.Junk,
            _ => SeenKind.Trimmed,
        };
        long payload = 0;
        if (kind == SeenKind.Data)
        {
            ReadOnlySpan<byte> bytes = result.Entry!.Payload.Span;
            payload = LogPayload.NumberOf(bytes);
            scanned(result.Entry);
        }

        ImmutableArray<StreamHeader> headers = kind == SeenKind.Data ? result.Entry!.Streams : [];
        log.Final.Add(new FinalEntry(
            result.Position.Offset,
            kind,
            payload,
            [.. headers.Select(h => h.Stream.Value)],
            [.. headers.Select(h => (h.Stream.Value, h.Backpointers.Select(b => b.Offset).ToArray()))]));
    }
}
