using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>
/// Transactions of the Tango paper's section 6.2: three keys of a dictionary are read and three others written. Each is
/// tried once; an abort is counted and is no failure.
/// </summary>
internal sealed class KeyTransactionWorkload : IWorkload
{
    private const int Reads = 3;
    private const int Writes = 3;

    private readonly TangoRuntime _runtime;
    private readonly WorkloadSetting _setting;
    private readonly KeyPicker _picker;
    private readonly TangoDictionary<int, long> _own;
    private readonly TangoDictionary<int, long>? _other;
    private long _aborted;

    private KeyTransactionWorkload(TangoRuntime runtime, WorkloadSetting setting, TangoDictionary<int, long> own,
        TangoDictionary<int, long>? other)
    {
        _runtime = runtime;
        _setting = setting;
        _picker = new KeyPicker(setting.Keys, setting.Zipf);
        _own = own;
        _other = other;
    }

    public static async Task<KeyTransactionWorkload> OpenAsync(TangoRuntime runtime, WorkloadSetting setting)
    {
        var own = await runtime.OpenAsync<TangoDictionary<int, long>>(setting.Object, OpenMode.Create);
        var other = setting.Other switch
        {
            null => null,
            { } name when setting.ReadsOther =>
                await runtime.OpenAsync<TangoDictionary<int, long>>(name, OpenMode.Create),
            { } name => await runtime.OpenWriteOnlyAsync<TangoDictionary<int, long>>(name, OpenMode.Create),
        };
        return new KeyTransactionWorkload(runtime, setting, own, other);
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var random = Enumerable.Range(0, callers).Select(caller => new Random(caller)).ToArray();
        return async caller =>
        {
            var keys = new int[Reads + Writes];
            _picker.Fill(random[caller], keys);
            var both = _other is not null && random[caller].NextDouble() < _setting.OtherShare;
            await using var transaction = _runtime.BeginTx();
            await BodyAsync(keys, both);
            switch (await transaction.EndTxAsync())
            {
                case TxOutcome.Committed:
                    break;
                case TxOutcome.Aborted:
                    Interlocked.Increment(ref _aborted);
                    break;
                case var outcome:
                    throw new CorfuException($"The transaction ended as {outcome}.");
            }
        };
    }

    public long TakeAborted() => Interlocked.Exchange(ref _aborted, 0);

    public ValueTask DisposeAsync() => default;

    private async ValueTask BodyAsync(int[] keys, bool both)
    {
        var sum = 0L;
        for (var i = 0; i < Reads; i++)
        {
            sum += (await _own.TryGetAsync(keys[i])).Value;
            if (both && _setting.ReadsOther) sum += (await _other!.TryGetAsync(keys[i])).Value;
        }

        for (var i = Reads; i < keys.Length; i++)
        {
            await _own.SetAsync(keys[i], sum + i);
            if (both) await _other!.SetAsync(keys[i], sum + i);
        }
    }
}
