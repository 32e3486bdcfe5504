using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>
/// Transfers between two of <see cref="Accounts"/> keys of one dictionary, read and written in a transaction; aborts
/// are retried, so an operation is a committed transfer.
/// </summary>
internal sealed class TransactionWorkload : IWorkload
{
    private const int Accounts = 10_000;

    private readonly TangoRuntime _runtime;
    private readonly TangoDictionary<int, long> _accounts;

    private TransactionWorkload(TangoRuntime runtime, TangoDictionary<int, long> accounts)
    {
        _runtime = runtime;
        _accounts = accounts;
    }

    public static async Task<TransactionWorkload> OpenAsync(TangoRuntime runtime) =>
        new(runtime, await runtime.OpenAsync<TangoDictionary<int, long>>("load/accounts", OpenMode.Create));

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var random = Enumerable.Range(0, callers).Select(caller => new Random(caller)).ToArray();
        return async caller =>
        {
            var from = random[caller].Next(Accounts);
            var to = (from + 1 + random[caller].Next(Accounts - 1)) % Accounts;
            var outcome = await _runtime.RunTransactionAsync(async _ =>
            {
                var left = (await _accounts.TryGetAsync(from)).Value;
                var right = (await _accounts.TryGetAsync(to)).Value;
                await _accounts.SetAsync(from, left - 1);
                await _accounts.SetAsync(to, right + 1);
            });
            if (!outcome.IsCommitted) throw new CorfuException($"The transfer ended as {outcome}.");
        };
    }

    public ValueTask DisposeAsync() => default;
}
