using System.Runtime.InteropServices;

namespace Craq.Calls;

/// <summary>A read of objects of a chain, at any of its replicas.</summary>
internal sealed class ReadCall(ITransport transport, ChainMap map, ChainEntry chain, ImmutableArray<ObjectKey> keys,
    ReadTerms terms, CraqSession? session, bool withValues) : ChainCall<ImmutableArray<StoredObject>>(chain)
{
    private readonly StoredObject[] _found = new StoredObject[keys.Length];

    // The keys below it have their objects.
    private int _done;

    private ulong _tried;

    public override string What => keys.Length == 1
        ? $"Reading '{keys[0]}' of {Chain.Name}"
        : $"Reading {keys.Length} objects of {Chain.Name}";

    private CraqSession? Session => terms.InSession ?? session;

    public override int Next(ChainRoute route) => route.NextReplica(_tried);

    public override void BeginRound() => _tried = 0;

    public override async ValueTask<Attempt<ImmutableArray<StoredObject>>> TryAsync(
        ChainRoute route, int member, CancellationToken cancellationToken)
    {
        _tried |= 1UL << member;
        while (true)
        {
            var asked = _done == 0 && keys.Length <= ReadObjectsRequest.MaxKeys
                ? keys
                : keys.Slice(_done, Math.Min(ReadObjectsRequest.MaxKeys, keys.Length - _done));
            var answer = await transport.CallAsync(route.Members[member].Address,
                new ReadObjectsRequest(route.Epoch, Chain.Id, terms.Mode, asked, Session?.MarkOf(Chain.Id) ?? default,
                    terms.MaxAhead, terms.MaxAge, withValues), cancellationToken);
            if (!answer.IsOk)
                return Attempt<ImmutableArray<StoredObject>>.Refused(answer.Status, answer.View);
            if (answer.Epoch > route.Epoch) map.BeginLearning(Chain);
            if (Take(answer, asked.Length) is var status and not Status.Ok)
                return Attempt<ImmutableArray<StoredObject>>.Refused(status, null);
            if (_done == keys.Length)
                return ImmutableCollectionsMarshal.AsImmutableArray(_found);
        }
    }

    public override ImmutableArray<StoredObject> GiveUp(CorfuException reason) => throw reason;

    // A damaged object is read from another replica; the objects before it stay.
    private Status Take(ReadObjectsResponse answer, int asked)
    {
        if (answer.Objects.IsEmpty || answer.Objects.Length > asked) return Status.Failed;
        foreach (var found in answer.Objects)
        {
            if (found.Status is not (Status.Ok or CraqStatus.NotFound)) return found.Status;
            _found[_done++] = new StoredObject(found, answer.Age);
        }

        Chain.NoteMark(answer.Mark);
        Session?.Observe(Chain.Id, answer.Mark);
        return Status.Ok;
    }
}
