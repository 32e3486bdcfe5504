namespace Corfu.Sequencer;

/// <summary>Serves one incarnation. A restart, or an epoch that asks for another incarnation, makes another
/// handler.</summary>
public sealed class SequencerHandler(IEntropy entropy, SequencerOptions? options = null) : IRoleHandler
{
    private readonly Lock _gate = new();
    private readonly SequencerCore _core = new(new NodeId(entropy.NewGuid()), options);

    public NodeRole Role => NodeRole.Sequencer;

    public NodeId Id => _core.Id;

    public void Handle(Request request, ReplyTo reply)
    {
        Response response;
        // Rare, and its moment matters: from here on the incarnation grants.
        using var activity = request is BootstrapRequest
            ? SequencerTelemetry.Activities.StartActivity("corfu.sequencer.bootstrap")
            : null;
        lock (_gate) response = _core.Handle(request);
        if (!response.IsOk)
            SequencerTelemetry.Refused.Add(1, new KeyValuePair<string, object?>("status", response.Status));
        reply.Send(response);
    }
}
