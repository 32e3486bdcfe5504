using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// One batch of a rebuild. Entries come from the chain's tail: what the last full replica holds is at all of them, so a copy never gets ahead of
/// the chain (chain prefix). What the tail lacks is closed as any hole is, by the head's word, down to the joining replicas.
/// </summary>
internal sealed class BatchCopier(CorfuClient client, UnitCaller units, RateLimit rate, RebuildOptions options, RebuildMeter meter)
{
    private readonly SemaphoreSlim _writes = new(options.WritesInFlight);

    /// <summary>What one attempt knows about one position.</summary>
    private sealed class Item(LogPosition position, Chain chain)
    {
        public LogPosition Position { get; } = position;

        public Chain Chain { get; } = chain;

        /// <summary>The joining replicas that have nothing there.</summary>
        public List<NodeId> Lacking { get; } = [];

        /// <summary>Joining replicas whose page is damaged already: they get it again.</summary>
        public List<NodeId> Damaged { get; } = [];

        /// <summary>All that have something to learn of a trim.</summary>
        public IEnumerable<NodeId> Others() => Lacking.Concat(Damaged).Concat(Held.Select(h => h.Unit));

        public bool NeedsEntry => Lacking.Count > 0 || Damaged.Count > 0;

        /// <summary>What joining replicas hold already, to be compared.</summary>
        public List<(NodeId Unit, PageResult Page)> Held { get; } = [];
    }

    /// <returns>Ok: every position is decided on every replica of its chain in this projection. Else why it has to be tried again.</returns>
    public async ValueTask<Status> CopyAsync(Projection projection, long first, long end, CancellationToken cancellationToken)
    {
        var items = new Dictionary<LogPosition, Item>();
        for (var offset = first; offset < end; offset++)
        {
            var position = new LogPosition(offset);
            if (projection.TryChainOf(position, out var chain)) items.Add(position, new Item(position, chain));
        }

        var status = await AskTargetsAsync(projection, items, cancellationToken);
        if (status != Status.Ok) return status;
        var holes = new List<LogPosition>();
        var sources = Group(items.Values, static i => [i.Chain.Tail]);
        var copies = sources.Select(s => CopyFromAsync(projection, s.Unit, s.Items, items, holes, cancellationToken).AsTask()).ToList();
        foreach (var copied in await Task.WhenAll(copies))
        {
            if (copied != Status.Ok) status = copied;
        }

        if (status != Status.Ok) return status;
        if (holes.Count > 0)
        {
            holes.Sort();
            await CloseAsync(projection, holes, items, cancellationToken);
        }

        return Status.Ok;
    }

    /// <summary>A rebuild that was cut short goes on where it was: the target knows what it has.</summary>
    private async ValueTask<Status> AskTargetsAsync(Projection projection, Dictionary<LogPosition, Item> items, CancellationToken cancellationToken)
    {
        foreach (var (target, wanted) in Group(items.Values, static i => i.Chain.Replicas.Where(r => r.Joining).Select(r => r.Unit)))
        {
            var request = new ReadRequest(projection.Epoch, [.. wanted.Select(i => i.Position)], ReadDetail.State);
            var response = await units.CallAsync(projection, target, request, cancellationToken);
            if (!response.IsOk) return response.Status;
            foreach (var page in response.Pages)
            {
                var item = items[page.Position];
                if (page.State == PageState.Unwritten) item.Lacking.Add(target);
                else if (page.State == PageState.Corrupt) item.Damaged.Add(target);
                else if (page.State != PageState.Trimmed) item.Held.Add((target, page));
            }
        }

        return Status.Ok;
    }

    private async ValueTask<Status> CopyFromAsync(
        Projection projection, NodeId source, List<Item> wanted, Dictionary<LogPosition, Item> items, List<LogPosition> holes, CancellationToken cancellationToken)
    {
        foreach (var detail in (ReadDetail[])[ReadDetail.State, ReadDetail.Full])
        {
            var positions = wanted.Where(i => i.NeedsEntry == (detail == ReadDetail.Full)).Select(i => i.Position).ToImmutableArray();
            while (positions.Length > 0)
            {
                // An answer ends at the read budget; the rest is asked for again.
                var response = await units.CallAsync(projection, source, new ReadRequest(projection.Epoch, positions, detail), cancellationToken);
                if (!response.IsOk) return response.Status;
                await rate.TakeAsync(response.Pages.Sum(p => (long)p.Bytes.Length), cancellationToken);
                var writes = new List<Task<Status>>();
                foreach (var page in response.Pages) Take(projection, items[page.Position], page, holes, writes, cancellationToken);
                foreach (var written in await Task.WhenAll(writes))
                {
                    if (written != Status.Ok) return written;
                }

                positions = positions[response.Pages.Length..];
            }
        }

        return Status.Ok;
    }

    private void Take(Projection projection, Item item, in PageResult page, List<LogPosition> holes, List<Task<Status>> writes, CancellationToken cancellationToken)
    {
        switch (page.State)
        {
            case PageState.Data or PageState.Junk:
                foreach (var (unit, held) in item.Held) RequireSame(unit, held, page.State, page.Origin);
                foreach (var unit in item.Lacking) writes.Add(CompleteAsync(projection, unit, page.Position, page.State, page.Origin, page.Bytes, cancellationToken));
                foreach (var unit in item.Damaged) writes.Add(RepairAsync(projection, unit, page.Position, page.Bytes, cancellationToken));
                break;
            case PageState.Trimmed when page.BelowMark:
                foreach (var unit in item.Others())
                    writes.Add(AckedAsync(projection, unit, new TrimPrefixRequest(projection.Epoch, page.Position.Next), cancellationToken));
                break;
            case PageState.Trimmed:
                foreach (var unit in item.Others())
                    writes.Add(AckedAsync(projection, unit, new TrimRequest(projection.Epoch, page.Position, page.Bytes), cancellationToken));
                break;
#if PLANTED
            case PageState.Unwritten when Planted.Is("copy-without-filling"):
                break;
#endif
            default:
                lock (holes) holes.Add(page.Position);
                break;
        }
    }

    private async Task<Status> CompleteAsync(
        Projection projection, NodeId unit, LogPosition position, PageState state, EntryOrigin origin, ReadOnlyMemory<byte> entry, CancellationToken cancellationToken)
    {
        await _writes.WaitAsync(cancellationToken);
        try
        {
            var response = await units.CallAsync(projection, unit, new CompleteRequest(projection.Epoch, entry), cancellationToken);
            if (response.Status == Status.AlreadyWritten)
            {
                var stored = response.Stored == EntryKind.Junk ? PageState.Junk : PageState.Data;
                RequireSame(unit, new PageResult(position, stored, false, response.StoredOrigin, default), state, origin);
                return Status.Ok;
            }

            if (response.IsOk) meter.Copied(entry.Length);
            return response.Status == Status.Trimmed ? Status.Ok : response.Status;
        }
        finally
        {
            _writes.Release();
        }
    }

    // Only the identical entry is taken.
    private async Task<Status> RepairAsync(Projection projection, NodeId unit, LogPosition position, ReadOnlyMemory<byte> entry, CancellationToken cancellationToken)
    {
        var status = await AckedAsync(projection, unit, new RepairRequest(projection.Epoch, entry), cancellationToken);
        if (status == Status.Conflict) throw new RebuildException(position, unit, $"Unit {unit} holds another value at {position} than the chain that it joins.");
        return status == Status.Trimmed ? Status.Ok : status;
    }

    private async Task<Status> AckedAsync(Projection projection, NodeId unit, Request<AckResponse> request, CancellationToken cancellationToken)
    {
        await _writes.WaitAsync(cancellationToken);
        try
        {
            return (await units.CallAsync(projection, unit, request, cancellationToken)).Status;
        }
        finally
        {
            _writes.Release();
        }
    }

    /// <summary>The tail has nothing, or nothing readable: the whole chain is asked.</summary>
    private async ValueTask CloseAsync(Projection projection, List<LogPosition> holes, Dictionary<LogPosition, Item> items, CancellationToken cancellationToken)
    {
        foreach (var result in await client.ReadManyAsync([.. holes], ReadDetail.Full, ReadMode.CloseHoles, cancellationToken))
        {
            var item = items[result.Position];
            var target = item.Others().FirstOrDefault();
            if (result.State == PageState.Corrupt)
                throw new RebuildException(result.Position, target, $"No intact copy of {result.Position} is left: trim it, or remove the damaged units.");
            if (result.State == PageState.Unwritten)
                throw new RebuildException(result.Position, target, $"{result.Position} of a closed range cannot be closed.");
            if (result.Entry is not { } entry || result.State == PageState.Trimmed) continue;

            // Closed, it has reached the joining replicas too; a damaged page that another replica had has not.
            var bytes = EntryCodec.Encode(entry);
            foreach (var unit in item.Lacking)
            {
                var status = await CompleteAsync(projection, unit, result.Position, result.State, entry.Origin, bytes, cancellationToken);
                if (status != Status.Ok) throw new TransportException($"Unit {unit} says {status}.", outcomeUnknown: false);
            }

            foreach (var unit in item.Damaged)
            {
                var status = await RepairAsync(projection, unit, result.Position, bytes, cancellationToken);
                if (status != Status.Ok) throw new TransportException($"Unit {unit} says {status}.", outcomeUnknown: false);
            }
        }

        meter.Closed(holes.Count);
    }

    // R15: a differing value is fatal.
    private static void RequireSame(NodeId unit, in PageResult held, PageState state, EntryOrigin origin)
    {
        if (held.State != state || held.Origin != origin)
            throw new RebuildException(held.Position, unit, $"Unit {unit} holds another value at {held.Position} than the chain that it joins.");
    }

    private static List<(NodeId Unit, List<Item> Items)> Group(IEnumerable<Item> items, Func<Item, IEnumerable<NodeId>> of)
    {
        var groups = new List<(NodeId Unit, List<Item> Items)>();
        foreach (var item in items)
        {
            foreach (var unit in of(item))
            {
                var index = groups.FindIndex(g => g.Unit == unit);
                if (index >= 0) groups[index].Items.Add(item);
                else groups.Add((unit, [item]));
            }
        }

        return groups;
    }
}
