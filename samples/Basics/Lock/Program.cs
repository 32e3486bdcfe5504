using Corfu.Client;
using Corfu.Hosting;
using Tango;
using Tango.Collections;

// A lock that outlives its holder's death, and writes that only the holder can make.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
var timeToLive = TimeSpan.FromSeconds(1);

long stale;
await using (var first = new TangoRuntime(log))
{
    var mutex = await first.OpenAsync<TangoLock>("mutex", OpenMode.Create);
    stale = (await mutex.AcquireAsync(timeToLive, "first")).FencingToken;
    Console.WriteLine($"first holds the lock, with token {stale}");
} // The process ends without a word; nothing renews its lease any more.

await using var second = new TangoRuntime(log);
var guard = await second.OpenAsync<TangoLock>("mutex");
var plan = await second.OpenAsync<TangoRegister<string>>("plan", OpenMode.Create);
await using var held = await guard.AcquireAsync(timeToLive, "second");
Console.WriteLine($"second holds the lock, with token {held.FencingToken}");

await WriteAsync("tea at five", held.FencingToken);
await WriteAsync("tea at four", stale);
Console.WriteLine($"the plan: {await plan.ReadAsync()}");

// The transaction commits only while the lock is held with the token.
async Task WriteAsync(string text, long token)
{
    try
    {
        var written = await second.RunTransactionAsync(async _ =>
        {
            await guard.RequireHeldAsync(token);
            await plan.WriteAsync(text);
        });
        written.ThrowIfNotCommitted();
        Console.WriteLine($"token {token} wrote: {text}");
    }
    catch (TangoLeaseLostException)
    {
        Console.WriteLine($"token {token} may not write any more");
    }
}
