using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// The write-once page space of one storage unit (TOCS 2.1, Fig. 4), as a pure state machine: a request in, an answer
/// out, every change a record of the store's log (R3). Passive: it talks to nobody and knows no chain. Not thread-safe;
/// the handler's lock is its only user's.
/// </summary>
/// <remarks>
/// R4, one uniform rule: each answer names the log sequence number of the newest record that it reflects, and whoever
/// holds the answer releases it only when the store is durable up to there.
/// </remarks>
internal sealed partial class UnitCore : IPageStates
{
    private readonly IPageStore _store;
    private readonly UnitCoreOptions _options;
    private StreamIndex _streams = new();

    // Epochs below are refused. Never falls; never below _installed.
    private Epoch _sealedBelow;

    // The one epoch that is served, and its first position (R14). None until the first install.
    private Epoch _installed;
    private LogPosition _start;
    private long _epochLsn;

    // R5: moved by TrimPrefix records only, never inferred.
    private LogPosition _mark;
    private long _markLsn;

    // One above the highest position ever written, filled or trimmed. Never falls (R5).
    private LogPosition _end;
    private long _endLsn;

    /// <summary>
    /// No position is stored or trimmed farther above everything that the unit knows of: the next epoch begins above
    /// what a unit reports (R13), so one wrong position would use up the log.
    /// </summary>
    public const long Reach = 1L << 40;

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
            when (error is LogDamagedException or StoreFailedException
                && store is PageStore { StartedFromCheckpoint: true })
        {
            // R3: the log has everything. What is wrong with it is found again, and what was wrong with the checkpoint
            // is not.
            core = new UnitCore(store, options);
            await store.RecoverAsync(core.Replay);
        }

        core._corrupt.RemoveSound(p => store.Find(p).State);
        core._run = store.AppendedUntil;
        store.Release(core._mark);
        return core;
    }

    /// <summary>The highest epoch that the unit knows of; every answer carries it.</summary>
    public Epoch Epoch => _sealedBelow;

    /// <summary>Takes one request. Memory in it is not kept.</summary>
    public UnitAnswer Handle(Request request) => request switch
    {
        WriteRequest r => Write(r),
        CompleteRequest r => Complete(r),
        CompleteManyRequest r => CompleteMany(r),
        FillRequest r => Fill(r),
        ReadRequest r => Read(r),
        TrimRequest r => Trim(r),
        TrimPrefixRequest r => TrimPrefix(r),
        SealRequest r => Seal(r),
        InstallRequest r => Install(r),
        ConfirmEpochRequest r => Confirm(r),
        StreamTailsRequest r => StreamTails(r),
        UnitInfoRequest r => Info(r),
        RepairRequest r => Repair(r),
        ListStreamTailsRequest r => ListStreamTails(r),
        ImportStreamTailsRequest r => ImportStreamTails(r),
        _ => new UnitAnswer(0, request.Fail(Status.Unsupported, Epoch)),
    };

    // Fig. 4's "if epoch != s_epoch respond err_sealed", with the two directions told apart: a request from behind must
    // learn, a request from ahead must bring its projection first (R14).
    private bool Refuses(Request request, out UnitAnswer refusal)
    {
        refusal = default;
        if (request.Epoch == _installed && request.Epoch >= _sealedBelow && _installed != Epoch.None) return false;
#if PLANTED
        if (Planted.Is("unit-serves-what-it-has-not-installed") && request.Epoch > _installed
            && request.Epoch >= _sealedBelow) return false;
#endif
        var status = request.Epoch < _sealedBelow || request.Epoch == Epoch.None ? Status.Sealed : Status.NotInstalled;
        refusal = new UnitAnswer(_epochLsn, request.Fail(status, Epoch));
        return true;
    }

    private UnitAnswer Refuse(Request request, Status status, long lsn) =>
        new(Math.Max(lsn, _epochLsn), request.Fail(status, Epoch));

    private bool IsOutOfReach(LogPosition position)
    {
#if PLANTED
        if (Planted.Is("any-position-is-in-reach")) return position.Offset == long.MaxValue;
#endif
        var known = LogPosition.Max(LogPosition.Max(_start, _mark), _end).Offset;
        return position.Offset - known > Reach || position.Offset > long.MaxValue - Reach;
    }

    private bool Admits(Request request, int bodyLength, SpaceUse use, out UnitAnswer refusal)
    {
        var admission = _store.Admit(bodyLength, use);
        refusal = admission == Status.Ok ? default : Refuse(request, admission, 0);
        return admission == Status.Ok;
    }

    private UnitAnswer Info(UnitInfoRequest request)
    {
        var (pages, bytes) = _store.Size;
        var lsn = Math.Max(_epochLsn, Math.Max(_markLsn, _endLsn));
        return new UnitAnswer(lsn,
            new UnitInfoResponse(Status.Ok, Epoch, _sealedBelow, _installed, _end, _mark, pages, bytes)
            {
                Health = _store.Health,
                CorruptPages = _corrupt.Count,
                Reason = _store.Health == UnitHealth.ReadOnly
                ? "The disk is full: no pages are taken until a trim frees space."
                : "",
            });
    }

    private void RaiseEnd(LogPosition position, long lsn)
    {
        if (position < _end) return;
        _end = new LogPosition(position.Offset + 1);
        _endLsn = lsn;
    }

    // A part of the log can be read without those before it: it begins with what they had established.
    private RecordPlace Append(in LogRecord record)
    {
        if (_store.OpensSegment(record.Body.Length)) _store.Append(Snapshot());
        return _store.Append(record);
    }
}
