using System.Collections.Immutable;
using Craq;

namespace Corfu.Load;

/// <summary>Reads and writes of objects of chains through the client, as a service would.</summary>
internal sealed class CraqWorkload : IWorkload
{
    private readonly WorkloadKind _kind;
    private readonly WorkloadSetting _setting;
    private readonly CraqClient _client;
    private readonly ImmutableArray<CraqChain> _chains;

    // The objects of each size are there.
    private readonly Dictionary<int, Task> _filled = [];
    private long _mismatches;

    /// <param name="client">Stays the caller's.</param>
    public CraqWorkload(WorkloadKind kind, WorkloadSetting setting, CraqClient client)
    {
        (_kind, _setting, _client) = (kind, setting, client);
        _chains = [.. setting.Chains.Split(',').Select(client.Chain)];
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var value = Value(size);
        var owner = _setting.OwnKeys ? $"-{Environment.ProcessId}" : "";
        ObjectKey[] keys = [.. Enumerable.Range(0, _setting.Keys)
            .Select(i => new ObjectKey($"{_setting.Object}{owner}-{size}-{i}"))];
        if (!_filled.TryGetValue(size, out var filled))
            _filled[size] = filled = FillAsync(keys, _kind == WorkloadKind.CraqAdd ? "0"u8.ToArray() : value);
        var operation = OperationOf(keys, value);
        return async caller =>
        {
            if (!filled.IsCompletedSuccessfully) await filled;
            await operation(caller);
        };
    }

    public long TakeAborted() => Interlocked.Exchange(ref _mismatches, 0);

    public ValueTask DisposeAsync() => default;

    /// <summary>Not compressible, and the same in every run.</summary>
    internal static byte[] Value(int size)
    {
        var value = new byte[size];
        new Random(1).NextBytes(value);
        return value;
    }

    private Func<int, ValueTask> OperationOf(ObjectKey[] keys, byte[] value)
    {
        var chain = _chains[0];
        return _kind switch
        {
            WorkloadKind.CraqGet => async caller => Check(await chain.GetAsync(keys[caller % keys.Length]), value),
            WorkloadKind.CraqPut => async caller => Check(await chain.PutAsync(keys[caller % keys.Length], value)),
            WorkloadKind.CraqAdd => async caller => Check(await chain.IncrementAsync(keys[caller % keys.Length])),
            WorkloadKind.CraqCompareAndSet => CompareAndSetAsync,
            WorkloadKind.CraqMutate => async caller => Check(await chain.MutateAsync(Part(
                new MutateBuilder(), keys[caller % keys.Length], value))),
            WorkloadKind.CraqTransact => TransactAsync,
            _ => throw new InvalidOperationException($"{_kind} is no operation of CRAQ."),
        };

        async ValueTask CompareAndSetAsync(int caller)
        {
            var key = keys[caller % keys.Length];
            var found = await chain.FindAsync(key);
            Check(await chain.CompareAndSetAsync(key, found.Version, value));
        }

        async ValueTask TransactAsync(int caller)
        {
            var transaction = new CraqTransaction();
            foreach (var one in _chains) Part(transaction.On(one), keys[caller % keys.Length], value);
            var result = await _client.TransactAsync(transaction);
            if (!result.IsCommitted)
                throw new CorfuException($"A transaction ended as {result.Outcome}: {result.Refusal}.");
        }
    }

    // An object is compared and written, a second one is written.
    private static MutateBuilder Part(MutateBuilder part, ObjectKey key, byte[] value) =>
        part.IfExists(key).Put(key, value).Put($"{key}-other", value);

    private static void Check(in StoredObject found, byte[] value)
    {
        if (!found.IsFound || found.Length != value.Length)
            throw new CorfuException($"A read found {found.Length} bytes, not {value.Length}.");
    }

    private void Check(in WriteResult result)
    {
        if (result.Outcome == WriteOutcome.Mismatch) Interlocked.Increment(ref _mismatches);
        else if (!result.IsWritten) throw new CorfuException($"A write ended as {result.Outcome}.");
    }

    private async Task FillAsync(ObjectKey[] keys, byte[] value)
    {
        foreach (var chain in _chains)
        {
            foreach (var result in await Task.WhenAll(keys.Select(key => chain.PutAsync(key, value).AsTask())))
                Check(result);
        }
    }
}
