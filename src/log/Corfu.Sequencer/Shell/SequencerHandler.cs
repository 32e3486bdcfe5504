using System.Buffers.Binary;

namespace Corfu.Sequencer;

/// <summary>Serves one incarnation. A restart, or an epoch that asks for another incarnation, makes another
/// handler.</summary>
public sealed class SequencerHandler(IEntropy entropy, SequencerOptions? options = null, TimeProvider? time = null)
    : IRoleHandler
{
    private readonly Lock _gate = new();
    private readonly SequencerOptions _options = options ?? new SequencerOptions();

    // Guarded by _gate.
    private readonly SequencerCore _core = new(new NodeId(entropy.NewGuid()), options, () => Draw(entropy));
    private readonly NewStreamLimit _newStreams = new(time ?? TimeProvider.System);

    public NodeRole Role => NodeRole.Sequencer;

    public NodeId Id => _core.Id;

    internal (long Tail, long Streams, long Epoch) Figures
    {
        get
        {
            lock (_gate) return (_core.Tail.Offset, _core.StreamCount, _core.Epoch.Value);
        }
    }

    public void Handle(Request request, ReplyTo reply)
    {
        Response response;
        // Rare, and its moment matters: from here on the incarnation grants.
        using var activity = request is BootstrapRequest
            ? SequencerTelemetry.Activities.StartActivity("corfu.sequencer.bootstrap")
            : null;
        lock (_gate)
        {
            var streams = NewStreamsOf(request, reply.Principal);
            var client = reply.Principal.Name;
            response = streams == 0 || _newStreams.Admits(client, streams, _options.MaxNewStreamsPerMinute)
                ? _core.Handle(request)
                : request.Fail(Status.StreamLimit, _core.Epoch);
            // Streams of a request that is refused are as new as before.
            if (streams > 0 && response is TokenResponse { IsOk: true } token && Granted(request, token) > 0)
                _newStreams.Count(client, streams);
        }

        if (!response.IsOk) SequencerTelemetry.Refused.Add(1, "corfu.status".With(response.Status.ToString()));
        else if (response is TokenResponse token) SequencerTelemetry.Tokens.Add(Granted(request, token));
        else if (request is BootstrapRequest) SequencerTelemetry.Sequencers.Add(this);
        reply.Send(response);
    }

    private static int Granted(Request request, TokenResponse response) => response.Rulings.IsEmpty
        ? ((TokenRequest)request).Count
        : response.Rulings.Count(static ruling => ruling.IsGranted);

    private static ulong Draw(IEntropy entropy)
    {
        Span<byte> bytes = stackalloc byte[16];
        entropy.NewGuid().TryWriteBytes(bytes);
        return BinaryPrimitives.ReadUInt64LittleEndian(bytes) ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]);
    }

    private int NewStreamsOf(Request request, Principal peer) =>
        request is TokenRequest { Streams.Length: > 0 } token && NewStreamLimit.Counts(peer)
            ? _core.CountNew(token)
            : 0;
}
