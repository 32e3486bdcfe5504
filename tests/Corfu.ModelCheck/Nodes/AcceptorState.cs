using System.Collections.Immutable;
using Corfu.Layout;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Nodes;

/// <summary>A layout acceptor: <see cref="AcceptorCore"/> and its records.</summary>
public sealed class AcceptorState : NodeState
{
    private readonly ImmutableArray<AcceptorRecord> _records;

    private AcceptorState(ImmutableArray<AcceptorRecord> records)
    {
        _records = records;
        Key = string.Join(' ', records.Select(Describe));
    }

    public static AcceptorState Empty { get; } = new([]);

    public override string Key { get; }

    public override (NodeState Next, Response Response) Handle(Request request)
    {
        var core = new AcceptorCore();
        foreach (var record in _records) core.Replay(record);
        var answer = core.Handle(request);
        if (answer.Response.Status == Status.Conflict)
            throw new ModelException($"An acceptor is told two values for one slot: {Names.Of(request)} (R12).");
        if (answer.Records.IsEmpty) return (this, answer.Response);
        var next = new AcceptorState(core.Snapshot());

        // The durable records must lead to the same state as the core in memory.
        var again = new AcceptorCore();
        foreach (var record in _records) again.Replay(record);
        foreach (var record in answer.Records) again.Replay(record);
        if (new AcceptorState(again.Snapshot()).Key != next.Key)
            throw new ModelException("An acceptor recovers as another (R12).");
        return (next, answer.Response);
    }

    private static string Describe(AcceptorRecord record) => record switch
    {
        PromiseRecord r => $"promise({r.Slot},{Names.Of(r.Ballot)})",
        AcceptRecord r => $"accepted({Names.Of(r.Ballot)},{Names.Of(r.Value)})",
        DecidedRecord r => $"decided({Names.Of(r.Value)})",
        FloorRecord r => $"floor({r.Floor})",
        _ => record.ToString(),
    };
}
