using System.Collections.Concurrent;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>The operations of a client, each of a chain or a group of chains. The result says whether the store has
/// answered.</summary>
internal sealed class StoreWorkload(StoreCalls calls)
{
    private const int MostDelta = 1000;

    private static readonly TimeSpan[] s_ages =
        [TimeSpan.Zero, TimeSpan.FromMilliseconds(200), TimeSpan.FromSeconds(1)];

    // The newest version and value of each register that this client has met: compares with it hold often, not always.
    private readonly ConcurrentDictionary<(string Chain, string Key), ObjectSeen> _known = new();

    /// <summary>Makes the objects that the other operations need, once.</summary>
    public async Task<bool> SetUpAsync(int index)
    {
        var chain = StoreKeys.Chain(index);
        var made = await MutateAsync(chain, [Absent(StoreKeys.Account)],
        [
            Put(StoreKeys.Account, $"{StoreKeys.Deposit}"), Put(StoreKeys.Counter, "0"),
            .. StoreKeys.Pair.Select(key => Put(key, ValueText.Of($"start-{index}"))),
        ], []);
        return made.Fate is ObjectFate.Done or ObjectFate.Mismatch;
    }

    public async Task<bool> WriteAsync(Random random, int index)
    {
        var chain = StoreKeys.Chain(index);
        var (key, value) = (StoreKeys.AnyRegister(random), ValueText.Of(calls.NextId()));
        var known = _known.GetValueOrDefault((chain, key));
        var call = await (random.Next(12) switch
        {
            0 or 1 or 2 => MutateAsync(chain, [], [Put(key, value)], []),
            3 => MutateAsync(chain, [], [new ObjectAct(key, ObjectActKind.Delete)], []),
            4 when known is not null =>
                MutateAsync(chain, [VersionOf(known)], [Put(key, value)], [key]),
            5 when known?.Value is { } old =>
                MutateAsync(chain, [new ObjectTest(key, ObjectTestKind.Value, Value: old)], [Put(key, value)], []),
            6 => MutateAsync(chain, [Absent(key)], [Put(key, value)], []),
            7 or 8 => MutateAsync(chain, [],
                [new ObjectAct(StoreKeys.Counter, ObjectActKind.Add, Delta: random.Next(1, MostDelta))], []),
            9 => AppendAsync(chain),
            10 => MutateAsync(chain, [], [.. StoreKeys.Pair.Select(one => Put(one, value))], StoreKeys.Pair),
            11 when known is not null => MutateAsync(chain, [VersionOf(known)],
                [
                    Put(key, value), new ObjectAct(StoreKeys.Counter, ObjectActKind.Add, Delta: 1),
                    .. StoreKeys.Pair.Select(one => Put(one, value)),
                ], [StoreKeys.Counter]),
            _ => MutateAsync(chain, [], [], StoreKeys.Pair),
        });
        return IsAnswered(call);
    }

    /// <summary>Transactions over the chains of a group: transfers, tokens, compares, snapshots.</summary>
    public async Task<bool> TransactAsync(Random random, int group)
    {
        var chains = Enumerable.Range(group * StoreKeys.GroupSize, StoreKeys.GroupSize).Select(StoreKeys.Chain)
            .OrderBy(_ => random.Next()).ToArray();
        switch (random.Next(6))
        {
            case 0 or 1:
                var amount = random.Next(1, MostDelta);
                return IsCommitted(await calls.TransactAsync(
                [
                    .. chains.Select((chain, i) => Part(chain, [],
                        [new ObjectAct(StoreKeys.Account, ObjectActKind.Add, Delta: i == 0 ? amount : -amount)])),
                ]));
            case 2 or 3:
                return await MarkAsync(chains);
            case 4:
                var (key, value) = (StoreKeys.AnyRegister(random), ValueText.Of(calls.NextId()));
                var known = _known.GetValueOrDefault((chains[0], key));
                ObjectTest[] tests = known is null ? [] : [VersionOf(known)];
                var changed = await calls.TransactAsync(
                [
                    .. chains.Select((chain, i) =>
                        Part(chain, i == 0 ? tests : [], [Put(key, value)], i == 0 ? [] : [key])),
                ]);
                return IsCommitted(changed) || changed.Parts.Any(part => part.Fate == ObjectFate.Mismatch);
            default:
                var tokens = StoreKeys.Tokens(CallLog.Now);
                return IsCommitted(await calls.TransactAsync(
                    [.. chains.Select(chain => Part(chain, [], [], [StoreKeys.Account, tokens]))]));
        }
    }

    public async Task<bool> ReadStrongAsync(Random random, int index)
    {
        var keys = random.Next(4) switch
        {
            0 => StoreKeys.Hot,
            1 => [StoreKeys.Counter, StoreKeys.Account, StoreKeys.List(CallLog.Now), StoreKeys.Tokens(CallLog.Now)],
            2 => StoreKeys.Pair,
            _ => [StoreKeys.AnyRegister(random)],
        };
        return IsAnswered(Met(await calls.ReadAsync(StoreKeys.Chain(index), keys, ReadPromise.Strong)));
    }

    /// <summary>A read that may be old within its promise, or a step of a session.</summary>
    public async Task<bool> ReadWeakAsync(Random random, int index, StoreSession session)
    {
        var chain = StoreKeys.Chain(index);
        var keys = random.Next(3) == 0 ? StoreKeys.Hot : [StoreKeys.AnyRegister(random), StoreKeys.Counter];
        switch (random.Next(8))
        {
            case 0:
                return IsAnswered(await calls.ReadAsync(chain, keys, ReadPromise.Eventual));
            case 1 or 2 or 3:
                return IsAnswered(await calls.ReadAsync(chain, keys,
                    ReadPromise.Bounded(random.Next(4), s_ages[random.Next(s_ages.Length)])));
            case 4:
                return IsAnswered(await MutateAsync(
                    chain, [], [Put(StoreKeys.AnyRegister(random), ValueText.Of(calls.NextId()))], [], session));
            default:
                return IsAnswered(await calls.ReadAsync(chain, keys, ReadPromise.In(session)));
        }
    }

    // A token goes to both chains of the group, or to none.
    private async Task<bool> MarkAsync(string[] chains)
    {
        var list = StoreKeys.Tokens(CallLog.Now);
        var item = StoreKeys.Item(calls.NextId());
        var marked = await calls.TransactAsync(
            [.. chains.Select(chain => Part(chain, [], [new ObjectAct(list, ObjectActKind.Append, item)]))]);
        foreach (var part in marked.Parts.Where(part => part.Fate == ObjectFate.Mismatch))
            await MutateAsync(part.Chain, [Absent(list)], [Put(list, "")], []);
        return IsCommitted(marked);
    }

    private async Task<ObjectCall> AppendAsync(string chain)
    {
        var list = StoreKeys.List(CallLog.Now);
        var item = StoreKeys.Item(calls.NextId());
        var appended = await MutateAsync(chain, [], [new ObjectAct(list, ObjectActKind.Append, item)], []);
        return appended.Fate == ObjectFate.Mismatch
            ? await MutateAsync(chain, [Absent(list)], [Put(list, "")], [])
            : appended;
    }

    private async Task<ObjectCall> MutateAsync(string chain, IReadOnlyList<ObjectTest> tests,
        IReadOnlyList<ObjectAct> acts, IReadOnlyList<string> keys, StoreSession? session = null)
    {
        var call = new ObjectCall(
            calls.NextId(), chain, ObjectMode.Mutate, 0, ObjectHistory.Never, ObjectFate.Unknown)
        {
            Tests = tests,
            Acts = acts,
        };
        return Met(await calls.MutateAsync(call, keys, session));
    }

    private (ObjectCall Work, IReadOnlyList<string> Keys) Part(string chain, IReadOnlyList<ObjectTest> tests,
        IReadOnlyList<ObjectAct> acts, IReadOnlyList<string>? keys = null) =>
        (new ObjectCall(calls.NextId(), chain, ObjectMode.Mutate, 0, ObjectHistory.Never, ObjectFate.Unknown)
        {
            Tests = tests,
            Acts = acts,
        }, keys ?? []);

    private ObjectCall Met(ObjectCall call)
    {
        if (call.Fate != ObjectFate.Done) return call;
        foreach (var seen in call.Seen) _known[(call.Chain, seen.Key)] = seen;
        foreach (var act in call.Acts.Where(act => act.Kind == ObjectActKind.Put))
            _known[(call.Chain, act.Key)] = new ObjectSeen(act.Key, call.Version, act.Value);
        foreach (var act in call.Acts.Where(act => act.Kind == ObjectActKind.Delete))
            _known.TryRemove((call.Chain, act.Key), out _);
        return call;
    }

    private static bool IsAnswered(ObjectCall call) => call.Fate is ObjectFate.Done or ObjectFate.Mismatch;

    private static bool IsCommitted(StoreTransaction transaction) => transaction.Fate == TxFate.Committed;

    private static ObjectAct Put(string key, string value) => new(key, ObjectActKind.Put, value);

    private static ObjectTest Absent(string key) => new(key, ObjectTestKind.Absent);

    // An absent object compares as one without a version.
    private static ObjectTest VersionOf(ObjectSeen seen) =>
        new(seen.Key, ObjectTestKind.Version, seen.Value is null ? 0 : seen.Version);
}
