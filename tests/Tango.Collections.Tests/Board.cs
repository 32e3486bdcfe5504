namespace Tango.Collections.Tests;

[MessagePackObject]
public sealed record Job([property: Key(0)] long Id, [property: Key(1)] string User);

/// <summary>A co-hosted group of collections between which jobs move.</summary>
internal sealed class Board
{
    private readonly TangoRuntime _runtime;

    private Board(TangoRuntime runtime) => _runtime = runtime;

    public TangoQueue<Job> Pending { get; private set; } = null!;

    public TangoDictionary<long, Job> Done { get; private set; } = null!;

    public TangoCounter Moved { get; private set; } = null!;

    public static async Task<Board> OpenAsync(TangoRuntime runtime)
    {
        var board = new Board(runtime);
        await runtime.OpenGroupAsync("board", g =>
        {
            board.Pending = g.Add<TangoQueue<Job>>("pending");
            board.Done = g.Add<TangoDictionary<long, Job>>("done");
            board.Moved = g.Add<TangoCounter>("moved");
        });
        return board;
    }

    /// <summary>Moves jobs until none is left.</summary>
    public async Task WorkAsync()
    {
        for (bool more = true; more;)
        {
            TxResult<bool> result = await _runtime.RunTransactionAsync(async _ =>
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
