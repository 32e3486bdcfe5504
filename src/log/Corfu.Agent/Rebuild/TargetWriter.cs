namespace Corfu.Agent;

/// <summary>Gives joining replicas what they lack: entries by the frame, everything else one by one.</summary>
internal sealed class TargetWriter(RebuildOptions options, RebuildMeter meter)
{
    // Trims and repairs on their way.
    private const int OthersInFlight = 1024;

    private readonly SemaphoreSlim _frames = new(options.FramesInFlight);
    private readonly SemaphoreSlim _others = new(OthersInFlight);

    /// <param name="pages">The pages of a source's answer, which fit into a frame.</param>
    /// <returns>Ok: the unit holds all of them, or has been told to trim them.</returns>
    public async Task<Status> CompleteAsync(Attempt attempt, NodeId unit, ImmutableArray<PageResult> pages)
    {
        for (var done = 0; done < pages.Length;)
        {
            var request = new CompleteManyRequest(attempt.Epoch, [.. pages.Skip(done).Select(p => p.Bytes)]);
            await _frames.WaitAsync(attempt.CancellationToken);
            try
            {
                var response = await attempt.CallAsync(unit, request);
                if (!response.IsOk) return response.Status;
                if (response.Outcomes.IsEmpty) return Status.Overloaded;
                foreach (var outcome in response.Outcomes)
                {
                    if (Judge(unit, pages[done++], outcome) is not Status.Ok and var refused) return refused;
                }
            }
            finally
            {
                _frames.Release();
            }
        }

        return Status.Ok;
    }

    private Status Judge(NodeId unit, in PageResult page, in WriteOutcome outcome)
    {
        switch (outcome.Status)
        {
            case Status.Ok:
                meter.Copied(page.Bytes.Length);
                return Status.Ok;
            case Status.AlreadyWritten:
                var stored = outcome.Stored == EntryKind.Junk ? PageState.Junk : PageState.Data;
                RequireSame(unit, new PageResult(page.Position, stored, false, outcome.StoredOrigin, default), page);
                return Status.Ok;
            case Status.Trimmed:
                return Status.Ok;
            default:
                return outcome.Status;
        }
    }

    /// <summary>The unit takes the identical entry only.</summary>
    public async Task<Status> RepairAsync(Attempt attempt, NodeId unit, LogPosition position,
        ReadOnlyMemory<byte> entry)
    {
        var status = await SendAsync(attempt, unit, new RepairRequest(attempt.Epoch, entry));
        if (status == Status.Conflict) throw Differs(unit, position);
        return status == Status.Trimmed ? Status.Ok : status;
    }

    public async Task<Status> SendAsync(Attempt attempt, NodeId unit, Request<AckResponse> request)
    {
        await _others.WaitAsync(attempt.CancellationToken);
        try
        {
            return (await attempt.CallAsync(unit, request)).Status;
        }
        finally
        {
            _others.Release();
        }
    }

    /// <summary>R15: a differing value is fatal.</summary>
    public static void RequireSame(NodeId unit, in PageResult held, in PageResult page)
    {
        if (held.State != page.State || held.Origin != page.Origin) throw Differs(unit, page.Position);
    }

    private static RebuildException Differs(NodeId unit, LogPosition position) =>
        new(position, unit, $"Unit {unit} holds another value at {position} than the chain that it joins.");
}
