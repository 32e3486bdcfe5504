namespace Corfu.Layout;

/// <summary>Projections as values of registers, a slot for each epoch, and the layout's messages about
/// them.</summary>
internal sealed class ProjectionRegister : IRegisterOwner
{
    private sealed record Decoded(RegisterValue Value, Projection Projection);

    // The newest projection goes to every client, each time from the same value.
    private Decoded? _last;

    public static RegisterValue ToValue(Projection projection) =>
        new(projection.Epoch, ProjectionCodec.Encode(projection));

    /// <summary>Null: no message of the layout.</summary>
    public static RegisterRequest? Read(Request request) => request switch
    {
        LatestRequest => new ReadNewest(),
        WatchRequest watch => new WatchNewest(watch.Known),
        ReadSlotRequest read => new ReadRegister(read.Slot),
        PrepareRequest prepare => new PrepareBallot(prepare.Slot, prepare.Ballot),
        AcceptRequest accept => new AcceptValue(accept.Ballot, ToValue(accept.Value)),
        DecidedRequest decided => new LearnDecision(ToValue(decided.Value)),
        _ => null,
    };

    public LayoutResponse ToResponse(RegisterAnswer answer)
    {
        var slot = answer.Register is { } state
            ? new SlotState(state.Slot, state.Promised, state.Accepted, ToProjection(state.Value), state.IsDecided)
            : null;
        return new LayoutResponse(answer.Status, answer.Known, slot, ToProjection(answer.Newest));
    }

    public Projection? ToProjection(RegisterValue? value)
    {
        if (value is null) return null;
        if (_last is { } last && ReferenceEquals(last.Value, value)) return last.Projection;
        var decoded = new Decoded(value, ProjectionCodec.Decode(value.Bytes));
        _last = decoded;
        return decoded.Projection;
    }

    public RegisterValue ReadValue(ReadOnlyMemory<byte> stored) => ToValue(ProjectionCodec.Decode(stored));

    public void OnCommitted() => LayoutTelemetry.Commits.Add(1);

    public void OnFailed(Exception reason) => LayoutTelemetry.Failures.Add(1);
}
