namespace Corfu.Agent;

/// <summary>A position to be copied, and what the joining replicas of its chain hold there.</summary>
internal sealed class CopyItem(LogPosition position, Chain chain)
{
    public LogPosition Position => position;

    public Chain Chain => chain;

    /// <summary>Joining replicas without a page there.</summary>
    public List<NodeId> Lacking { get; } = [];

    /// <summary>Joining replicas whose page is damaged: they get it again.</summary>
    public List<NodeId> Damaged { get; } = [];

    /// <summary>Joining replicas with a page, to be compared.</summary>
    public List<(NodeId Unit, PageResult Page)> Held { get; } = [];

    /// <summary>Joining replicas trimmed before the copy lack the stream headers, and get them (R5).</summary>
    public List<NodeId> Bare { get; } = [];

    public bool NeedsEntry => Lacking.Count > 0 || Damaged.Count > 0 || Bare.Count > 0;

    /// <summary>Every joining replica to which a trim brings something new.</summary>
    public IEnumerable<NodeId> Others() => Lacking.Concat(Damaged).Concat(Bare).Concat(Held.Select(h => h.Unit));
}

/// <summary>Copies a batch of a rebuild. Entries come from the chain's tail: all full replicas hold what the last one
/// holds, so a copy never gets ahead of the chain (chain prefix). A position that the tail lacks is closed as any hole
/// is: the head's value goes down the chain to the joining replicas.</summary>
internal sealed class BatchCopier(ClusterClient client, RateLimit rate, RebuildOptions options, RebuildMeter meter)
{
    private const int FirstRead = 16;

    private readonly TargetWriter _writer = new(options, meter);

    // Positions asked for at once, so that an answer is about one frame. A hint: nothing depends on it.
    private volatile int _perRead = FirstRead;

    /// <returns>Ok: every position is decided on every replica of its chain in this projection. Else why it has to be
    /// tried again.</returns>
    public async ValueTask<Status> CopyAsync(Attempt attempt, long first, long end)
    {
        var items = new Dictionary<LogPosition, CopyItem>();
        for (var offset = first; offset < end; offset++)
        {
            var position = new LogPosition(offset);
            items.Add(position, new CopyItem(position, attempt.Projection.ChainOf(position)));
        }

        var status = await AskTargetsAsync(attempt, items);
        if (status != Status.Ok) return status;
        var holes = new List<LogPosition>();
        var sources = items.Values.GroupBy(item => item.Chain.Tail);
        var copied = await Task.WhenAll(
            sources.Select(source => CopyFromAsync(attempt, source, items, holes).AsTask()));
        status = copied.LastOrDefault(copy => copy != Status.Ok);
        if (status != Status.Ok || holes.Count == 0) return status;
        holes.Sort();
        await CloseAsync(attempt, holes, items);
        return Status.Ok;
    }

    /// <summary>Asks the targets what they hold, so that a rebuild that was cut short goes on where it was.</summary>
    private static async ValueTask<Status> AskTargetsAsync(Attempt attempt, Dictionary<LogPosition, CopyItem> items)
    {
        var wanted =
            from item in items.Values
            from replica in item.Chain.Replicas
            where replica.Joining
            group item.Position by replica.Unit;
        foreach (var target in wanted)
        {
            var response = await attempt.CallAsync(target.Key,
                new ReadRequest(attempt.Epoch, [.. target], ReadDetail.State));
            if (!response.IsOk) return response.Status;
            foreach (var page in response.Pages)
            {
                var item = items[page.Position];
                if (page.State == PageState.Unwritten) item.Lacking.Add(target.Key);
                else if (page.State == PageState.Corrupt) item.Damaged.Add(target.Key);
                else if (page.State != PageState.Trimmed) item.Held.Add((target.Key, page));
                else if (!page.BelowMark && page.Origin == default) item.Bare.Add(target.Key);
            }
        }

        return Status.Ok;
    }

    private async ValueTask<Status> CopyFromAsync(Attempt attempt, IGrouping<NodeId, CopyItem> source,
        Dictionary<LogPosition, CopyItem> items, List<LogPosition> holes)
    {
        // The pages read so far are written to the targets while the next ones are read.
        var writes = new List<Task<Status>>();
        var status = await ReadAllAsync();
        var written = await Task.WhenAll(writes);
        return status != Status.Ok ? status : written.FirstOrDefault(write => write != Status.Ok);

        async ValueTask<Status> ReadAllAsync()
        {
            foreach (var detail in (ReadDetail[])[ReadDetail.State, ReadDetail.Full])
            {
                ImmutableArray<LogPosition> positions = [.. source
                    .Where(item => item.NeedsEntry == (detail == ReadDetail.Full)).Select(item => item.Position)];
                for (var at = 0; at < positions.Length;)
                {
                    var left = positions.Length - at;
                    var count = detail == ReadDetail.Full ? Math.Min(_perRead, left) : left;
                    var response = await attempt.CallAsync(source.Key,
                        new ReadRequest(attempt.Epoch, positions.Slice(at, count), detail));
                    if (!response.IsOk) return response.Status;
                    if (response.Pages.IsEmpty) return Status.Overloaded;
                    await WriteAsync(attempt, response.Pages, items, holes, writes);

                    // An answer ends at the read budget; the rest is asked for again.
                    at += response.Pages.Length;
                }
            }

            return Status.Ok;
        }
    }

    /// <summary>Starts the writes of the pages that a source has answered.</summary>
    private async ValueTask WriteAsync(Attempt attempt, ImmutableArray<PageResult> pages,
        Dictionary<LogPosition, CopyItem> items, List<LogPosition> holes, List<Task<Status>> writes)
    {
        var bytes = pages.Sum(p => (long)p.Bytes.Length);
        if (bytes > 0) _perRead = (int)Math.Clamp(options.FrameBytes * (long)pages.Length / bytes, 1, options.Batch);
        await rate.TakeAsync(bytes, attempt.CancellationToken);
        var lacking = new List<(NodeId Unit, PageResult Page)>();
        foreach (var page in pages)
        {
            var item = items[page.Position];
            switch (page.State)
            {
                case PageState.Data or PageState.Junk:
                    foreach (var (unit, held) in item.Held) TargetWriter.RequireSame(unit, held, page);
                    lacking.AddRange(item.Lacking.Select(unit => (unit, page)));
                    writes.AddRange(item.Damaged.Select(
                        unit => _writer.RepairAsync(attempt, unit, page.Position, page.Bytes)));
                    SendAll(item.Bare, new TrimRequest(attempt.Epoch, page.Position, page.Bytes));
                    break;
                case PageState.Trimmed when page.BelowMark:
                    SendAll(item.Others(), new TrimPrefixRequest(attempt.Epoch, page.Position.Next));
                    break;
                case PageState.Trimmed:
                    SendAll(item.Others(), new TrimRequest(attempt.Epoch, page.Position, page.Bytes));
                    break;
                case PageState.Unwritten when Planted.Is("copy-without-filling"):
                    break;
                default:
                    lock (holes) holes.Add(page.Position);
                    break;
            }
        }

        foreach (var copies in lacking.GroupBy(copy => copy.Unit, copy => copy.Page))
            writes.Add(_writer.CompleteAsync(attempt, copies.Key, [.. copies]));

        void SendAll(IEnumerable<NodeId> targets, Request<AckResponse> request) =>
            writes.AddRange(targets.Select(unit => _writer.SendAsync(attempt, unit, request)));
    }

    /// <summary>Closes positions where the tail has nothing, or nothing readable: the whole chain is asked.</summary>
    private async ValueTask CloseAsync(Attempt attempt, List<LogPosition> holes,
        Dictionary<LogPosition, CopyItem> items)
    {
        foreach (var result in await client.CloseHolesAsync([.. holes], attempt.CancellationToken))
        {
            var item = items[result.Position];
            var obstacle = result.State switch
            {
                PageState.Corrupt =>
                    $"No intact copy of {result.Position} is left: trim it, or remove the damaged units.",
                PageState.Unwritten => $"{result.Position} of a closed range cannot be closed.",
                _ => null,
            };
            if (obstacle is not null)
                throw new RebuildException(result.Position, item.Others().FirstOrDefault(), obstacle);
            if (result.Entry is not { } entry || result.State == PageState.Trimmed) continue;

            // Closed, it has reached the joining replicas too; a damaged page that another replica had has not.
            var page = new PageResult(result.Position, result.State, false, entry.Origin, EntryCodec.Encode(entry));
            foreach (var unit in item.Lacking) Require(unit, await _writer.CompleteAsync(attempt, unit, [page]));
            foreach (var unit in item.Damaged)
                Require(unit, await _writer.RepairAsync(attempt, unit, page.Position, page.Bytes));
        }
    }

    private static void Require(NodeId unit, Status status)
    {
        if (status != Status.Ok) throw new TransportException($"Unit {unit} says {status}.", outcomeUnknown: false);
    }
}
