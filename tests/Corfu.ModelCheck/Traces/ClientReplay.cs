using System.Collections.Immutable;
using Corfu.ModelCheck.Processes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Traces;

/// <summary>
/// The model's <see cref="Processes.Client"/>, driven by what a process of the simulator knows. A request is allowed
/// when some run of the model's client ends with it, and each answer in that run is one that the process has taken.
/// </summary>
/// <remarks>
/// Data are abstract: the entry of a writer and the junk of a filler are taken from the request, and the model says
/// where and when it may go. Only requests that change a unit are replayed. A reader may ask what it likes.
/// </remarks>
internal sealed class ClientReplay(Knowledge known, DecidedProjections projections)
{
    public bool MaySend(NodeId to, EntryRequest request)
    {
        var position = EntryCodec.PeekPosition(request.Entry.Span);
        if (projections.Of(request.Epoch) is not { } view) return false;
        Processes.Client? start = request is WriteRequest
            ? WriterOf(view, new LogPosition(position.Offset, view.Epoch), request.Entry)
            : At(view, ClientStage.LookAtHead, position);
        return start is not null && Search(
            start, request, step => ((Processes.Client)step.Next).Calls.Any(call => IsSame(call, to, request)));
    }

    /// <summary>Whether the writer may be told that its append is in the log.</summary>
    public bool MayAcknowledge(LogPosition position, EntryOrigin origin)
    {
        var entry = known.WrittenAt(position.Offset, position.Epoch);
        return !entry.IsEmpty && projections.Of(position.Epoch) is { } view
            && WriterOf(view, position, entry) is { } writer
            && Search(writer, null, step => step.Facts.Any(
                f => f is Acknowledged told && told.Position == position.Offset && told.Origin == origin));
    }

    /// <summary>Whether a reader may be shown the value of the position.</summary>
    public bool MayShow(LogPosition position) =>
        known.EpochsOf(position.Offset).Select(projections.Of).OfType<Projection>().Any(view => Search(
            At(view, ClientStage.ReadTail, position), null,
            step => step.Facts.Any(f => f is Observed seen && seen.Position == position.Offset)));

    /// <returns>Null: the position was not granted to the process, or the entry is not one for it.</returns>
    private Processes.Client? WriterOf(Projection view, LogPosition granted, ReadOnlyMemory<byte> entry)
    {
        var named = EntryCodec.PeekPosition(entry.Span);
        if (!known.IsGranted(granted.Offset, view.Epoch) || named != granted || named.Epoch != view.Epoch
            || EntryCodec.PeekKind(entry.Span) != EntryKind.Data) return null;
        var token = new TokenResponse(Status.Ok, view.Epoch, granted, [], []);
        var asking = Idle(view) with { Stage = ClientStage.Token };
        var writer = (Processes.Client)asking.Answer(0, token).Next;
        return writer with { Entry = entry, Origin = EntryCodec.PeekOrigin(entry.Span) };
    }

    private static Processes.Client At(Projection view, ClientStage stage, LogPosition position) =>
        Idle(view) with { Stage = stage, Position = new LogPosition(position.Offset) };

    private static Processes.Client Idle(Projection view) =>
        new('T', [new ClientTask(ClientTaskKind.Append)], view, view.Acceptors, Flaw.None) { TimeOuts = int.MaxValue };

    private bool Search(Processes.Client start, EntryRequest? request, Func<Step, bool> isThere)
    {
        var seen = new HashSet<(ClientStage, ClientStage, ClientStage?, Epoch, int, EntryOrigin)>();
        var open = new Stack<Step>([new Step(start)]);
        while (open.TryPop(out var step))
        {
            var state = Bind((Processes.Client)step.Next, request);
            var here = step with { Next = state };
            if (isThere(here)) return true;
            var origin = state.Entry.IsEmpty ? default : EntryCodec.PeekOrigin(state.Entry.Span);
            if (!seen.Add((state.Stage, state.Return, state.ReturnUnchanged, state.View.Epoch, state.Replica, origin)))
                continue;
            foreach (var choice in state.Choices) open.Push(choice);
            foreach (var answered in Answered(state)) open.Push(answered);
        }

        return false;
    }

    private IEnumerable<Step> Answered(Processes.Client state)
    {
        var calls = state.Calls;
        for (var i = 0; i < calls.Length; i++)
        {
            var answers = calls[i].Request is LatestRequest
                ? projections.After(state.View.Epoch).Select(p => new LayoutResponse(Status.Ok, p.Epoch, null, p))
                : known.AnswersTo(calls[i], needsEntry: state.Stage != ClientStage.ReadTail);
            foreach (var answer in answers) yield return state.Answer(i, answer);
        }
    }

    /// <summary>A filler's junk is that of the request, where the request is a fill of this epoch.</summary>
    private static Processes.Client Bind(Processes.Client state, EntryRequest? request)
    {
        if (request is not FillRequest || state.Replica > 0 || request.Epoch != state.View.Epoch
            || state.Stage is not (ClientStage.FillHole or ClientStage.ResolveFill)) return state;
        var junk = EntryCodec.PeekPosition(request.Entry.Span);
        return junk == state.Position && junk.Epoch == state.View.Epoch
            && EntryCodec.PeekKind(request.Entry.Span) == EntryKind.Junk
            ? state with { Entry = request.Entry }
            : state;
    }

    private static bool IsSame(in Call call, NodeId to, EntryRequest request) =>
        call.To == to && call.Request is EntryRequest own && own.Opcode == request.Opcode
        && own.Epoch == request.Epoch && own.Entry.Span.SequenceEqual(request.Entry.Span);
}
