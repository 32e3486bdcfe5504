using System.Buffers;
using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Sequencer;

namespace Corfu.ModelCheck.Nodes;

/// <summary>A sequencer incarnation: <see cref="SequencerCore"/>, brought to its state by what it was asked since its
/// last bootstrap.</summary>
public sealed class SequencerState : NodeState
{
    private readonly NodeId _id;
    private readonly ImmutableArray<Request> _history;

    private SequencerState(NodeId id, ImmutableArray<Request> history)
    {
        _id = id;
        _history = history;
        var core = Open();
        Epoch = core.Epoch;
        Tail = core.Tail;
        if (Epoch > Epoch.None
            && core.Handle(new TailRequest(Epoch, [Names.Stream])) is TailResponse { IsOk: true } tail)
            StreamTail = tail.Tails[0];
        var key = new FrameBuffer();
        foreach (var request in history) MessageCodec.WriteRequest(key, 0, request);
        Key = $"{Names.Of(id)} {Convert.ToBase64String(key.WrittenSpan)}";
    }

    public override string Key { get; }

    public Epoch Epoch { get; }

    public LogPosition Tail { get; }

    /// <summary>Newest positions of the model's stream; null while it is not known (not handed over yet).</summary>
    public StreamTail? StreamTail { get; }

    public static SequencerState New(NodeId id) => new(id, []);

    public override (NodeState Next, Response Response) Handle(Request request)
    {
        var core = Open();
        var streams = core.StreamCount;
        var response = core.Handle(request);
        if (core.Epoch < Epoch) throw new ModelException("A sequencer's epoch fell (R7).");
        if (core.Epoch > Epoch) return (new SequencerState(_id, [request]), response);
        if (core.Tail < Tail) throw new ModelException("A sequencer's counter fell (R7).");
        return core.Tail == Tail && core.StreamCount == streams
            ? (this, response)
            : (new SequencerState(_id, _history.Add(request)), response);
    }

    private SequencerCore Open()
    {
        var core = new SequencerCore(_id);
        foreach (var request in _history) core.Handle(request);
        return core;
    }
}
