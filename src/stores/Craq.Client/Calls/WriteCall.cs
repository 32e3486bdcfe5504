namespace Craq.Calls;

/// <summary>A mutation at the head of its chain.</summary>
/// <remarks>
/// 1. The client knows a mark of the chain before it first sends: <c>notBefore</c> (C13).
/// 2. Every attempt carries the same id and the same <c>notBefore</c>, so that the chain applies it once.
/// 3. An attempt without an answer may be applied, now or later. A refusal of a later attempt says nothing about
///    it.
/// </remarks>
internal sealed class WriteCall(ITransport transport, ChainEntry chain, Mutation mutation, CraqSession? session,
    Func<WriteId> nextId) : ChainCall<WriteResult>(chain)
{
    private WriteId _id;
    private ObjectVersion _notBefore;

    // Invariant: false only while no attempt can have been applied, nor ever will be.
    private bool _mayBeApplied;

    private bool _tried;

    public override string What => mutation.Writes is [var write, ..]
        ? $"Writing '{write.Key}' of {Chain.Name}"
        : $"Comparing and reading objects of {Chain.Name}";

    public override int Next(ChainRoute route) => _tried ? -1 : 0;

    public override void BeginRound() => _tried = false;

    public override async ValueTask<Attempt<WriteResult>> TryAsync(
        ChainRoute route, int member, CancellationToken cancellationToken)
    {
        _tried = true;
        if (_id.IsNone)
        {
            // 1.
            if (Chain.Mark is null && await AskMarkAsync(route, cancellationToken) is { IsDone: false } refused)
                return refused;
            (_notBefore, _id) = (Chain.Mark ?? default, nextId());
        }

        // 2.
        var request = new MutateRequest(route.Epoch, Chain.Id, _id, _notBefore, mutation.IsAtHead, mutation.Compares,
            mutation.Reads, mutation.Writes);
        try
        {
            return Judge(await transport.CallAsync(route.Head.Address, request, cancellationToken));
        }
        catch (TransportException e) when (e.OutcomeUnknown)
        {
            // 3.
            _mayBeApplied = true;
            throw;
        }
    }

    public override WriteResult GiveUp(CorfuException reason) => _mayBeApplied ? Unknown() : throw reason;

    private Attempt<WriteResult> Judge(MutateResponse answer)
    {
        switch (answer.Status)
        {
            case Status.Ok:
                Note(answer);
                session?.Observe(Chain.Id, answer.Version);
                return new WriteResult(WriteOutcome.Written, answer);
            case CraqStatus.Mismatch:
                Note(answer);

                // An earlier attempt that is still under way may yet meet an object that compares.
                return _mayBeApplied && !mutation.IsFinalMismatch(answer.Index)
                    ? Unknown()
                    : new WriteResult(WriteOutcome.Mismatch, answer);
            case CraqStatus.Forgotten when _mayBeApplied:
                return Unknown();
            case CraqStatus.Forgotten:
                // The window has gone beyond the mark, and nothing was done: a new write with a newer mark.
                Chain.ForgetMark(_notBefore);
                _id = WriteId.None;
                break;
            case CraqStatus.Unconfirmed:
                _mayBeApplied = true;
                break;
            default:
                break;
        }

        return Attempt<WriteResult>.Refused(answer.Status, answer.View);
    }

    private void Note(MutateResponse answer)
    {
        Chain.NoteMark(answer.Mark);
        session?.Observe(Chain.Id, answer.Mark);
    }

    private static WriteResult Unknown()
    {
        CraqClientTelemetry.Unknown.Add(1);
        return WriteResult.Unknown;
    }

    // Done: the chain's entry has a mark.
    private async ValueTask<Attempt<WriteResult>> AskMarkAsync(ChainRoute route, CancellationToken cancellationToken)
    {
        var node = route.IsTailOnly ? route.Tail : route.Head;
        var answer = await transport.CallAsync(node.Address,
            new ReadObjectsRequest(route.Epoch, Chain.Id, ObjectReadMode.Eventual, []), cancellationToken);
        if (!answer.IsOk) return Attempt<WriteResult>.Refused(answer.Status, answer.View);
        Chain.NoteMark(answer.Mark);
        return WriteResult.Unknown;
    }
}
