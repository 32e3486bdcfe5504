using Corfu;
using Corfu.Client;
using Corfu.Hosting;
using Tango;
using Tango.Collections;

// A feed tells every change of an object once, in order. A reader goes on where the last one stopped, in any process.
await using var cluster = await EmbeddedCluster.StartAsync();
await using var log = await CorfuClient.ConnectAsync(cluster.ConnectionString);
await using var tango = new TangoRuntime(log);

var prices = await tango.OpenAsync<TangoDictionary<string, int>>("prices", OpenMode.Create);
await prices.SetAsync("tea", 4);
await prices.SetAsync("coffee", 6);

var place = await FollowAsync(ChangePlace.Before(LogPosition.Zero), count: 2);

await prices.SetAsync("tea", 5);
await prices.RemoveAsync("coffee");

// Keep the place of the last change you dealt with: after a restart the feed goes on behind it.
Console.WriteLine("the reader starts again");
await FollowAsync(place, count: 2);

async Task<ChangePlace> FollowAsync(ChangePlace after, int count)
{
    await foreach (var change in tango.History.ChangesAsync<TangoDictionary<string, int>>("prices", after).Take(count))
    {
        var value = change.Mutator!.Name == "Set" ? $" = {change.ReadArgument<int>()}" : "";
        Console.WriteLine($"{change.Mutator.Name} {change.ReadKey<string>()}{value}");
        after = change.Place;
    }

    return after;
}
