namespace Corfu.Unit;

internal sealed record UnitCoreOptions
{
    public const int DefaultMaxStreams = 4_000_000;

    /// <summary>The unit's own identity. Default none: every projection counts as one that names the unit.</summary>
    public NodeId Id { get; init; }

    /// <summary>Projections of another cluster are refused.</summary>
    public ClusterId Cluster { get; init; }

    /// <summary>Streams that the unit keeps tails of. An append that would add another gets
    /// <see cref="Status.NoSpace"/>; entries that other replicas hold are completed all the same.</summary>
    public int MaxStreams { get; init; } = DefaultMaxStreams;

    /// <summary>Entries with a larger payload get <see cref="Status.TooLarge"/>.</summary>
    public int MaxPayload { get; init; } = EntryLimits.DefaultMaxPayload;
}

/// <summary>The write-once page space of one storage unit (TOCS 2.1, Fig. 4), as a pure state machine: a request in, an
/// answer out, every change a record of the store's log (R3). Passive: it calls no other unit and knows no chain. Not
/// thread-safe; every call is made under the handler's lock.</summary>
/// <remarks>R4: each answer names the log sequence number of the newest record that it reflects, and is sent only when
/// the store is durable up to there.</remarks>
internal sealed partial class UnitCore : IPageStates
{
    /// <summary>No position is stored or trimmed farther above everything that the unit knows of: the next epoch begins
    /// above what a unit reports (R13), so one wrong position would use up the log.</summary>
    public const long Reach = 1L << 40;

    private readonly IPageStore _store;
    private readonly UnitCoreOptions _options;
    private StreamIndex _streams = new();
    private CorruptPages _corrupt = new();

    // Epochs below are refused. Never falls; never below _installed.
    private Epoch _sealedBelow;

    // The one epoch that is served, and its first position (R14). None until the first install.
    private Epoch _installed;
    private LogPosition _start;
    private long _epochLsn;

    // R5: moved by TrimPrefix records only, never inferred.
    private LogPosition _mark;
    private long _markLsn;

    // The position after the highest one ever written, filled or trimmed. Never falls (R5).
    private LogPosition _end;
    private long _endLsn;

    // The newest record that positions of streams are known from: a page, junk, a tombstone or an imported list.
    private long _pageLsn;

    // Differs after each start, for each start appends something: streams are then known in another order.
    private long _run;

    private UnitCore(IPageStore store, UnitCoreOptions options)
    {
        _store = store;
        _options = options;
    }

    /// <summary>Reads the store's log back and makes the unit ready to serve.</summary>
    /// <exception cref="LogDamagedException">The log lacks something that was acknowledged (R6), or holds a record that
    /// makes no sense.</exception>
    public static async ValueTask<UnitCore> OpenAsync(IPageStore store, UnitCoreOptions options)
    {
        var core = new UnitCore(store, options);
        try
        {
            await store.RecoverAsync(core.Replay, core.Restore);
        }
        catch (Exception error)
            when (error is LogDamagedException or StoreFailedException && store.StartedFromCheckpoint)
        {
            // R3: the log has everything. Damage of the log is found again, damage of the checkpoint is not.
            core = new UnitCore(store, options);
            await store.RecoverAsync(core.Replay);
        }

        core._corrupt.RemoveSound(p => store.Find(p).State);
        core._run = store.AppendedUntil;
        store.StateRecord = core.Snapshot;
        store.Release(core._mark);
        return core;
    }

    /// <summary>The highest epoch that the unit knows of; every answer carries it.</summary>
    public Epoch Epoch => _sealedBelow;

    /// <summary>Everything below is trimmed by prefix.</summary>
    public LogPosition TrimMark => _mark;

    /// <summary>Pages known to be damaged and neither repaired nor trimmed.</summary>
    public int CorruptPages => _corrupt.Count;

    /// <summary>Takes one request. Memory in it is not kept.</summary>
    public UnitAnswer Handle(Request request) => request switch
    {
        SealRequest r => Seal(r),
        InstallRequest r => Install(r),
        UnitInfoRequest => Info(),
        _ => Refuses(request) is { } status ? Refuse(request, status) : Serve(request),
    };

    private UnitAnswer Serve(Request request) => request switch
    {
        WriteRequest r => Write(r),
        CompleteRequest r => Complete(r),
        CompleteManyRequest r => CompleteMany(r),
        FillRequest r => Fill(r),
        ReadRequest r => Read(r),
        TrimRequest r => Trim(r),
        TrimPrefixRequest r => TrimPrefix(r),
        ConfirmEpochRequest => Ack(_epochLsn),
        StreamTailsRequest r => StreamTails(r),
        RepairRequest r => Repair(r),
        ListStreamTailsRequest r => ListStreamTails(r),
        ImportStreamTailsRequest r => ImportStreamTails(r),
        _ => Refuse(request, Status.Unsupported),
    };

    // Fig. 4's "if epoch != s_epoch respond err_sealed", with the two directions told apart: a caller with an older
    // epoch must learn the projection, one with a newer epoch must install it here first (R14).
    private Status? Refuses(Request request)
    {
        if (request.Epoch == _installed && request.Epoch >= _sealedBelow && _installed != Epoch.None) return null;
        if (Planted.Is("unit-serves-what-it-has-not-installed") && request.Epoch > _installed
            && request.Epoch >= _sealedBelow) return null;
        return request.Epoch < _sealedBelow || request.Epoch == Epoch.None ? Status.Sealed : Status.NotInstalled;
    }

    private UnitAnswer Refuse(Request request, Status status, long lsn = 0) =>
        new(Math.Max(lsn, _epochLsn), request.Fail(status, Epoch));

    private UnitAnswer Ack(long lsn) => new(Math.Max(lsn, _epochLsn), new AckResponse(Status.Ok, Epoch));

    private bool IsOutOfReach(LogPosition position)
    {
        if (Planted.Is("any-position-is-in-reach")) return position.Offset == long.MaxValue;
        var known = LogPosition.Max(LogPosition.Max(_start, _mark), _end).Offset;
        return position.Offset - known > Reach || position.Offset > long.MaxValue - Reach;
    }

    private bool Admits(Request request, int bodyLength, SpaceUse use, out UnitAnswer refusal)
    {
        var admission = _store.Admit(bodyLength, use);
        refusal = admission == Status.Ok ? default : Refuse(request, admission);
        return admission == Status.Ok;
    }

    /// <summary>The shortage because of which pages are refused, or soon will be; empty: there is none.</summary>
    internal string Shortage => _store.Health == UnitHealth.ReadOnly
        ? "The disk is full: no pages are taken until a trim frees space."
        : _store.Shortage ?? "";

    private UnitAnswer Info()
    {
        var (pages, bytes) = _store.Size;
        var info = new UnitInfoResponse(Status.Ok, Epoch, _sealedBelow, _installed, _end, _mark, pages, bytes)
        {
            Health = _store.Health,
            CorruptPages = _corrupt.Count,
            Reason = Shortage,
        };
        return new UnitAnswer(Newest(_epochLsn, _markLsn, _endLsn), info);
    }

    /// <summary>For gauges: nothing in it waits for durability.</summary>
    public UnitFigures Figures
    {
        get
        {
            var (pages, bytes) = _store.Size;
            return new UnitFigures(pages, bytes, _streams.Count, _options.MaxStreams)
            {
                CorruptPages = _corrupt.Count,
                End = _end.Offset,
                TrimMark = _mark.Offset,
                Epoch = _installed.Value,
                Health = _store.Health,
            };
        }
    }

    private static long Newest(params ReadOnlySpan<long> lsns)
    {
        var newest = 0L;
        foreach (var lsn in lsns) newest = Math.Max(newest, lsn);
        return newest;
    }

    private void RaiseEnd(LogPosition position, long lsn)
    {
        if (position < _end) return;
        _end = new LogPosition(position.Offset + 1);
        _endLsn = lsn;
    }

    private LogRecord Snapshot() => new UnitState(_sealedBelow, _installed, _start, _mark, _end).ToRecord();
}

/// <summary>The core's answer to one request: an acknowledgement, a refusal or a state.</summary>
/// <param name="Lsn">The store must be durable up to here before the answer is sent (R4).</param>
/// <param name="Response">Complete, unless <paramref name="Plan"/> is there.</param>
/// <param name="Plan">Page bytes to fetch, outside the core, before a read can be answered.</param>
internal readonly record struct UnitAnswer(long Lsn, Response? Response, ReadPlan? Plan = null);
