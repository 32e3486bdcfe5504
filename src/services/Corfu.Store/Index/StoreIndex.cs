using System.Buffers;
using Corfu.Store.Records;
using Corfu.Store.State;

namespace Corfu.Store.Index;

/// <summary>The map service of CORFU-Store (TOCS'13 3): keys, revisions and places of values. A mutator is a whole
/// record, decided where it stands. Written by hand, because each record changes one value, the state.</summary>
internal sealed class StoreIndex : TangoObject, ITangoObject<StoreIndex>, ITangoIndex, ITangoLeased
{
    public const string TypeName = "corfu.store";

    private static readonly TangoObjectType s_type =
        new(TypeName, static () => new StoreIndex(), static _ => { }, Mutators.All);

    private StoreState _state = StoreState.New;

    static TangoObjectType ITangoObject<StoreIndex>.ObjectType => s_type;

    LogPlace? ITangoIndex.LowestPlace => Planted.Is("store-claims-nothing") ? null : _state.LowestPlace();

    IEnumerable<LeaseInfo> ITangoLeased.Leases => _state.Leases.Select(static lease =>
        new LeaseInfo(lease.Key, lease.Value.Version, TimeSpan.FromMilliseconds(lease.Value.Milliseconds)));

    public bool IsCalledInTransaction => IsInTransaction;

    async ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) =>
        await UpdateAsync(Mutators.EndLease, new EndLeaseRecord(lease, version), cancellationToken);

    /// <summary>Appends a record; completes once it is applied.</summary>
    /// <exception cref="TangoInDoubtException">The record may or may not be in the log.</exception>
    public ValueTask<Outcome> UpdateAsync(int mutator, StoreRecord record, CancellationToken cancellationToken) =>
        UpdateAsync(mutator, RecordCodec.Write(record), cancellationToken);

    public ValueTask<Outcome> UpdateAsync(int mutator, ArgumentBuffer record, CancellationToken cancellationToken) =>
        UpdateHelperAsync<Outcome>(Mutators.Of(mutator), ObjectKey.None, record, cancellationToken);

    /// <summary>The newest state. Linearizable.</summary>
    public ValueTask<StoreState> ReadAsync(CancellationToken cancellationToken) =>
        QueryHelperAsync<StoreIndex, ValueTuple, StoreState>(
            ObjectKey.None, default, static (view, _) => view._state, cancellationToken);

    /// <summary>The state here, as soon as it is one that is waited for.</summary>
    public ValueTask<StoreState> WaitAsync(Func<StoreState, bool> until, CancellationToken cancellationToken) =>
        WaitForViewAsync<StoreIndex, StoreState>(static view => view._state, until, cancellationToken);

    /// <summary>Values of calls of this object, in the order of their places.</summary>
    public async ValueTask<ImmutableArray<ReadOnlyMemory<byte>>> ReadValuesAsync(
        ImmutableArray<ValuePlace> places, CancellationToken cancellationToken)
    {
        // A call's values are found in one pass.
        var byCall = places.GroupBy(static place => place.Call).ToImmutableArray();
        var calls = await ReadCallsAsync([.. byCall.Select(static group => group.Key)], cancellationToken);
        var values = new Dictionary<ValuePlace, ReadOnlyMemory<byte>>(places.Length);
        for (var i = 0; i < calls.Length; i++)
        {
            var own = RecordCodec.ReadValues(calls[i].Arguments);
            foreach (var place in byCall[i])
            {
                values[place] = place.Item < own.Length
                    ? own[place.Item]
                    : throw new TangoFormatException($"The call has no value {place.Item}");
            }
        }

        return [.. places.Select(place => values[place])];
    }

    /// <summary>Grants a lease that this process keeps.</summary>
    public async ValueTask<TangoLease> KeepLeaseAsync(
        TimeSpan timeToLive, TimeProvider time, CancellationToken cancellationToken) =>
        (await GrantLeaseAsync(
            timeToLive,
            async token => (await UpdateAsync(Mutators.Grant, new GrantRecord(
                null, (long)timeToLive.TotalMilliseconds, time.GetUtcNow().ToUnixTimeMilliseconds()), token)).Number,
            async (lease, token) => (await UpdateAsync(Mutators.Renew, new RenewRecord(
                lease, time.GetUtcNow().ToUnixTimeMilliseconds()), token)).Verdict == Verdict.Done,
            async (lease, token) => await UpdateAsync(Mutators.EndLease, new EndLeaseRecord(lease, null), token),
            cancellationToken))!;

    void ITangoView.Apply(
        int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments, in ApplyContext context)
    {
        var (state, outcome) = StoreRules.Decide(_state, RecordCodec.Read(mutator, arguments), context.Place);
        // The last step: code that throws leaves the state as it was.
        _state = state;
        context.Return(outcome);
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer) => StatePages.Save(writer, _state);

    void ITangoView.LoadState(ReadOnlyMemory<byte> state) => _state = StatePages.Load(state);
}
