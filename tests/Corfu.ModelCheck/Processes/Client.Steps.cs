using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>The client's step at each answer.</summary>
public sealed partial record Client
{
    private static readonly DateTimeOffset s_time = DateTimeOffset.UnixEpoch;

    private Step Granted(TokenResponse response)
    {
        if (response.Status == Status.UnknownStream)
            return new Step(this with { Stage = ClientStage.AskStreams, Replica = 0, StreamPositions = [] });
        var origin = new EntryOrigin(Names.Writer(Id), Sequence + 1);
        ImmutableArray<StreamHeader> headers =
            [.. response.Previous.Select(t => new StreamHeader(t.Stream, t.Positions))];
        var entry = new LogEntry(response.First, origin, EntryKind.Data, s_time, headers, default);
        return new Step(this with
        {
            Stage = ClientStage.Write,
            Position = response.First,
            Origin = origin,
            Entry = EntryCodec.Encode(entry),
            Replica = 0,
            Tokens = Tokens + 1,
            Sequence = Sequence + 1,
        });
    }

    // TOCS 2.4: head to tail, acknowledged when the last replica has it.
    private Step Written(WriteResponse response)
    {
        switch (response.Status)
        {
            case Status.Ok:
            case Status.AlreadyWritten when response.StoredOrigin == Origin || Flaw == Flaw.AlreadyWrittenIsMine:
                if (Replica + 1 < Chain.Replicas.Length && Flaw != Flaw.AckAtHead)
                    return new Step(this with { Replica = Replica + 1 });
                return Finish(new Acknowledged(Operation, Position.Offset, Origin));
            case Status.AlreadyWritten when Replica == 0:
                return Lost();
            case Status.AlreadyWritten:
                return Finish(
                    new Met($"{Name} finds {Names.Of(response.StoredOrigin)} behind its own entry at {Position}"));
            case Status.Trimmed:
                return Finish();
            default:
                return Finish(
                    new Met($"{Name} hears {response.Status} from {Names.Of(Call.To)} when it writes {Position}"));
        }
    }

    private Step Lost()
    {
        var refused = new Refused(Origin);
        return Task.Kind == ClientTaskKind.Append && Tokens < MaxTokens
            ? new Step(this with
            {
                Stage = ClientStage.Token,
                Entry = default,
                Replica = 0,
                Position = default,
                Origin = default
            }, refused)
            : Finish(refused);
    }

    // R9: unwritten at the first full replica in a later epoch means not appended; only below the new start may it be
    // filled.
    private Step Resolved(in PageResult page)
    {
        switch (page.State)
        {
            case PageState.Unwritten
                when View.Epoch > Position.Epoch && Position >= View.Start && Flaw != Flaw.ResolveAboveStart:
                return Lost();
            case PageState.Unwritten:
                return new Step(Junk(ClientStage.ResolveFill));
            case PageState.Data when page.Origin == Origin:
                return Copy(ClientStage.ResolveComplete, page);
            case PageState.Data or PageState.Junk:
                return Lost();
            default:
                return Finish();
        }
    }

    private Client Junk(ClientStage stage)
    {
        var junk = new LogEntry(
            new LogPosition(Position.Offset, View.Epoch), new EntryOrigin(Names.Writer(Id), Sequence + 1),
            EntryKind.Junk, s_time, [], default);
        return this with { Stage = stage, Replica = 0, Entry = EntryCodec.Encode(junk), Sequence = Sequence + 1 };
    }

    private Step Copy(ClientStage stage, in PageResult page)
    {
        var next = this with { Stage = stage, Entry = page.Bytes.ToArray(), Replica = 1 };
        return Chain.Replicas.Length > 1 ? new Step(next) : next.AfterCopy();
    }

    private Step Filled(WriteResponse response)
    {
        var mine = EntryCodec.PeekOrigin(Entry.Span);
        switch (response.Status)
        {
            case Status.Ok:
            case Status.AlreadyWritten when response.StoredOrigin == mine:
                if (Replica + 1 < Chain.Replicas.Length) return new Step(this with { Replica = Replica + 1 });
                return Stage == ClientStage.ResolveFill
                    ? Lost()
                    : Finish(new Observed(Position.Offset, EntryKind.Junk, mine));
            case Status.AlreadyWritten when Replica == 0:
                return new Step(this
                    with
                {
                    Stage = Stage == ClientStage.ResolveFill ? ClientStage.ResolveLook : ClientStage.LookAtHead,
                    Entry = default
                });
            case Status.AlreadyWritten:
                return Finish(
                    new Met($"{Name} finds {Names.Of(response.StoredOrigin)} behind junk of its own at {Position}"));
            default:
                return Finish();
        }
    }

    private Step Completed(WriteResponse response)
    {
        var copied = EntryCodec.PeekOrigin(Entry.Span);
        switch (response.Status)
        {
            case Status.Ok:
            case Status.AlreadyWritten when response.StoredOrigin == copied:
                return Replica + 1 < Chain.Replicas.Length
                    ? new Step(this with { Replica = Replica + 1 })
                    : AfterCopy();
            case Status.AlreadyWritten when Flaw == Flaw.WriteAfterEpoch && Replica == 0:
                return Lost();
            case Status.AlreadyWritten:
                return Finish(
                    new Met($"{Name} finds {Names.Of(response.StoredOrigin)} behind {Names.Of(copied)} at {Position}"));
            default:
                return Finish();
        }
    }

    private Step AfterCopy() => Stage == ClientStage.ResolveComplete
        ? Finish(new Acknowledged(Operation, Position.Offset, Origin))
        : Finish(new Observed(Position.Offset, EntryCodec.PeekKind(Entry.Span), EntryCodec.PeekOrigin(Entry.Span)));

    private Step Shown(in PageResult page) => page.State switch
    {
        PageState.Data => Finish(new Observed(Position.Offset, EntryKind.Data, page.Origin)),
        PageState.Junk => Finish(new Observed(Position.Offset, EntryKind.Junk, page.Origin)),
        PageState.Unwritten => new Step(this with { Stage = ClientStage.LookAtHead }),
        _ => Finish(),
    };

    // R10: what the head holds is completed, granted or not; where it holds nothing, only a granted position is filled.
    private Step LookedAtHead(in PageResult page) => page.State switch
    {
        PageState.Unwritten when Position < View.Start => new Step(Junk(ClientStage.FillHole)),
        PageState.Unwritten => new Step(this with { Stage = ClientStage.AskTail }),
        PageState.Data or PageState.Junk => Copy(ClientStage.CompleteHole, page),
        _ => Finish(),
    };

    // The first full replica of every chain, each once (docs/protocol.md, Sequencer).
    private ImmutableArray<NodeId> Sources =>
        [.. View.Segments.SelectMany(s => s.Chains).Select(c => c.Head).Distinct()];

    private Step StreamsOf(StreamTailsResponse response)
    {
        var next = this
            with
        {
            StreamPositions = [.. StreamPositions, .. response.Tails[0].Positions.Select(p => p.Offset)],
            Replica = Replica + 1
        };
        return new Step(next.Replica < Sources.Length
            ? next
            : next with { Stage = ClientStage.LoadStreams, Replica = 0 });
    }

    private StreamTail Newest() => new(
        Names.Stream,
        [.. StreamPositions.Distinct().OrderDescending().Take(StreamHeader.MaxBackpointers)
            .Select(p => new LogPosition(p))]);

    // The tail from the sequencer, and in parallel all replicas of one chain of the active segment asked whether they
    // are still at this epoch.
    private ImmutableArray<Call> CheckCalls()
    {
        var calls = ImmutableArray.CreateBuilder<Call>();
        calls.Add(new Call(View.Sequencer.Id, new TailRequest(View.Epoch, [])));
        if (Flaw != Flaw.UnconfirmedCheck)
        {
            foreach (var replica in View.Active.Chains[0].Replicas.Where(r => !r.Joining))
                calls.Add(new Call(replica.Unit, new ConfirmEpochRequest(View.Epoch)));
        }

        var open = calls.Where((_, i) => (Answered & (1 << i)) == 0).ToImmutableArray();
        return open;
    }

    private Step CheckAnswer(int call, Response response)
    {
        var to = CheckCalls()[call].To;
        var bit = to == View.Sequencer.Id
            ? 0
            : 1 + View.Active.Chains[0].Replicas.Where(r => !r.Joining).Select(r => r.Unit).ToList().IndexOf(to);
        var next = this with
        {
            Answered = Answered | (1 << bit),
            Tail = response is TailResponse tail ? tail.Tail.Offset : Tail
        };
        return next.CheckCalls().IsEmpty ? next.Finish(new Checked(Operation, next.Tail)) : new Step(next);
    }
}
