namespace Craq.Calls;

/// <summary>A part as the client sends it.</summary>
internal sealed record ClientPart(ChainEntry Chain, Mutation Mutation, CraqSession? Session);

/// <summary>A transaction at its lead, the head of its first part's chain.</summary>
/// <remarks>
/// 1. The client knows a mark of every chain before it first sends (C13). 2. Every attempt has the same id and the same
/// marks, so that any lead finds the same outcome. 3. An attempt without an answer may commit, now or later.
/// </remarks>
internal sealed class TransactCall(ITransport transport, ImmutableArray<ClientPart> parts, Guid id)
    : ChainCall<CraqTransactionResult?>(parts[0].Chain)
{
    private readonly ImmutableArray<TransactPart> _parts =
    [
        .. parts.Select(part => new TransactPart(part.Chain.Id, part.Chain.Mark ?? default, part.Mutation.Compares,
            part.Mutation.Reads, part.Mutation.Writes)),
    ];

    // Invariant: false only while no attempt can have been carried out, nor ever will be.
    private bool _mayBeApplied;

    private bool _tried;

    public override string What => $"The transaction over {string.Join(", ", parts.Select(part => part.Chain.Name))}";

    public override int Next(ChainRoute route) => _tried ? -1 : 0;

    public override void BeginRound() => _tried = false;

    public override async ValueTask<Attempt<CraqTransactionResult?>> TryAsync(
        ChainRoute route, int member, CancellationToken cancellationToken)
    {
        _tried = true;
        try
        {
            return Judge(await transport.CallAsync(
                route.Head.Address, new TransactRequest(route.Epoch, id, _parts), cancellationToken));
        }
        catch (TransportException e) when (e.OutcomeUnknown)
        {
            _mayBeApplied = true;
            throw;
        }
    }

    public override CraqTransactionResult? GiveUp(CorfuException reason) => _mayBeApplied ? Unknown() : throw reason;

    // Null: a chain's window has gone beyond its mark, and nothing was done. A new transaction may succeed.
    private Attempt<CraqTransactionResult?> Judge(TransactResponse answer)
    {
        switch (answer.Status)
        {
            case Status.Ok when answer.IsCommitted && answer.Parts.Length == parts.Length:
                return Committed(answer);
            case Status.Ok when !answer.IsCommitted && (uint)answer.Part < (uint)parts.Length:
                return answer.Reason == CraqStatus.Forgotten ? Renew() : Aborted(answer);
            case Status.Ok:
                _mayBeApplied = true;
                return Attempt<CraqTransactionResult?>.Refused(Status.Failed, null);
            case CraqStatus.Forgotten:
                return _mayBeApplied ? Unknown() : Renew();
            case CraqStatus.Unconfirmed:
                _mayBeApplied = true;
                break;
            default:
                break;
        }

        return Attempt<CraqTransactionResult?>.Refused(answer.Status, answer.View);
    }

    private CraqTransactionResult Committed(TransactResponse answer)
    {
        var committed = ImmutableDictionary.CreateBuilder<ChainId, CommittedPart>();
        for (var i = 0; i < parts.Length; i++)
        {
            var (part, done) = (parts[i], answer.Parts[i]);
            part.Chain.NoteMark(done.Mark);
            part.Session?.Observe(part.Chain.Id, done.Version);
            committed.Add(part.Chain.Id, done);
        }

        return new CraqTransactionResult(CraqTransactionOutcome.Committed, committed.ToImmutable());
    }

    private CraqTransactionResult Aborted(TransactResponse answer) => new(CraqTransactionOutcome.Aborted)
    {
        Refusal = answer.Reason switch
        {
            CraqStatus.Mismatch => CraqTransactionRefusal.Mismatch,
            CraqStatus.Locked => CraqTransactionRefusal.Locked,
            _ => CraqTransactionRefusal.Unavailable,
        },
        RefusedBy = parts[answer.Part].Chain.Id,
        MismatchIndex = answer.Reason == CraqStatus.Mismatch ? answer.Index : -1,
        MismatchVersion = answer.Found,
        Status = answer.Reason,
    };

    private Attempt<CraqTransactionResult?> Renew()
    {
        for (var i = 0; i < parts.Length; i++) parts[i].Chain.ForgetMark(_parts[i].NotBefore);
        return new Attempt<CraqTransactionResult?>(true, null, Status.Ok, null);
    }

    private static CraqTransactionResult Unknown()
    {
        CraqClientTelemetry.Unknown.Add(1);
        return new CraqTransactionResult(CraqTransactionOutcome.Unknown);
    }
}

/// <summary>Asks a chain for a mark.</summary>
internal sealed class MarkCall(ITransport transport, ChainEntry chain) : ChainCall<ObjectVersion>(chain)
{
    private bool _tried;

    public override string What => $"Asking {Chain.Name} for its mark";

    public override int Next(ChainRoute route) =>
        _tried ? -1 : route.IsTailOnly ? route.Members.Length - 1 : 0;

    public override void BeginRound() => _tried = false;

    public override async ValueTask<Attempt<ObjectVersion>> TryAsync(
        ChainRoute route, int member, CancellationToken cancellationToken)
    {
        _tried = true;
        var answer = await transport.CallAsync(route.Members[member].Address,
            new ReadObjectsRequest(route.Epoch, Chain.Id, ObjectReadMode.Eventual, []), cancellationToken);
        if (!answer.IsOk) return Attempt<ObjectVersion>.Refused(answer.Status, answer.View);
        Chain.NoteMark(answer.Mark);
        return answer.Mark;
    }

    public override ObjectVersion GiveUp(CorfuException reason) => throw reason;
}
