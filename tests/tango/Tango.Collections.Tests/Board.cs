namespace Tango.Collections.Tests;

[MessagePackObject]
public sealed record Job([property: Key(0)] long Id, [property: Key(1)] string User);

/// <summary>A co-hosted group of collections between which jobs move.</summary>
[TangoContext("board")]
internal sealed partial class Board : TangoContext
{
    public partial TangoQueue<Job> Pending { get; }

    public partial TangoDictionary<long, Job> Done { get; }

    public partial TangoCounter Moved { get; }

    /// <summary>Moves jobs until none is left.</summary>
    public async Task WorkAsync()
    {
        for (bool more = true; more;)
        {
            TxResult<bool> result = await RunTransactionAsync(async _ =>
            {
                if (!(await Pending.TryDequeueAsync()).TryGet(out Job? job)) return false;
                Assert.True(await Done.TryAddAsync(job.Id, job));
                await Moved.AddAsync(1);
                return true;
            });
            Assert.True(result.IsCommitted);
            more = result.Value;
        }
    }
}
