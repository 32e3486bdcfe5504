using Corfu.Client;
using Corfu.Hosting;
using Tango;
using Tango.Collections;

// Time travel: an object as it was, at any position or time that the log still has, and another future for it.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var tango = new TangoRuntime(log);

var stock = await tango.OpenAsync<TangoDictionary<string, int>>("stock", OpenMode.Create);
await stock.SetAsync("tea", 10);
await stock.SetAsync("coffee", 3);
await ShowAsync("now", stock);

var then = (await log.CheckAsync([])).Tail;
await stock.SetAsync("tea", 7);
await stock.RemoveAsync("coffee");
await ShowAsync("later", stock);

var past = await tango.History.OpenAsync(then);
await ShowAsync("as it was", await past.OpenAsync<TangoDictionary<string, int>>("stock"));

await tango.History.ForkAsync("stock", then, "what if");
var fork = await tango.OpenAsync<TangoDictionary<string, int>>("what if");
await fork.SetAsync("coffee", 300);
await ShowAsync("what if", fork);
await ShowAsync("unchanged", stock);

static async Task ShowAsync(string title, TangoDictionary<string, int> stock)
{
    var items = (await stock.SnapshotAsync()).OrderBy(item => item.Key).Select(item => $"{item.Key} {item.Value}");
    Console.WriteLine($"{title,-10} {string.Join(", ", items)}");
}
