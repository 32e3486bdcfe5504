using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>R15: closed ranges are brought to a joining unit, position by position, decided ones only; holes are filled
/// on the way.</summary>
public sealed partial record Reconfigurer
{
    private Chain CopyChain => Current.ChainOf(new LogPosition(Copy));

    private Call CopyRead(NodeId unit) =>
        new(unit, new ReadRequest(Current.Epoch, [new LogPosition(Copy)], ReadDetail.Full));

    private Step NextCopy(long from)
    {
        foreach (var segment in Current.Segments)
        {
            if (segment.Until is not { } until) continue;
            for (var p = Math.Max(from, segment.From.Offset); p < until.Offset; p++)
            {
                if (!segment.ChainOf(new LogPosition(p)).Replicas.Any(r => r.Unit == Task.Rebuild && r.Joining))
                    continue;
                return new Step(this with
                {
                    Stage = ReconfigurerStage.CopyLook,
                    Copy = p,
                    Replica = 0,
                    Entry = default
                });
            }
        }

        return Seal();
    }

    private Step FromCopy(Response response)
    {
        switch (response.Status)
        {
            case Status.Sealed:
                // Junk that was refused at the head is nowhere: its number is free.
                var unused = Stage == ReconfigurerStage.CopyFill && Replica == 0;
                return new Step(Look() with { Sequence = unused ? Sequence - 1 : Sequence });
            case Status.NotInstalled:
                return new Step(Install(Current) with { At = At - 1 });
        }

        return Stage switch
        {
            ReconfigurerStage.CopyLook => LookedAtTail(((ReadResponse)response).Pages[0]),
            ReconfigurerStage.CopyHead => LookedAtHead(((ReadResponse)response).Pages[0]),
            ReconfigurerStage.CopyFill => CopyFilled((WriteResponse)response),
            _ => Copied((WriteResponse)response),
        };
    }

    // All full replicas hold what the last one holds, so its entries may go straight to the joining ones. A position
    // that it lacks is closed as any hole is. The flaw looks at the head instead, and gets ahead of the chain.
    private Step LookedAtTail(in PageResult page) => page.State switch
    {
        PageState.Unwritten when Flaw == Flaw.CopyWithoutFilling => NextCopy(Copy + 1),
        PageState.Unwritten => new Step(this with { Stage = ReconfigurerStage.CopyHead }),
        _ =>
            new Step(this with
            {
                Stage = ReconfigurerStage.CopyComplete,
                Replica = CopyChain.FullCount,
                Entry = page.Bytes.ToArray()
            }),
    };

    private Step LookedAtHead(in PageResult page)
    {
        if (page.State != PageState.Unwritten)
            return new Step(this with
            {
                Stage = ReconfigurerStage.CopyComplete,
                Replica = 1,
                Entry = page.Bytes.ToArray()
            });
        var junk = new LogEntry(
            new LogPosition(Copy, Current.Epoch), new EntryOrigin(Names.Writer(Id), Sequence + 1), EntryKind.Junk,
            DateTimeOffset.UnixEpoch, [], default);
        return new Step(this with
        {
            Stage = ReconfigurerStage.CopyFill,
            Replica = 0,
            Entry = EntryCodec.Encode(junk),
            Sequence = Sequence + 1
        });
    }

    private Step CopyFilled(WriteResponse response)
    {
        if (Replica == 0 && response.Status == Status.AlreadyWritten)
            return new Step(this with { Stage = ReconfigurerStage.CopyHead, Entry = default });
        return Copied(response);
    }

    private Step Copied(WriteResponse response)
    {
        if (!response.IsOk
            && (response.Status != Status.AlreadyWritten || response.StoredOrigin != EntryCodec.PeekOrigin(Entry.Span)))
            return new Step(Done(),
                new Met(
                    $"{Name} cannot copy {Copy} to {Names.Of(CopyChain.Replicas[Replica].Unit)}: "
                    + $"{Names.Of(response)}"));
        return Replica + 1 < CopyChain.Replicas.Length
            ? new Step(this with { Replica = Replica + 1 })
            : NextCopy(Copy + 1);
    }
}
