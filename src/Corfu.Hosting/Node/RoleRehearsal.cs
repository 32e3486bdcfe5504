using System.Buffers;
using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Sequencer;
using Corfu.Transport;
using Corfu.Unit;

namespace Corfu.Hosting;

/// <summary>
/// A spare or a standby takes over from one moment to the next, and clients wait for the first answers of a process that has never served any: what it will be
/// asked is asked of a unit in memory, or of a sequencer that nobody knows, before. So the code is compiled when it matters. Once per process.
/// </summary>
internal static class RoleRehearsal
{
    private static int _units;
    private static int _sequencers;

    private static readonly NodeAddress Anywhere = new(new NodeId(Guid.Parse("00000000-0000-0000-0000-000000000001")), new NodeEndpoint("127.0.0.1", 1));
    private static readonly ClusterId Cluster = new(Guid.Parse("00000000-0000-0000-0000-000000000002"));
    private static readonly WriterId Writer = new(Guid.Parse("00000000-0000-0000-0000-000000000003"));
    private static readonly StreamId Stream = new(1000);

    public static async Task RunUnitAsync()
    {
        if (Interlocked.Exchange(ref _units, 1) == 1) return;
        await using var unit = await UnitNode.OpenAsync(new UnitNodeOptions { Id = Anywhere.Id, Cluster = Cluster }, SystemEntropy.Instance);
        var (first, second) = (Epoch.First, Epoch.First.Next);
        LogPosition[] at = [.. Enumerable.Range(0, 3).Select(i => new LogPosition(i, first))];
        Request[] requests =
        [
            new SealRequest(first),
            new InstallRequest(ProjectionOf(first)),
            new WriteRequest(first, Entry(at[0], EntryKind.Data, 1)),
            new WriteRequest(first, Entry(at[0], EntryKind.Data, 2)),
            new CompleteRequest(first, Entry(at[1], EntryKind.Data, 3)),
            new FillRequest(first, Entry(at[2], EntryKind.Junk, 4)),
            new ReadRequest(first, [.. at], ReadDetail.Full),
            new ReadRequest(first, [.. at], ReadDetail.Headers),
            new StreamTailsRequest(first, [Stream]),
            new ConfirmEpochRequest(first),
            new SealRequest(second),
            new WriteRequest(first, Entry(at[2].Next, EntryKind.Data, 5)),
            new InstallRequest(ProjectionOf(second)),
            new StreamTailsRequest(second, [Stream]),
            new UnitInfoRequest(second),
        ];
        foreach (var request in requests) await AskAsync(unit.Handler, request);
    }

    public static async Task RunSequencerAsync()
    {
        if (Interlocked.Exchange(ref _sequencers, 1) == 1) return;
        var sequencer = new SequencerHandler(SystemEntropy.Instance);
        var first = Epoch.First;
        Request[] requests =
        [
            new SequencerInfoRequest(first),
            new BootstrapRequest(ProjectionOf(first, new NodeAddress(sequencer.Id, Anywhere.Endpoint))),
            new TokenRequest(first, 1, [Stream], 0),
            new LoadStreamsRequest(first, [new StreamTail(Stream, [])]),
            new TokenRequest(first, 2, [Stream], 0),
            new TokenRequest(first, 2, [], 0),
            new TailRequest(first, [Stream]),
            new GrantsRequest(first, [new LogPosition(0)]),
        ];
        foreach (var request in requests) await AskAsync(sequencer, request);
    }

    private static Projection ProjectionOf(Epoch epoch, NodeAddress? sequencer = null) => new(
        Cluster, epoch, sequencer ?? Anywhere, new LogPosition(0, epoch), LogPosition.Zero,
        [new Segment(LogPosition.Zero, null, [new Chain([new Replica(Anywhere.Id)])])], [Anywhere], [Anywhere], "a rehearsal");

    private static byte[] Entry(LogPosition position, EntryKind kind, long sequence) => EntryCodec.Encode(
        new LogEntry(
            position, new EntryOrigin(Writer, sequence), kind, DateTimeOffset.UnixEpoch, kind == EntryKind.Data ? [new StreamHeader(Stream, [])] : [],
            kind == EntryKind.Data ? new byte[16] : default));

    // As it would come from the network and leave for it.
    private static async Task AskAsync(IRoleHandler handler, Request request)
    {
        var frame = new ArrayBufferWriter<byte>();
        MessageCodec.WriteRequest(frame, 1, request);
        var sink = new Sink();
        handler.Handle(
            MessageCodec.ReadRequest(FrameHeader.Parse(frame.WrittenSpan), frame.WrittenMemory[MessageCodec.HeaderSize..])!, new ReplyTo(sink, 1, request.Opcode));
        handler.BatchEnd();
        frame.ResetWrittenCount();
        MessageCodec.WriteResponse(frame, 1, request.Opcode, await sink.Answer.Task);
        MessageCodec.ReadResponse(request, FrameHeader.Parse(frame.WrittenSpan), frame.WrittenMemory[MessageCodec.HeaderSize..]);
    }

    private sealed class Sink : IReplySink
    {
        public TaskCompletionSource<Response> Answer { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Send(uint correlation, Opcode opcode, Response response) => Answer.TrySetResult(response);
    }
}
