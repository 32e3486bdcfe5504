namespace Corfu.StateMachines.Tests.Support;

/// <summary>A process's connection to a log, which a test can close, hold or watch.</summary>
internal sealed class GatedLog(ICorfuLog log) : ICorfuLog
{
    private TaskCompletionSource? _checks;
    private TaskCompletionSource? _appends;

    public int MaxPayload => log.MaxPayload;

    /// <summary>Linearizable checks that were asked for.</summary>
    public int Checks { get; private set; }

    /// <summary>Changes what appends return, in place of the log's answer.</summary>
    public Func<AppendResult, AppendResult> Answer { get; set; } = result => result;

    /// <summary>Changes the fates that are found, in place of the log's answer.</summary>
    public Func<AppendOutcome, AppendOutcome> Fate { get; set; } = outcome => outcome;

    /// <summary>Positions whose reads fail.</summary>
    public Func<LogPosition, bool> IsUnreachable { get; set; } = _ => false;

    /// <summary>Changes the pages that are read.</summary>
    public Func<LogReadResult, LogReadResult> Page { get; set; } = page => page;

    /// <summary>Runs before each append to the streams.</summary>
    public Func<ImmutableArray<StreamId>, Task> BeforeAppend { get; set; } = _ => Task.CompletedTask;

    /// <summary>Appends that were held.</summary>
    public int HeldAppends { get; private set; }

    /// <summary>Checks are not answered until they are let go: the process plays nothing meanwhile.</summary>
    public void HoldChecks() => _checks = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void LetChecksGo()
    {
        var held = _checks;
        _checks = null;
        held?.TrySetResult();
    }

    /// <summary>Waits for a linearizable check beyond a number of them.</summary>
    public async Task CheckedAsync(int before)
    {
        const int MostTurns = 1_000_000;
        for (var turn = 0; Checks <= before; turn++)
        {
            Assert.True(turn < MostTurns, "No check was asked for.");
            await Task.Yield();
        }
    }

    /// <summary>Appends take no position until they are let go.</summary>
    public void HoldAppends() =>
        _appends = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

    public void LetAppendsGo()
    {
        var held = _appends;
        _appends = null;
        held?.TrySetResult();
    }

    public async ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default)
    {
        await BeforeAppend(streams);
        if (_appends is { } held)
        {
            HeldAppends++;
            await held.Task.WaitAsync(cancellationToken);
        }

        return Answer(await log.AppendAsync(payload, streams, cancellationToken));
    }

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default) =>
        log.AppendToObjectsAsync(payload, streams, cancellationToken);

    public async ValueTask<AppendOutcome> ResolveAsync(
        AppendResult unknown, CancellationToken cancellationToken = default) =>
        Fate(await log.ResolveAsync(unknown, cancellationToken));

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(ImmutableArray<LogPosition> positions,
        ReadDetail detail = ReadDetail.Full, ReadMode mode = ReadMode.CloseHoles,
        CancellationToken cancellationToken = default)
    {
        if (positions.Any(IsUnreachable)) throw new LogUnavailableException("as asked");
        return [.. (await log.ReadManyAsync(positions, detail, mode, cancellationToken)).Select(Page)];
    }

    public async ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        if (consistency == ReadConsistency.Linearizable) Checks++;
        if (_checks is { } held) await held.Task.WaitAsync(cancellationToken);
        return await log.CheckAsync(streams, consistency, cancellationToken);
    }

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        log.FillAsync(position, cancellationToken);

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        log.TrimAsync(position, cancellationToken);

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        log.TrimPrefixAsync(below, cancellationToken);
}
