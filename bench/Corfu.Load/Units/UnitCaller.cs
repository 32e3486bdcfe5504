using System.Threading.Tasks.Sources;
using Corfu.Protocol;
using Corfu.Transport;
using Corfu.Unit;

namespace Corfu.Load.Units;

/// <summary>A caller of a unit in the same process: one write under way at a time, awaited without an allocation per
/// call.</summary>
internal sealed class UnitCaller(UnitHandler unit, Epoch epoch, int caller, int callers, int payload, int streams = 0)
    : IReplySink, IValueTaskSource
{
    private readonly EntryOrigin _origin = new(new WriterId(new Guid(caller, 0, 0, new byte[8])), 0);
    private readonly byte[] _payload = new byte[payload];
    private ManualResetValueTaskSourceCore<Status> _done = new() { RunContinuationsAsynchronously = true };
    private long _writes;

    /// <summary>Writes the caller's next page; ends when it is durable.</summary>
    public ValueTask WriteAsync()
    {
        _done.Reset();
        var position = new LogPosition((_writes * callers) + caller, epoch);
        var origin = _origin with { Sequence = _writes++ };
        var entry =
            EntryCodec.Encode(new LogEntry(position, origin, EntryKind.Data, DateTimeOffset.UnixEpoch,
                Streams(position), _payload));
        unit.Handle(new WriteRequest(epoch, entry), new ReplyTo(this, 0, Opcode.Write));
        unit.BatchEnd();
        return new ValueTask(this, _done.Version);
    }

    // Every stream in turn, so that all of them stay in use.
    private System.Collections.Immutable.ImmutableArray<StreamHeader> Streams(LogPosition position) =>
        streams == 0 ? [] : [new StreamHeader(new StreamId(1000 + (ulong)(position.Offset % streams)), [])];

    public void Send(uint correlation, Opcode opcode, Response response) => _done.SetResult(response.Status);

    public void GetResult(short token)
    {
        var status = _done.GetResult(token);
        if (status != Status.Ok) throw CorfuStatusException.Create(status, "write");
    }

    public ValueTaskSourceStatus GetStatus(short token) => _done.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token,
        ValueTaskSourceOnCompletedFlags flags) =>
        _done.OnCompleted(continuation, state, token, flags);
}
