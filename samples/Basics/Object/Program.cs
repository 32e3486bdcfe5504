using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Hosting;
using Tango;

// An object of your own: every process that opens it has its state in memory, and all apply its calls in one order.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var here = new TangoRuntime(log);
await using var there = new TangoRuntime(log); // As another process would.

var stock = await here.OpenAsync<Stock>("stock", OpenMode.Create);
await stock.PutAsync("tea", 10);

// A read sees every call that was acknowledged before, whichever process made it.
var same = await there.OpenAsync<Stock>("stock");
Console.WriteLine($"there: {await same.CountAsync("tea")} of tea");
Console.WriteLine($"there: one is taken, {await same.TakeAsync("tea", 1)} are left");
Console.WriteLine($"here: {await stock.CountAsync("tea")} of tea");

try
{
    await stock.TakeAsync("tea", 20);
}
catch (TangoRejectedException e)
{
    Console.WriteLine($"refused: {e.Reason}");
}

[TangoObject("basics/stock")]
public sealed partial class Stock : TangoObject
{
    private ImmutableDictionary<string, int> _items = ImmutableDictionary<string, int>.Empty;

    [Mutator(1)]
    public partial ValueTask PutAsync([VersionKey] string item, int count, CancellationToken ct = default);

    private void ApplyPut(string item, int count) => _items = _items.SetItem(item, ReadCount(item) + count);

    [Mutator(2, MayReject = true)]
    public partial ValueTask<int> TakeAsync([VersionKey] string item, int count, CancellationToken ct = default);

    private int ApplyTake(string item, int count)
    {
        var left = ReadCount(item) - count;
        if (left < 0) throw Reject($"there are only {ReadCount(item)} of {item}");
        _items = _items.SetItem(item, left);
        return left;
    }

    [Accessor]
    public partial ValueTask<int> CountAsync([VersionKey] string item, CancellationToken ct = default);

    private int ReadCount(string item) => _items.GetValueOrDefault(item);
}
