using System.Collections.Immutable;
using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Register;

namespace Corfu.ModelCheck.Nodes;

/// <summary>A layout acceptor: <see cref="AcceptorCore"/> and its records.</summary>
public sealed class AcceptorState : NodeState
{
    private readonly ImmutableArray<AcceptorRecord> _records;
    private readonly ProjectionRegister _register = new();

    private AcceptorState(ImmutableArray<AcceptorRecord> records)
    {
        _records = records;
        Key = Describe(records);
    }

    public static AcceptorState Empty { get; } = new([]);

    public override string Key { get; }

    public override (NodeState Next, Response Response) Handle(Request request)
    {
        var core = new AcceptorCore();
        foreach (var record in _records) core.Replay(record);
        var result = core.Handle(ProjectionRegister.Read(request)!);
        if (result.Answer.Status == Status.Conflict)
            throw new ModelException($"An acceptor is told two values for one slot: {Names.Of(request)} (R12).");
        var response = _register.ToResponse(result.Answer);
        if (result.Records.IsEmpty) return (this, response);
        var next = new AcceptorState(core.Snapshot());

        // The durable records must lead to the same state as the core in memory.
        var again = new AcceptorCore();
        foreach (var record in _records) again.Replay(record);
        foreach (var record in result.Records) again.Replay(record);
        if (Describe(again.Snapshot()) != next.Key)
            throw new ModelException("An acceptor recovers as another (R12).");
        return (next, response);
    }

    private string Describe(ImmutableArray<AcceptorRecord> records) => string.Join(' ', records.Select(Describe));

    private string Describe(AcceptorRecord record) => record switch
    {
        PromiseRecord r => $"promise({r.Slot},{Names.Of(r.Ballot)})",
        AcceptRecord r => $"accepted({Names.Of(r.Ballot)},{Names.Of(_register.ToProjection(r.Value)!)})",
        DecidedRecord r => $"decided({Names.Of(_register.ToProjection(r.Value)!)})",
        FloorRecord r => $"floor({r.Floor})",
        _ => record.ToString(),
    };
}
