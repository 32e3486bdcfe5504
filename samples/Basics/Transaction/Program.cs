using Corfu.Client;
using Corfu.Hosting;
using Tango;

// A transaction over two objects: the amount moves from one account to the other, or nothing happens.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var tango = new TangoRuntime(log);

var alice = await tango.OpenAsync<Account>("alice", OpenMode.Create);
var bob = await tango.OpenAsync<Account>("bob", OpenMode.Create);
await alice.AddAsync(100);

await TransferAsync(30);
try
{
    await TransferAsync(500);
}
catch (TangoRejectedException e)
{
    Console.WriteLine($"refused: {e.Reason}");
}

Console.WriteLine($"alice has {await alice.BalanceAsync()}, bob has {await bob.BalanceAsync()}");

async Task TransferAsync(long amount)
{
    var transfer = await tango.RunTransactionAsync(async _ =>
    {
        await bob.AddAsync(amount);
        await alice.AddAsync(-amount);
    });
    transfer.ThrowIfNotCommitted();
    Console.WriteLine($"{amount} moved from alice to bob");
}

[TangoObject("basics/account")]
public sealed partial class Account : TangoObject
{
    private long _balance;

    [Mutator(1, MayReject = true)]
    public partial ValueTask<long> AddAsync(long amount, CancellationToken ct = default);

    private long ApplyAdd(long amount) =>
        _balance + amount >= 0 ? _balance += amount : throw Reject($"there are only {_balance}");

    [Accessor]
    public partial ValueTask<long> BalanceAsync(CancellationToken ct = default);

    private long ReadBalance() => _balance;
}
