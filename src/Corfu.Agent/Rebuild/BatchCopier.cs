using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>
/// One batch of a rebuild. Entries come from the chain's tail: what the last full replica holds is at all of them, so a
/// copy never gets ahead of the chain (chain prefix). What the tail lacks is closed as any hole is, by the head's word,
/// down to the joining replicas.
/// </summary>
internal sealed class BatchCopier(CorfuClient client, UnitCaller units, RateLimit rate, RebuildOptions options,
    RebuildMeter meter)
{
    private readonly TargetWriter _writer = new(units, options, meter);

    // Positions asked for at once, so that an answer is about one frame. A hint: nothing depends on it.
    private volatile int _perRead = FirstRead;

    private const int FirstRead = 16;

    /// <returns>Ok: every position is decided on every replica of its chain in this projection. Else why it has to be
    /// tried again.</returns>
    public async ValueTask<Status> CopyAsync(Projection projection, long first, long end,
        CancellationToken cancellationToken)
    {
        var items = new Dictionary<LogPosition, CopyItem>();
        for (var offset = first; offset < end; offset++)
        {
            var position = new LogPosition(offset);
            items.Add(position, new CopyItem(position, projection.ChainOf(position)));
        }

        var status = await AskTargetsAsync(projection, items, cancellationToken);
        if (status != Status.Ok) return status;
        var holes = new List<LogPosition>();
        var sources = Group(items.Values, static i => [i.Chain.Tail]);
        var copies =
            sources.Select(s => CopyFromAsync(projection, s.Unit, s.Items, items, holes, cancellationToken).AsTask())
                .ToList();
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
    private async ValueTask<Status> AskTargetsAsync(Projection projection, Dictionary<LogPosition, CopyItem> items,
        CancellationToken cancellationToken)
    {
        foreach (var (target, wanted) in Group(items.Values,
            static i => i.Chain.Replicas.Where(r => r.Joining).Select(r => r.Unit)))
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
                else if (!page.BelowMark && page.Origin == default) item.Bare.Add(target);
            }
        }

        return Status.Ok;
    }

    private async ValueTask<Status> CopyFromAsync(
        Projection projection, NodeId source, List<CopyItem> wanted, Dictionary<LogPosition, CopyItem> items,
        List<LogPosition> holes, CancellationToken cancellationToken)
    {
        // What has been read is on its way to the targets while the next is read.
        var writes = new List<Task<Status>>();
        var status = await ReadAllAsync();
        foreach (var written in await Task.WhenAll(writes))
        {
            if (status == Status.Ok) status = written;
        }

        return status;

        async ValueTask<Status> ReadAllAsync()
        {
            foreach (var detail in (ReadDetail[])[ReadDetail.State, ReadDetail.Full])
            {
                var positions = wanted.Where(i => i.NeedsEntry == (detail == ReadDetail.Full)).Select(i => i.Position)
                    .ToImmutableArray();
                for (var at = 0; at < positions.Length;)
                {
                    var count = detail == ReadDetail.Full
                        ? Math.Min(_perRead, positions.Length - at)
                        : positions.Length - at;
                    var response = await units.CallAsync(projection, source,
                        new ReadRequest(projection.Epoch, positions.Slice(at, count), detail), cancellationToken);
                    if (!response.IsOk) return response.Status;
                    if (response.Pages.IsEmpty) return Status.Overloaded;
                    await TakeAsync(projection, response.Pages, items, holes, writes, cancellationToken);

                    // An answer ends at the read budget; the rest is asked for again.
                    at += response.Pages.Length;
                }
            }

            return Status.Ok;
        }
    }

    private async ValueTask TakeAsync(
        Projection projection, ImmutableArray<PageResult> pages, Dictionary<LogPosition, CopyItem> items,
        List<LogPosition> holes, List<Task<Status>> writes,
        CancellationToken cancellationToken)
    {
        var bytes = pages.Sum(p => (long)p.Bytes.Length);
        if (bytes > 0) _perRead = (int)Math.Clamp(options.FrameBytes * (long)pages.Length / bytes, 1, options.Batch);
        await rate.TakeAsync(bytes, cancellationToken);
        var copies = new List<(NodeId Unit, List<PageResult> Pages)>();
        foreach (var page in pages)
            Take(projection, items[page.Position], page, copies, holes, writes, cancellationToken);
        foreach (var (unit, lacking) in copies)
            writes.Add(_writer.CompleteAsync(projection, unit, lacking, cancellationToken));
    }

    private void Take(
        Projection projection, CopyItem item, in PageResult page, List<(NodeId Unit, List<PageResult> Pages)> copies,
        List<LogPosition> holes, List<Task<Status>> writes,
        CancellationToken cancellationToken)
    {
        switch (page.State)
        {
            case PageState.Data or PageState.Junk:
                foreach (var (unit, held) in item.Held) TargetWriter.RequireSame(unit, held, page);
                foreach (var unit in item.Lacking) Add(copies, unit, page);
                foreach (var unit in item.Damaged)
                    writes.Add(_writer.RepairAsync(projection, unit, page.Position, page.Bytes, cancellationToken));
                foreach (var unit in item.Bare)
                    writes.Add(_writer.SendAsync(projection, unit,
                        new TrimRequest(projection.Epoch, page.Position, page.Bytes), cancellationToken));
                break;
            case PageState.Trimmed when page.BelowMark:
                foreach (var unit in item.Others())
                    writes.Add(_writer.SendAsync(projection, unit,
                        new TrimPrefixRequest(projection.Epoch, page.Position.Next), cancellationToken));
                break;
            case PageState.Trimmed:
                foreach (var unit in item.Others())
                    writes.Add(_writer.SendAsync(projection, unit,
                        new TrimRequest(projection.Epoch, page.Position, page.Bytes), cancellationToken));
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

    /// <summary>The tail has nothing, or nothing readable: the whole chain is asked.</summary>
    private async ValueTask CloseAsync(Projection projection, List<LogPosition> holes,
        Dictionary<LogPosition, CopyItem> items, CancellationToken cancellationToken)
    {
        foreach (var result in await client.ReadManyAsync([.. holes], ReadDetail.Full, ReadMode.CloseHoles,
            cancellationToken))
        {
            var item = items[result.Position];
            var target = item.Others().FirstOrDefault();
            if (result.State == PageState.Corrupt)
                throw new RebuildException(result.Position, target,
                    $"No intact copy of {result.Position} is left: trim it, or remove the damaged units.");
            if (result.State == PageState.Unwritten)
                throw new RebuildException(result.Position, target,
                    $"{result.Position} of a closed range cannot be closed.");
            if (result.Entry is not { } entry || result.State == PageState.Trimmed) continue;

            // Closed, it has reached the joining replicas too; a damaged page that another replica had has not.
            var page = new PageResult(result.Position, result.State, false, entry.Origin, EntryCodec.Encode(entry));
            foreach (var unit in item.Lacking)
                Require(unit, await _writer.CompleteAsync(projection, unit, [page], cancellationToken));
            foreach (var unit in item.Damaged)
                Require(unit,
                    await _writer.RepairAsync(projection, unit, page.Position, page.Bytes, cancellationToken));
        }

        meter.Closed(holes.Count);
    }

    private static void Require(NodeId unit, Status status)
    {
        if (status != Status.Ok) throw new TransportException($"Unit {unit} says {status}.", outcomeUnknown: false);
    }

    private static List<(NodeId Unit, List<CopyItem> Items)> Group(IEnumerable<CopyItem> items,
        Func<CopyItem, IEnumerable<NodeId>> of)
    {
        var groups = new List<(NodeId Unit, List<CopyItem> Items)>();
        foreach (var item in items)
        {
            foreach (var unit in of(item)) Add(groups, unit, item);
        }

        return groups;
    }

    private static void Add<T>(List<(NodeId Unit, List<T> Items)> groups, NodeId unit, T item)
    {
        foreach (var group in groups)
        {
            if (group.Unit != unit) continue;
            group.Items.Add(item);
            return;
        }

        groups.Add((unit, [item]));
    }
}
