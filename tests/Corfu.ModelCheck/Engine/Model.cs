using System.Collections.Immutable;
using Corfu.ModelCheck.Checks;
using Corfu.ModelCheck.Nodes;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Engine;

/// <summary>
/// A scenario as a graph. A state is a row of numbers: one for each node, each process, the late requests and the
/// history. What a node or process does depends on its own number only, so the real cores run once for each pair of
/// local state and request, and the search is table look-up.
/// </summary>
internal sealed class Model
{
    private sealed record ProcessRow(ImmutableArray<(int Node, int Request)> Calls, ImmutableArray<Outcome> Choices);

    private sealed record Outcome(int Next, ImmutableArray<Fact> Facts, ImmutableArray<int> Left);

    private readonly Scenario _scenario;
    private readonly ImmutableArray<NodeId> _ids;
    private readonly Interner<NodeState> _nodes = new(n => $"{n.GetType().Name} {n.Key}");
    private readonly Interner<Process> _processes = new(p => p.Key);
    private readonly Interner<Call> _requests;
    private readonly Interner<(Response Response, string Key)> _responses = new(r => r.Key);
    private readonly Interner<ImmutableArray<int>> _late = new(l => string.Join(',', l));
    private readonly Interner<History> _histories = new(h => h.Key);
    private readonly Dictionary<(int Node, int Request), (int Next, int Response, string? Violation)> _handled = [];
    private readonly Dictionary<(int Process, int Call, int Response), Outcome> _answered = [];
    private readonly Dictionary<int, ProcessRow> _rows = [];
    private readonly Dictionary<(int History, int Process, int Call, int Response), (int Next,
        string? Violation)> _told = [];
    private readonly NodeState[] _scratch;

    public Model(Scenario scenario)
    {
        _scenario = scenario;
        _ids = [.. scenario.Nodes.Select(n => n.Id)];
        _requests = new Interner<Call>(c => $"{Names.Of(c.To)} {Key(c.Request)}");
        _scratch = new NodeState[_ids.Length];
    }

    private int Nodes => _ids.Length;

    private int Processes => _scenario.Processes.Length;

    private int LateAt => Nodes + Processes;

    private int HistoryAt => LateAt + 1;

    /// <summary>Numbers in a state.</summary>
    public int Width => HistoryAt + 1;

    public (int Nodes, int Processes, int Histories) LocalStates => (_nodes.Count, _processes.Count, _histories.Count);

    public void First(Span<int> state)
    {
        for (var i = 0; i < Nodes; i++) state[i] = _nodes.Number(_scenario.Nodes[i].State);
        for (var i = 0; i < Processes; i++) state[Nodes + i] = _processes.Number(_scenario.Processes[i]);
        state[LateAt] = _late.Number([]);
        state[HistoryAt] = _histories.Number(_scenario.History);
    }

    public void Moves(ReadOnlySpan<int> state, List<Move> moves)
    {
        moves.Clear();
        for (var i = 0; i < Processes; i++)
        {
            var row = Row(state[Nodes + i]);
            for (var j = 0; j < row.Calls.Length; j++) moves.Add(new Move(MoveKind.Answer, i, j));
            for (var j = 0; j < row.Choices.Length; j++) moves.Add(new Move(MoveKind.Choice, i, j));
        }

        var late = _late[state[LateAt]];
        for (var j = 0; j < late.Length; j++)
        {
            if (j == 0 || late[j] != late[j - 1]) moves.Add(new Move(MoveKind.Late, 0, j));
        }
    }

    /// <summary>Makes the move on the state itself.</summary>
    /// <returns>The invariant that it broke, or null.</returns>
    public string? Apply(Span<int> state, in Move move)
    {
        if (move.Kind == MoveKind.Late)
        {
            var late = _late[state[LateAt]];
            state[LateAt] = _late.Number(late.RemoveAt(move.Index));
            return Deliver(state, late[move.Index], out _) ?? Check(state, false);
        }

        ref var process = ref state[Nodes + move.Process];
        var before = process;
        var response = -1;
        var row = Row(process);
        Outcome outcome;
        if (move.Kind == MoveKind.Choice)
        {
            outcome = row.Choices[move.Index];
        }
        else
        {
            var violation = Deliver(state, row.Calls[move.Index].Request, out response);
            if (violation is not null) return violation;
            outcome = Answered(process, move.Index, response);
        }

        process = outcome.Next;
        foreach (var request in outcome.Left)
        {
            var late = _late[state[LateAt]];
            if (late.Length < _scenario.LateRequests) state[LateAt] = _late.Number([.. late.Add(request).Order()]);
        }

        var decided = false;
        if (!outcome.Facts.IsEmpty)
        {
            var epochs = _histories[state[HistoryAt]].Epochs.Length;
            var told = Tell(state[HistoryAt], before, move.Kind == MoveKind.Choice ? -1 - move.Index : move.Index,
                response, outcome.Facts);
            state[HistoryAt] = told.Next;
            if (told.Violation is not null) return told.Violation;
            decided = _histories[told.Next].Epochs.Length > epochs;
        }

        return Check(state, decided);
    }

    /// <summary>Describes a move in a line, before it is made.</summary>
    public string Describe(ReadOnlySpan<int> state, in Move move)
    {
        if (move.Kind == MoveKind.Late)
        {
            var late = _requests[_late[state[LateAt]][move.Index]];
            return $"late        -> {Names.Of(late.To)}: {Names.Of(late.Request)} => {Say(state, late)}";
        }

        var process = _processes[state[Nodes + move.Process]];
        if (move.Kind == MoveKind.Choice) return $"{process.Name} {process.Choices[move.Index].Label}";
        var call = process.Calls[move.Index];
        var facts = Answered(state[Nodes + move.Process], move.Index,
            Handle(state[NodeOf(call.To)], _requests.Number(call)).Response).Facts;
        var told = string.Concat(facts.Select(f => $"; {Say(f)}"));
        return $"{process.Name} -> {Names.Of(call.To)}: {Names.Of(call.Request)} => {Say(state, call)}{told}";
    }

    /// <summary>The nodes and what is known, for the end of a trace.</summary>
    public IEnumerable<string> Describe(int[] state)
    {
        for (var i = 0; i < Nodes; i++)
        {
            if (_nodes[state[i]] is UnitState unit) yield return $"{Names.Of(_ids[i])}: {unit.Key}";
        }

        foreach (var epoch in _histories[state[HistoryAt]].Epochs) yield return $"decided: {Names.Of(epoch)}";
    }

    private string Say(ReadOnlySpan<int> state, in Call call)
    {
        var (_, response, violation) = Handle(state[NodeOf(call.To)], _requests.Number(call));
        return violation ?? Names.Of(_responses[response].Response);
    }

    private static string Say(Fact fact) => fact switch
    {
        Acknowledged a => $"acknowledged at {a.Position}",
        Refused r => $"{Names.Of(r.Origin)} is not appended",
        Observed o => $"reads {o.Kind} {Names.Of(o.Origin)} at {o.Position}",
        Checked c => $"the tail is {c.Tail}",
        Decided d => $"decided: {Names.Of(d.Projection)}",
        Met m => m.What,
        _ => fact.ToString(),
    };

    private string? Check(ReadOnlySpan<int> state, bool decided)
    {
        for (var i = 0; i < Nodes; i++) _scratch[i] = _nodes[state[i]];
        return Invariants.Find(_histories[state[HistoryAt]], _ids, _scratch, _scenario.Streams, decided);
    }

    private string? Deliver(Span<int> state, int request, out int response)
    {
        ref var node = ref state[NodeOf(_requests[request].To)];
        (node, response, var violation) = Handle(node, request);
        return violation;
    }

    private (int Next, int Response, string? Violation) Handle(int node, int request)
    {
        if (_handled.TryGetValue((node, request), out var known)) return known;
        (int, int, string?) result;
        try
        {
            var (next, response) = _nodes[node].Handle(_requests[request].Request);
            result = (_nodes.Number(next), _responses.Number((response, Key(_requests[request].Request, response))),
                null);
        }
        catch (ModelException e)
        {
            result = (node, -1, e.Message);
        }

        _handled.Add((node, request), result);
        return result;
    }

    private Outcome Answered(int process, int call, int response)
    {
        if (_answered.TryGetValue((process, call, response), out var known)) return known;
        var outcome = ToOutcome(_processes[process].Answer(call, _responses[response].Response));
        _answered.Add((process, call, response), outcome);
        return outcome;
    }

    private (int Next, string? Violation) Tell(int history, int process, int call, int response,
        ImmutableArray<Fact> facts)
    {
        if (_told.TryGetValue((history, process, call, response), out var known)) return known;
        var next = _histories[history];
        string? violation = null;
        foreach (var fact in facts)
        {
            (next, var broken) = next.With(fact);
            violation ??= broken;
        }

        var result = (_histories.Number(next), violation);
        _told.Add((history, process, call, response), result);
        return result;
    }

    private ProcessRow Row(int process)
    {
        if (_rows.TryGetValue(process, out var known)) return known;
        var state = _processes[process];
        var row = new ProcessRow(
            [.. state.Calls.Select(c => (NodeOf(c.To), _requests.Number(c)))], [.. state.Choices.Select(ToOutcome)]);
        _rows.Add(process, row);
        return row;
    }

    private Outcome ToOutcome(Step step) =>
        new(_processes.Number(step.Next), step.Facts, [.. step.Left.Select(c => _requests.Number(c))]);

    private int NodeOf(NodeId id) => _ids.IndexOf(id);

    private static string Key(Request request)
    {
        var bytes = new FrameBuffer();
        MessageCodec.WriteRequest(bytes, 0, request);
        return Convert.ToBase64String(bytes.WrittenSpan);
    }

    private static string Key(Request request, Response response)
    {
        var bytes = new FrameBuffer();
        MessageCodec.WriteResponse(bytes, 0, request.Opcode, response);
        return $"{request.Opcode} {Convert.ToBase64String(bytes.WrittenSpan)}";
    }
}
