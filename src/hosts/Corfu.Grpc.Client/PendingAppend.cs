using Corfu.Grpc.Protocol.Log.V1;
using Google.Protobuf;

namespace Corfu.Grpc.Client;

/// <summary>An append on its way to a front end.</summary>
/// <remarks>Waiting, then Sending while its message is made, then Sent. Refused it waits again. Cancelled while it
/// waits it is not in the log; cancelled later its outcome is unknown. The payload is the caller's again when the task
/// completes, so a cancellation or a refusal during Sending takes effect after it.</remarks>
internal sealed class PendingAppend(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, bool toObjects,
    EntryOrigin origin, LostAppends lost)
    : TaskCompletionSource<Corfu.AppendResult>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    private const int Waiting = 0;
    private const int Sending = 1;
    private const int Sent = 2;
    private const int Refused = 3;
    private const int Cancelled = 4;

    private readonly long _began = TimeProvider.System.GetTimestamp();
    private int _state;

    // The bounds with which the append was sent last.
    private LogPosition _from;
    private LogPosition _below;

    public EntryOrigin Origin => origin;

    public int Size => payload.Length;

    public TimeSpan Age => TimeProvider.System.GetElapsedTime(_began);

    /// <summary>False if it was cancelled: it must not be sent.</summary>
    public bool TrySend(LogPosition from, LogPosition below)
    {
        if (Interlocked.CompareExchange(ref _state, Sending, Waiting) != Waiting) return false;
        (_from, _below) = (from, below);
        return true;
    }

    /// <summary>Whether it was refused meanwhile, and is to be sent again.</summary>
    public bool WasSent()
    {
        if (Interlocked.CompareExchange(ref _state, Sent, Sending) == Sending) return false;
        if (Interlocked.CompareExchange(ref _state, Waiting, Refused) == Refused) return true;
        Lose();
        return false;
    }

    /// <summary>After a refusal. Whether it is to be sent again; while it is being sent, <see cref="WasSent"/> says
    /// so.</summary>
    public bool TryTakeBack()
    {
        if (Interlocked.CompareExchange(ref _state, Refused, Sending) == Sending) return false;
        return Interlocked.CompareExchange(ref _state, Waiting, Sent) == Sent;
    }

    public void RefuseUnsent(Exception why)
    {
        if (Interlocked.CompareExchange(ref _state, Sending, Waiting) == Waiting) TrySetException(why);
    }

    public void Cancel(CancellationToken cancellationToken)
    {
        switch (Interlocked.Exchange(ref _state, Cancelled))
        {
            case Waiting:
                TrySetCanceled(cancellationToken);
                break;
            case Sent:
                Lose();
                break;
        }
    }

    /// <summary>Ends the append as unknown, until its origin is looked for: the answer will never come.</summary>
    public void Lose()
    {
        lost.Add(origin, _from, _below);
        TrySetResult(new Corfu.AppendResult(AppendOutcome.Unknown, default, origin));
    }

    public NewEntry ToMessage()
    {
        var entry = new NewEntry
        {
            Payload = UnsafeByteOperations.UnsafeWrap(payload),
            ToObjects = toObjects,
            Origin = Messages.ToMessage(origin),
            BelowOffset = _below.Offset,
        };
        foreach (var stream in streams) entry.StreamIds.Add(stream.Value);
        return entry;
    }
}

/// <summary>Between which positions the entries of appends without an answer may stand. Beyond the limit the oldest are
/// forgotten, and stay unknown.</summary>
internal sealed class LostAppends
{
    private const int Most = 65536;

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly Dictionary<EntryOrigin, (LogPosition From, LogPosition Below)> _bounds = [];
    private readonly Queue<EntryOrigin> _order = new();

    public void Add(EntryOrigin origin, LogPosition from, LogPosition below)
    {
        lock (_gate)
        {
            if (!_bounds.TryAdd(origin, (from, below))) return;
            _order.Enqueue(origin);
            if (_order.Count > Most) _bounds.Remove(_order.Dequeue());
        }
    }

    public bool TryGet(EntryOrigin origin, out (LogPosition From, LogPosition Below) bounds)
    {
        lock (_gate) return _bounds.TryGetValue(origin, out bounds);
    }
}
