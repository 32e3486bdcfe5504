using System.Text;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Store;
using Tango;

// Keys with revisions: a transaction of one step, a read of the past, a watch, and a key that ends with its lease.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var runtime = new TangoRuntime(log);
await using var store = await CorfuStore.OpenAsync(log, runtime, "settings");

var first = await store.PutAsync("mode", "day"u8.ToArray());
Console.WriteLine($"revision {first}: {await ModeAsync(ReadAs.Linearizable)}");

// Taken once, by whichever process comes first.
var taken = await store.TransactAsync(StoreTransaction.Empty
    .If(StoreCondition.Version("owner", Relation.Equal, 0))
    .Then(new StorePut("owner", "night shift"u8.ToArray()), new StorePut("mode", "night"u8.ToArray())));
Console.WriteLine($"revision {taken.Revision}: {await ModeAsync(ReadAs.Linearizable)}, taken: {taken.Succeeded}");
Console.WriteLine($"at revision {first}: {await ModeAsync(ReadAs.At(first))}");

var lease = await store.GrantLeaseAsync(TimeSpan.FromMinutes(1));
await store.PutAsync("alive/night shift", "yes"u8.ToArray(), lease);
var last = await store.EndLeaseAsync(lease);

await foreach (var changes in store.WatchAsync(StoreRange.All, from: first))
{
    foreach (var change in changes.Changes)
    {
        var what = change.IsDeletion ? "ends" : $"= {Text(change.Entry)}";
        Console.WriteLine($"{changes.Revision}: {change.Key} {what}");
    }

    if (changes.Revision == last) break;
}

async Task<string> ModeAsync(ReadAs at) => Text((await store.GetAsync("mode", at))!);

static string Text(StoreEntry entry) => Encoding.UTF8.GetString(entry.Value.Span);
